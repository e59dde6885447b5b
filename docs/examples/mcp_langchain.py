"""Gives Parley's tools to LangChain and calls one of them; an agent gets the same list.

pip install langchain-mcp-adapters
PARLEY_URL=http://127.0.0.1:8080 PARLEY_KEY=sk_live_... python docs/examples/mcp_langchain.py "question"
"""

import asyncio
import os
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient


async def main(question: str) -> None:
    parley = {
        "transport": "streamable_http",
        "url": os.environ.get("PARLEY_URL", "http://127.0.0.1:8080") + "/mcp",
        "headers": {"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"},
    }
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"parley": parley}).get_tools()}
    print("tools:", ", ".join(tools))
    # An agent instead: langchain.agents.create_agent(model, list(tools.values()))
    for content in await tools["search_documents"].ainvoke({"query": question}):
        print(content["text"])


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "What does it cost?"))
