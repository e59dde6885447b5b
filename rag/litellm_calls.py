"""What the language-model client needs of litellm: its import, its errors, its retries, its HTTP clients."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from types import ModuleType
from typing import Any

RETRY_PAUSE_S = (0.5, 1.5)
LONGEST_RETRY_AFTER_S = 5.0
RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})
_BEFORE_IT_WAS_READ = frozenset({401, 402, 403, 404, 429, 502, 503, 504, 529})
"""Statuses of a request that nobody looked into."""
_LOGGED_CHARACTERS = 500
_MOST_CAUSES = 20
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|Bearer)[-_ ][\w-]{8,}")


def import_litellm() -> ModuleType:
    """litellm, imported at the first use: 1.5 s and 160 MB."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else the import asks the network
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def provider_errors() -> tuple[type[Exception], ...]:
    """What a provider's failure can look like, before a stream and within it."""
    import httpx
    import openai

    return (OSError, openai.OpenAIError, httpx.HTTPError)


async def load_litellm() -> ModuleType:
    """`import_litellm`, off the event loop."""
    return await asyncio.to_thread(import_litellm)


async def close_clients(litellm: ModuleType) -> None:
    """Closes the clients of this loop: another loop of this process may have some of its own in work."""
    clients = litellm.in_memory_llm_clients_cache.cache_dict
    mine = f"-{id(asyncio.get_running_loop())}"
    if all(str(key).endswith(mine) for key in clients):
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()
        return
    for key in [key for key in clients if str(key).endswith(mine)]:
        client = clients.pop(key)
        client = getattr(client, "_client", None) or getattr(client, "client", client)
        with contextlib.suppress(Exception):  # as litellm's own: one that is broken has nothing left to close
            await client.aclose()


async def close_stream(response: Any) -> None:
    # A stream that is already broken has nothing to close; what it says about that changes no answer.
    with contextlib.suppress(Exception):
        await asyncio.shield(response.aclose())


def is_timeout(error: BaseException) -> bool:
    return isinstance(error, TimeoutError) or "Timeout" in type(error).__name__


def retry_pause_s(error: BaseException, attempt: int) -> float | None:
    """Seconds to wait before another try, or None where one is no use."""
    if is_timeout(error):
        return None
    status = getattr(error, "status_code", None)
    if status is not None and status not in RETRIED_STATUSES:
        return None
    asked_s = asked_pause_s(error)
    if asked_s is not None:
        return asked_s if asked_s <= LONGEST_RETRY_AFTER_S else None
    return RETRY_PAUSE_S[min(attempt, len(RETRY_PAUSE_S) - 1)]


def asked_pause_s(error: BaseException) -> float | None:
    """The provider's `Retry-After`, where it gave one in seconds."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    with contextlib.suppress(KeyError, TypeError, ValueError):
        asked_s = float(headers["retry-after"])
        return asked_s if 0 <= asked_s < float("inf") else None
    return None


def loggable(error: BaseException, detail: str) -> dict[str, object]:
    """What the log says of a provider's failure; of its words only such as cannot repeat what it was sent, which may be
    what somebody said."""
    status = getattr(error, "status_code", None)
    said = {"detail": detail[:_LOGGED_CHARACTERS]} if status in _BEFORE_IT_WAS_READ else {}
    return {"reason": type(error).__name__, "status": status, "cause": type(_innermost(error)).__name__, **said}


def _innermost(error: BaseException) -> BaseException:
    for _ in range(_MOST_CAUSES):
        error = error.__cause__ or error.__context__ or error
    return error


def mask_keys(text: str, *keys: str | None) -> str:
    """`text` without these keys and without what looks like one."""
    for key in keys:
        if key:
            text = text.replace(key, "***")
    return _KEY_LIKE.sub("***", text)
