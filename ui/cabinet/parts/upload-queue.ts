import { useSyncExternalStore } from "react";

const POLL_MS = 1500;

/** What every upload has; beyond these states each kind has others, for what becomes of it once it is sent. */
export interface Queued {
  key: number;
  state: "waiting" | "sending" | "done" | "failed" | (string & {});
}

interface Ways<T> {
  /** How many are sent at the same time. */
  atOnce: number;
  /** Sends one, and sets the state that it is in afterwards. Throws what the upload fails of. */
  send: (upload: T) => Promise<void>;
  /** Looks how far one is that was sent. What it throws is forgotten: the next look tells more. */
  look: (upload: T) => Promise<void>;
}

const ENDED = new Set(["done", "failed"]);
const isUnsent = ({ state }: Queued) => state === "waiting" || state === "sending";

/** A list of uploads that is kept beside the pages: what was begun goes on while somebody looks elsewhere in the
 * cabinet. The newest stands first; who came first is sent first. */
export function makeQueue<T extends Queued & { error: unknown }>({ atOnce, send, look }: Ways<T>) {
  let uploads: T[] = [];
  let nextKey = 1;
  let timer: number | null = null;
  const listeners = new Set<() => void>();
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();

  function set(next: T[]) {
    uploads = next;
    for (const listener of listeners) listener();
    // What is half sent would be lost.
    if (uploads.some(isUnsent)) window.addEventListener("beforeunload", warn);
    else window.removeEventListener("beforeunload", warn);
  }

  const change = (key: number, values: Partial<T>) =>
    set(uploads.map((each) => (each.key === key ? { ...each, ...values } : each)));

  function sendNext() {
    const busy = uploads.filter((each) => each.state === "sending").length;
    const waiting = uploads.filter((each) => each.state === "waiting").sort((one, other) => one.key - other.key);
    for (const each of waiting.slice(0, Math.max(0, atOnce - busy))) void start(each);
  }

  async function start(upload: T) {
    change(upload.key, { state: "sending" } as Partial<T>);
    try {
      await send(upload);
      follow();
    } catch (error) {
      change(upload.key, { state: "failed", error } as Partial<T>);
    }
    sendNext();
  }

  function follow() {
    timer ??= window.setInterval(() => {
      const open = uploads.filter((each) => !isUnsent(each) && !ENDED.has(each.state));
      if (!open.length && timer !== null) {
        window.clearInterval(timer);
        timer = null;
      }
      for (const each of open) look(each).catch(() => undefined);
    }, POLL_MS);
  }

  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  return {
    useAll: () => useSyncExternalStore(subscribe, () => uploads),
    all: () => uploads,
    change,
    add: (made: Omit<T, "key">): number => {
      const key = nextKey++;
      set([{ ...made, key } as T, ...uploads]);
      return key;
    },
    /** Begins with those that wait, as far as there is room. */
    sendNext,
    again: (key: number, values: Partial<T> = {}) => {
      change(key, { ...values, state: "waiting", error: null } as Partial<T>);
      sendNext();
    },
    remove: (isGone: (upload: T) => boolean) => {
      set(uploads.filter((each) => !isGone(each)));
      sendNext();
    },
  };
}
