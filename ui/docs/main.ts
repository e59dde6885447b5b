// The API descriptions of this very server, shown by Swagger UI. Nothing is loaded from elsewhere.
import SwaggerUI, { type Plugin } from "swagger-ui-dist/swagger-ui-es-bundle.js";

const LAYERS = [
  ["public", "Public"],
  ["speech", "Speech"],
  ["integration", "Integration"],
  ["vision", "Vision"],
] as const;

function chosenLayer(): string {
  const asked = new URLSearchParams(location.search).get("api");
  return LAYERS.find(([layer]) => layer === asked)?.[0] ?? LAYERS[0][0];
}

function showLayers(chosen: string): void {
  const links = LAYERS.map(([layer, name]) => {
    const link = document.createElement("a");
    link.href = `?api=${layer}`;
    link.textContent = name;
    if (layer === chosen) link.setAttribute("aria-current", "page");
    return link;
  });
  document.getElementById("layers")?.append(...links);
}

/** Swagger UI's own dark colours hang on a class of the document. */
function followColourScheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", follow);
  follow();
}

interface Linked {
  path: string;
  text: unknown;
}

/** Swagger UI puts a link into the button of each operation, which those who hear the page cannot tell apart: there its
 * words alone. The address follows what is opened all the same. */
const withoutLinksInButtons: Plugin = ({ React }) => ({
  wrapComponents: {
    DeepLink: (Link) => (props) =>
      (props as Linked).path.includes("/")
        ? React.createElement("span", null, (props as Linked).text)
        : React.createElement(Link, props),
  },
});

function main(): void {
  const place = document.getElementById("description");
  if (!place) return;
  const layer = chosenLayer();
  showLayers(layer);
  followColourScheme();
  SwaggerUI({
    domNode: place,
    url: `/openapi/${layer}.json`,
    presets: [SwaggerUI.presets.apis],
    plugins: [withoutLinksInButtons],
    layout: "BaseLayout",
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    defaultModelExpandDepth: 2,
    defaultModelRendering: "model",
    displayRequestDuration: true,
    showExtensions: false,
    validatorUrl: null,
    persistAuthorization: false,
    onComplete: () => {
      place.removeAttribute("aria-busy");
      const title = place.querySelector("h1, h2.title")?.firstChild?.textContent;
      if (title) document.title = title;
      // Swagger UI's own landmark begins behind it.
      const about = place.querySelector(".information-container");
      about?.setAttribute("role", "region");
      about?.setAttribute("aria-label", document.title);
    },
  });
}

main();
