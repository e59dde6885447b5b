type Colour = readonly [number, number, number];

/** The widget's colours around one accent, all of them readable (WCAG 2.2: 4.5 to 1 for text). */
export interface Palette {
  fill: string;
  "on-fill": string;
  accent: string;
  tint: string;
}

const DEFAULT: Colour = [15, 107, 92];
const PAPER = { light: [255, 255, 255], dark: [24, 27, 29] } as const satisfies Record<string, Colour>;
const SUNKEN = { light: [242, 243, 243], dark: [38, 42, 45] } as const satisfies Record<string, Colour>;
const WHITE: Colour = [255, 255, 255];
const BLACK: Colour = [0, 0, 0];
const READABLE = 4.5;
const SEEN = 1.6;

export function paletteOf(accent: string | null, scheme: "light" | "dark"): Palette {
  const given = parse(accent ?? "") ?? DEFAULT;
  const paper = PAPER[scheme];
  const away = scheme === "light" ? BLACK : WHITE;
  const fill = until(given, away, (colour) => contrast(colour, paper) >= SEEN);
  const tint = mix(given, paper, scheme === "light" ? 0.88 : 0.78);
  const grounds = [paper, SUNKEN[scheme], tint];
  const text = until(given, away, (colour) => grounds.every((ground) => contrast(colour, ground) >= READABLE));
  // Between the two lies no gap: what is too light for white is light enough for black.
  const on_fill = contrast(fill, WHITE) >= READABLE ? WHITE : BLACK;
  return { fill: css(fill), "on-fill": css(on_fill), accent: css(text), tint: css(tint) };
}

/** The colour, moved towards another until it will do. */
function until(colour: Colour, away: Colour, will_do: (colour: Colour) => boolean): Colour {
  for (let share = 0; share < 1; share += 0.04) {
    const moved = mix(colour, away, share);
    if (will_do(moved)) return moved;
  }
  return away;
}

function mix(one: Colour, other: Colour, share: number): Colour {
  const part = (index: 0 | 1 | 2) => one[index] + (other[index] - one[index]) * share;
  return [part(0), part(1), part(2)];
}

function contrast(one: Colour, other: Colour): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((first, second) => first - second);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function parse(text: string): Colour | null {
  if (!/^#[\da-f]{6}$/i.test(text)) return null;
  const part = (from: number) => Number.parseInt(text.slice(from, from + 2), 16);
  return [part(1), part(3), part(5)];
}

function css(colour: Colour): string {
  return `rgb(${colour.map((value) => Math.round(value)).join(" ")})`;
}
