import { useState } from "react";
import type { Zone } from "./kinds";

const MOST_STEPS = 100;

/** Zones as they are edited, with what they were before each step. */
export function useZones(saved: Zone[]) {
  const [edited, setEdited] = useState<Zone[] | null>(null);
  const [before, setBefore] = useState<(Zone[] | null)[]>([]);
  const zones = edited ?? saved;
  return {
    zones,
    isChanged: edited !== null && JSON.stringify(edited) !== JSON.stringify(saved),
    canUndo: before.length > 0,
    /** `isStep` false goes on with the step before, as a drag does. */
    change: (next: Zone[], isStep = true) => {
      if (isStep) setBefore((steps) => [...steps, edited].slice(-MOST_STEPS));
      setEdited(next);
    },
    undo: () => {
      setEdited(before.at(-1) ?? null);
      setBefore((steps) => steps.slice(0, -1));
    },
    reset: () => {
      setEdited(null);
      setBefore([]);
    },
  };
}
