import type { Details, Item, Person } from "./kinds";
import { labelName, nameOf } from "./kinds";

/** Told apart by those who do not see red and green too; dark enough beside text on both papers. */
const COLOURS = ["#0f8a73", "#d07f1c", "#4a7fd0", "#b05fa8", "#7a8a2e", "#c8553d", "#5c6f80"];

/** Somebody of the timeline, known or not. */
export interface Voice {
  label: string;
  name: string;
  person: Person | null;
  colour: string;
  /** Of the company, so on the right of a chat. */
  isOurs: boolean;
  ms: number;
  turns: number;
}

const STAFF = ["sales", "support", "employee"];

/** The voices of a timeline in the order in which they are first heard. */
export function voicesOf(found: Details, items: Item[], speaker: (number: number) => string): Map<string, Voice> {
  const voices = new Map<string, Voice>();
  for (const item of items) {
    const label = item.label ?? "";
    let voice = voices.get(label);
    if (!voice) {
      const person = label ? (found.speakers.find((each) => each.label === label) ?? null) : null;
      voice = {
        label,
        name: (person && nameOf(person)) || (label ? labelName(label, speaker) : ""),
        person,
        colour: COLOURS[voices.size % COLOURS.length] ?? "#5c6f80",
        isOurs: person !== null && STAFF.includes(person.role),
        ms: 0,
        turns: 0,
      };
      voices.set(label, voice);
    }
    voice.turns += 1;
    if (item.start_ms !== null && item.end_ms !== null) voice.ms += item.end_ms - item.start_ms;
  }
  return voices;
}

const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Whole words alone: "da" is none of the words of "data". */
const holds = (text: string, words: string) => ` ${text} `.includes(` ${words} `);

const HEAD_WORDS = 5;
/** Shorter turns ("Yes", "Thank you") begin too many quotations by chance. */
const LEAST_WORDS = 3;

/** The turn that a quotation comes from: the one where it was `found`, if it still stands there, since the same words
 * may be said twice; null where it is in none any more. */
export function turnOf(items: Item[], quotation: string, found: number | null = null): number | null {
  const known = items.filter((item) => item.idx === found);
  const there = known[0]?.idx ?? null;
  const wanted = plain(quotation);
  if (!wanted) return there;
  const turns = [...known, ...items].map((item) => ({ idx: item.idx, text: plain(item.text) }));
  const whole = turns.find((turn) => holds(turn.text, wanted));
  if (whole) return whole.idx;
  // Words that go over more than one turn begin in one.
  const head = wanted.split(" ").slice(0, HEAD_WORDS).join(" ");
  const begun =
    turns.find((turn) => holds(turn.text, head)) ??
    turns.find((turn) => turn.text.split(" ").length >= LEAST_WORDS && `${wanted} `.startsWith(`${turn.text} `));
  // Corrected since, it may be in no turn any more.
  return begun?.idx ?? there;
}
