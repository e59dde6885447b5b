import type { ComponentChild, VNode } from "preact";
import { webLink } from "./links";
import { httpAddress } from "./model";

/** Makes what stands for `[n]` in the text. */
export type Cite = (citation: number) => VNode;

const DEEPEST = 10;
const MOST_HREF = 2000;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** All that is more than a letter, one group or two for each. What stands in quotes is an attribute of somebody's HTML. */
const TOKEN = new RegExp(
  [
    /\\([!-/:-@[-`{-~\n])/, // escaped
    /(`+|\*+|_+|~+)/, // marks
    /\[(\d{1,3})\]([.,;:!?…)»”]*)/, // a citation, with the punctuation behind it
    /(!?)\[([^[\]]{0,500})\]\(\s*<?([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)?)>?(?:\s+["'][^"']*["'])?\s*\)/, // a link
    /<(https?:\/\/[^\s<>"'`\\]+)>/,
    /(?<!["'=\w/])(https?:\/\/[^\s<>"'`\\]+)/,
    /&(#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos|nbsp);/,
    /(<br\s*\/?>| {2}\n)/,
  ]
    .map((each) => each.source)
    .join("|"),
  "gi",
);

export function renderInline(source: string, cite: Cite, is_in_link = false, depth = 0): ComponentChild[] {
  if (depth > DEEPEST) return [source];
  const found: ComponentChild[] = [];
  /** Marks that have no end further on, so that they are looked for once. */
  const endless = new Set<string>();
  const inside = (text: string, is_link = is_in_link) => renderInline(text, cite, is_link, depth + 1);
  let at = 0;
  for (let match = next(source, at); match; match = next(source, at)) {
    const [whole, escaped, run, number, closing, image, label, href = "", marked, bare, entity] = match;
    const begin = match.index;
    found.push(source.slice(at, begin));
    at = begin + whole.length;
    let node: ComponentChild = whole;
    if (escaped) node = escaped === "\n" ? <br /> : escaped;
    else if (run) {
      const length = run[0] === "`" ? run.length : Math.min(run.length, 2);
      const mark = run.slice(0, length);
      const end = canOpen(source, begin, run) && !endless.has(mark) ? endOf(source, mark, begin + length) : -1;
      const inner = source.slice(begin + length, end);
      if (end < 0) endless.add(mark);
      else if (inner && (run[0] === "`" || !/\s$/.test(inner))) {
        const Tag = run[0] === "~" ? "del" : length === 2 ? "strong" : "em";
        node = run[0] === "`" ? <code>{inner.trim() || inner}</code> : <Tag>{inside(inner)}</Tag>;
        at = end + length;
      }
    } else if (number) {
      // A button inside a link works for nobody, so a citation in there is its number. No line begins with a full stop.
      if (!is_in_link) node = <span class="cited">{[cite(Number(number)), closing]}</span>;
    } else if (label !== undefined) {
      const url = addressOf(href);
      if (image) node = <em>{label || "…"}</em>;
      else if (url && !is_in_link) node = link(url, inside(label, true), [href, url.href, url.host].includes(label));
      else node = <span>{inside(label, true)}</span>;
    } else if (marked ?? bare) {
      const address = marked ?? trimmed(whole);
      const url = addressOf(address);
      at -= marked ? 0 : whole.length - address.length;
      node = url && !is_in_link ? link(url, [address], true) : whole.slice(0, at - begin);
    } else if (entity) node = letterOf(entity) ?? whole;
    else node = <br />;
    found.push(node);
  }
  return [...found, source.slice(at)];
}

function next(source: string, at: number): RegExpExecArray | null {
  TOKEN.lastIndex = at;
  return TOKEN.exec(source);
}

function canOpen(source: string, begin: number, run: string): boolean {
  if (run[0] === "`") return true;
  const after = source[begin + Math.min(run.length, 2)];
  const is_in_word = run[0] === "_" && /[\p{L}\p{N}]/u.test(source[begin - 1] ?? "");
  return run !== "~" && run.length <= 3 && /\S/.test(after ?? "") && !is_in_word;
}

/** Where a mark stands again, by itself; -1 where it does not. */
function endOf(source: string, mark: string, from: number): number {
  for (let end = source.indexOf(mark, from); end >= 0; end = source.indexOf(mark, end)) {
    let after = end;
    while (source[after] === mark[0]) after += 1;
    if (after - end === mark.length) return end;
    // `***bold and slanted***` ends with three: the outer mark is the last two of them.
    if (mark[0] !== "`" && after - end === 3) return after - mark.length;
    end = after;
  }
  return -1;
}

function addressOf(href: string): URL | null {
  return href.length > MOST_HREF ? null : httpAddress(href);
}

/** An address in a sentence, without the sentence's punctuation. */
function trimmed(address: string): string {
  const href = address.replace(/[.,;:!?*_~…»”\]]+$/, "");
  return href.endsWith(")") && !href.includes("(") ? href.slice(0, -1) : href;
}

function letterOf(entity: string): string | undefined {
  if (entity[0] !== "#") return ENTITIES[entity.toLowerCase()];
  const code = Number(entity.toLowerCase().replace("#x", "0x").replace("#", ""));
  return code && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

function link(url: URL, children: ComponentChild[], names_itself: boolean): VNode {
  return webLink(url, names_itself ? children : [...children, ` (${url.host})`]);
}
