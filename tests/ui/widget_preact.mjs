// Writes the Preact that the widget is built with, without the widget, as a script that a page can load.
import { realpathSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "../../ui/node_modules/vite/dist/node/index.js";
import { cutPreact } from "../../ui/widget/preact-cuts.ts";

const ui = fileURLToPath(new URL("../../ui/", import.meta.url));
const source = `${realpathSync(`${ui}node_modules/preact/src`)}/`;
const [made] = await build({
  root: ui,
  configFile: false,
  logLevel: "warn",
  plugins: [
    {
      name: "cut-preact",
      transform: (code, id) => (id.startsWith(source) ? cutPreact(id.slice(source.length), code) : null),
    },
  ],
  build: { write: false, minify: false, lib: { entry: `${source}index.js`, formats: ["iife"], name: "Preact" } },
});
writeFileSync(process.argv[2], made.output[0].code);
