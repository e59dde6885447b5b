import { ChatError } from "../chat/client";
import { element } from "../chat/dom";
import { errorText, texts } from "./texts";

/** Says what failed, in the page's words, with a button that tries again once the server's wait is over. */
export function failureNotice(error: unknown, tryAgain: () => void, said?: string): HTMLElement {
  const status = error instanceof ChatError ? error.status : -1;
  const button = element("button", { type: "button", class: "secondary" }, texts.try_again);
  button.addEventListener("click", tryAgain);
  const wait_s = error instanceof ChatError ? (error.retry_after_s ?? 0) : 0;
  if (wait_s > 0) countDown(button, wait_s);
  return element("div", { class: "notice" }, element("p", {}, said ?? errorText(status)), button);
}

function countDown(button: HTMLButtonElement, wait_s: number): void {
  const until_ms = performance.now() + wait_s * 1000;
  button.disabled = true;
  const show = () => {
    const left_s = Math.ceil((until_ms - performance.now()) / 1000);
    button.disabled = left_s > 0;
    button.textContent = left_s > 0 ? texts.try_again_in(left_s) : texts.try_again;
    if (left_s <= 0) window.clearInterval(timer);
  };
  const timer = window.setInterval(show, 250);
  show();
}
