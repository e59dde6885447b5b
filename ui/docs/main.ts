// The API descriptions of this very server, shown by Swagger UI. Nothing is loaded from elsewhere.
import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";

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
  document.getElementById("layers")?.replaceChildren(...links);
}

/** Swagger UI's own dark colours hang on a class of the document. */
function followColourScheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", follow);
  follow();
}

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
    },
  });
}

main();
