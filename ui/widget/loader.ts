import type { Call, Handle, Launch } from "./launch";
import launcherStyles from "./launcher.css?inline";
import type { Language, Texts, TextsModule } from "./texts";

type Parley = ((...call: unknown[]) => void) & { q?: ArrayLike<unknown>[]; key?: string; files?: typeof FILES };

/** `import()`; the build puts it in, past Vite's wish to preload. */
declare function __IMPORT__(address: string): Promise<never>;

// The build writes the names of the files here, hash and all.
const FILES = { main: "__FILE_main__", en: "__FILE_en__", ru: "__FILE_ru__" };

const SHOWN_AFTER_MS = 1500;
const IDLE_WITHIN_MS = 3000;
const RETRY_MS = 5000; // and so much longer each time
const isOpening = ([name]: Call) => /^(open|toggle|send)$/.test(String(name));
const BUBBLE = "M6 4h12q3 0 3 3v7q0 3-3 3h-5l-5 4v-4H6q-3 0-3-3V7q0-3 3-3Z";
const CROSS = "m6 9.5 6 6 6-6";

/** Puts the button onto the page; the rest comes when the page has nothing else to do, or when it is asked for. */
function begin(script: HTMLOrSVGScriptElement | null): void {
  const key = script?.dataset.widgetKey;
  const global = window as unknown as { Parley?: Parley };
  if (global.Parley?.key) global.Parley.files = FILES; // asked for anew, it may be a newer release's loader
  if (!(script instanceof HTMLScriptElement) || !key || global.Parley?.key) return;

  const waiting: Call[] = Array.from(global.Parley?.q ?? [], (call) => Array.from(call));
  let handle: Handle | null = null;
  let is_loading = false;
  let tries = 0;
  let timer = 0;
  const { frame, shadow, launcher, notice, host, failed } = makeLauncher();
  const base = new URL(".", script.src).href.slice(0, -1);
  // Older browsers keep a failed load for the life of the page: each try has addresses of its own.
  const fetchOnce = <Module>(path: string): Promise<Module> =>
    __IMPORT__(`${base}/${path}${tries ? `?try=${tries}` : ""}`);
  const file = <Module>(name: keyof typeof FILES): Promise<Module> => fetchOnce((parley.files ?? FILES)[name]);
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
    if (tries) await fetchOnce("widget.js");
    const { mount } = await file<typeof import("./main")>("main");
    handle = await mount(launch);
    notice.remove();
    for (const call of waiting.splice(0)) handle(call);
  }

  function load(): void {
    if (is_loading) return;
    is_loading = true;
    clearTimeout(timer);
    fetchWhole().catch(() => {
      is_loading = false;
      tries += 1;
      timer = setTimeout(load, RETRY_MS * tries);
      if (waiting.some(isOpening)) notice.textContent = failed;
    });
  }

  const parley: Parley = (...call) => {
    if (handle) handle(call);
    else waiting.push(call);
    if (isOpening(call)) load();
  };
  parley.key = key;
  global.Parley = parley;
  // Who presses again and again while nothing comes wants it open.
  launcher.addEventListener("click", () => parley(handle ? "toggle" : "open"));

  const whenIdle: typeof requestIdleCallback = window.requestIdleCallback ?? setTimeout; // Safari has no idea of idleness
  const settle = () => whenIdle(load, { timeout: IDLE_WITHIN_MS });
  const show = () => {
    document.body.append(host);
    setTimeout(() => frame.classList.add("ready"), SHOWN_AFTER_MS);
  };
  if (document.body) show();
  else document.addEventListener("DOMContentLoaded", show, { once: true });
  if (document.readyState === "complete") settle();
  else addEventListener("load", settle, { once: true });
  addEventListener("online", load);
  if (waiting.some(isOpening)) load();
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
  launcher.className = "launcher";
  launcher.setAttribute("aria-haspopup", "dialog");
  launcher.setAttribute("aria-expanded", "false");
  const is_russian = (document.documentElement.lang || navigator.language).toLowerCase().startsWith("ru");
  launcher.setAttribute("aria-label", is_russian ? "Открыть чат" : "Open chat");
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
  const notice = document.createElement("output");
  const failed = is_russian ? "Не удалось открыть чат." : "The chat could not be opened.";
  frame.append(notice, launcher);
  shadow.append(frame);
  return { host, shadow, frame, launcher, notice, failed };
}

begin(document.currentScript);
