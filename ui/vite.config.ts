import { defineConfig } from "vite";

// The page at `/`. Files without a hash in their name are not cached, so everything but index.html has one.
export default defineConfig({
  root: "site",
  publicDir: false,
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "baseline-widely-available",
  },
});
