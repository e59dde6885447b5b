// Lists Parley's tools and searches its documents with the official TypeScript SDK.
//
// npm install @modelcontextprotocol/client
// PARLEY_URL=http://127.0.0.1:8080 PARLEY_KEY=sk_live_... node mcp_client.mjs "question"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const url = new URL(`${process.env.PARLEY_URL ?? "http://127.0.0.1:8080"}/mcp`);
const headers = { Authorization: `Bearer ${process.env.PARLEY_KEY}` };
const client = new Client({ name: "example", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
const { tools } = await client.listTools();
console.log("tools:", tools.map((tool) => tool.name).join(", "));
const query = process.argv[2] ?? "What does it cost?";
const found = await client.callTool({ name: "search_documents", arguments: { query } });
for (const content of found.content) console.log(content.text);
await client.close();
