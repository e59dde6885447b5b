"""One typed function a tool; each takes the caller's tenant from its context and nothing else."""

from mcp_server.registry import Registry
from mcp_server.tools import (
    catalogue,
    commitments,
    communication_card,
    communications,
    knowledge,
    memory,
    metrics,
    product_docs,
    quality,
    rankings,
    rankings_qc,
    rankings_signals,
    speakers,
)


def make_registry() -> Registry:
    """Every tool of Parley, in the order of the contract's catalog."""
    return Registry(
        [
            *speakers.TOOLS,
            *communications.TOOLS,
            *commitments.TOOLS,
            *memory.TOOLS,
            *metrics.TOOLS,
            *rankings.TOOLS,
            *rankings_signals.TOOLS,
            *rankings_qc.TOOLS,
            *communication_card.TOOLS,
            *quality.TOOLS,
            *knowledge.TOOLS,
            *product_docs.TOOLS,
            *catalogue.TOOLS,
        ]
    )
