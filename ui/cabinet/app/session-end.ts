import { useSyncExternalStore } from "react";

// Kept beside the pages: whoever asks the server learns it, and one window says it over all of them.
let isOver = false;
let wasTold = false;
const listeners = new Set<() => void>();

function set(value: boolean) {
  isOver = value;
  for (const listener of listeners) listener();
}

/** Says that the server knows the session no more. What asks by itself, again and again, is heard once; what somebody
 * wants to be done (`isWanted`) always. */
export function tellSessionOver(isWanted: boolean) {
  if (!isWanted && wasTold) return;
  wasTold = true;
  set(true);
}

/** Puts the window away: the page beneath can be read and copied from. */
export const hideSessionOver = () => set(false);

/** There is a session again. */
export function goOn() {
  wasTold = false;
  set(false);
}

export function useSessionOver(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isOver,
  );
}
