import { element } from "./dom";
import { texts } from "./texts";

const SHOWN_MS = 1600;

/** A button that copies; null where the browser lets no page copy (plain HTTP from another machine). */
export function copyButton(read: () => string, label: string): HTMLButtonElement | null {
  if (!navigator.clipboard) return null;
  const button = element("button", { type: "button", class: "quiet copy", "aria-label": label }, texts.copy);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(read());
    } catch {
      return; // the visitor refused; nothing was copied, and nothing says so
    }
    button.textContent = texts.copied;
    window.setTimeout(() => {
      button.textContent = texts.copy;
    }, SHOWN_MS);
  });
  return button;
}
