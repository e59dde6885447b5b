import type { Source } from "../chat/answers";
import { element, languageOf } from "../chat/dom";
import { LOCALE, texts } from "./texts";

let listCount = 0;

/** The sources under an answer, folded until somebody asks for them. */
export class SourceList {
  readonly root: HTMLElement;
  private readonly toggle: HTMLButtonElement;
  private readonly list: HTMLOListElement;
  private readonly entries = new Map<number, HTMLElement>();

  constructor(sources: readonly Source[]) {
    listCount += 1;
    const id = `sources-${listCount}`;
    this.list = element("ol", { id, hidden: true });
    for (const source of sources) {
      const entry = sourceEntry(source);
      this.entries.set(source.citation, entry);
      this.list.append(entry);
    }
    const count = element("span", { class: "count" }, String(sources.length));
    this.toggle = element(
      "button",
      { type: "button", class: "quiet toggle", "aria-expanded": "false", "aria-controls": id },
      texts.sources,
      count,
    );
    this.toggle.addEventListener("click", () => this.open(this.list.hidden !== false));
    this.root = element("div", { class: "sources" }, this.list);
  }

  get button(): HTMLButtonElement {
    return this.toggle;
  }

  /** What stands for `[n]`: a button that opens source n, or bare text where there is none. */
  cite(source: Source | undefined, number: number): Node {
    const entry = this.entries.get(number);
    if (!source || !entry) return bareCitation(number);
    const label = texts.source(number, source.title);
    const button = element("button", { type: "button", class: "citation", "aria-label": label, title: source.title });
    button.textContent = String(number);
    button.addEventListener("click", () => this.show(entry));
    return button;
  }

  private open(is_open: boolean): void {
    this.list.hidden = !is_open;
    this.toggle.setAttribute("aria-expanded", String(is_open));
  }

  private show(entry: HTMLElement): void {
    this.open(true);
    entry.focus({ preventScroll: true });
    const is_calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    entry.scrollIntoView({ block: "nearest", behavior: is_calm ? "auto" : "smooth" });
  }
}

export function bareCitation(number: number): Node {
  return element("span", { class: "citation" }, String(number));
}

function sourceEntry(source: Source): HTMLElement {
  return element(
    "li",
    { tabindex: -1, value: source.citation },
    element("span", { class: "number", "aria-hidden": "true" }, String(source.citation)),
    element(
      "div",
      {},
      element("p", { class: "source-title", lang: languageOf(source.title) }, source.title),
      element("p", { class: "source-place" }, place(source)),
      source.snippet ? element("p", { class: "snippet", lang: languageOf(source.snippet) }, source.snippet) : null,
    ),
  );
}

/** "Document, p. 3" or "Call, 12 May 2026, 3:14". */
function place(source: Source): string {
  const kind = (source.kind === "communication" && source.communication_kind) || source.kind;
  const parts = [texts.kinds[kind] ?? texts.kinds[source.kind] ?? ""];
  if (source.page !== null) parts.push(texts.page(source.page));
  const day = source.occurred_at ? new Date(source.occurred_at) : null;
  if (day && !Number.isNaN(day.getTime())) {
    parts.push(day.toLocaleDateString(LOCALE, { day: "numeric", month: "long", year: "numeric" }));
  }
  if (source.kind === "communication" && source.start_ms !== null) parts.push(clock(source.start_ms));
  return parts.filter(Boolean).join(" · ");
}

function clock(start_ms: number): string {
  const seconds = Math.max(0, Math.floor(start_ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
