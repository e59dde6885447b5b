"""The chat's engines: which one answers, and what they all take and give (`chat.contract`, exported here)."""

from __future__ import annotations

from chat.agent_loop import AgentLimits
from chat.contract import (
    Done,
    Engine,
    Event,
    Message,
    Passage,
    PassageKind,
    Retrieve,
    Scorer,
    Status,
    Text,
    ToolBox,
    ToolError,
    Usage,
)
from chat.extractive_engine import ExtractiveEngine
from chat.model_engine import ModelEngine
from rag.language_model import LanguageModel
from rag.model_choice import models_of_chats, resolve_model
from store.settings import Settings

__all__ = [
    "Done",
    "Engine",
    "Event",
    "Message",
    "Passage",
    "PassageKind",
    "Retrieve",
    "Scorer",
    "Status",
    "Text",
    "ToolBox",
    "ToolError",
    "Usage",
    "choose_engine",
    "describe_engine",
]


def choose_engine(settings: Settings, model: LanguageModel | None, scorer: Scorer | None = None) -> Engine:
    """The model engine where there is a model, else the extractive one. `scorer` makes both choose sentences better."""
    if model is None:
        return ExtractiveEngine(scorer)
    return ModelEngine(model, scorer, AgentLimits(total_s=settings.llm_timeout_s))


def describe_engine(settings: Settings) -> tuple[bool, str]:
    """For `parley doctor`: whether all is well, and one line on what answers in the chat."""
    works, says = _describe_model(settings)
    own = resolve_model(settings).spelling
    more = [name for name in models_of_chats(settings) if name not in ("none", own)]
    return works, f"{says} A chat may also be set to {', '.join(more)}." if more else says


def _describe_model(settings: Settings) -> tuple[bool, str]:
    choice = resolve_model(settings)
    extractive = "the chat quotes the best passages instead of writing answers"
    if choice.kind == "provider":
        server = f" at {settings.llm_api_base}" if settings.llm_api_base else ""
        return True, f"The chat answers with {choice.name}{server}."
    if choice.kind == "local" and not choice.problem:
        return True, f"The chat answers with the local model {choice.name} (starts with the first question)."
    if choice.kind == "local":
        return False, f"{choice.problem} Until then chat messages are answered 503."
    if choice.problem:
        return False, f"{choice.problem} Until then {extractive}."
    return True, f"No language model is wanted (PARLEY_LLM_MODEL=none): {extractive}."
