import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import preact from "preact/package.json" with { type: "json" };
import { minify } from "terser";
import { defineConfig, type Plugin } from "vite";
import { cutPreact, RELEASE } from "./widget/preact-cuts.ts";

// What the page at `/` runs, the demo site at `/demo`, the API descriptions at `/docs`, the style of the pages that the
// server writes itself (api/templates), and the widget: `widget.js`, whose address is written into other people's sites, and what it loads.
// Files without a hash in their name are cached for minutes, so everything but the pages and that one has one.
export default defineConfig({
  root: "site",
  publicDir: false,
  oxc: { jsx: { runtime: "classic", pragma: "h", pragmaFrag: "Fragment" } },
  plugins: [classicJsx(), smallPreact(), closedLoader(), smallWidget()],
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    chunkSizeWarningLimit: 2000, // Swagger UI, which only the page at `/docs` loads
    target: "es2023",
    rolldownOptions: {
      preserveEntrySignatures: "exports-only",
      input: {
        home: "site/home/main.ts",
        demo: "site/demo.html",
        docs: "site/docs.html",
        pages: "site/styles/pages.css",
        widget: "widget/loader.ts",
        "widget-main": "widget/main.tsx",
        "widget-en": "widget/texts-en.ts",
        "widget-ru": "widget/texts-ru.ts",
      },
      output: {
        entryFileNames: ({ name }) => (name === "widget" ? "widget.js" : "assets/[name]-[hash].js"),
      },
    },
  },
});

/** Brings in what the classic form of JSX, which is the smaller one, is made of. */
function classicJsx(): Plugin {
  return {
    name: "classic-jsx",
    enforce: "pre",
    transform: (code, id) => (id.endsWith(".tsx") ? `import { Fragment, h } from "preact";\n${code}` : null),
  };
}

/** Bundles Preact from its source, without what the widget has no use for. */
function smallPreact(): Plugin {
  const source = `${realpathSync(fileURLToPath(new URL("node_modules/preact/src", import.meta.url)))}/`;
  return {
    name: "small-preact",
    enforce: "pre",
    buildStart() {
      if (preact.version !== RELEASE) this.error(`preact-cuts.ts is made for ${RELEASE}, this is ${preact.version}.`);
    },
    resolveId: (id) => (id === "preact" ? `${source}index.js` : null),
    transform: (code, id) => (id.startsWith(source) ? cutPreact(id.slice(source.length), code) : null),
  };
}

/** Makes the loader a classic script that leaves no name behind on its pages, and tells it the names of the rest. */
function closedLoader(): Plugin {
  return {
    name: "closed-loader",
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((each) => each.type === "chunk");
      const loader = chunks.find((each) => each.name === "widget");
      if (!loader || loader.imports.length + loader.exports.length > 0)
        return this.error(
          `widget.js must stand by itself. ${loader?.imports} ${loader?.exports} ${loader?.code.slice(0, 600)}`,
        );
      const fileOf = (_: string, name: string) => chunks.find((each) => each.name === `widget-${name}`)?.fileName ?? "";
      const code = loader.code
        .trim()
        .replace(/__FILE_(\w+?)__/g, fileOf)
        .replace("__IMPORT__", "import");
      loader.code = `(()=>{${code}})();\n`;
    },
  };
}

// Names of fields that others read or write: the server's, what is kept in the browser, and what a loader of an earlier
// release may hand over (launch.ts).
const OUTER_NAMES = [
  ...["header_title", "public_key", "expires_in", "message_id", "reply_to", "reply_id", "handed_over", "source_url"],
  ...["taken_over", "operator_name", "person_requested", "ends_at_ms"],
  ...["rate_limit_error", "unavailable_error"],
  ...["base", "key", "attributes", "frame", "shadow", "launcher", "loadTexts", "files"],
];

// Names of fields that are the widget's own: those of several words, Preact's inner ones, and these. A name must not be a server's, nor a key
// of `dataset`, nor one that is looked up by a string.
const OWN_NAMES = new RegExp(
  `^([a-z]+(_[a-z]+)+|_[a-z]\\w*|${[
    ...["conversation", "client", "entries", "visitor", "config", "failure", "launch", "listener", "pacer"],
    ...["asking", "heard", "shown", "said", "reason", "sources", "failures"],
    ...["amend", "amendAnswer", "answerOf", "questionOf", "entriesWithoutAnswer", "askAgain", "isComing", "startOver"],
    ...["askForPerson", "setUnread", "unread", "sendWaiting", "fetchConfig", "asVisitor", "dropToken", "become"],
    ...["rate", "steps", "kinds", "retry", "refresh", "dress", "beginning"],
    ...["beginAnswer", "beginConversation", "onNetwork", "stopping", "answered", "changed", "emit"],
    ...["fail", "kept", "listeners", "loading", "draw", "press", "problem", "take", "waiting", "widget", "wrong"],
    ...["asked", "reading", "drawn", "follow", "look", "words", "setForm", "tick", "beginNow"],
  ].join("|")})$`,
);

/** Makes the widget's files smaller: its own names become short, in all of them alike. */
function smallWidget(): Plugin {
  const nameCache = {};
  return {
    name: "small-widget",
    async renderChunk(code, chunk) {
      if (!chunk.name.startsWith("widget")) return null;
      const made = await minify(code, {
        module: true,
        ecma: 2020,
        nameCache,
        compress: { passes: 6, unsafe_arrows: true, unsafe_methods: true, pure_getters: true },
        mangle: { properties: { regex: OWN_NAMES, reserved: OUTER_NAMES } },
      });
      return made.code ?? null;
    },
  };
}
