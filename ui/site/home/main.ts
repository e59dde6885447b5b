// The page at `/`, which the server wrote: the trial upload, and the questions that the widget is asked.
import "../styles/home.css";
import { byId, element } from "../dom";
import { resultOf } from "./result";
import { texts } from "./texts";
import { follow, isOver, Refused, remove, type Trial, upload } from "./trial";

declare global {
  interface Window {
    Parley?: (...call: unknown[]) => void;
  }
}

const MOST_BYTES = 16 * 1024 * 1024;
const FRAGMENT = "#result=";

let leave = new AbortController();

function startTrial(): void {
  const drop = document.getElementById("drop");
  if (!drop) return;
  const input = byId("file", HTMLInputElement);
  byId("pick", HTMLButtonElement).addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    input.value = "";
    if (file) void send(file);
  });
  for (const type of ["dragenter", "dragover"]) {
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const file = event.dataTransfer?.files[0];
    if (file) void send(file);
  });
  const kept = location.hash.startsWith(FRAGMENT) ? location.hash.slice(FRAGMENT.length) : "";
  if (kept) void watch(kept);
  else show("drop");
}

/** One of them at a time, each in its place. */
function show(what: "drop" | "work" | "result"): void {
  byId("drop", HTMLElement).hidden = what === "work";
  byId("work", HTMLElement).hidden = what !== "work";
  byId("result", HTMLElement).hidden = what !== "result";
}

async function send(file: File): Promise<void> {
  say("");
  if (file.size > MOST_BYTES) return say(texts.tooLarge);
  const sending = upload(file, (share) => bar.set(texts.uploading(Math.round(share * 100)), share * 0.3));
  const bar = progress(file.name, () => sending.cancel());
  bar.set(texts.uploading(0), 0);
  show("work");
  try {
    const trial = await sending.done;
    history.replaceState(null, "", `${FRAGMENT}${trial.id}`);
    await watch(trial.id);
  } catch (error) {
    fail(error);
  }
}

async function watch(id: string): Promise<void> {
  leave.abort();
  leave = new AbortController();
  const bar = progress("", () => void erase(id));
  bar.set(texts.waiting, 0.3);
  show("work");
  try {
    for await (const trial of follow(id, leave.signal)) {
      if (leave.signal.aborted) return;
      if (!isOver(trial)) bar.follow(trial);
      else if (trial.status === "error") throw new Refused(422, "failed", 0);
      else present(trial);
    }
  } catch (error) {
    if (!leave.signal.aborted) fail(error);
  }
}

function present(trial: Trial): void {
  const place = byId("result", HTMLElement);
  place.replaceChildren(...resultOf(trial, { again: startOver, remove: () => void erase(trial.id) }));
  show("result");
  place.scrollIntoView({ block: "start" });
  document.getElementById("result-title")?.focus({ preventScroll: true });
}

async function erase(id: string): Promise<void> {
  leave.abort();
  try {
    await remove(id);
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) return fail(error);
  }
  startOver();
  say(texts.removed, true);
}

function startOver(): void {
  leave.abort();
  history.replaceState(null, "", location.pathname + location.search);
  byId("result", HTMLElement).replaceChildren();
  say("");
  show("drop");
  byId("trial", HTMLElement).scrollIntoView({ block: "center" });
  byId("pick", HTMLButtonElement).focus({ preventScroll: true });
}

function fail(error: unknown): void {
  const refused = error instanceof Refused ? error : new Refused(0, "network", 0);
  if (refused.status === 404 || refused.status === 422) {
    history.replaceState(null, "", location.pathname + location.search);
  }
  show("drop");
  say(words(refused));
}

function words(refused: Refused): string {
  if (refused.code === "aborted") return "";
  if (refused.status === 413) return texts.tooLarge;
  if (refused.status === 429) {
    return refused.retryAfterS > 120 ? texts.tooMany(Math.ceil(refused.retryAfterS / 60)) : texts.full;
  }
  if (refused.status === 400) return texts.unreadable;
  if (refused.status === 404) return texts.gone;
  return refused.status === 0 ? texts.network : texts.failed;
}

function say(text: string, isGood = false): void {
  const place = byId("trouble", HTMLElement);
  place.textContent = text;
  place.classList.toggle("good", isGood);
  place.hidden = text === "";
}

/** The bar in place of the drop area; `cancel` hangs on its button. */
function progress(name: string, cancel: () => void) {
  const label = element("p", { class: "work-label", role: "status" });
  const shown = element("progress", { max: 1, value: 0, "aria-label": texts.waiting });
  const button = element("button", { type: "button", class: "quiet" }, texts.cancel);
  button.addEventListener("click", cancel);
  const title = element("p", { class: "work-name" }, name);
  byId("work", HTMLElement).replaceChildren(title, shown, element("div", { class: "work-foot" }, label, button));
  function set(text: string, share: number): void {
    if (label.textContent !== text) label.textContent = text;
    shown.value = share;
    shown.setAttribute("aria-label", text);
  }
  return {
    set,
    follow(trial: Trial): void {
      title.textContent = trial.file_name;
      if (trial.status === "success") set(texts.summing, 0.95);
      else if (trial.progress === 0) set(texts.waiting, 0.3);
      else set(texts.listening(Math.round(trial.progress * 100)), 0.3 + trial.progress * 0.6);
    },
  };
}

function startQuestions(): void {
  const place = document.getElementById("questions");
  if (!place) return;
  place.hidden = false;
  for (const button of place.querySelectorAll("button")) {
    button.addEventListener("click", () => window.Parley?.("send", button.textContent ?? ""));
  }
}

startTrial();
startQuestions();
