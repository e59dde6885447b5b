// What the browser loads before the cabinet's first page shows, compressed: the entry with what it imports, and its style.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const MOST_BYTES = 250_000;
const built = new URL("../dist/cabinet/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", built), "utf-8"));
const files = new Set();
const add = (name) => {
  const chunk = manifest[name];
  if (!chunk || files.has(chunk.file)) return;
  files.add(chunk.file);
  for (const style of chunk.css ?? []) files.add(style);
  for (const imported of chunk.imports ?? []) add(imported);
};
add("index.html");
add("pages/overview/overview.tsx");
const sizes = [...files].map((file) => [file, gzipSync(readFileSync(new URL(file, built))).length]);
const total = sizes.reduce((sum, [, size]) => sum + size, 0);
for (const [file, size] of sizes) process.stdout.write(`${String(size).padStart(8)}  ${file}\n`);
process.stdout.write(`${String(total).padStart(8)}  of ${MOST_BYTES} bytes for the cabinet's first page\n`);
if (total > MOST_BYTES) process.exit(1);
