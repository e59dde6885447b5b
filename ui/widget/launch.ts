import type { Language, Texts } from "./texts";

/** What the loader hands to the rest of the widget, once that is there. The rest may be of a later release than a loader
 * that a browser has kept: names here stay as they are, and what is added may be missing. */
export interface Launch {
  /** The server's address, without a slash at its end. */
  base: string;
  key: string;
  /** The script's `data-` attributes. `language` is "ru" or "en"; without one the page's is meant. */
  attributes: DOMStringMap;
  /** Holds the launcher, and everything else of the widget. */
  frame: HTMLElement;
  shadow: ShadowRoot;
  launcher: HTMLButtonElement;
  loadTexts: (language: Language) => Promise<Texts>;
}

/** One call of `Parley(...)`. */
export type Call = readonly unknown[];

export type Handle = (call: Call) => void;
