"""The grammar of deadlines: patterns over the symbols of `deadlines_tokens`, for Russian and English together.

A pattern names what it found by the groups `n` (number), `m` (month), `y` (year), `u` (unit), `h` (half of the day).
Every repetition is bounded, so the scan is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ingest.analysis.rules.deadlines_tokens import Word

Kind = Literal["day", "clock", "part", "span", "none"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an expression, from word `start` up to `end`: `rule` says how `groups` are resolved."""

    kind: Kind
    rule: str
    start: int
    end: int
    groups: dict[str, str]


_N = r"#(?P<n>[\d.]+)"
_UPTO = r"(?:(?:#[\d.]+) (?:- |– |— |to |or |до |или )?)?"
_ABOUT = (
    r"(?:(?:about|around|roughly|approximately|maybe|like|just|примерно|где - то|максимум|буквально|"
    r"ближайшие|ближайших|следующие|следующих|the|next|coming|of|a) ){0,3}"
)
_UNIT = r"(?P<wk>Wk |календарных |calendar )?(?P<u>Umin|Uhour|Uday|Unight|Uweek|Umonth|Uyear|fortnight)"
_WITHIN = (
    r"(?:через|спустя|за|in|within|inside|over|under|максимум|в (?:течени[еи]|пределах|ближайш\w{1,3}|следующ\w{1,3})"
    r"|на протяжении|не (?:более|позднее|больше|позже)(?: чем)?(?: через)?|no (?:more|later) than|less than"
    r"|up to|during|at most|the next|до)"
)
_AT = r"(?:в|во|к|ко|до|на|около|с|со|часов в|at|by|before|until|till|for|around|about|from)"
_BY = r"(?:в|к|до|at|by|before|until|till|around)"
_NEXT = r"(?:следующ\w{1,4}|будущ\w{1,4}|next|той|following)"
_THIS = r"(?:эт\w{1,3}|текущ\w{1,3}|ближайш\w{1,3}|this|the|coming|this coming)"
_END = r"(?:(?:конца|концу|конце|концом|end|close|окончания|исхода|завершения)(?: of)?)"
_DAY_HALF = r"(?P<h>Uday|Pmorn|Peve|Pnight|Paft|am|pm)"
_IN_HALF = r"(?: in (?:the|a))? " + _DAY_HALF

_PATTERNS: tuple[tuple[Kind, str, str], ...] = (
    # What is over, and what only looks like a deadline.
    ("none", "",
        r"(?:прошл\w{1,4}|last|прошедш\w{2,3}|минувш\w{2,3}|previous|past) (?:D\d|Uweek|Umonth|Uyear|Peve|"
        r"Pnight)"
    ),
    ("none", "",
        rf"(?:через|за|in|within|в течени[еи]) {_ABOUT}{_UPTO}(?:#[\d.]+ )?(?:Wk |календарных |calendar )?"
        r"U(?:min|hour|day|night|week|month) (?:после|со Uday|с момента|с даты|со дня|from (?:the )?(?:receipt|date|"
        r"delivery|day)|of (?!T0|now)\w+|after)"
    ),
    ("none", "", rf"{_UPTO}#[\d.]+ (?:Wk )?U\w+ (?:назад|ago|earlier|before)"),
    ("none", "", r"(?:(?:a|an) )?U(?:min|hour|day|week|month|year) (?:назад|ago)"),
    ("none", "", r"(?:от|dated|since|за) (?:the )?[@#]\d{1,2} (?:of )?M\d{1,2}(?: #\d{4})?"),
    ("none", "", r"(?:от|dated|since|за) X[\d./-]+"),
    ("none", "",
        r"(?:за|on|за ровно|about|around)? ?(?:полчаса|#[\d.]+ U\w+|Uhour|half an Uhour|an Uhour|U\w+) (?:до|"
        r"before)"
    ),
    ("none", "", r"the (?:Uday|Peve|Pmorn|Paft|Pnight|Uweek) before|накануне (?:Peve|Uday|Pmorn)"),
    ("none", "", r"(?:каждый|каждую|каждое|каждые|every|по|each) (?:D\d|Uday|Pmorn|Peve|Uweek|#\d+)"),
    ("none", "", r"не (?:раньше|ранее) (?:D\d|T\d|@\d+)(?: M\d+)?"),
    ("none", "", r"(?:после|after|since) (?:D\d|@\d+|the @\d+)(?: M\d+)?"),
    # Spans from now on.
    ("span", "n", rf"{_WITHIN} {_ABOUT}{_UPTO}{_N} (?:of |- )?{_UNIT}(?P<half> and a half)?(?: time)?"),
    ("span", "one",
        rf"(?:через|спустя|in an|in a|within an|within a|within the|in the next|within one|inside the|"
        rf"inside an|в ближайший|в ближайшую|за) {_UNIT}(?P<half> and a half)?(?: time)?"
    ),
    ("span", "n", rf"(?P<u>Umin|Uhour|Uday|Uweek|Umonth) (?:через|за) (?:#[\d.]+ - )?{_N}(?! U)"),
    ("span", "half_hour",
        r"(?:через|за|в течение|в ближайшие|спустя|буквально|(?:in|within)(?: about| the next| roughly|"
        r" like)?) (?:полчаса|получаса|полчасика|half an Uhour|a half Uhour|half Uhour|a half - Uhour)"
    ),
    ("span", "half_hour", r"Umin через тридцать"),
    ("span", "n", rf"{_UPTO}{_N} {_UNIT} from (?:now|T0)"),
    ("span", "one", r"a (?P<u>Uweek|Umonth) from (?:now|T0)"),
    ("span", "fortnight", r"(?:in|within) a fortnight(?: time)?"),
    ("day", "week_from", r"(?:a|one) Uweek from (?:D(?P<w>\d)|T(?P<t>1))"),
    ("span", "one", r"в течени[еи] (?P<u>Uhour|Uweek|Umonth)"),
    ("day", "offset", r"в течени[еи] (?:T0|(?:сегодняшнего |этого )?(?:Wk )?Uday)(?P<t>)"),
    ("day", "sutki", r"(?:в течени[еи]|за) Unight"),
    # Days.
    ("day", "offset2", r"(?:the )?Uday after T1"),
    ("day", "later", r"T0 (?:или|or|-|максимум|либо) T(?P<t>1)"),
    ("day", "later", r"T1 (?:или|or|-|максимум|либо) T(?P<t>2)"),
    ("day", "offset", r"T(?P<t>\d)"),
    ("part", "eve", r"tonight"),
    ("day", "weekday_next",
        rf"(?:{_NEXT} D(?P<w>\d)|D(?P<w2>\d) (?:на )?{_NEXT} Uweek|(?:на )?{_NEXT} Uweek (?:(?:в|во|on|к|"
        rf"до) )?D(?P<w3>\d))"
    ),
    ("day", "weekday", rf"(?:{_THIS} )?D(?P<w>\d)(?: this Uweek| этой Uweek| на этой Uweek)?"),
    ("day", "weekday", r"(?:on|by|before|until|next|this) (?:sat|sun)(?P<w>)"),
    ("day", "month_day",
        r"(?:the )?(?:@|#)(?P<n>\d{1,2}) (?:- )?(?:(?:of|"
        r"числа) )?M(?P<m>\d{1,2})(?:,? #(?P<y>\d{4}))?(?: Uyear)?"
    ),
    ("day", "month_day",
        r"M(?P<m>\d{1,2}) (?:the )?[@#](?P<n>\d{1,2})(?! (?:am|pm|Uday|Uhour))(?:(?: ,)? #(?P<y>\d{4}))?"
    ),
    ("day", "month_day", r"(?:@|#)(?P<n>\d{1,2}) (?:числа|числу|числом|число)"),
    ("day", "month_day", r"the @(?P<n>\d{1,2}) of (?P<next>this|next) Umonth"),
    ("day", "bare_day", r"(?:(?:к|до|by|before|until|on|for|на|not later than) (?:the )?)@(?P<n>\d{1,2})"),
    ("day", "bare_day_said", r"@(?P<n>\d{1,2})"),
    ("day", "day_of_weekday", r"D\d ,? ?(?:the )?@(?P<n>\d{1,2})"),
    ("day", "figures", r"X(?P<x>[\d./-]+)"),
    ("day", "end_of_week", rf"{_END} (?:(?:the|Wk|{_THIS}) ){{0,2}}Uweek"),
    ("day", "end_of_next_week", rf"{_END} (?:the )?{_NEXT} (?:Wk )?Uweek"),
    ("day", "end_of_month", rf"{_END} (?:(?:the|{_THIS}) )?Umonth"),
    ("day", "end_of_month", rf"{_END} (?:(?:the|{_THIS}) )?M(?P<m>\d{{1,2}})"),
    ("day", "end_of_next_month", rf"{_END} (?:the )?{_NEXT} Umonth"),
    ("day", "end_of_next_month", rf"(?:в|in|во) {_NEXT} Umonth|(?:sometime )?next Umonth"),
    ("day", "end_of_month", r"(?:в|до) (?:этом|этого) Umonth|(?:later )?this Umonth"),
    ("day", "end_of_quarter", rf"{_END} (?:(?:the|{_THIS}) )?(?:Uquarter|quarter)"),
    ("day", "end_of_year", rf"{_END} (?:(?:the|{_THIS}) )?Uyear"),
    ("day", "eod", rf"{_END} (?:(?:of|the|my|today|сегодняшнего) )?(?:Wk )?(?:Uday|play|смены|business)"),
    ("day", "eod", r"eod|cob|eob|close of business|close of play|end of business|end of play|by closing"),
    ("day", "start_of_next_week",
        rf"(?:early|в начале|к началу|beginning of|start of|the beginning of|"
        rf"the start of) (?:the )?{_NEXT} Uweek"
    ),
    ("day", "middle_of_next_week",
        rf"(?:mid|mid -|в середине|к середине|middle of|the middle of) (?:the )?{_NEXT} Uweek"
    ),
    ("day", "end_of_next_week", rf"(?:на |в течение |in |over )?(?:the )?{_NEXT} Uweek(?: или| through)?"),
    ("day", "end_of_week",
        r"(?:на (?:этой )?|later |before the weekend|до выходных|sometime )?(?:this Uweek|этой Uweek|на Uweek)"
    ),
    ("day", "end_of_week", r"(?:before|by) the weekend|(?:до|к) выходн(?:ых|ым)"),
    ("day", "weekend", r"(?:на|в) (?:этих )?выходн(?:ых|ые)|(?:over|this|at|on) (?:the |this )?weekend"),
    ("day", "monday", r"(?:после|after) (?:the )?(?:выходных|weekend)"),
    # Times of day.
    ("clock", "range",
        rf"(?:с|со|from|between|между|где - то с)? ?#(?P<a>\d{{1,2}})(?: Uhour)?(?: Uday| Pmorn| am|"
        rf" pm)? (?:до|to|and|и|-|–|till|until) #(?P<n>\d{{1,2}})(?: (?P<unit>Uhour))?(?:{_IN_HALF})?"
    ),
    ("clock", "range",
        r"(?:с|со|from|between)? ?C\d{1,2}:\d{2} (?:до|to|and|и|-|–|"
        r"—) C(?P<n>\d{1,2}):(?P<m>\d{2})(?: (?P<h>am|pm))?"
    ),
    ("clock", "exact", rf"(?:{_AT} )?C(?P<n>\d{{1,2}}):(?P<m>\d{{2}})(?:{_IN_HALF})?"),
    ("clock", "exact", rf"(?:{_AT} )?#(?P<n>\d{{1,2}}) (?:#(?P<m>\d\d) )?(?:Uhour )?(?P<h>Pmorn|Peve|Pnight|am|pm)"),
    ("clock", "exact", rf"{_AT} #(?P<n>\d{{1,2}}) (?:Uhour )?(?P<h>Uday)(?! \w*дн)"),
    ("clock", "exact", r"#(?P<n>\d{1,2}) Uhour (?P<h>Uday)"),
    ("clock", "exact",
        rf"{_AT} #(?P<n>\d{{1,2}}) (?:Uhour )?#(?P<m>(?:0|5|[1-5][05]))(?: Umin| #0)?(?! U| тыс| руб| процент|"
        rf"%)(?: {_DAY_HALF})?"
    ),
    ("clock", "exact", rf"(?:{_AT} )?#(?P<n>\d{{1,2}}) o'clock(?:{_IN_HALF})?"),
    ("clock", "exact",
        r"#(?P<n>\d{1,2}) #(?P<m>[0-5][05])(?= (?:it is|works|then|sharp|(?:on )?(?:D\d|T\d)|P\w+|in the P\w+))"
    ),
    ("clock", "exact", r"(?:в|к|до) #(?P<n>\d{1,2}) Uhour"),
    ("clock", "exact", r"Uhour (?:в|к|до) #(?P<n>\d{1,2})(?: (?P<h>Pmorn|Peve|Uday))?"),
    ("clock", "one", r"(?:в|к|до) Uhour(?: (?P<h>Uday|Pnight))?"),
    ("clock", "half_to", r"(?:в |к |до )?(?:половине|половину|половины) @(?P<n>\d{1,2})(?: (?P<h>Uday|Pmorn|Peve))?"),
    ("clock", "half_past", rf"(?:{_AT} )?half(?: past)? #(?P<n>\d{{1,2}})(?:{_IN_HALF})?"),
    ("clock", "quarter_past", rf"(?:{_AT} )?(?:a )?quarter (?:past|after) #(?P<n>\d{{1,2}})(?:{_IN_HALF})?"),
    ("clock", "quarter_to",
        rf"(?:{_AT} )?(?:(?:a )?quarter (?:to|of|till)|без четверти) #(?P<n>\d{{1,2}})(?:{_IN_HALF})?"
    ),
    ("clock", "to", rf"(?:без #(?P<m>\d{{1,2}}) #(?P<n>\d{{1,2}})|{_AT} #(?P<m2>\d{{1,2}}) to #(?P<n2>\d{{1,2}}))"),
    ("clock", "noon", r"(?:в |к |до |at |by |before |around )?(?:полдень|полудню|полудня|noon|midday)"),
    ("clock", "bare", rf"{_BY} #(?P<n>\d{{1,2}})"),
    # Parts of a day: no time on the clock.
    ("part", "noon", r"(?:до|к|в|перед|by|before|at|over) (?:the )?Pnoon"),
    ("part", "afternoon",
        r"(?:после|after) (?:the )?Pnoon|(?:во|в) @2 половин\w Uday|(?:this|in the|by the|later this|T1) Paft"
    ),
    ("part", "noon", r"в (?:@1|первой) половин\w Uday"),
    ("part", "eve", r"(?:до|к|после|before|by|after) (?:the )?(?:ужин\w{1,2}|dinner|supper|teatime)"),
    ("part", "eve", r"(?:к|до|ближе к|под) Peve|(?:this|in the|by the|by) Peve|Peve"),
    ("part", "morning", r"(?:с|к|до|по) Pmorn|in the Pmorn|by Pmorn|by the Pmorn|Pmorn"),
    ("part", "this_morning", r"this Pmorn"),
    ("part", "first_thing", r"@1 thing(?: in the Pmorn)?"),
    ("part", "afternoon", r"Uday"),
)  # fmt: skip
_COMPILED = tuple((kind, rule, re.compile(rf"(?<!\S)(?:{pattern})(?!\S)")) for kind, rule, pattern in _PATTERNS)
_SIGN = re.compile(
    r"[#@DTMXCUP]|половин|полчас|получас|полдень|полудн|noon|midday|eod|cob|eob|tonight|выходн|weekend|first"
    r"|ужин|dinner|supper|teatime"
)


def parts(words: list[Word]) -> Iterator[Part]:
    """The parts of all expressions in order, the longest where two overlap; parts of kind `none` are taken out."""
    line = " ".join(word.symbol for word in words)
    if not _SIGN.search(line):
        return
    at = _positions(words)
    found: list[tuple[bool, int, int, int, Part]] = []
    for priority, (kind, rule, pattern) in enumerate(_COMPILED):
        for match in pattern.finditer(line):
            start, end = at[match.start()], at[match.end() - 1] + 1
            groups = {name: value for name, value in match.groupdict().items() if value is not None}
            # A number alone counts only where nothing that says more has it.
            found.append((rule.startswith("bare"), start, -end, priority, Part(kind, rule, start, end, groups)))
    taken = bytearray(len(words))
    kept = []
    for *_, part in sorted(found, key=lambda one: one[:4]):
        if not any(taken[part.start : part.end]):
            taken[part.start : part.end] = b"\1" * (part.end - part.start)
            kept.append(part)
    yield from sorted((part for part in kept if part.kind != "none"), key=lambda part: part.start)


def _positions(words: list[Word]) -> list[int]:
    """Which word each letter of the line of symbols belongs to."""
    at: list[int] = []
    for number, word in enumerate(words):
        at.extend([number] * (len(word.symbol) + 1))
    return at
