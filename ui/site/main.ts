import { showConnect } from "./connect";
import { byId, element } from "./dom";
import { LANGUAGE, OTHER, texts } from "./texts";

declare global {
  interface Window {
    Parley?: (...call: unknown[]) => void;
  }
}

/** Fills the page with the company's words; `data-text` names them. */
function say(): void {
  document.documentElement.lang = LANGUAGE;
  document.title = texts.page_title;
  for (const place of document.querySelectorAll<HTMLElement>("[data-text]")) {
    const words = texts.company[place.dataset.text ?? ""];
    if (words !== undefined) place.textContent = words;
  }
  const other = byId("language", HTMLAnchorElement);
  other.href = `?lang=${OTHER}`;
  other.lang = other.hreflang = OTHER;
  other.textContent = texts.other_language;
}

function showMachines(): void {
  const cards = texts.machines.map(({ name, use, price, points }) =>
    element(
      "li",
      { class: "machine" },
      element("h3", {}, name),
      element("p", { class: "use" }, use),
      element("p", { class: "price" }, price),
      element("ul", {}, ...points.map((point) => element("li", {}, point))),
      askButton(texts.ask_about(name), texts.question_about(name)),
    ),
  );
  byId("machines", HTMLElement).append(...cards);
}

/** A button of the page that asks the widget. */
function askButton(label: string, question: string): HTMLButtonElement {
  const button = element("button", { type: "button", class: "secondary asks" }, label);
  button.addEventListener("click", () => window.Parley?.("send", question));
  return button;
}

function showNoChat(): void {
  const [before, after] = texts.no_chat;
  const words = element("p", {}, `${before} `, element("code", {}, "parley demo"), ` ${after}`);
  byId("no-chat", HTMLElement).append(element("strong", {}, texts.no_chat_title), words);
  byId("no-chat", HTMLElement).hidden = false;
  for (const button of document.querySelectorAll<HTMLElement>(".asks")) button.hidden = true;
}

say();
showMachines();
byId("ask", HTMLButtonElement).addEventListener("click", () => window.Parley?.("open"));
const key = document.querySelector<HTMLScriptElement>("script[data-widget-key]")?.dataset.widgetKey ?? "";
showConnect(key);
if (!key) showNoChat();
