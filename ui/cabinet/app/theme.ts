import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

// The green of the site and the widget, from the lightest tint to the deepest ink.
const green: MantineColorsTuple = [
  "#eaf5f2",
  "#d5e9e4",
  "#a9d4ca",
  "#78beae",
  "#4fab97",
  "#349f88",
  "#1d8f78",
  "#0f7a66",
  "#0f6b5c",
  "#0a5347",
];

export const theme = createTheme({
  primaryColor: "green",
  primaryShade: { light: 8, dark: 7 },
  autoContrast: true,
  luminanceThreshold: 0.2,
  colors: { green },
  defaultRadius: "md",
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "Segoe UI Mono", "DejaVu Sans Mono", monospace',
  headings: { fontWeight: "650", sizes: { h1: { fontSize: "1.625rem" }, h2: { fontSize: "1.125rem" } } },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // The page has one banner; that of a window is its title's frame alone.
    Modal: { defaultProps: { attributes: { header: { role: "presentation" } } } },
    // A menu holds its items alone, and lies within the page's own landmark.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, portalProps: { target: "#page" } } },
    Drawer: { defaultProps: { attributes: { header: { role: "presentation" } } } },
  },
});

/** The paper and ink of the site in place of Mantine's own. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-body": "#faf9f6",
    "--mantine-color-text": "#1c2120",
    "--mantine-color-dimmed": "#5a625f",
    "--mantine-color-error": "#b3261e",
    "--mantine-color-red-text": "#b3261e",
    // Of menu items' words: the usual one is too pale on paper and on its own tint.
    "--mantine-color-red-6": "#a51f17",
    "--raised": "#ffffff",
    "--line": "#e4e1d9",
    "--soft": "#5a625f",
  },
  dark: {
    "--mantine-color-body": "#131716",
    "--mantine-color-text": "#e7eae7",
    "--mantine-color-dimmed": "#a3aca8",
    "--mantine-color-error": "#ff9b8f",
    "--mantine-color-red-text": "#ff9b8f",
    "--mantine-color-red-6": "#ffb0a6",
    "--raised": "#1c2220",
    "--line": "#303835",
    "--soft": "#a3aca8",
  },
});
