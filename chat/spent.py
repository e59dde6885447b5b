"""What an answer's model calls took, a broken-off answer's too: its tokens are paid for all the same."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from chat.contract import Usage
from rag.language_model import Delta, LanguageModel, TokenUsage, estimate_message_tokens, estimate_tokens
from store.errors import ParleyError


class Spent:
    """The model calls of one answer. A call that nobody hears to its end counts by estimate; one that was refused
    before its first word, not at all."""

    def __init__(self) -> None:
        self._model = ""
        self._tokens = TokenUsage()
        self._model_calls = 0
        self.tool_calls = 0

    @property
    def usage(self) -> Usage:
        return Usage(self._model, self._tokens, self._model_calls, self.tool_calls)

    async def stream(
        self, model: LanguageModel, messages: Sequence[Mapping[str, Any]], **options: Any
    ) -> AsyncGenerator[Delta, None]:
        """`model.stream`, counted."""
        self._model = model.name
        said, usage, is_refused = "", None, False
        try:
            async with aclosing(model.stream(messages, **options)) as deltas:
                async for delta in deltas:
                    said += delta.text
                    usage = delta.usage or usage
                    yield delta
        except ParleyError:
            is_refused = not said
            raise
        finally:
            if not is_refused:
                self._model_calls += 1
                self._tokens += usage or TokenUsage(estimate_message_tokens(messages), estimate_tokens(said), True)
