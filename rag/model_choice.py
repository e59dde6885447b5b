"""Which language model answers, by the settings and by what is installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag.local_engine import engine_problem
from rag.local_model import find_model
from store.settings import Settings

_NOT_INSTALLED = "The local language model is not installed: run `parley models pull`."


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """What the settings and the installed files come to. `problem` says what is missing, for people."""

    kind: Literal["local", "provider", "none"]
    name: str
    problem: str = ""

    @property
    def spelling(self) -> str:
        """What a setting says for it."""
        return self.name if self.kind == "provider" else self.kind


def resolve_model(settings: Settings, wanted: str | None = None) -> ModelChoice:
    """Which model answers: the one `wanted`, or without a wish the setting's; where that is empty too, the local one
    where its file is installed and its engine can be loaded, else none. `wanted` is spelled as the setting is."""
    wanted = settings.llm_model.strip() if wanted is None else wanted
    if wanted == "none":
        return ModelChoice("none", "")
    if wanted not in ("", "local"):
        return ModelChoice("provider", wanted)
    found = find_model(settings)
    problem = engine_problem() if found is not None else _NOT_INSTALLED
    if found is not None and not problem:
        return ModelChoice("local", found[0])
    return ModelChoice("local", "", problem) if wanted == "local" else ModelChoice("none", "", problem)


def models_of_chats(settings: Settings) -> tuple[str, ...]:
    """What a chat may be set to: no model, the server's own where it has one, and those of PARLEY_CHAT_MODELS."""
    own = resolve_model(settings)
    return tuple(dict.fromkeys(("none", own.spelling, *settings.chat_models)))
