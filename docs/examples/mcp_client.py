"""Lists Parley's tools and searches its documents with the official MCP SDK.

PARLEY_URL=http://127.0.0.1:8080 PARLEY_KEY=sk_live_... python docs/examples/mcp_client.py "question"
"""

import asyncio
import os
import sys

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main(question: str) -> None:
    url = os.environ.get("PARLEY_URL", "http://127.0.0.1:8080") + "/mcp"
    headers = {"Authorization": f"Bearer {os.environ['PARLEY_KEY']}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(url, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        await session.initialize()
        tools = await session.list_tools()
        print("tools:", ", ".join(tool.name for tool in tools.tools))
        result = await session.call_tool("search_documents", {"query": question})
        for content in result.content:
            print(content.text)


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "What does it cost?"))
