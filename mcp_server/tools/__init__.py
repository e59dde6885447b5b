"""One typed function a tool; each takes the caller's tenant from its context and nothing else."""

from mcp_server.registry import Registry
from mcp_server.tools import communications, knowledge


def make_registry() -> Registry:
    """Every tool of Parley."""
    return Registry([*communications.TOOLS, *knowledge.TOOLS])
