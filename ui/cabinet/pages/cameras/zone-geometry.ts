/** A point of the picture, from 0 to 1 from its upper left corner. */
export type Point = [number, number];

export const LEAST_POINTS = 3;
export const MOST_POINTS = 64;

const bounded = (value: number) => Math.round(Math.min(1, Math.max(0, value)) * 10_000) / 10_000;

export const pointAt = (x: number, y: number): Point => [bounded(x), bounded(y)];

export const moved = ([x, y]: Point, dx: number, dy: number): Point => pointAt(x + dx, y + dy);

export const replaced = (polygon: Point[], index: number, point: Point): Point[] =>
  polygon.map((each, at) => (at === index ? point : each));

export const without = (polygon: Point[], index: number): Point[] => polygon.filter((_, at) => at !== index);

/** A new point in the middle of the side that begins at `index`. */
export function split(polygon: Point[], index: number): Point[] {
  const middle = middleOf(polygon, index);
  return [...polygon.slice(0, index + 1), middle, ...polygon.slice(index + 1)];
}

export function middleOf(polygon: Point[], index: number): Point {
  const [ax, ay] = polygon[index] ?? [0, 0];
  const [bx, by] = polygon[(index + 1) % polygon.length] ?? [0, 0];
  return pointAt((ax + bx) / 2, (ay + by) / 2);
}

export const RECTANGLE: Point[] = [
  [0.35, 0.35],
  [0.65, 0.35],
  [0.65, 0.65],
  [0.35, 0.65],
];

/** A name that no zone has yet. */
export function freeName(word: string, taken: string[]): string {
  let number = 1;
  while (taken.includes(`${word} ${number}`)) number += 1;
  return `${word} ${number}`;
}
