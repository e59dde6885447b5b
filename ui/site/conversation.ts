import type { AnswerEvent } from "../chat/answers";
import type { ChatClient, ChatConfig } from "../chat/client";
import { byId, element, languageOf } from "../chat/dom";
import type { Session } from "../chat/session";
import { Composer } from "./composer";
import { Follower } from "./follow";
import { AnswerMessage, visitorMessage } from "./messages";
import { failureNotice } from "./notice";
import { texts } from "./texts";

/** The chat of the page: greeting, messages and composer. */
export class Conversation {
  private readonly chat = byId("chat", HTMLElement);
  private readonly messages = byId("messages", HTMLOListElement);
  private readonly again = byId("new-conversation", HTMLButtonElement);
  private readonly announcer = byId("announcer", HTMLElement);
  private readonly follower = new Follower(this.chat);
  private readonly composer: Composer;
  private answering: AbortController | null = null;

  constructor(
    private readonly client: ChatClient,
    private readonly session: Session,
  ) {
    this.composer = new Composer(
      (question) => this.ask(question),
      () => this.answering?.abort(),
    );
    byId("messages-title", HTMLElement).textContent = texts.messages;
    this.again.textContent = texts.new_conversation;
    this.again.addEventListener("click", () => this.startOver());
  }

  /** Shows who is asked here, then what was said before. */
  async open(config: ChatConfig): Promise<void> {
    const title = byId("title", HTMLElement);
    title.textContent = config.header_title;
    title.lang = config.language;
    const greeting = byId("greeting", HTMLElement);
    greeting.lang = config.language;
    greeting.append(...config.greeting.split(/\n{2,}/).map((part) => element("p", {}, part)));
    document.title = config.header_title ? `${config.header_title} — Parley` : "Parley";
    byId("suggestions", HTMLElement).replaceChildren(...config.suggestions.map((text) => this.suggestion(text)));
    await this.restore();
    if (matchMedia("(hover: hover) and (pointer: fine)").matches) this.composer.focus();
  }

  private suggestion(text: string): HTMLElement {
    const button = element("button", { type: "button", lang: languageOf(text) }, text);
    button.addEventListener("click", () => {
      this.composer.focus();
      this.ask(text);
    });
    return element("li", {}, button);
  }

  private async restore(): Promise<void> {
    try {
      for (const { role, text } of await this.client.history()) {
        if (role === "visitor") {
          this.messages.append(visitorMessage(text));
          continue;
        }
        const answer = new AnswerMessage();
        answer.finish(text, this.session.sourcesOf(text));
        this.messages.append(answer.root);
      }
    } catch (error) {
      const item = element("li", { class: "agent" });
      const retry = () => {
        item.remove();
        void this.restore();
      };
      item.append(failureNotice(error, retry, texts.errors.history));
      this.messages.prepend(item);
    }
    this.showState();
    const last = this.messages.querySelector<HTMLElement>("li.visitor:nth-last-child(2)");
    if (last) this.follower.jump(last);
  }

  private ask(question: string): void {
    if (this.answering) return;
    const asked = visitorMessage(question);
    this.messages.append(asked);
    void this.answer(question, asked);
  }

  private async answer(question: string, asked: HTMLElement): Promise<void> {
    const message = new AnswerMessage();
    const stop = new AbortController();
    this.messages.append(message.root);
    this.begin(stop);
    this.announce(texts.searching);
    this.follower.jump(asked);
    const follow = () => this.follower.follow(asked);
    try {
      for await (const event of this.client.ask(question, stop.signal)) this.show(event, message, follow);
      this.announce(message.plainText);
    } catch (error) {
      if (!message.root.isConnected) return; // a new conversation began
      if (stop.signal.aborted) {
        message.stop();
        this.announce(texts.stopped);
      } else {
        const retry = () => {
          if (this.answering) return;
          message.root.remove();
          this.messages.append(asked);
          this.composer.focus();
          void this.answer(question, asked);
        };
        this.announce(message.fail(error, retry));
      }
    } finally {
      if (this.answering === stop) this.end();
      follow();
    }
  }

  private show(event: AnswerEvent, message: AnswerMessage, drawn: () => void): void {
    if (event.type === "text") message.add(event.delta, drawn);
    else if (event.type === "done") message.finish(event.markdown, event.sources);
    else message.showStatus(event.step === "tool" ? texts.using_tool(event.tool) : texts.searching);
  }

  private begin(stop: AbortController): void {
    this.answering = stop;
    this.composer.setAnswering(true);
    this.showState();
  }

  private end(): void {
    this.answering = null;
    this.composer.setAnswering(false);
  }

  private startOver(): void {
    this.messages.replaceChildren();
    this.answering?.abort();
    this.end();
    this.session.begin(null);
    this.announce("");
    this.showState();
    scrollTo({ top: 0, behavior: "instant" });
    this.composer.focus();
  }

  private showState(): void {
    const is_empty = this.messages.childElementCount === 0;
    this.chat.dataset.state = is_empty ? "empty" : "talking";
    this.chat.removeAttribute("aria-busy");
    this.again.hidden = is_empty;
  }

  private announce(text: string): void {
    this.announcer.textContent = text;
  }
}
