"""Which Qdrant servers are asked: those that count words as the embedded index does."""

from __future__ import annotations

import re

from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import UnexpectedResponse

from rag.index import IndexTooOld
from rag.server_queries import answering
from store.errors import Unavailable

LEAST_SERVER = (1, 19)
"""The first that takes the IDF of a query from one tenant's points (`server_queries.term_params`)."""

_RELEASE = re.compile(r"v?(\d+)\.(\d+)(\.\d+)?")


def refuse_older(client: QdrantClient) -> None:
    """Raises IndexTooOld. A server that tells no version of a release (a build of its own, a proxy that keeps the root
    to itself) is let through."""
    told = _version(client)
    release = _RELEASE.fullmatch(told)
    if release is not None and (int(release[1]), int(release[2])) < LEAST_SERVER:
        least = ".".join(map(str, LEAST_SERVER))
        message = f"The Qdrant server has version {told}; {least} or a newer one is needed."
        raise IndexTooOld(message, code="index_unavailable", retry_after_s=60)


def _version(client: QdrantClient) -> str:
    """Empty where there is no answer: what is asked next says that the server is away."""
    try:
        with answering():
            return client.info().version
    except (Unavailable, UnexpectedResponse):
        return ""
