import { failureOf } from "../../api/client";

/** The key is unknown or ended. */
export class ConnectionRefused extends Error {}

interface Listed {
  result?: { tools: { name: string }[] };
}

/** The names of the tools that an agent finds by this key. Without the cookie: an agent has none. */
export async function listTools(key: string): Promise<string[]> {
  const answer = await fetch("/mcp", {
    method: "POST",
    credentials: "omit",
    headers: {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2025-06-18",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  });
  if (answer.status === 401) throw new ConnectionRefused();
  if (!answer.ok) throw failureOf(answer.status, undefined);
  const listed = (await answer.json()) as Listed;
  return listed.result?.tools.map((tool) => tool.name) ?? [];
}
