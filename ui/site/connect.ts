import { byId, element } from "../chat/dom";
import { copyButton } from "./copy";
import { texts } from "./texts";

/** How agents and programs reach the same answers. */
export function showConnect(): void {
  byId("connect-title", HTMLElement).textContent = texts.connect_title;
  const [lead, end] = texts.connect_lead;
  byId("connect-lead", HTMLElement).append(`${lead} `, element("code", {}, "data/demo.json"), end);
  byId("snippets", HTMLElement).append(
    snippet(texts.mcp_title, texts.mcp_lead, mcp(location.origin)),
    snippet(texts.curl_title, texts.curl_lead, curl(location.origin)),
  );
}

function snippet(title: string, lead: string, code: string): HTMLElement {
  const copy = copyButton(() => code, `${texts.copy}: ${title}`);
  return element(
    "article",
    { class: "snippet-card" },
    element("div", { class: "snippet-head" }, element("h3", {}, title), copy),
    element("p", {}, lead),
    element("pre", { tabindex: 0 }, element("code", {}, code)),
  );
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
