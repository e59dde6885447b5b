import type { Source } from "../chat/answers";
import { element, languageOf } from "../chat/dom";
import { closeOpenMarks, MarkdownView } from "../chat/markdown";
import { copyButton } from "./copy";
import { failureNotice } from "./notice";
import { bareCitation, SourceList } from "./sources";
import { texts } from "./texts";

export function visitorMessage(text: string): HTMLLIElement {
  return element(
    "li",
    { class: "visitor" },
    element("span", { class: "visually-hidden" }, texts.you),
    element("p", { lang: languageOf(text) }, text),
  );
}

/** One answer: waiting, growing, and then done, stopped or failed. */
export class AnswerMessage {
  readonly root: HTMLLIElement;
  private readonly status = element("p", { class: "status" });
  private readonly view = new MarkdownView(element("div", { class: "markdown" }));
  private markdown = "";
  private frame: number | null = null;

  constructor() {
    const label = element("span", { class: "visually-hidden" }, texts.answer);
    this.root = element("li", { class: "agent", "aria-busy": "true" }, label, this.status, this.view.root);
    this.showStatus(texts.searching);
  }

  get plainText(): string {
    return this.view.root.textContent ?? "";
  }

  showStatus(text: string): void {
    this.status.textContent = text;
    this.status.hidden = false;
  }

  /** Adds text; it is drawn with the next frame, and `drawn` is called then. */
  add(delta: string, drawn: () => void): void {
    this.markdown += delta;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.status.hidden = true;
      this.draw();
      drawn();
    });
  }

  /** The final text, which replaces what streamed in. */
  finish(markdown: string, sources: readonly Source[]): void {
    this.end();
    this.markdown = markdown;
    const list = sources.length > 0 ? new SourceList(sources) : null;
    this.view.clear();
    this.view.root.lang = languageOf(markdown);
    const titles = new Map(sources.map((source) => [source.citation, source]));
    this.view.render(markdown, (number) => list?.cite(titles.get(number), number) ?? bareCitation(number));
    const copy = copyButton(() => markdown);
    const actions = element("div", { class: "actions" }, list?.button, copy);
    if (actions.childElementCount > 0) this.root.append(actions);
    if (list) this.root.append(list.root);
  }

  stop(): void {
    this.end();
    this.draw();
    this.root.append(element("p", { class: "aside" }, texts.stopped));
  }

  fail(error: unknown, tryAgain: () => void): string {
    this.end();
    this.draw();
    const notice = failureNotice(error, tryAgain);
    this.root.append(notice);
    return notice.querySelector("p")?.textContent ?? "";
  }

  private draw(): void {
    this.view.root.lang = languageOf(this.markdown);
    this.view.render(closeOpenMarks(this.markdown), bareCitation);
  }

  private end(): void {
    if (this.frame !== null) cancelAnimationFrame(this.frame);
    this.frame = null;
    this.status.hidden = true;
    this.root.removeAttribute("aria-busy");
  }
}
