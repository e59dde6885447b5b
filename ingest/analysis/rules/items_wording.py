"""A sentence that was said as an item's content or a summary's line: without what only speech needs."""

from __future__ import annotations

import re

MAX_CONTENT_CHARS = 160
# What a sentence begins with and says nothing by; taken off a few times.
_FILLERS = re.compile(
    r"(?:(?:ну|так|вот|да|нет нет|ага|угу|ой|ох|э-э|эм|а|и|значит|смотрите|слушайте|короче|понимаете|тогда|ладно|"
    r"верно|как сказать|честно говоря|итак|в общем|кстати|"
    r"то есть|потому что|поэтому|алло|здравствуйте|здрасте|добрый день|доброе утро|добрый вечер|вечер добрый|"
    r"привет|девушка|um|uh|er|erm|hm|hmm|oh|ah|"
    r"well|so|then|to be honest|okay|ok|yeah|yes|no no|and|but|look|listen|hi|hiya|hello|hey|"
    r"good morning|good afternoon|good evening)(?=[\s,.!?…:;)–—-])"
    r"|(?:ещ[её]|записал|записала|записали|записано|noted|one more thing)(?=\s?:)"
    r"|(?:спасибо|хорошо|понятно|понял|поняла|нет|thanks|thank you|sorry|sure|right|no|morning|evening)"
    r"(?=\s?[,.!…:;–—]))[\s,.!?…:;)–—-]{1,8}",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\S{1,80}(?:@|://)")
_MOST_FILLERS = 4
_LEAST_LEFT = 3


def capital(text: str) -> str:
    """With a capital in front, but for an address."""
    return text if _ADDRESS.match(text) else text[:1].upper() + text[1:]


def short(text: str) -> str:
    """The sentence as one line of at most 160 characters, cut between words."""
    line = " ".join(text.split()).strip(" -–—,;")
    if len(line) > MAX_CONTENT_CHARS:
        line = line[: MAX_CONTENT_CHARS - 1].rsplit(" ", 1)[0].rstrip(" ,;:-–—") + "…"
    return capital(line)


def clean(text: str) -> str:
    """One line without greetings and fillers in front, as far as enough is left."""
    line = " ".join(text.split())
    for _ in range(_MOST_FILLERS):
        found = _FILLERS.match(line)
        if not found or len(line[found.end() :].split()) < _LEAST_LEFT:
            break
        line = line[found.end() :]
    for opening, closing in (("«", "»"), ("(", ")")):
        if opening in line and closing not in line:
            line = line.replace(opening, "")
    return short(line)
