"""The catalogs of analysis as data: categories with their usual keys, criteria and scenarios of quality control."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ValueType = Literal["binary", "numeric"]
Language = Literal["ru", "en"]


@dataclass(frozen=True, slots=True)
class Category:
    """`keys` are what is usually found in such a communication: the subtypes of its items."""

    code: str
    ru: str
    en: str
    meaning: str
    keys: tuple[str, ...]

    def label(self, language: str) -> str:
        """The label for people; Russian unless the language is English."""
        return self.en if language == "en" else self.ru


@dataclass(frozen=True, slots=True)
class Criterion:
    """`ru` and `en` name it; `asks_ru` and `asks_en` say what it asks, as an account may word it anew. `most` bounds a
    numeric value from above, where there is a bound; the lower one is 0."""

    code: str
    value_type: ValueType
    ru: str
    en: str
    asks_ru: str
    asks_en: str
    most: float | None = None

    def label(self, language: str) -> str:
        return self.en if language == "en" else self.ru

    def asks(self, language: str) -> str:
        return self.asks_en if language == "en" else self.asks_ru


@dataclass(frozen=True, slots=True)
class Scenario:
    """A template that an account may switch on, off or change: what such a conversation is, what is judged in it."""

    code: str
    ru: str
    en: str
    is_ru: str
    is_en: str
    criteria: tuple[str, ...]

    def label(self, language: str) -> str:
        return self.en if language == "en" else self.ru

    def meaning(self, language: str) -> str:
        return self.is_en if language == "en" else self.is_ru


def _rows(name: str) -> list[dict[str, Any]]:
    """With lists as the tuples that the classes have."""
    return [
        {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()} for row in _DATA[name]
    ]


_DATA = tomllib.loads(Path(__file__).with_name("catalogs.toml").read_text(encoding="utf-8"))
CATEGORIES = {row["code"]: Category(**row) for row in _rows("category")}
CRITERIA = {row["code"]: Criterion(**row) for row in _rows("criterion")}
SCENARIOS = {row["code"]: Scenario(**row) for row in _rows("scenario")}
KEY_LABELS: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("key_labels.json").read_text(encoding="utf-8")
)
"""By language, what people read in place of a category's keys; the cabinet is built with the same file."""


DETERMINISTIC = frozenset(
    {
        "greeting",
        "brand_mention",
        "operator_self_intro",
        "ask_client_name",
        "address_by_name",
        "contact_exchange",
        "official_contacts_only",
        "thanks",
        "farewell",
    }
)
"""Criteria that rules decide first, and a model only where rules leave them open."""


def category_label(code: str | None, language: str) -> str | None:
    """The category's label for people in "ru" or "en"; None for no category. One that left the catalog is its code."""
    if code is None:
        return None
    category = CATEGORIES.get(code)
    return category.label(language) if category else code


def key_label(key: str | None, language: str) -> str | None:
    """The key's label for people, as `category_label` is a category's."""
    return KEY_LABELS["en" if language == "en" else "ru"].get(key, key) if key else None
