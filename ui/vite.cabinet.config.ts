import { defineConfig } from "vite";

// The cabinet at `/cabinet`: a React application, apart from the site and the widget, which are built by
// vite.config.ts with Preact and shortened names. The server writes the session and a nonce into its page.
export default defineConfig({
  root: "cabinet",
  base: "/cabinet/",
  publicDir: false,
  build: {
    outDir: "../dist/cabinet",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: "es2023",
    manifest: true,
    chunkSizeWarningLimit: 700, // ECharts, which is loaded with the first chart
    rolldownOptions: {
      // "use client" is for servers that render React; Mantine says it in every file.
      onwarn: (warning, warn) => (warning.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : warn(warning)),
    },
  },
});
