import type { ComponentChild } from "preact";
import { type Cite, renderInline } from "./markdown-inline";

/*
 * Markdown that others wrote, as nodes: HTML stays text, images are not loaded, links are http(s) only and name their
 * host. Covers what answers are made of: paragraphs, headings, lists, quotations, code, tables.
 */

const MOST_CHARACTERS = 100_000;
const DEEPEST = 10;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(?:\s+(.*)|)$/;
const TABLE_RULE = /^ {0,3}\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

type Lines = readonly string[];
/** The nodes of some lines. */
type Render = (lines: Lines) => ComponentChild;

export function renderMarkdown(markdown: string, cite: Cite): ComponentChild[] {
  return renderBlocks(markdown.slice(0, MOST_CHARACTERS).split(/\r\n|\r|\n/), cite, 0);
}

/** A text that is still growing, with its open bold or code closed, so that no bare marks flicker. */
export function closeOpenMarks(markdown: string): string {
  const tail = markdown.slice(markdown.lastIndexOf("\n") + 1);
  if (/^\s*```/m.test(markdown)) return markdown; // marks in a code block are the code's own
  for (const mark of ["**", "`"]) {
    if (tail.split(mark).length % 2 === 1) continue;
    return tail.endsWith(mark) ? markdown.slice(0, -mark.length) : markdown.trimEnd() + mark;
  }
  return markdown;
}

function renderBlocks(lines: Lines, cite: Cite, depth: number): ComponentChild[] {
  if (depth > DEEPEST) return [lines.join("\n")];
  const found: ComponentChild[] = [];
  const inside: Render = (inner) => renderBlocks(inner, cite, depth + 1);
  for (let at = endOf(lines, 0, isEmpty); at < lines.length; at = endOf(lines, at, isEmpty)) {
    const [node, end] = renderBlock(lines, at, cite, inside);
    found.push(node);
    at = end;
  }
  return found;
}

/** The block that begins at line `at`, and the line after it. */
function renderBlock(lines: Lines, at: number, cite: Cite, inside: Render): [ComponentChild, number] {
  const line = lines[at] ?? "";
  const fence = FENCE.exec(line)?.[1];
  if (fence) {
    const end = endOf(lines, at + 1, (each) => !each.trim().startsWith(fence));
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard, too
    return [<pre tabIndex={0}>{lines.slice(at + 1, end).join("\n")}</pre>, end + 1];
  }
  const heading = HEADING.exec(line);
  if (heading) return [<h3>{renderInline(heading[1] ?? "", cite)}</h3>, at + 1];
  if (RULE.test(line)) return [<hr />, at + 1];
  if (QUOTE.test(line)) {
    const end = endOf(lines, at, (each) => QUOTE.test(each));
    return [<blockquote>{inside(lines.slice(at, end).map((each) => each.replace(QUOTE, "")))}</blockquote>, end];
  }
  if (ITEM.test(line)) return renderList(lines, at, inside);
  if (isTable(lines, at)) {
    const end = endOf(lines, at + 2, (each) => each.includes("|"));
    return [renderTable(lines.slice(at, end), cite), end];
  }
  const end = endOf(lines, at + 1, (each, place) => !isEmpty(each) && !beginsBlock(lines, place));
  return [<p>{renderInline(lines.slice(at, end).join("\n").trim(), cite)}</p>, end];
}

function beginsBlock(lines: Lines, at: number): boolean {
  const line = lines[at] ?? "";
  if ([FENCE, HEADING, RULE, QUOTE].some((each) => each.test(line))) return true;
  const [, , mark = "", words] = ITEM.exec(line) ?? [];
  // A number in the middle of a sentence may come to stand at the beginning of a line.
  return words ? !/\d/.test(mark) || /^1\D/.test(mark) : isTable(lines, at);
}

function isTable(lines: Lines, at: number): boolean {
  return !!lines[at]?.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "");
}

function isEmpty(line: string): boolean {
  return line.trim() === "";
}

function endOf(lines: Lines, from: number, goes_on: (line: string, at: number) => boolean): number {
  let end = from;
  while (end < lines.length && goes_on(lines[end] ?? "", end)) end += 1;
  return end;
}

function renderList(lines: Lines, from: number, inside: Render): [ComponentChild, number] {
  const [, margin = "", first = ""] = ITEM.exec(lines[from] ?? "") ?? [];
  const items: ComponentChild[] = [];
  let at = from;
  while (true) {
    const line = lines[at] ?? "";
    const [, before = "", mark, words = ""] = ITEM.exec(line) ?? [];
    const is_next = mark?.endsWith(first.slice(-1)) && before.length <= margin.length + 3 && !RULE.test(line);
    if (!mark || !is_next) break;
    const indent = before.length + mark.length;
    const end = endOfItem(lines, at + 1, indent);
    const rest = lines.slice(at + 1, end).map((each) => each.replace(new RegExp(`^\\s{0,${indent + 1}}`), ""));
    items.push(<li>{inside([words, ...rest])}</li>);
    at = endOf(lines, end, isEmpty);
  }
  const start = Number.parseInt(first, 10);
  return [Number.isNaN(start) ? <ul>{items}</ul> : <ol start={start}>{items}</ol>, at];
}

/** Lines that are indented, or go on with a paragraph, belong to the item above them. */
function endOfItem(lines: Lines, from: number, indent: number): number {
  let end = from;
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (isEmpty(line)) continue;
    const is_inside = line.search(/\S/) >= Math.min(indent, 2);
    if (!is_inside && (end < at || ITEM.test(line) || beginsBlock(lines, at))) break;
    end = at + 1;
  }
  return end;
}

function renderTable(lines: Lines, cite: Cite): ComponentChild {
  const [head = [], rule = [], ...rows] = lines.map(cellsOf);
  const sides = rule.map((cell) => cell.endsWith(":") && (cell.startsWith(":") ? "align-center" : "align-right"));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard, too
    <div class="table" tabIndex={0}>
      <table>
        {[head, ...rows].map((row, index) => (
          <tr>
            {head.map((_, column) => {
              const Cell = index ? "td" : "th";
              return <Cell class={sides[column] || undefined}>{renderInline(row[column] ?? "", cite)}</Cell>;
            })}
          </tr>
        ))}
      </table>
    </div>
  );
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\||(?<!\\)\|$/g, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}
