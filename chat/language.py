"""The language of a question, and the engines' own words in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from chat.contract import Message

Language = Literal["ru", "en"]
_CYRILLIC_WORD = re.compile(r"[А-Яа-яЁё]+")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_LEAST_LETTERS = 8


def language_of(question: str, history: Sequence[Message]) -> Language:
    """Of a question that tells little, `ok` or `SOVA-60?`, the language of what its asker wrote before."""
    if not _CYRILLIC_WORD.search(question) and sum(map(len, _LATIN_WORD.findall(question))) < _LEAST_LETTERS:
        for message in reversed(history):
            if message.role == "user" and sum(map(str.isalpha, message.content)) >= _LEAST_LETTERS:
                return detect_language(message.content)
    return detect_language(question)


def detect_language(text: str, default: Language = "ru") -> Language:
    """Russian or English, by script. Product names stay Latin in Russian, so a third of Cyrillic words is enough."""
    cyrillic = len(_CYRILLIC_WORD.findall(text))
    latin = len(_LATIN_WORD.findall(text))
    if not cyrillic and not latin:
        return default
    return "ru" if cyrillic * 2 >= latin and cyrillic else "en"


@dataclass(frozen=True, slots=True)
class Phrases:
    """What an engine says in its own words."""

    not_found: str
    in_document: str
    in_communication: str
    in_memory: str
    also: str
    unsupported: str
    overlooked: str
    cut: str
    page: str


PHRASES: dict[Language, Phrases] = {
    "ru": Phrases(
        not_found="В доступных материалах ответа на этот вопрос не нашлось.",
        in_document="Нашлось в документе «{title}»{place}:",
        in_communication="Нашлось в разговоре «{title}»{place}:",
        in_memory="Нашлось в заметках «{title}»{place}:",
        also="Ещё — «{title}»{place}:",
        unsupported="Ответ модели не подтверждается источниками, поэтому вот что в них сказано.",
        overlooked="Прямого ответа модель не увидела; ближе всего к вопросу вот что.",
        cut="(Ответ на этом обрывается: попросите продолжить.)",
        page=", с. {page}",
    ),
    "en": Phrases(
        not_found="Nothing that answers this question was found in the available material.",
        in_document="Found in the document “{title}”{place}:",
        in_communication="Found in the conversation “{title}”{place}:",
        in_memory="Found in the notes “{title}”{place}:",
        also="Also “{title}”{place}:",
        unsupported="The model's answer is not supported by the sources, so here is what they say.",
        overlooked="The model saw no direct answer; this comes closest to the question.",
        cut="(The answer breaks off here: ask for the rest.)",
        page=", p. {page}",
    ),
}
