const FIRST_MS = 700;
const LONGEST_MS = 12_000;
const HIDDEN_MS = 250;

/** Waits before attempt `attempt + 1`, longer each time; the network's return ends the wait. */
export function pauseBefore(attempt: number, signal: AbortSignal): Promise<void> {
  const longest_ms = Math.min(LONGEST_MS, FIRST_MS * 1.7 ** (attempt - 1));
  const wait_ms = longest_ms * (0.75 + Math.random() / 4); // so that not all visitors come back at once
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, wait_ms);
    addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}

/** Draws once a frame, however often that is called; a hidden page has no frames, and is drawn seldom. */
export function paced(draw: () => void): () => void {
  let is_coming = false;
  const now = () => {
    is_coming = false;
    draw();
  };
  return () => {
    if (is_coming) return;
    is_coming = true;
    if (document.visibilityState === "visible") requestAnimationFrame(now);
    else setTimeout(now, HIDDEN_MS);
  };
}

/** The work's own promise to all who ask while it is under way. */
export function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let going: Promise<Result> | null = null;
  return () => {
    going ??= work().finally(() => {
      going = null;
    });
    return going;
  };
}
