import { Marked, type Token, type TokenizerExtension, type Tokens } from "marked";
import { type Child, element, present } from "./dom";

/** Makes what stands for `[n]` in the text. */
export type Cite = (citation: number) => Node;

const MOST_CHARACTERS = 100_000;
const DEEPEST = 16;
const CLOSING = /^[.,;:!?…)»”]+/;

const citation: TokenizerExtension = {
  name: "citation",
  level: "inline",
  start: (source) => source.match(/\[\d/)?.index,
  tokenizer(source) {
    const found = /^\[(\d{1,3})\]/.exec(source);
    return found ? { type: "citation", raw: found[0], number: Number(found[1]) } : undefined;
  },
};

const marked = new Marked({
  gfm: true,
  extensions: [citation],
  tokenizer: {
    // `[1]: https://…` would turn every citation into somebody's link.
    def: () => undefined,
  },
});

/**
 * Shows Markdown that others wrote, as nodes: HTML stays text, images are not loaded, links are http(s) only and name
 * their host. A text that grows is rendered again only from the block that changed.
 */
export class MarkdownView {
  private blocks: { raw: string; nodes: Node[] }[] = [];

  constructor(readonly root: HTMLElement) {}

  render(markdown: string, cite: Cite): void {
    const tokens = lex(markdown.slice(0, MOST_CHARACTERS));
    let same = 0;
    while (same < tokens.length && this.blocks[same]?.raw === tokens[same]?.raw) same += 1;
    for (const block of this.blocks.splice(same)) {
      for (const node of block.nodes) this.root.removeChild(node);
    }
    for (const token of tokens.slice(same)) {
      const nodes = present([renderBlock(token, cite, 0)]).map((node) =>
        typeof node === "string" ? document.createTextNode(node) : node,
      );
      this.root.append(...nodes);
      this.blocks.push({ raw: token.raw, nodes });
    }
  }

  /** Forgets the blocks, so that the next `render` makes them anew. */
  clear(): void {
    this.root.replaceChildren();
    this.blocks = [];
  }
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

function lex(markdown: string): Token[] {
  try {
    return marked.lexer(markdown);
  } catch {
    // The parser gives up on nesting that no person writes: then the text is shown as it is.
    return [{ type: "text", raw: markdown, text: markdown }];
  }
}

function renderBlocks(tokens: readonly Token[], cite: Cite, depth: number): Child[] {
  return tokens.map((token) => renderBlock(token, cite, depth));
}

function renderBlock(given: Token, cite: Cite, depth: number): Child {
  const token = given as Tokens.Generic;
  if (depth > DEEPEST) return token.raw;
  const inner = () => renderInline(token.tokens ?? [], cite, depth + 1);
  switch (token.type) {
    case "space":
      return null;
    case "heading":
      return element("h3", { class: `level-${token.depth}` }, ...inner());
    case "paragraph":
      return element("p", {}, ...inner());
    case "text":
      return element("p", {}, ...(token.tokens ? inner() : [decode(token.text)]));
    case "html":
      return element("p", {}, token.raw.trim());
    case "code":
      return element("pre", { tabindex: 0 }, element("code", {}, token.text));
    case "blockquote":
      return element("blockquote", {}, ...renderBlocks(token.tokens ?? [], cite, depth + 1));
    case "hr":
      return element("hr");
    case "list":
      return renderList(token as Tokens.List, cite, depth);
    case "table":
      return renderTable(token as Tokens.Table, cite, depth);
    default:
      return token.raw;
  }
}

function renderList(list: Tokens.List, cite: Cite, depth: number): HTMLElement {
  const start = list.ordered && Number(list.start) !== 1 ? Number(list.start) : null;
  const items = list.items.map((item) => {
    const children = item.tokens.flatMap((token): Child[] => {
      if (token.type === "checkbox") return [token.checked ? "☑ " : "☐ "];
      // The text of a tight item is its own line, not a paragraph.
      if (token.type === "text") return renderInline((token as Tokens.Text).tokens ?? [], cite, depth + 1);
      return [renderBlock(token, cite, depth + 1)];
    });
    return element("li", {}, ...children);
  });
  return list.ordered ? element("ol", { start }, ...items) : element("ul", {}, ...items);
}

function renderTable(table: Tokens.Table, cite: Cite, depth: number): HTMLElement {
  const cell = (name: "th" | "td") => (given: Tokens.TableCell) =>
    element(
      name,
      { class: given.align && `align-${given.align}`, scope: name === "th" && "col" },
      ...renderInline(given.tokens, cite, depth + 1),
    );
  const head = element("thead", {}, element("tr", {}, ...table.header.map(cell("th"))));
  const rows = table.rows.map((row) => element("tr", {}, ...row.map(cell("td"))));
  return element("div", { class: "table", tabindex: 0 }, element("table", {}, head, element("tbody", {}, ...rows)));
}

function renderInline(tokens: readonly Token[], cite: Cite, depth: number): Child[] {
  return tokens.map((given, index) => {
    const token = given as Tokens.Generic;
    const before = tokens[index - 1];
    if (depth > DEEPEST) return token.raw;
    const inner = () => renderInline(token.tokens ?? [], cite, depth + 1);
    switch (token.type) {
      case "text":
        if (token.tokens) return element("span", {}, ...inner());
        return decode(before?.type === "citation" ? token.text.replace(CLOSING, "") : token.text);
      case "escape":
        return token.text;
      case "strong":
        return element("strong", {}, ...inner());
      case "em":
        return element("em", {}, ...inner());
      case "del":
        return element("del", {}, ...inner());
      case "codespan":
        return element("code", {}, token.text);
      case "br":
        return element("br");
      case "html":
        return /^<br\s*\/?>$/i.test(token.raw) ? element("br") : token.raw;
      case "image":
        return element("em", {}, decode(token.text) || "…");
      case "link":
        return renderLink(token as Tokens.Link, depth);
      case "citation":
        return renderCitation(cite(token.number), tokens[index + 1]);
      default:
        return token.raw;
    }
  });
}

/** A citation with the punctuation behind it, so that no line begins with a full stop. */
function renderCitation(citation: Node, next: Token | undefined): Node {
  const closing = next?.type === "text" ? CLOSING.exec((next as Tokens.Text).text) : null;
  return closing ? element("span", { class: "cited" }, citation, closing[0]) : citation;
}

function renderLink(link: Tokens.Link, depth: number): Child {
  // A button inside a link works for nobody, so a citation in there is its number.
  const children = renderInline(link.tokens, (number) => document.createTextNode(`[${number}]`), depth + 1);
  const url = httpAddress(link.href);
  if (!url) return element("span", {}, ...children);
  const shown = children.map((child) => (typeof child === "string" ? child : (child?.textContent ?? ""))).join("");
  const names_itself = shown === link.href || shown === url.href || shown === url.host;
  const host = names_itself ? null : element("span", { class: "host" }, ` (${url.host})`);
  return element("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, ...children, host);
}

/** An address of the web, without a name and password, which are used to pass for another host. */
function httpAddress(href: string): URL | null {
  const url = URL.canParse(href) ? new URL(href) : null;
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password ? url : null;
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (entity, decimal, hex, name) => {
    if (name) return ENTITIES[name.toLowerCase()] ?? entity;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}
