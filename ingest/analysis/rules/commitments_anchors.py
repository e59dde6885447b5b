"""Deadlines that hang on another that was agreed: "the same day", "за полчаса до приезда", "до приёма", "накануне"."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import date, timedelta

from ingest.analysis.rules.deadlines import Deadline
from ingest.analysis.rules.deadlines_tokens import bag, lower

_VISIT_RU = (
    "прием|визит|приезд|выезд|встреч|доставк|монтаж|заезд|замер|запис|рейс|вылет|заняти|урок|тренировк|операци|процедур"
)
_SAME = re.compile(
    r"\b(?:(?:в )?(?:тот|этот) же (?:самый )?(?:день|вечер)|(?:в )?то же утро|тогда же"
    r"|(?:тем|этим) же (?:вечером|утром|днем|рейсом|числом|курьером|заездом|визитом)"
    r"|к (?:этому|тому) (?:же )?(?:времени|сроку|дню|числу|моменту)"
    r"|до (?:этого|того) (?:же )?(?:времени|срока|дня|числа|момента)"
    rf"|(?:до|перед) (?:(?:ваш\w{{1,4}}|е[ег]о?) )?(?:{_VISIT_RU})\w{{0,3}}"
    r"|(?:on |at |in )?the (?:very )?same (?:day|evening|morning|afternoon|trip|run|van|time|visit)"
    r"|that (?:same )?(?:day|evening|afternoon|morning)|(?:by|before|until|till) then|by that (?:date|day|time|point)"
    r"|before (?:your|the) (?:appointment|visit|meeting|arrival|delivery|flight|class|lesson|session|procedure"
    r"|surgery|stay))\b"
)
_COUNT_RU = r"(?:(?:\d{1,2}|[а-я]{3,12}) )?"
_NOTICE = re.compile(
    rf"\bза {_COUNT_RU}(?:пол\w{{2,6}}|час\w{{0,3}}|мин\w{{0,3}})\b|\b(?:по дороге|перед (?:выездом|приездом))\b"
    r"|\bкогда (?:будет |буду )?(?:выез|подъез|выед|подъед|в пути)"
    r"|\b(?:half an hour|an hour|(?:\d{1,2}|[a-z]{2,7}) (?:minutes?|mins?|hours?)) "
    r"(?:before|ahead|beforehand|away|out|prior)\b"
    r"|\bon (?:his|her|their|my|the) way\b|\bbefore (?:he|she|they|i) (?:arrives?|comes?|sets?|leaves?|gets?)\b"
)
_DAY_AFTER = re.compile(r"\b(?:на (?:следующий|другой) день|the (?:next|following) day)\b")
_EVE = re.compile(r"\b(?:накануне|the (?:day|night|evening|afternoon) before)\b")
_DAY_BEFORE = re.compile(
    r"\b(?:за (?:один )?день|за сутки|(?:a|one) day (?:before|ahead|prior)|the previous (?:day|evening))\b"
)
_TWO_BEFORE = re.compile(r"\b(?:за (?:два|2) дня|two days (?:before|ahead|prior))\b")
_COUNTED_FROM = re.compile(
    r"\b(?:(?:within|in) (?:\S{1,12} ){1,5}(?:days?|hours?|weeks?) (?:of|after|from)"
    r"|(?:за|через|в течени[еи]) (?:\S{1,12} ){1,4}(?:после|с момента|со дня|с даты))\b"
)
_TELLING = bag("contact send напомнить remind")
_LONGEST = 600
_SOON_MIN = 240


@dataclass(frozen=True, slots=True)
class Hint:
    """What stands for the agreed day, from `start` to `end` of the text; `days` before it, or after where negative."""

    start: int
    end: int
    days: int


def find_hint(text: str, start: int, end: int, verbs: Collection[str]) -> Hint | None:
    """The words of text[start:end] by which a promise hangs on an agreed day."""
    said = lower(text[start : min(end, start + _LONGEST)])
    telling = bool(_TELLING.intersection(verbs))
    for pattern, days, told in (
        (_SAME, 0, True),
        (_EVE, 1, True),
        (_DAY_AFTER, -1, True),
        (_TWO_BEFORE, 2, telling),
        (_DAY_BEFORE, 1, telling),
        (_NOTICE, 0, telling),
    ):
        found = pattern.search(said) if told else None
        if found:
            return Hint(start + found.start(), start + found.end(), days)
    return None


def is_day(deadline: Deadline) -> bool:
    """Whether it names a day that others may refer to."""
    return not deadline.only_clock and (deadline.minutes is None or deadline.minutes > _SOON_MIN)


def on_the_day(agreed: Deadline, hint: Hint) -> Deadline:
    """The day of what was agreed, or so many before it."""
    day = date.fromisoformat(agreed.iso[:10]) - timedelta(days=hint.days)
    return replace(agreed, iso=day.isoformat(), minutes=None, by=False)


def is_counted_from(text: str, start: int, end: int) -> bool:
    """Whether it is by a time that counts from what nobody has a date for: "within three days of the survey"."""
    return _COUNTED_FROM.search(lower(text[start : min(end, start + _LONGEST)])) is not None
