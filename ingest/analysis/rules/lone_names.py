"""Names that stand by themselves: signing a mail, or answering who one is."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from ingest.analysis.rules.mentions import NEVER_NAMES, Mention
from ingest.analysis.rules.morphology import read

_CLOSING = re.compile(
    r"(?:с уважением|с наилучшими пожеланиями|всего доброго|хорошего дня|спасибо|заранее спасибо|ваш\w?|"
    r"с теплом|до связи|"
    r"(?:kind|best|warm|many)? ?(?:regards|wishes)|all the best|best|cheers|thanks|many thanks|thank you|"
    r"sincerely|yours \w{4,10}|yours)[,.! ]{0,3}"
)
_ANSWER_BEFORE = re.compile(
    r"(?:\W|ну|да|меня|зовут|это|я|конечно|записывайте|пишите|uh|um|er|yes|yeah|sure|well|oh|of course|"
    r"it's|its|i'm|that's|name|my name is){0,1}(?:[\W]{0,4})"
)
_CYRILLIC_WORD = re.compile(r"[а-я]{2,40}")


def signatures(text: str, mentions: Sequence[Mention]) -> list[tuple[int, int, str]]:
    """Names that sign a mail: alone in one of its last lines, behind a closing or not far above the end."""
    lines: list[tuple[int, int]] = []
    start = 0
    for match in re.finditer(r"\n|⏎|\Z", text):
        if text[start : match.start()].strip():
            lines.append((start, match.start()))
        start = match.end()
    if len(lines) < 2:
        return []
    starts = [mention.start for mention in mentions]
    found = []
    for at, (begin, end) in list(enumerate(lines))[-5:]:
        if at == 0:
            continue
        line = text[begin:end]
        closing = _CLOSING.match(line.lower().strip())
        previous = text[lines[at - 1][0] : lines[at - 1][1]].lower().strip()
        closed = bool(closing) or bool(_CLOSING.fullmatch(previous))
        index = bisect_left(starts, begin)
        if index >= len(mentions) or mentions[index].start >= end:
            bare = line.strip(" ,.-—")
            if closed and _SIGNED.fullmatch(bare) and not _CLOSING.fullmatch(bare.lower()) and not _is_group(bare):
                offset = text.index(bare, begin)
                found.append((offset, offset + len(bare), bare))
            continue
        mention = mentions[index]
        lead = text[begin : mention.start].strip(" ,.-—").lower()
        tail = text[mention.end : end].strip(" .")
        alone = not lead or _CLOSING.fullmatch(lead)
        if alone and (closed or not tail) and (not tail or tail[0] in ",|—-(" or closed) and not tail.endswith("?"):
            found.append((mention.start, mention.end, mention.text))
    return found


def _is_group(name: str) -> bool:
    """ "Команда Ромашки", "The Brightflow Team"."""
    for word in _CYRILLIC_WORD.findall(name.lower().replace("ё", "е")):
        reading = read(word)
        if reading.known and reading.given + reading.surname + reading.patronymic == 0:
            return True
    return re.search(r"\b(?:the|team|support|sales|service|department|customer|care)\b", name.lower()) is not None


_SIGNED = re.compile(r"[^\W\d_a-zа-яё][^\W\d_]{1,30}(?: [^\W\d_a-zа-яё][^\W\d_]{0,30}\.?){0,2}")


def lone_answer(text: str, mentions: Sequence[Mention]) -> str | None:
    """The name that begins a text and is a sentence of its own."""
    for mention in mentions[:1]:
        before = text[: mention.start].lower()
        after = text[mention.end :]
        if not _ANSWER_BEFORE.fullmatch(before):
            return None
        if re.match(
            r" {0,3}(?:$|[.!…\n⏎]|, {0,2}\d|, (?:а|и|меня|но|можно|мой|моя|номер|from|and|with|i |i'm|my)|"
            r",? (?:из|from|with|at)(?![^\W\d_]))",
            after,
        ):
            return mention.text
    unknown = re.match(
        r"\W{0,3}([^\W\d_a-zа-яё][^\W\d_]{1,30}(?: [^\W\d_a-zа-яё][^\W\d_]{1,30}){0,2}) {0,3}[.!]?$", text[:120]
    )
    return unknown[1] if unknown and len(text) < 100 and _may_be_name(unknown[1]) else None


_NO_ANSWERS_LIST = """
correct exactly absolutely great perfect maybe nothing nobody speaking why what who when where whatever really
definitely certainly fine cool good alright anytime always never both neither either nowhere lovely brilliant
agreed done same true false unfortunately probably possibly obviously anyway
"""
_NO_ANSWERS = frozenset(_NO_ANSWERS_LIST.split())


def _may_be_name(words: str) -> bool:
    """Whether words in capitals, of no list, may be a name: not "Yeah", nor a Russian word that is something else."""
    for word in words.lower().split():
        if word in NEVER_NAMES or word in _NO_ANSWERS:
            return False
        reading = read(word)
        if "а" <= word[0] <= "я" and reading.known and reading.given + reading.surname + reading.patronymic < 0.1:
            return False
    return True
