"""What an answer may say before anything was found: courtesies, questions back, and the words it was given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from rag.text_terms import term_set

_WORDS = frozenset(
    term_set(
        """
        здравствуйте привет приветствую добрый доброе день утро вечер ночи спасибо благодарю пожалуйста рад рада рады
        хорошего хорошо удачи свидания всего доброго извините простите сожалению жаль понял поняла понимаю
        понятно помочь помогу помощь помощник ассистент виртуальный бот чат вопрос вопросы ответ отвечу
        отвечаю ответить спросите спрашивайте задайте обращайтесь уточните уточню уточнить напишите укажите назовите
        расскажите опишите подскажите сообщите подробнее подробности точнее иначе сформулируйте переформулируйте
        посмотрю посмотрим поищу найду найти ищу искать проверю секунду минуту сейчас информация информации сведения
        сведений данные данных материалы материалах документы документах разговоры разговорах источники источниках знаю
        нашел нашла нашлось найдено вижу нахожу могу удалось получилось
        hello hi hey good morning afternoon evening day night thanks thank welcome please glad happy nice great
        sorry apologize apologies unfortunately understand understood help assist assistant assistance virtual bot
        chat question questions answer answers ask asking feel clarify specify tell give share describe rephrase write
        details detail information data material documents document conversations sources know find found
        look looking search searching check see let moment second minute right bye goodbye anything something else again
        fine well noted one mean depends specific particular re m s t d ll ve don doesn didn isn aren won
        couldn unable cannot
        """
    )
)
_YES_OR_NO = re.compile(r"\W*(?:да|нет|конечно|разумеется|yes|no|sure|certainly)\b", re.IGNORECASE)
"""How a statement begins that needs no word of its own."""


def said_without_source(sentence: str, given: Set[str]) -> list[str]:
    """The words (stems) of a statement that are neither among those `given` nor small talk. Of a question: none."""
    if sentence.rstrip(" *_\"'»”)\n").endswith("?"):
        return []
    if match := _YES_OR_NO.match(sentence):
        return [match[0].strip()]
    return sorted(term_set(sentence) - given - _WORDS)


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words (stems) that somebody was given with these texts."""
    return frozenset(term_set("\n".join(texts)))
