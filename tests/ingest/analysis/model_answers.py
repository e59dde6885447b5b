"""What scripted models answer in the tests of the models' analysis, and how they are asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from ingest.analysis.findings import BUILT_IN, Sides, Summary, Vote
from ingest.analysis.model.analyst import Analyst
from rag.structured import BackgroundModel, open_background_model
from tests.ingest.analysis.model_talks import SIDES, conversation
from tests.support.scripted_model import ScriptedModel

RULED = Summary("Собранное правилами.", "billing", engines={"text": BUILT_IN})
SUMMARY = {
    "summary": "Клиент пожаловался на терминал, сотрудник обещал перезвонить завтра.",
    "category": "support",
    "category_quote": "не работает терминал",
    "items": [{"key": "topic", "content": "Терминал", "quote": "не работает терминал"}],
    "commitments": [
        {"content": "Перезвонить", "quote": "Перезвоню вам завтра до обеда", "deadline": "завтра до обеда"}
    ],
}


@dataclass(frozen=True)
class Setting:
    code: str
    description: str = "as the account words it"


@pytest.fixture
def model(scripted_model: ScriptedModel) -> Iterator[BackgroundModel]:
    opened = open_background_model(scripted_model.settings())
    assert opened is not None
    yield opened
    opened.close()


@pytest.fixture
def summarise(model: BackgroundModel) -> Callable[..., Summary]:
    def made(talk: Any = None, *, prompt: str | None = None, built_in: Summary = RULED) -> Summary:
        return Analyst(model).summarise(talk or conversation(), SIDES, prompt=prompt, built_in=built_in)

    return made


def evaluate(model: BackgroundModel, *codes: str, talk: Any = None, sides: Sides = SIDES) -> dict[str, Vote]:
    return Analyst(model).evaluate(talk or conversation(), sides, [Setting(code) for code in codes], {})


def criteria(*rows: tuple[str, Any, str]) -> str:
    return json.dumps({"criteria": [{"code": code, "value": value, "quote": quote} for code, value, quote in rows]})


def said_to(scripted: ScriptedModel) -> str:
    return "\n".join(str(message["content"]) for request in scripted.requests for message in request["messages"])


def facts(*rows: tuple[str, str, str, str]) -> str:
    names = ("who", "key", "content", "quote")
    return json.dumps({"facts": [dict(zip(names, row, strict=True)) for row in rows]})


def meeting(turns: int) -> Sequence[tuple[str | None, str]]:
    return [("AB"[number % 2], f"Реплика номер {number}, обсуждаем план работ на квартал.") for number in range(turns)]
