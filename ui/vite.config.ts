import { defineConfig } from "vite";

// The page at `/`, the API descriptions at `/docs`, and the style of the pages that the server writes itself
// (api/templates). Files without a hash in their name are not cached, so everything but the pages has one.
export default defineConfig({
  root: "site",
  publicDir: false,
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000, // Swagger UI, which the page at `/` does not load
    target: "baseline-widely-available",
    rolldownOptions: {
      input: { index: "site/index.html", docs: "site/docs.html", pages: "site/styles/pages.css" },
    },
  },
});
