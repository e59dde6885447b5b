// What a visitor's browser loads: the loader, the widget, and its texts in one language. Fails when that grows too large.
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const MOST_BYTES = 19_980;
const DIST = new URL("../dist/", import.meta.url);

const assets = readdirSync(new URL("assets/", DIST)).filter((name) => /^widget-.*\.js$/.test(name));
const sizeOf = (name) => gzipSync(readFileSync(new URL(name, DIST)), { level: 9 }).length;
const sizes = Object.fromEntries(
  ["widget.js", ...assets.map((name) => `assets/${name}`)].map((name) => [name, sizeOf(name)]),
);
const of = (part) => Object.entries(sizes).find(([name]) => name.includes(part))?.[1] ?? Number.POSITIVE_INFINITY;
const whole = of("widget.js") + of("widget-main") + Math.max(of("widget-en"), of("widget-ru"));

process.stdout.write(`The widget is ${whole} bytes of at most ${MOST_BYTES} (gzip).\n`);
if (whole > MOST_BYTES) process.exitCode = 1;
