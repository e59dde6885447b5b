import { copyButton } from "./copy";
import { byId, element } from "./dom";
import { texts } from "./texts";

/** How the same answers come to other sites, to agents and to programs. */
export function showConnect(key: string): void {
  byId("connect-title", HTMLElement).textContent = texts.connect_title;
  const [lead, end] = texts.connect_lead;
  byId("connect-lead", HTMLElement).append(`${lead} `, element("code", {}, "data/demo.json"), end);
  byId("snippets", HTMLElement).append(
    snippet(texts.widget_title, texts.widget_lead, widget(location.origin, key || "WIDGET_KEY")),
    snippet(texts.mcp_title, texts.mcp_lead, mcp(location.origin)),
    snippet(texts.curl_title, texts.curl_lead, curl(location.origin)),
  );
}

function snippet(title: string, lead: string, code: string): HTMLElement {
  return element(
    "article",
    { class: "snippet-card" },
    element(
      "div",
      { class: "snippet-head" },
      element("h3", {}, title),
      copyButton(() => code, `${texts.copy}: ${title}`),
    ),
    element("p", {}, lead),
    element("pre", { tabindex: 0 }, element("code", {}, code)),
  );
}

function widget(origin: string, key: string): string {
  return `<script src="${origin}/widget.js" data-widget-key="${key}" async></script>`;
}

function mcp(origin: string): string {
  const headers = { Authorization: "Bearer API_KEY" };
  return JSON.stringify({ mcpServers: { parley: { type: "http", url: `${origin}/mcp`, headers } } }, null, 2);
}

function curl(origin: string): string {
  return [
    `curl -N ${origin}/public/v1/chats/CHAT_ID/messages \\`,
    `  -H "Authorization: Bearer API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -H "Accept: text/event-stream" \\`,
    `  -d '${JSON.stringify({ text: texts.example_question })}'`,
  ].join("\n");
}
