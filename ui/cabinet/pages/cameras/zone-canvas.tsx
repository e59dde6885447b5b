import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { type Texts, useFormat, useTexts } from "../../i18n/language";
import classes from "./cameras.module.css";
import { KIND_COLOURS, type Zone } from "./kinds";
import {
  LEAST_POINTS,
  MOST_POINTS,
  middleOf,
  moved,
  type Point,
  pointAt,
  replaced,
  split,
  without,
} from "./zone-geometry";

const WIDTH = 1000;
const STEP = 0.01;
const BIG_STEP = 0.05;
const CLOSE = 0.025;
const STEPS: Record<string, Point> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const texts: Texts<{
  zones: string;
  point: (zone: string, number: number, count: number, x: string, y: string) => string;
  keys: string;
}> = {
  en: {
    zones: "Zones on the picture",
    point: (zone, number, count, x, y) => `${zone}, point ${number} of ${count}: ${x} from the left, ${y} from above`,
    keys: "Arrow keys move the point, with Shift in larger steps; Plus adds one behind it, Delete takes it away.",
  },
  ru: {
    zones: "Зоны на изображении",
    point: (zone, number, count, x, y) => `${zone}, точка ${number} из ${count}: ${x} слева, ${y} сверху`,
    keys: "Стрелки двигают точку, с Shift — крупными шагами; плюс добавляет точку после неё, Delete убирает.",
  },
};

interface ZoneCanvasProps {
  zones: Zone[];
  selected: number | null;
  /** The points of a zone that is being drawn; null where none is. */
  drawn: Point[] | null;
  /** Width to height. */
  ratio: number;
  isLocked: boolean;
  onSelect: (index: number) => void;
  /** `isStep`: something to be undone by itself; a drag is one from its begin to its end. */
  onPolygon: (index: number, polygon: Point[], isStep: boolean) => void;
  onDrawn: (points: Point[]) => void;
  onClose: () => void;
}

/** The zones over the picture: drawn and moved by mouse, finger and keys. */
export function ZoneCanvas(props: ZoneCanvasProps) {
  const { zones, selected, drawn, ratio, isLocked, onSelect, onDrawn, onClose } = props;
  const t = useTexts(texts);
  const height = WIDTH / ratio;
  const svg = useRef<SVGSVGElement>(null);
  const placeOf = (event: PointerEvent): Point => {
    const box = svg.current?.getBoundingClientRect();
    if (!box) return [0, 0];
    return pointAt((event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height);
  };
  const path = (polygon: Point[]) => polygon.map(([x, y]) => `${x * WIDTH},${y * height}`).join(" ");
  const add = (event: PointerEvent) => {
    if (!drawn || event.button !== 0) return;
    const point = placeOf(event);
    const [first] = drawn;
    const isFirst = first && Math.hypot(point[0] - first[0], (point[1] - first[1]) / ratio) < CLOSE;
    if (isFirst && drawn.length >= LEAST_POINTS) onClose();
    else if (!isFirst && drawn.length < MOST_POINTS) onDrawn([...drawn, point]);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an SVG's parts are grouped by their role
    <svg
      ref={svg}
      className={`${classes.overlay} ${drawn ? classes.drawing : ""}`}
      viewBox={`0 0 ${WIDTH} ${height}`}
      role="group"
      aria-label={t.zones}
      onPointerDown={add}
    >
      {zones.map((zone, index) => (
        <g key={index}>
          <polygon
            points={path(zone.polygon as Point[])}
            fill={KIND_COLOURS[zone.kind]}
            fillOpacity={index === selected ? 0.35 : 0.2}
            stroke={KIND_COLOURS[zone.kind]}
            strokeWidth={index === selected ? 4 : 2}
            onPointerDown={() => !drawn && onSelect(index)}
          />
          <text
            x={(zone.polygon[0]?.[0] ?? 0) * WIDTH + 8}
            y={(zone.polygon[0]?.[1] ?? 0) * height + 26}
            fontSize={22}
            fontWeight={600}
            fill="#fff"
            stroke="#000"
            strokeWidth={4}
            paintOrder="stroke"
            pointerEvents="none"
          >
            {zone.name.slice(0, 40)}
          </text>
        </g>
      ))}
      {selected !== null && !drawn && !isLocked && zones[selected] && (
        <Handles {...props} zone={zones[selected]} index={selected} height={height} placeOf={placeOf} />
      )}
      {drawn && drawn.length > 0 && (
        <g pointerEvents="none">
          <polyline points={path(drawn)} fill="none" stroke="#fff" strokeWidth={3} strokeDasharray="8 6" />
          {drawn.map(([x, y], index) => (
            <circle
              key={index}
              cx={x * WIDTH}
              cy={y * height}
              r={index === 0 ? 12 : 7}
              fill={index === 0 ? "#0f6b5c" : "#fff"}
              stroke="#fff"
              strokeWidth={2}
            />
          ))}
        </g>
      )}
    </svg>
  );
}

interface HandlesProps extends ZoneCanvasProps {
  zone: Zone;
  index: number;
  height: number;
  placeOf: (event: PointerEvent) => Point;
}

function Handles({ zone, index, height, placeOf, onPolygon }: HandlesProps) {
  const t = useTexts(texts);
  const format = useFormat();
  const dragged = useRef<number | null>(null);
  const polygon = zone.polygon as Point[];
  const onKey = (event: KeyboardEvent, at: number) => {
    const point = polygon[at];
    const step = STEPS[event.key];
    if (!point) return;
    if (step) {
      const size = event.shiftKey ? BIG_STEP : STEP;
      onPolygon(index, replaced(polygon, at, moved(point, step[0] * size, step[1] * size)), true);
    } else if ((event.key === "+" || event.key === "=") && polygon.length < MOST_POINTS) {
      onPolygon(index, split(polygon, at), true);
    } else if ((event.key === "Delete" || event.key === "Backspace") && polygon.length > LEAST_POINTS) {
      onPolygon(index, without(polygon, at), true);
    } else {
      return;
    }
    event.preventDefault();
  };
  return (
    <g>
      {polygon.length < MOST_POINTS &&
        polygon.map((_, at) => {
          const [x, y] = middleOf(polygon, at);
          return (
            <circle
              key={`middle ${at}`}
              cx={x * WIDTH}
              cy={y * height}
              r={8}
              fill="#fff"
              fillOpacity={0.5}
              className={classes.point}
              onPointerDown={(event) => {
                event.stopPropagation();
                onPolygon(index, split(polygon, at), true);
              }}
            />
          );
        })}
      {polygon.map(([x, y], at) => (
        // biome-ignore lint/a11y/useSemanticElements: there is no button within an SVG
        <g
          key={at}
          role="button"
          tabIndex={0}
          className={classes.point}
          aria-label={t.point(zone.name, at + 1, polygon.length, format.percent(x * 100), format.percent(y * 100))}
          aria-description={t.keys}
          onKeyDown={(event) => onKey(event, at)}
          onPointerDown={(event) => {
            event.stopPropagation();
            event.currentTarget.setPointerCapture(event.pointerId);
            dragged.current = at;
            onPolygon(index, polygon, true);
          }}
          onPointerMove={(event) => {
            if (dragged.current === at) onPolygon(index, replaced(polygon, at, placeOf(event)), false);
          }}
          onPointerUp={() => {
            dragged.current = null;
          }}
          onPointerCancel={() => {
            dragged.current = null;
          }}
        >
          {/* As large as a finger. */}
          <circle cx={x * WIDTH} cy={y * height} r={26} fill="transparent" />
          <circle
            className={classes.dot}
            cx={x * WIDTH}
            cy={y * height}
            r={11}
            fill={KIND_COLOURS[zone.kind]}
            stroke="#fff"
            strokeWidth={2}
          />
        </g>
      ))}
    </g>
  );
}
