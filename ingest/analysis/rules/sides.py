"""Who speaks for the company and who is its client, by what is said and by who is known: never by order alone."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable

from ingest.analysis.conversation import Conversation, Person, Side
from ingest.analysis.findings import Sides
from ingest.analysis.rules import sides_cues_en, sides_cues_ru
from ingest.analysis.rules.criteria_brand import brand
from ingest.analysis.rules.criteria_speech import Run, runs
from ingest.analysis.rules.names import calls, own_names, same_person
from ingest.analysis.rules.sides_cues import AUTOMATON, INTERNAL, Cues

_SURE = 1.0  # the least weight that tells a side
_FIRST_WRITER = 0.9
_MOST_OF_ONE = 2  # times that one cue counts for a voice
_MOST_LABELS = 200
_GREETING_WORDS = 8
_LINE_WORDS = 8
_NAMED_RUNS = 60  # of a voice that are searched for names: introductions come early
_ASKS_BRAND = re.compile(r"\s{0,3}(?:\w{1,12} ){0,2}(?:\?|да\b|верно|правильно|что ли|right)")
_INTRODUCED = re.compile(
    r"\s{0,2}(?:[.,!]|\s(?:вас беспокоит|меня зовут|звоню|беспокою|отдел|служба|поддержка|"
    r"менеджер|оператор|администратор|диспетчер|по поводу|насчет ваш\w{2,3}|"
    r"вы (?:вчера|недавно|сегодня|у нас|нам|оставляли|звонили|обращались|заказывали)|calling|speaking|here|"
    r"\w{2,12} (?:here|speaking))\b)"
)
_THEIRS = re.compile(
    r"\b(?:you|your|you guys|вы|вас|вам|ваш\w{0,3}|вами|dear|hi|hello|thanks|это|is this|"
    r"is that)\W{1,3}(?:\w{1,14}\W{1,2}){0,2}$"
)
_THIS_IS = re.compile(r"(?:\bэто|\bвас беспокоит|\bthis is|\bit's)\W{1,3}(?:\w{1,14} )?$")
_OF_US = re.compile(
    r"\b(?:from|at|with|of|to|меня зовут|компани[яи]|из|поддержк\w|магазин|клиника|"
    r"вас приветствует)\W{1,3}(?:\w{1,14}\W{1,3}){0,1}$"
)


def tell_sides(conversation: Conversation) -> Sides:
    """Everybody is an employee in an internal meeting. A machine's voice, or one that nothing tells, is "unknown".
    Nothing at all where nobody is sure."""
    labels = conversation.labels[:_MOST_LABELS]
    if not labels:
        return Sides()
    known = {label: side for label, side in conversation.known_sides.items() if label in labels}
    said: dict[str, list[Run]] = defaultdict(list)
    for run in runs(conversation):
        if run.label in labels:
            said[run.label].append(run)
    automata = {label for label in labels if label not in known and is_automaton(said[label])}
    people = [label for label in labels if label not in automata]
    scores = {label: _score(conversation, said[label]) for label in people}
    if is_internal(conversation, said, scores):
        return Sides(dict.fromkeys(labels, "employee"), 0.9)
    if not people:
        return Sides(dict.fromkeys(labels, "unknown"), 0.9)
    _add_names(conversation, said, scores)
    if (
        conversation.kind != "call"
        and conversation.direction in ("in", "out")
        and conversation.turns[0].label in scores
    ):
        # Who wrote first, where the direction is known: too little to tell a side by itself.
        scores[conversation.turns[0].label or ""] += (
            _FIRST_WRITER if conversation.direction == "out" else -_FIRST_WRITER
        )
    if automata and len(people) == 1:
        scores[people[0]] += _alone_with_a_machine(conversation, said[people[0]])
    return _settle(scores, known, automata)


def is_automaton(said: Iterable[Run]) -> bool:
    """Whether a voice is a recording: a voicemail's greeting, a menu, a network's announcement."""
    words = hits = 0
    for run in said:
        words += run.words
        hits += sum(1 for _ in AUTOMATON.finditer(run.text))
    return hits > 0 and words <= 45 * hits + 15 and (hits >= 2 or words <= 30)


def is_internal(conversation: Conversation, said: dict[str, list[Run]], scores: dict[str, float]) -> bool:
    """Whether colleagues talk among themselves."""
    if len(said) < 2 and not any(len(run.turns) > 1 for voice in said.values() for run in voice):
        return False
    sides = [person.side for person in conversation.people]
    if "client" in (*sides, *conversation.known_sides.values()):
        return False
    kinds: dict[str, set[str]] = defaultdict(set)
    for label, voice in said.items():
        for run in voice:
            for match in INTERNAL.finditer(run.text):
                kinds[label].add(str(match.lastgroup))
    found = set().union(*kinds.values()) if kinds else set()
    weight = float(len(found)) + 1.0 * (sum(bool(each) for each in kinds.values()) > 1)
    weight += {"": 2.0, None: 2.0}.get(conversation.direction, -3.0)
    weight += 1.0 * (len(said) > 2)
    if len(sides) >= 2 and set(sides) == {"employee"}:
        weight += 3.0
    elif sides.count("employee") >= 2:
        weight += 2.5
    elif sides and "employee" not in sides:
        weight -= 1.0
    client = max((-score for score in scores.values()), default=0.0)
    served = max(scores.values(), default=0.0)
    return weight - 0.35 * max(client, 0.0) - 0.25 * max(served, 0.0) >= 4.0


def _score(conversation: Conversation, voice: list[Run]) -> float:
    """Above zero for the company, below for a client."""
    cues = sides_cues_ru if conversation.language == "ru" else sides_cues_en
    return _weigh(cues.EMPLOYEE, voice) - _weigh(cues.CLIENT, voice) + _brand_score(conversation, voice)


def _weigh(cues: Cues, voice: list[Run]) -> float:
    total = 0.0
    for weight, pattern in cues:
        times = 0
        for run in voice:
            for _ in pattern.finditer(run.text):
                times += 1
                if times == _MOST_OF_ONE:
                    break
            if times == _MOST_OF_ONE:
                break
        total += weight * (1.0, 1.6)[times - 1] if times else 0.0
    return total


def _brand_score(conversation: Conversation, voice: list[Run]) -> float:
    """Who names the company introduces it, or asks whether it is it."""
    ours = brand(conversation.company.names)
    for run in voice[:6]:
        span = ours.named(run, introducing=run is voice[0])
        if span is None:
            continue
        if conversation.kind == "email" and _ends_with(run, *span):
            return 3.0
        before, after = run.text[max(0, span[0] - 40) : span[0]], run.text[span[1] : span[1] + 30]
        if _ASKS_BRAND.match(after):
            return -2.0
        if _OF_US.search(before):
            return 3.0
        if _THIS_IS.search(before) and (conversation.direction == "out" or _INTRODUCED.match(after)):
            return 2.0
        return -1.5 if _THEIRS.search(before) else 2.5
    return 0.0


def _ends_with(run: Run, start: int, end: int) -> bool:
    """Whether a mail's signature names the company: on a short line below the text."""
    line = run.text.rfind("\n", 0, start) + 1
    is_low = 0 < run.text.find("\n") < line and len(run.text[:line].split()) > _GREETING_WORDS
    return (
        is_low
        and len(run.text[line : run.text.find("\n", end) if "\n" in run.text[end:] else None].split()) <= _LINE_WORDS
    )


def _add_names(conversation: Conversation, said: dict[str, list[Run]], scores: dict[str, float]) -> None:
    """Who gives a known employee's name as their own is one; who calls a known client by name is not that client."""
    named = [person for person in conversation.people if person.name and person.side != "unknown"]
    if not named:
        return
    language = conversation.language
    names = tuple(person.name for person in named if person.name)
    for label, score in list(scores.items()):
        own: set[Side] = set()
        called: set[Side] = set()
        for run in said[label][:_NAMED_RUNS]:
            for name in own_names(run.original, language):
                own |= _sides_of(name.name, named, language)
            for call in calls(run.original, language, names):
                called |= _sides_of(call.name, named, language)
        if len(own) == 1:
            score += 4.0 if "employee" in own else -4.0
        if "client" in called:
            score += 2.0
        if "employee" in called:
            score -= 1.0 if "client" in called or len(scores) > 2 else 2.0
        scores[label] = score


def _sides_of(name: str, people: Iterable[Person], language: str) -> set[Side]:
    return {person.side for person in people if person.name and same_person(name, person.name, language)}


def _alone_with_a_machine(conversation: Conversation, voice: list[Run]) -> float:
    """What somebody says to a recording: the one who calls says why, and whose voicemail it is the direction tells."""
    if sum(run.words for run in voice) < 6:
        return 0.0
    return {"out": 2.0, "in": -1.0}.get(conversation.direction or "", 0.0)


def _settle(scores: dict[str, float], known: dict[str, Side], automata: set[str]) -> Sides:
    of: dict[str, Side] = dict.fromkeys(automata, "unknown")
    of |= known
    free = {label: score for label, score in scores.items() if label not in known}
    if len(scores) == 2 and len(free) == 2:
        (first, a), (second, b) = free.items()
        if abs(a - b) < _SURE:
            return Sides()
        company, client = (first, second) if a > b else (second, first)
        return Sides(of | {company: "employee", client: "client"}, _confidence(abs(a - b)))
    if len(scores) == 2 and len(free) == 1:
        (other,) = free
        side: Side = "client" if "employee" in known.values() else "employee"
        return Sides(of | {other: side}, 0.95)
    margins = []
    for label, score in free.items():
        if abs(score) >= _SURE:
            of[label] = "employee" if score > 0 else "client"
            margins.append(abs(score))
        else:
            of[label] = "unknown"
    if free and not margins and not known:
        return Sides()
    return Sides(of, _confidence(sum(margins) / len(margins)) if margins else 0.95)


def _confidence(margin: float) -> float:
    return round(1 / (1 + math.exp(-margin / 2)), 3)
