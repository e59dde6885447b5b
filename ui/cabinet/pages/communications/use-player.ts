import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Item } from "./kinds";

export const SPEEDS = [0.75, 1, 1.25, 1.5, 1.75, 2];
const STEP_S = 5;

export interface Words {
  [idx: number]: { word: string; start_ms: number }[];
}

/** Where the recording is: the utterance that is said now, and the word of it. */
export interface Place {
  idx: number | null;
  word: number | null;
}

export interface Player {
  audio: RefObject<HTMLAudioElement | null>;
  isPlaying: boolean;
  isBroken: boolean;
  seconds: number;
  place: Place;
  speed: number;
  setSpeed: (speed: number) => void;
  toggle: () => void;
  /** Goes there, and plays if `play` says so or it was playing. */
  seek: (seconds: number, play?: boolean) => void;
  step: (seconds: number) => void;
}

/** The number of the last one that began by then, -1 before the first. `starts` ascend. */
export function lastBefore(starts: number[], ms: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The audio element of a call, and what is said at its moment. */
export function usePlayer(items: Item[], words: Words): Player {
  const audio = useRef<HTMLAudioElement>(null);
  const [isPlaying, setPlaying] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const [seconds, setSeconds] = useState(0);
  const [place, setPlace] = useState<Place>({ idx: null, word: null });
  const [speed, setSpeed] = useState(1);
  const timed = useMemo(
    () =>
      items.filter((item) => item.start_ms !== null).sort((one, other) => (one.start_ms ?? 0) - (other.start_ms ?? 0)),
    [items],
  );
  const starts = useMemo(() => timed.map((item) => item.start_ms ?? 0), [timed]);

  const look = useCallback(() => {
    const node = audio.current;
    if (!node) return;
    const ms = node.currentTime * 1000;
    setSeconds(node.currentTime);
    const found = timed[lastBefore(starts, ms)];
    // What was said stays lit through the silence behind it, for an eye that follows.
    const idx = found ? found.idx : null;
    const said = idx === null ? undefined : words[idx];
    const word = said
      ? lastBefore(
          said.map((each) => each.start_ms),
          ms,
        )
      : null;
    setPlace((before) => (before.idx === idx && before.word === word ? before : { idx, word }));
  }, [timed, starts, words]);

  useEffect(() => {
    const node = audio.current;
    if (!node) return;
    const play = () => setPlaying(true);
    const pause = () => setPlaying(false);
    const fail = () => setBroken(true);
    node.addEventListener("play", play);
    node.addEventListener("pause", pause);
    node.addEventListener("ended", pause);
    node.addEventListener("error", fail);
    node.addEventListener("seeked", look);
    node.addEventListener("timeupdate", look);
    return () => {
      node.removeEventListener("play", play);
      node.removeEventListener("pause", pause);
      node.removeEventListener("ended", pause);
      node.removeEventListener("error", fail);
      node.removeEventListener("seeked", look);
      node.removeEventListener("timeupdate", look);
    };
  }, [look]);

  // Words are shorter than the browser's own notices of time.
  useEffect(() => {
    if (!isPlaying) return;
    let frame = requestAnimationFrame(function again() {
      look();
      frame = requestAnimationFrame(again);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, look]);

  useEffect(() => {
    if (audio.current) audio.current.playbackRate = speed;
  }, [speed]);

  const toggle = useCallback(() => {
    const node = audio.current;
    if (!node) return;
    if (node.paused) void node.play().catch(() => setBroken(node.error !== null));
    else node.pause();
  }, []);
  const seek = useCallback((to: number, play = false) => {
    const node = audio.current;
    if (!node) return;
    node.currentTime = Math.max(0, Number.isFinite(node.duration) ? Math.min(to, node.duration) : to);
    setSeconds(node.currentTime);
    if (play && node.paused) void node.play().catch(() => setBroken(node.error !== null));
  }, []);
  const step = useCallback((by: number) => seek((audio.current?.currentTime ?? 0) + by), [seek]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const at = event.target as HTMLElement;
      const isOwn = at.closest(
        "input, textarea, select, [contenteditable], [role=menu], [role=dialog], [role=listbox]",
      );
      if (isOwn || !audio.current) return;
      // A button under the focus is pressed by the space bar as everywhere.
      const isPressed = at.closest("button, a, [role=button]") && event.key === " ";
      if (event.key === " " && !isPressed) toggle();
      else if (event.key === "ArrowLeft") step(-STEP_S);
      else if (event.key === "ArrowRight") step(STEP_S);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [toggle, step]);

  return { audio, isPlaying, isBroken, seconds, place, speed, setSpeed, toggle, seek, step };
}
