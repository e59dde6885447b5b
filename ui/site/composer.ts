import { byId } from "../chat/dom";
import { texts } from "./texts";

const WARN_BELOW = 400;

/** The field for the question, and the button that sends it or stops the answer. */
export class Composer {
  private readonly form = byId("composer", HTMLFormElement);
  private readonly field = byId("question", HTMLTextAreaElement);
  private readonly button = byId("send", HTMLButtonElement);
  private readonly counter = byId("counter", HTMLElement);
  private is_answering = false;

  constructor(
    private readonly send: (question: string) => void,
    private readonly stop: () => void,
  ) {
    byId("question-label", HTMLElement).textContent = texts.question;
    byId("composer-hint", HTMLElement).textContent = texts.hint;
    this.field.placeholder = texts.placeholder;
    this.setAnswering(false);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.is_answering) this.stop();
      else this.submit();
    });
    this.field.addEventListener("keydown", (event) => this.onKey(event));
    this.field.addEventListener("input", () => this.onInput());
  }

  focus(): void {
    this.field.focus({ preventScroll: true });
  }

  setAnswering(is_answering: boolean): void {
    this.is_answering = is_answering;
    this.button.classList.toggle("stops", is_answering);
    this.button.setAttribute("aria-label", is_answering ? texts.stop : texts.send);
    this.button.title = is_answering ? texts.stop : texts.send;
  }

  private onKey(event: KeyboardEvent): void {
    if (event.isComposing) return; // Enter chooses a word of an input method
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      if (!this.is_answering) this.submit();
    } else if (event.key === "Escape" && this.is_answering) {
      this.stop();
    }
  }

  private onInput(): void {
    const left = this.field.maxLength - this.field.value.length;
    this.counter.textContent = left < WARN_BELOW ? texts.characters_left(left) : "";
    if (CSS.supports("field-sizing", "content")) return;
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight}px`;
  }

  private submit(): void {
    const question = this.field.value.trim();
    this.focus();
    if (!question) return;
    this.field.value = "";
    this.onInput();
    this.send(question);
  }
}
