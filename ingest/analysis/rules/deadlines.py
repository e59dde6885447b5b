"""Deadlines in what people say: days and times in Russian and English, resolved against the time they were said.

A weekday is the next such day, working days leave out weekends, "next week" ends on its Friday, and an hour without
half of the day is one of the working day. A part of the day ("before lunch", "вечером") gives the day alone.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from ingest.analysis.rules.deadlines_grammar import Part, parts
from ingest.analysis.rules.deadlines_tokens import Word, bag, lower, read

_PREPOSITIONS = bag(
    "до к ко в во на по by on before until till at around about около примерно no not later than позднее позже"
)
_BY = bag("до к ко by before until till within через течение in")
_GLUE = _PREPOSITIONS | bag(", - и или где то часам часов ближе the in of with or утром")
_GAP = 4
_FARTHEST_DAYS = 3660
_A_DAY_MIN = 1440
_LONGEST_AHEAD_DAYS = 330  # what is a month past is no deadline of next year
_FRIDAY = 5
_PART_ENDS = {"morning": 9, "noon": 13, "afternoon": 17, "eve": 22, "this_morning": 24, "first_thing": 8}
_RARELY_COUNTED = 10  # "до пятнадцатого всё будет", where "к третьему подъезду" is no day
_COUNTED = (
    "этаж", "подъезд", "дом", "корпус", "класс", "урок", "вагон", "пут", "канал", "пункт", "раздел", "уров", "километр",
    "ряд", "размер", "кабинет", "офис", "век", "авто", "айфон", "floor", "street", "avenue", "century", "anniversary",
    "birthday", "element", "%", "place", "item", "row", "версии", "релиз", "маршрут", "автобус", "трамва",
)  # fmt: skip
_CLAUSE_GOES_ON = bag(
    "я мы вам вас вы и а но он она они это все точно ровно обязательно мой наш i we you and but so then or it "
    "готов готова готово готовы будет будут буду будем this they that is if because at the latest sharp today "
    "tomorrow please on . , ! ? ; : - – — ) …"
)


@dataclass(frozen=True, slots=True)
class Deadline:
    """`iso` is a day or a local time with its offset; `text` is `start` to `end` of what was read. `by` is true where
    the words say that it is a limit ("до", "by", "within"); `minutes` how far off it is where it has a time of day;
    `only_clock` where the words name that time alone, and the day is a guess."""

    iso: str
    text: str
    start: int
    end: int
    by: bool = False
    minutes: int | None = None
    only_clock: bool = False


def find_deadline(text: str, said_at: datetime, zone: ZoneInfo, language: str) -> Deadline | None:
    """The deadline in `text`, which was said at `said_at`; None where it names none that can be resolved."""
    return choose(find_deadlines(text, said_at, zone, language))


def choose(deadlines: Sequence[Deadline]) -> Deadline | None:
    """The one that says it is a limit, else the first; a day and a time that stand apart are put together."""
    chosen = next((one for one in deadlines if one.by), deadlines[0] if deadlines else None)
    if chosen is None or (chosen.minutes is not None and not chosen.only_clock):
        return chosen
    day = next((one for one in deadlines if one.minutes is None), None)
    clock = next((one for one in deadlines if one.only_clock), None)
    if day is None or clock is None:
        return chosen
    return replace(day, iso=day.iso + clock.iso[10:], by=day.by or clock.by, minutes=_A_DAY_MIN)


def find_deadlines(text: str, said_at: datetime, zone: ZoneInfo, language: str) -> list[Deadline]:
    """All of them, in order, each with the words that belong together ("завтра, в среду, к трём часам")."""
    assert said_at.tzinfo is not None
    words = read(text)
    now = said_at.astimezone(zone)
    low = lower(text)
    resolver = _Resolver(now, words, month_first=str(zone).startswith("America/"))
    found = []
    for group in _groups(list(parts(words)), words, low):
        moment = resolver.resolve(group)
        if moment is None or moment.toordinal() - now.toordinal() > _FARTHEST_DAYS:
            continue
        first = group[0].start
        if first > 1 and words[first - 1].symbol == "the" and words[first - 2].symbol in _PREPOSITIONS:
            first -= 1
        while first and words[first - 1].symbol in _PREPOSITIONS:
            first -= 1
        start, end = words[first].start, words[group[-1].end - 1].end
        by = any(word.symbol in _BY for word in words[first : group[0].end])
        minutes = round((moment - now).total_seconds() / 60) if isinstance(moment, datetime) else None
        iso = moment.isoformat(timespec="seconds") if isinstance(moment, datetime) else moment.isoformat()
        only_clock = all(part.kind == "clock" for part in group)
        found.append(Deadline(iso, text[start:end], start, end, by, minutes, only_clock))
    return found


def _groups(found: list[Part], words: list[Word], low: str) -> list[list[Part]]:
    """Parts that stand together and add to one another."""
    groups: list[list[Part]] = []
    for part in found:
        if part.kind == "clock" and part.rule == "bare" and not _stands_alone(part, words, groups):
            continue
        if part.rule == "bare_day_said" and not _is_date(part, words, low):
            continue
        if part.rule.startswith("bare_day") and not _stands_alone(part, words, groups):
            continue
        if (
            part.kind == "part"
            and part.rule == "afternoon"
            and part.end - part.start == 1
            and not _is_daytime(part, words, low)
        ):
            continue
        last = groups[-1] if groups else None
        if last is not None and len(last) < _GAP and _adds(last, part) and _near(last[-1], part, words):
            last.append(part)
        else:
            groups.append([part])
    return groups


def _adds(group: list[Part], part: Part) -> bool:
    kinds = {one.kind for one in group}
    if "span" in kinds or part.kind == "span":
        return False
    if part.kind == "day":
        return "day" not in kinds or {"eod", "month_day", "bare_day", "bare_day_said", "weekday", "offset"} >= {
            part.rule,
            *(one.rule for one in group if one.kind == "day"),
        }
    return part.kind not in kinds


def _near(last: Part, part: Part, words: list[Word]) -> bool:
    between = words[last.end : part.start]
    return len(between) <= _GAP and all(word.symbol in _GLUE for word in between)


def _is_daytime(part: Part, words: list[Word], low: str) -> bool:
    """ "днём" is a part of the day, "день" is not."""
    word = words[part.start]
    return low[word.start : word.end] == "днем"


def _is_date(part: Part, words: list[Word], low: str) -> bool:
    """ "пятнадцатого привезём", "20-го": the genitive alone is a date, but for "с первого" and the like."""
    word = words[part.start]
    before = words[part.start - 1].symbol if part.start else ""
    return (
        low[word.start : word.end].endswith(("ого", "го"))
        and int(part.groups["n"]) > 2
        and before not in ("с", "у", "о")
    )


def _stands_alone(part: Part, words: list[Word], groups: list[list[Part]]) -> bool:
    """Whether a bare number is an hour or a day and not that many of something ("к трём подъездам")."""
    if groups and groups[-1][-1].kind in ("day", "part") and _near(groups[-1][-1], part, words):
        return True
    if part.end >= len(words):
        return True
    after = words[part.end].symbol
    if after in _CLAUSE_GOES_ON or after[0] in "TD":
        return True
    if (
        part.rule in ("bare_day", "bare_day_said")
        and int(part.groups["n"]) >= _RARELY_COUNTED
        and not after.startswith(_COUNTED)
    ):
        return True
    if part.rule == "bare_day_said" or words[part.start].symbol in ("до", "к", "by", "before"):
        return _is_verb(after)
    return False


def _is_verb(word: str) -> bool:
    return word.endswith(("ю", "у", "им", "ем", "ут", "ят", "ит", "ет", "ать", "ить")) and len(word) > 3


class _Resolver:
    """Days and times as seen from `now`, a local time."""

    def __init__(self, now: datetime, words: list[Word], month_first: bool) -> None:
        self.now = now
        self.today = now.date()
        self.words = words
        self.month_first = month_first

    def resolve(self, group: list[Part]) -> date | datetime | None:
        by_kind = {part.kind: part for part in group}
        try:
            if "span" in by_kind:
                return self._span(by_kind["span"])
            days = [part for part in group if part.kind == "day" and part.rule != "eod"]
            day = self._day(days) if days else None
            if days and day is None:
                return None
            if "clock" in by_kind:
                return self._clock(by_kind["clock"], day, by_kind.get("part"))
            if day is None and "part" in by_kind:
                return self._part(by_kind["part"])
            day = day or self.today  # the end of the day
        except (ValueError, OverflowError):
            return None
        return day

    def _part(self, part: Part) -> date:
        past = self.now.hour >= _PART_ENDS[part.rule]
        return self.today + timedelta(days=int(past))

    def _day(self, days: list[Part]) -> date | None:
        exact = [
            part
            for part in days
            if part.rule in ("month_day", "bare_day", "bare_day_said", "day_of_weekday", "figures", "later")
        ]
        return self._one_day(exact[0] if exact else days[0])

    def _one_day(self, part: Part) -> date | None:
        groups, today, weekday = part.groups, self.today, self.today.isoweekday()
        match part.rule:
            case "offset" | "later":
                return today + timedelta(days=int(groups.get("t") or 0))
            case "offset2":
                return today + timedelta(days=2)
            case "sutki":
                return today + timedelta(days=1)
            case "weekday":
                wanted = int(groups.get("w") or (6 if self.words[part.end - 1].symbol == "sat" else 7))
                return today + timedelta(days=(wanted - weekday) % 7 or 7)
            case "weekday_next":
                wanted = int(groups.get("w") or groups.get("w2") or groups["w3"])
                return today + timedelta(days=7 - weekday + wanted)
            case "week_from":
                ahead = (int(groups["w"]) - weekday) % 7 or 7 if "w" in groups else 1
                return today + timedelta(days=ahead + 7)
            case "month_day" | "bare_day" | "bare_day_said" | "day_of_weekday":
                return self._month_day(int(groups["n"]), groups)
            case "figures":
                return self._figures(groups["x"])
            case "end_of_week" | "weekend" | "monday":
                wanted = {"end_of_week": _FRIDAY, "weekend": 7, "monday": 8}[part.rule]
                return today + timedelta(days=wanted - weekday if wanted >= weekday else wanted - weekday + 7)
            case "end_of_next_week" | "start_of_next_week" | "middle_of_next_week":
                wanted = {"e": _FRIDAY, "s": 1, "m": 3}[part.rule[0]]
                return today + timedelta(days=7 - weekday + wanted)
            case "end_of_month":
                month = int(groups.get("m") or today.month)
                return _end_of(today.year + (month < today.month), month)
            case "end_of_next_month":
                return _end_of(today.year + today.month // 12, today.month % 12 + 1)
            case "end_of_quarter":
                return _end_of(today.year, (today.month + 2) // 3 * 3)
            case "end_of_year":
                return date(today.year, 12, 31)
        return None

    def _month_day(self, day: int, groups: dict[str, str]) -> date | None:
        """The next such day; a day alone is of this month or the next that has one."""
        if "m" in groups:
            found = date(int(groups.get("y") or self.today.year), int(groups["m"]), day)
            if found < self.today and "y" not in groups:
                # Said in December of January; what is a few weeks past is no deadline.
                found = found.replace(year=found.year + 1)
                return found if (found - self.today).days < _LONGEST_AHEAD_DAYS else None
            return found if found >= self.today else None
        if not 1 <= day <= 31:
            return None
        year, month = self.today.year, self.today.month
        if groups.get("next") == "next" or day < self.today.day:
            year, month = year + month // 12, month % 12 + 1
        while day > monthrange(year, month)[1]:
            year, month = year + month // 12, month % 12 + 1
        return date(year, month, day)

    def _figures(self, figures: str) -> date | None:
        if "-" in figures:
            found = date.fromisoformat(figures)
            return found if found >= self.today else None
        first, second, *rest = (int(number) for number in figures.replace("/", ".").split("."))
        if "/" in figures and (self.month_first or second > 12):
            first, second = second, first
        groups = {"m": str(second)}
        if rest:
            groups["y"] = str(rest[0] if rest[0] > 99 else 2000 + rest[0])
        elif "." in figures and len(figures.split(".")[1]) == 1:
            return None  # 1.5 is a number more often than a day
        return self._month_day(first, groups)

    def _span(self, part: Part) -> date | datetime | None:
        groups = part.groups
        number = 1.0 if part.rule in ("one", "half_hour", "fortnight") else float(groups["n"])
        number += 0.5 if groups.get("half") else 0
        unit = "Umin" if part.rule == "half_hour" else groups.get("u", "fortnight")
        if part.rule == "half_hour":
            number = 30
        if unit in ("Umin", "Uhour"):
            moment = self.now + timedelta(minutes=number * (1 if unit == "Umin" else 60))
            return _to_minute(moment)
        if (groups.get("wk") or "").strip() == "Wk" and unit == "Uday":
            return _working_days(self.today, int(number))
        if unit == "Umonth":
            months = self.today.month - 1 + int(number)
            year, month = self.today.year + months // 12, months % 12 + 1
            return date(year, month, min(self.today.day, monthrange(year, month)[1]))
        days = {"Uday": 1, "Unight": 1, "Uweek": 7, "Uyear": 365, "fortnight": 14}[unit]
        if number * days > _FARTHEST_DAYS:
            return None
        return self.today + timedelta(days=int(number * days))

    def _clock(self, part: Part, day: date | None, half_of_day: Part | None) -> datetime | None:
        groups = part.groups
        hour, minute = int(groups.get("n") or groups.get("n2") or 1), int(groups.get("m") or groups.get("m2") or 0)
        match part.rule:
            case "noon":
                hour = 12
            case "half_to":
                hour, minute = (hour - 1) or 12, 30
            case "half_past":
                minute = 30
            case "quarter_past":
                minute = 15
            case "quarter_to":
                hour, minute = (hour - 1) or 12, 45
            case "to":
                hour, minute = (hour - 1) or 12, 60 - minute
        half = groups.get("h") or (
            {"eve": "Peve", "morning": "Pmorn", "afternoon": "pm"}.get(half_of_day.rule, "") if half_of_day else ""
        )
        if part.rule == "range" and not (half or groups.get("unit") or day or self._is_of_hours(part)):
            return None  # "from 3 to 5" of anything
        if hour > 24 or minute > 59:
            return None
        hour = _hour(hour, half)
        on = day or self.today
        moment = self._local(on, hour, minute)
        if day is None and moment <= self.now:
            later = self._local(on, hour + 12, minute) if hour < 8 or (hour <= 9 and not half) else moment
            moment = later if later > self.now else self._local(on + timedelta(days=1), hour, minute)
        return moment

    def _is_of_hours(self, part: Part) -> bool:
        if ":" in self.words[part.end - 1].symbol:
            return True
        return self.words[part.start].symbol in ("с", "со", "from", "between", "между") and _stands_alone(
            part, self.words, []
        )

    def _local(self, day: date, hour: int, minute: int) -> datetime:
        day, hour = day + timedelta(days=hour // 24), hour % 24
        return datetime.combine(day, time(hour, minute), self.now.tzinfo)


def _hour(hour: int, half: str) -> int:
    """Out of twelve hours one of the working day, unless the half of the day is said."""
    if half in ("pm", "Uday", "Peve", "Paft"):
        return hour + 12 if hour < 12 else hour
    if half == "Pnight":
        return hour + 12 if 9 <= hour < 12 else hour
    if half in ("am", "Pmorn"):
        return 0 if hour == 12 else hour
    return hour + 12 if 1 <= hour <= 7 else hour


def _to_minute(moment: datetime) -> datetime:
    return (moment + timedelta(seconds=30)).replace(second=0, microsecond=0)


def _end_of(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def _working_days(day: date, number: int) -> date:
    for _ in range(min(number, _FARTHEST_DAYS)):
        day += timedelta(days={5: 3, 6: 2}.get(day.isoweekday(), 1))
    return day
