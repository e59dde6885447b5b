"""The tools, their registry, and the MCP endpoint over them."""
