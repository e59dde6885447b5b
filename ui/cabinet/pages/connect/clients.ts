import type { Language } from "../../i18n/language";

/** A step of connecting a client: a file or a command, with the address and the key in it. */
export interface Step {
  label: string;
  text: string;
}

export interface Client {
  id: string;
  name: string;
  hint: Record<Language, string>;
  steps: (url: string, key: string) => Step[];
}

const json = (value: unknown) => JSON.stringify(value, null, 2);
const header = (key: string) => ({ Authorization: `Bearer ${key}` });

/** As docs/mcp.md has them; the tests of the documentation run what can be run. */
export const CLIENTS: Client[] = [
  {
    id: "claude-code",
    name: "Claude Code",
    hint: {
      en: "Run this once in a terminal. Then ask Claude about your calls.",
      ru: "Выполните один раз в терминале и спрашивайте Claude о своих звонках.",
    },
    steps: (url, key) => [
      {
        label: "Terminal",
        text: `claude mcp add --transport http parley ${url} --header "Authorization: Bearer ${key}"\nclaude mcp list`,
      },
    ],
  },
  {
    id: "claude-desktop",
    name: "Claude Desktop",
    hint: {
      en: "Needs Node 20 or newer. Settings, Developer, Edit Config opens the file; restart Claude afterwards.",
      ru: "Нужен Node 20 или новее. Файл открывается в Settings → Developer → Edit Config; потом перезапустите Claude.",
    },
    steps: (url, key) => [
      {
        label: "claude_desktop_config.json",
        text: json({
          mcpServers: {
            parley: {
              command: "npx",
              // No space behind the colon: some systems take arguments apart at spaces.
              // biome-ignore lint/suspicious/noTemplateCurlyInString: mcp-remote fills it in from the environment
              args: ["-y", "mcp-remote", url, "--header", "Authorization:${PARLEY_AUTH}"],
              env: { PARLEY_AUTH: `Bearer ${key}` },
            },
          },
        }),
      },
    ],
  },
  {
    id: "cursor",
    name: "Cursor",
    hint: {
      en: "Into ~/.cursor/mcp.json, or .cursor/mcp.json of a project.",
      ru: "В файл ~/.cursor/mcp.json или .cursor/mcp.json в проекте.",
    },
    steps: (url, key) => [
      { label: "~/.cursor/mcp.json", text: json({ mcpServers: { parley: { url, headers: header(key) } } }) },
    ],
  },
  {
    id: "chatgpt",
    name: "ChatGPT, OpenAI API",
    hint: {
      en: "OpenAI's servers must reach this one over HTTPS. The ChatGPT app sends no key: how a proxy adds it is in the documentation.",
      ru: "Серверы OpenAI должны видеть этот сервер по HTTPS. Приложение ChatGPT ключ не передаёт: как добавить его через прокси, описано в документации.",
    },
    steps: (url, key) => [
      {
        label: "POST /v1/responses",
        text: json({
          tools: [
            {
              type: "mcp",
              server_label: "parley",
              server_url: url,
              headers: header(key),
              require_approval: "never",
            },
          ],
        }),
      },
    ],
  },
  {
    id: "vscode",
    name: "VS Code",
    hint: {
      en: "VS Code asks for the key once and keeps it in its secret storage. The tools appear in Copilot's agent mode.",
      ru: "VS Code один раз спросит ключ и сохранит его в своём хранилище. Инструменты появятся в режиме агента Copilot.",
    },
    steps: (url, key) => [
      {
        label: ".vscode/mcp.json",
        text: json({
          inputs: [{ id: "parley-key", type: "promptString", description: "Parley key", password: true }],
          servers: {
            parley: {
              type: "http",
              url,
              // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code fills it in
              headers: { Authorization: "Bearer ${input:parley-key}" },
            },
          },
        }),
      },
      { label: "Parley key", text: key },
    ],
  },
  {
    id: "langchain",
    name: "LangChain",
    hint: {
      en: "pip install langchain-mcp-adapters, then the tools are LangChain's own.",
      ru: "pip install langchain-mcp-adapters, и инструменты становятся инструментами LangChain.",
    },
    steps: (url, key) => [
      {
        label: "agent.py",
        text: [
          "from langchain_mcp_adapters.client import MultiServerMCPClient",
          "",
          "client = MultiServerMCPClient({",
          '    "parley": {',
          '        "transport": "streamable_http",',
          `        "url": "${url}",`,
          `        "headers": {"Authorization": "Bearer ${key}"},`,
          "    }",
          "})",
          "tools = await client.get_tools()",
        ].join("\n"),
      },
    ],
  },
  {
    id: "sdk",
    name: "SDK, curl",
    hint: {
      en: "Each request stands by itself: no handshake, no session.",
      ru: "Каждый запрос самостоятельный: без рукопожатия и сессии.",
    },
    steps: (url, key) => [
      {
        label: "curl",
        text: [
          `curl -s ${url} -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\`,
          '  -d \'{"jsonrpc": "2.0", "id": 1, "method": "tools/call",',
          '       "params": {"name": "search_communications", "arguments": {"limit": 3}}}\'',
        ].join("\n"),
      },
    ],
  },
];
