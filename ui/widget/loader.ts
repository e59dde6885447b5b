import type { Call, Handle, Launch } from "./launch";
import launcherStyles from "./launcher.css?inline";
import type { Language, Texts, TextsModule } from "./texts";

type Parley = ((...call: unknown[]) => void) & { q?: ArrayLike<unknown>[]; key?: string };

/** `import()`; the build puts it in, past Vite's wish to preload. */
declare function __IMPORT__(address: string): Promise<never>;

// The build writes the names of the files here, hash and all.
const FILES = { main: "__FILE_main__", en: "__FILE_en__", ru: "__FILE_ru__" };

const SHOWN_AFTER_MS = 1500;
const IDLE_WITHIN_MS = 3000;
const OPENING = new Set(["open", "toggle", "send"]);
const BUBBLE = "M6 4h12q3 0 3 3v7q0 3-3 3h-5l-5 4v-4H6q-3 0-3-3V7q0-3 3-3Z";
const CROSS = "m6 9.5 6 6 6-6";

/** Puts the button onto the page; the rest comes when the page has nothing else to do, or when it is asked for. */
function begin(script: HTMLOrSVGScriptElement | null): void {
  const key = script?.dataset.widgetKey;
  const global = window as unknown as { Parley?: Parley };
  if (!(script instanceof HTMLScriptElement) || !key || global.Parley?.key) return;

  const waiting: Call[] = Array.from(global.Parley?.q ?? [], (call) => Array.from(call));
  let handle: Handle | null = null;
  let is_loading = false;
  const { frame, shadow, launcher, host } = makeLauncher();
  const base = new URL(".", script.src).href.slice(0, -1);
  const file = <Module>(name: keyof typeof FILES): Promise<Module> => __IMPORT__(`${base}/${FILES[name]}`);
  const loadTexts = async (language: Language): Promise<Texts> => (await file<TextsModule>(language)).texts;
  const launch: Launch = {
    base,
    key,
    attributes: script.dataset,
    frame,
    shadow,
    launcher,
    loadTexts,
  };

  async function fetchWhole(): Promise<void> {
    const { mount } = await file<typeof import("./main")>("main");
    handle = await mount(launch);
    for (const call of waiting.splice(0)) handle(call);
  }

  function load(): void {
    if (is_loading) return;
    is_loading = true;
    fetchWhole().catch(() => {
      is_loading = false; // the next click tries again
    });
  }

  const parley: Parley = (...call) => {
    if (handle) handle(call);
    else waiting.push(call);
    if (OPENING.has(String(call[0]))) load();
  };
  parley.key = key;
  global.Parley = parley;
  launcher.addEventListener("click", () => parley("toggle"));

  const whenIdle = window.requestIdleCallback ?? ((then: () => void) => setTimeout(then, 200));
  const settle = () => whenIdle(() => load(), { timeout: IDLE_WITHIN_MS });
  const show = () => {
    document.body.append(host);
    setTimeout(() => frame.classList.add("ready"), SHOWN_AFTER_MS);
  };
  if (document.body) show();
  else document.addEventListener("DOMContentLoaded", show, { once: true });
  if (document.readyState === "complete") settle();
  else addEventListener("load", settle, { once: true });
  if (waiting.some(([name]) => OPENING.has(String(name)))) load();
}

function makeLauncher() {
  const host = document.createElement("parley-widget");
  const shadow = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(launcherStyles);
  shadow.adoptedStyleSheets = [sheet];
  const frame = document.createElement("section");
  frame.className = "frame";
  const launcher = document.createElement("button");
  launcher.type = "button";
  launcher.className = "launcher";
  launcher.setAttribute("aria-haspopup", "dialog");
  launcher.setAttribute("aria-expanded", "false");
  const is_russian = (document.documentElement.lang || navigator.language).toLowerCase().startsWith("ru");
  launcher.setAttribute("aria-label", is_russian ? "Открыть чат" : "Open chat");
  frame.setAttribute("aria-label", is_russian ? "Чат" : "Chat");
  const space = "http://www.w3.org/2000/svg";
  const icon = document.createElementNS(space, "svg");
  icon.setAttribute("viewBox", "0 0 24 24");
  icon.setAttribute("aria-hidden", "true");
  for (const path of [BUBBLE, CROSS]) {
    const shape = document.createElementNS(space, "path");
    shape.setAttribute("d", path);
    icon.append(shape);
  }
  launcher.append(icon);
  frame.append(launcher);
  shadow.append(frame);
  return { host, shadow, frame, launcher };
}

begin(document.currentScript);
