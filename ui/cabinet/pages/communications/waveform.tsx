import { useComputedColorScheme } from "@mantine/core";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import type { Item } from "./kinds";
import classes from "./player.module.css";
import { lastBefore } from "./use-player";
import type { Voice } from "./voices";

const WAVE_PX = 64;
const LANE_PX = 7;
const BAR_PX = 3;

interface WaveformProps {
  peaks: number[] | null;
  durationMs: number;
  seconds: number;
  items: Item[];
  voices: Map<string, Voice>;
  label: string;
  shown: string;
  onSeek: (seconds: number) => void;
}

/** The loudness of a call in the colours of who speaks, and a lane for each of them; where one clicks it goes on. */
export function Waveform({ peaks, durationMs, seconds, items, voices, label, shown, onSeek }: WaveformProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const scheme = useComputedColorScheme("light");
  const lanes = useMemo(() => [...voices.values()].filter((voice) => voice.ms > 0), [voices]);
  const height = WAVE_PX + 6 + lanes.length * LANE_PX;
  const timed = useMemo(() => items.filter((item) => item.start_ms !== null), [items]);
  const starts = useMemo(() => timed.map((item) => item.start_ms ?? 0), [timed]);

  useEffect(() => {
    const node = canvas.current;
    if (!node) return;
    const observer = new ResizeObserver(() => setWidth(node.clientWidth));
    observer.observe(node);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const node = canvas.current;
    const draw = node?.getContext("2d");
    if (!node || !draw || !width || !durationMs) return;
    const scale = window.devicePixelRatio || 1;
    node.width = width * scale;
    node.height = height * scale;
    draw.scale(scale, scale);
    draw.clearRect(0, 0, width, height);
    const played = ((seconds * 1000) / durationMs) * width;
    const silent = scheme === "dark" ? "#4a5450" : "#c9c5ba";
    const count = Math.max(1, Math.floor(width / BAR_PX));
    for (let bar = 0; bar < count; bar++) {
      const from = Math.floor((bar / count) * (peaks?.length ?? 0));
      const to = Math.max(from + 1, Math.floor(((bar + 1) / count) * (peaks?.length ?? 0)));
      let loudest = 0;
      for (let each = from; each < to; each++) loudest = Math.max(loudest, peaks?.[each] ?? 0);
      const tall = Math.max(2, (loudest / 255) * (WAVE_PX - 4));
      const ms = ((bar + 0.5) / count) * durationMs;
      const item = timed[lastBefore(starts, ms)];
      const isSaid = item && ms <= (item.end_ms ?? 0);
      draw.fillStyle = isSaid ? (voices.get(item.label ?? "")?.colour ?? silent) : silent;
      draw.globalAlpha = bar * BAR_PX <= played ? 1 : 0.45;
      draw.fillRect(bar * BAR_PX, (WAVE_PX - tall) / 2, BAR_PX - 1, tall);
    }
    draw.globalAlpha = 1;
    lanes.forEach((voice, lane) => {
      const top = WAVE_PX + 6 + lane * LANE_PX;
      draw.fillStyle = scheme === "dark" ? "#262d2a" : "#efece5";
      draw.fillRect(0, top, width, LANE_PX - 2);
      draw.fillStyle = voice.colour;
      for (const item of timed) {
        if ((item.label ?? "") !== voice.label) continue;
        const left = ((item.start_ms ?? 0) / durationMs) * width;
        const wide = (((item.end_ms ?? item.start_ms ?? 0) - (item.start_ms ?? 0)) / durationMs) * width;
        draw.fillRect(left, top, Math.max(1, wide), LANE_PX - 2);
      }
    });
    draw.fillStyle = scheme === "dark" ? "#ffffff" : "#1c2120";
    draw.fillRect(Math.min(width - 2, played), 0, 2, height);
  }, [peaks, durationMs, seconds, timed, starts, voices, lanes, width, height, scheme]);

  const seekTo = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const share = (event.clientX - box.left) / Math.max(1, box.width);
    onSeek((Math.min(1, Math.max(0, share)) * durationMs) / 1000);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const end = durationMs / 1000;
    const to = { Home: 0, End: end - 1, PageUp: seconds - 30, PageDown: seconds + 30 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    onSeek(Math.max(0, to));
  };
  return (
    <div
      className={classes.wave}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={Math.round(durationMs / 1000)}
      aria-valuenow={Math.round(seconds)}
      aria-valuetext={shown}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        seekTo(event);
      }}
      onPointerMove={(event) => event.buttons === 1 && seekTo(event)}
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} className={classes.canvas} style={{ height }} aria-hidden />
    </div>
  );
}
