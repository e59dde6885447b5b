import { element } from "../dom";
import { LANGUAGE, texts } from "./texts";
import { audioOf, type Segment, type Trial } from "./trial";

const COPIED_MS = 1600;

export interface Actions {
  again: () => void;
  remove: () => void;
}

/** A trial that is over: player, summary, and its words, which light up as they are heard and lead to their place. */
export function resultOf(trial: Trial, actions: Actions): HTMLElement[] {
  const audio = element("audio", { controls: true, preload: "metadata", src: audioOf(trial.id) });
  audio.setAttribute("aria-label", texts.player);
  const head = element(
    "header",
    { class: "result-head" },
    element("h2", { tabindex: -1, id: "result-title" }, trial.file_name || texts.result),
    element("p", { class: "result-facts" }, factsOf(trial)),
  );
  const summary = element(
    "section",
    { class: "result-summary" },
    element("h3", {}, texts.summary),
    element("p", {}, trial.summary ?? texts.noSummary),
  );
  const said = element("section", { class: "result-text" }, element("h3", {}, texts.text));
  said.append(...linesOf(trial.segments ?? [], audio));
  return [head, audio, summary, said, footOf(trial, actions)];
}

function factsOf(trial: Trial): string {
  const facts = [
    trial.duration_ms === null ? null : clock(trial.duration_ms / 1000),
    trial.category && (texts.categories[trial.category] ?? trial.category),
  ];
  if (trial.language) facts.splice(1, 0, texts.languages[trial.language] ?? trial.language);
  return facts.filter(Boolean).join(" · ");
}

function linesOf(segments: Segment[], audio: HTMLAudioElement): HTMLElement[] {
  if (segments.length === 0) return [element("p", {}, texts.silent)];
  const voices = [...new Set(segments.map((each) => each.speaker))];
  const lines = segments.map((segment, at) => {
    const button = element(
      "button",
      { type: "button", class: "time", "aria-label": texts.play(clock(segment.start)) },
      clock(segment.start),
    );
    button.addEventListener("click", () => {
      audio.currentTime = segment.start;
      void audio.play().catch(() => undefined); // a browser that cannot play it says so in its player
    });
    const follows = at > 0 && segments[at - 1]?.speaker === segment.speaker;
    const number = voices.indexOf(segment.speaker);
    const who = follows ? null : element("b", {}, texts.voice(number + 1));
    const voice = `voice-${number % 4}`;
    return element("li", { class: voice }, button, element("p", {}, who, who ? " " : null, segment.text));
  });
  audio.addEventListener("timeupdate", () => {
    for (const [at, line] of lines.entries()) {
      const segment = segments[at];
      const heard = segment && audio.currentTime >= segment.start && audio.currentTime < segment.end;
      line.classList.toggle("now", Boolean(heard));
    }
  });
  return [element("ol", { class: "lines", tabindex: 0, "aria-label": texts.text }, ...lines)];
}

function footOf(trial: Trial, actions: Actions): HTMLElement {
  const kept = new Date(trial.expires_at).toLocaleString(LANGUAGE, {
    day: "numeric",
    month: "long",
    hour: "2-digit",
    minute: "2-digit",
  });
  const again = element("button", { type: "button", class: "secondary" }, texts.again);
  again.addEventListener("click", actions.again);
  const remove = element("button", { type: "button", class: "secondary" }, texts.remove);
  remove.addEventListener("click", actions.remove);
  return element(
    "footer",
    { class: "result-foot" },
    element("p", {}, texts.until(kept)),
    element("p", { class: "result-ways" }, again, copyLink(), remove),
  );
}

/** Null where the browser lets no page copy: plain HTTP from another machine. */
function copyLink(): HTMLButtonElement | null {
  if (!navigator.clipboard) return null;
  const button = element("button", { type: "button", class: "secondary" }, texts.copy);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(location.href);
    button.textContent = texts.copied;
    setTimeout(() => {
      button.textContent = texts.copy;
    }, COPIED_MS);
  });
  return button;
}

export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
