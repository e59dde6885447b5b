"""Which label is which person, by what is said: a name given as one's own, a name one is called by, a side of the talk.

Never by the order or by roles alone. A label or person that is not sure stays unbound.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from ingest.analysis.conversation import Conversation, Person, Turn
from ingest.analysis.findings import Binding, Sides
from ingest.analysis.rules import sides_cues_en, sides_cues_ru
from ingest.analysis.rules.criteria_brand import brand
from ingest.analysis.rules.criteria_speech import runs
from ingest.analysis.rules.morphology import read
from ingest.analysis.rules.names import (
    asks_name,
    calls,
    could_be,
    is_personal,
    leading_name,
    own_names,
    reported_names,
    same_person,
)
from ingest.analysis.rules.own_name_cues import IS_IT

SAYS_NAME = "says their name"
ANSWERS_WITH_NAME = "answers with their name"
CALLED = "called by name"
ONLY_ONE = "the only one of their side"

_OWN, _ANSWER, _CALLED_OF_TWO, _ASKED_OF_MANY, _CALLED_OF_MANY = 10.0, 8.0, 5.0, 4.0, 2.0
_ENOUGH = 4.0
_CLEAR = 2.0  # times what speaks for another
_SURE_SIDES = 0.75
_LEAST_CUES = 3  # sentences that tell a side, where no name is heard
_A_CUE = 1.0  # the least weight
_MOST_OF_ONE = 3
_EARLY = 3
_MOST_RUNS = 200
_MOST_TURNS = 20_000
_OPENING = 20  # turns in which a machine gives itself away
_DENIES = re.compile(
    r"\W{0,3}(?:нет|не совсем|no|nope|not)(?![^\W\d_])|[^.!?]{0,60}(?:ошиблись|не туда попали|"
    r"wrong number|(?:его|ее|её) нет|(?:he|she)(?:'s| is) (?:not|out)|"
    r"(?:его|ее|её) (?:муж|жена|сын|дочь|мама|помощни|секретар)|(?:his|her) (?:wife|husband|son|daughter|"
    r"mother|assistant))"
)
_MACHINE = re.compile(
    r"voice ?mail|voice mailbox|after the tone|at the tone|leave (?:a|your) message|автоответчик|"
    r"после (?:звукового )?сигнала|оставьте сообщение|голосов\w{2,4} (?:почт|ящик|меню)|"
    r"абонент (?:временно |сейчас )?(?:недоступен|не отвечает|занят)|аппарат абонента|вне зоны|"
    r"press (?:one|1|two|2|\d)|нажмите (?:один|\d|цифру|клавишу)"
)
# Who speaks for somebody else is not the person who is expected.
_FOR_ANOTHER = re.compile(
    r"\bя (?:его|ее|её) (?:жена|муж|сын|дочь|мама|мать|отец|сестра|брат|помощни\w{1,3}|секретар\w|"
    r"ассистент\w?|представител\w)|"
    r"\b(?:звоню|пишу|обращаюсь) (?:от имени|по поручению|за|вместо|по просьбе) (?:\w{2,8} )?(?:муж|жен|"
    r"мам|пап|сын|доч|сестр|брат|бабушк|дедушк|директор|начальни|шеф|руководител|клиент)|"
    r"\bi'?m (?:his|her|their) (?:wife|husband|son|daughter|mother|mom|mum|father|dad|sister|brother|"
    r"assistant|secretary|carer)|"
    r"\b(?:calling|writing) (?:for|on behalf of|instead of) (?:my |his |her |our )?(?:husband|wife|"
    r"mother|mom|mum|father|dad|son|daughter|sister|brother|boss|client|grandmother)|"
    r"\bthis is (?:his|her|\w{2,15}'s) (?:wife|husband|son|daughter|mother|mom|mum|father|dad|sister|"
    r"brother|assistant|secretary)"
)
_TOLD = re.compile(
    r"[, ]{1,3}(?:go ahead|over to you|you're up|you first|your turn|start|tell us|take it|тебе слово|твоя очередь|"
    r"давай)\b"
)
_ASKS = re.compile(
    r",? {0,3}(?:can|could|will|would|do|did|are|have) you\b|,? {0,3}shall we|,? {0,3}(?:а )?(?:ты|вы|тебя|у тебя|"
    r"у вас) "
)


@dataclass
class _Evidence:
    """Points for a label being a person, with the best reason; `against` are pairs that cannot be."""

    points: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    against: set[tuple[str, str]] = field(default_factory=set)
    strangers: set[str] = field(default_factory=set)  # labels of a name that is nobody's, or who speak for another

    def add(self, label: str, person: Person, points: float, reason: str) -> None:
        pair = (label, person.id)
        if points >= self.points[pair] or reason == SAYS_NAME:
            self.reasons[pair] = reason
        self.points[pair] += points


def bind(conversation: Conversation, sides: Sides) -> tuple[Binding, ...]:
    """New bindings only, at most one for each label and person; what is bound already stays as it is."""
    machines = {turn.label for turn in conversation.turns[:_OPENING] if _MACHINE.search(turn.text[:2_000].lower())}
    labels = [label for label in conversation.labels if conversation.person_of(label) is None and label not in machines]
    people = [person for person in conversation.people if person.label is None]
    if not labels or not people:
        return ()
    evidence = _gather(conversation, sides)
    if sides.confidence >= _SURE_SIDES:
        evidence.against |= _other_side(conversation, sides)
    found = _settle(labels, people, evidence)
    found += _by_side(conversation, sides, labels, people, evidence, found)
    found += _left_over(conversation, sides, labels, people, evidence, found)
    order = {label: at for at, label in enumerate(labels)}
    return tuple(sorted(found, key=lambda binding: order[binding.label]))


def _gather(conversation: Conversation, sides: Sides) -> _Evidence:
    evidence = _Evidence()
    turns = [turn for turn in conversation.turns[:_MOST_TURNS] if turn.label and turn.text.strip()]
    named = [
        person for person in conversation.people if is_personal(person.name) and not _is_company(conversation, person)
    ]
    names = tuple(person.name for person in named if person.name)
    of_two = len(conversation.labels) == 2
    asked = False
    for at, turn in enumerate(turns):
        before = turns[at - 1] if at else None
        _own(conversation, turn, named, names, evidence)
        for name in reported_names(turn.text, conversation.language, names):
            evidence.against |= {(turn.label or "", person.id) for person in _fitting(conversation, name, named)}
            evidence.strangers.add(turn.label or "")
        if turn.label and _FOR_ANOTHER.search(turn.text[:2_000].lower()):
            evidence.strangers.add(turn.label)
        if before is not None and not before.text.rstrip().endswith("?"):
            _stated(conversation, sides, turn, named, evidence)
        was_asked = asked and before is not None and before.label != turn.label
        if was_asked and before is not None:
            answer = leading_name(turn.text, conversation.language, names)
            theirs = [own.name for own in own_names(before.text, conversation.language)]
            if answer and not any(same_person(answer.name, own, conversation.language) for own in theirs):
                _name_given(conversation, turn, answer.name, named, evidence, _ANSWER, ANSWERS_WITH_NAME)
        asked = asks_name(turn.text, conversation.language)
        for call in calls(turn.text, conversation.language, names):
            if _stands_alone(turn.text, call.start, call.end) or (was_asked and call.start < 12):
                continue  # "Иван?" is answered by "Иван.", and both are of one form
            person = _only(conversation, call.name, named)
            if person is not None and _signs(conversation, sides, turn, call.end, person):
                _name_given(conversation, turn, call.name, named, evidence, _ANSWER, SAYS_NAME)
                continue
            if person is None or turn.label is None:
                if of_two and not _fitting(conversation, call.name, named):
                    evidence.strangers.update(label for label in conversation.labels if label != turn.label)
                continue
            evidence.add(turn.label, person, -_CALLED_OF_TWO if of_two else -_CALLED_OF_MANY, CALLED)
            following = next((later for later in turns[at + 1 : at + 4] if later.label != turn.label), None)
            if following is None or following.label is None:
                other = next((label for label in conversation.labels if label != turn.label), None) if of_two else None
            elif _asks_who(turn.text, call.start, call.end) and _DENIES.match(following.text[:400].lower()):
                evidence.against.add((following.label, person.id))
                continue
            else:
                other = following.label
            if other is not None:
                points = _CALLED_OF_TWO if of_two else _points_of_many(turn.text, call.start, call.end)
                evidence.add(other, person, points, CALLED)
    return evidence


def _other_side(conversation: Conversation, sides: Sides) -> set[tuple[str, str]]:
    """Pairs of a client's voice with an employee, or the other way round."""
    return {
        (label, person.id)
        for label, side in sides.of.items()
        for person in conversation.people
        if "unknown" not in (side, person.side) and side != person.side
    }


def _own(
    conversation: Conversation, turn: Turn, named: Sequence[Person], names: Sequence[str], evidence: _Evidence
) -> None:
    for own in own_names(turn.text, conversation.language, names):
        _name_given(conversation, turn, own.name, named, evidence, _OWN, SAYS_NAME)


def _name_given(
    conversation: Conversation,
    turn: Turn,
    name: str,
    named: Sequence[Person],
    evidence: _Evidence,
    points: float,
    reason: str,
) -> None:
    """Somebody gave their name: they are nobody who is called otherwise."""
    assert turn.label is not None
    person = _only(conversation, name, named)
    if person is not None:
        evidence.add(turn.label, person, points, reason)
    fitting = _fitting(conversation, name, named)
    if not fitting:
        evidence.strangers.add(turn.label)
    for other in named:
        if other not in fitting:
            evidence.points[turn.label, other.id] -= points


def _is_company(conversation: Conversation, person: Person) -> bool:
    """An account in the company's own name is anybody's of the company."""
    return any(person.name and person.name.lower() in name.lower() for name in conversation.company.names if name)


def _alike(conversation: Conversation, name: str, named: Sequence[Person]) -> list[Person]:
    return [person for person in named if person.name and same_person(name, person.name, conversation.language)]


def _fitting(conversation: Conversation, name: str, named: Sequence[Person]) -> list[Person]:
    """Whom a name may be of: who is called so, or of whom only a surname and an initial are known."""
    alike = _alike(conversation, name, named)
    return [*alike, *(person for person in named if person.name and could_be(name, person.name))]


_FULL_NAME = re.compile(r"(?:^|[.!?] )([^\W\d_]{2,20} [^\W\d_]{2,30})[.]?$")


def _stated(conversation: Conversation, sides: Sides, turn: Turn, named: Sequence[Person], evidence: _Evidence) -> None:
    """ "I was billed twice. Rosalind Achebe.": first name and surname as the last sentence, of one of that side."""
    found = _FULL_NAME.search(turn.text, max(0, len(turn.text) - 70))
    if found is None or turn.label is None:
        return
    person = _only(conversation, found[1], named)
    side = sides.of.get(turn.label, "unknown")
    if person is None or side == "unknown" or person.side not in ("unknown", side):
        return
    if all(word[:1].isupper() for word in found[1].split()):
        evidence.add(turn.label, person, _CALLED_OF_TWO, SAYS_NAME)


def _signs(conversation: Conversation, sides: Sides, turn: Turn, end: int, person: Person) -> bool:
    """ "Ciao, Marcus" at the end of a message by a voice of that person's side."""
    if conversation.kind == "call" or turn.text[end:].strip(" .!\n") or len(turn.text) < 12:
        return False
    return person.side != "unknown" and sides.of.get(turn.label or "") == person.side


def _only(conversation: Conversation, name: str, named: Sequence[Person]) -> Person | None:
    """The one person whom the name fits; None where it fits nobody or several."""
    alike = _alike(conversation, name, named)
    return alike[0] if len(alike) == 1 else None


def _settle(labels: Sequence[str], people: Sequence[Person], evidence: _Evidence) -> list[Binding]:
    """The clear pairs, the surest first."""
    open_people = {person.id for person in people}
    open_labels = set(labels)
    found: list[Binding] = []
    speaking_for = {pair: points for pair, points in evidence.points.items() if points > 0}
    for (label, person_id), points in sorted(speaking_for.items(), key=lambda item: -item[1]):
        if label not in open_labels or person_id not in open_people:
            continue
        if (label, person_id) in evidence.against:
            continue
        rivals = (
            other
            for pair, other in speaking_for.items()
            if pair != (label, person_id) and (pair[0] == label or pair[1] == person_id)
        )
        if points < _ENOUGH or points < _CLEAR * max(rivals, default=0.0):
            continue
        found.append(Binding(label, person_id, evidence.reasons[label, person_id]))
        open_labels.discard(label)
        open_people.discard(person_id)
    return found


def _asks_who(text: str, start: int, end: int) -> bool:
    """ "Это Иван?", or the name alone: what may be denied."""
    before = text[max(start - 60, 0) : start].lower()
    return IS_IT.search(before) is not None or not re.search(r"\w{3,}", before[-12:])


def _points_of_many(text: str, start: int, end: int) -> float:
    """How likely who is called there speaks next, in a talk of three and more: surely when asked by name at the end."""
    rest = text[end:].rstrip(" .!?…")
    last_sentence = re.search(r"[.!?…]", rest) is None
    if last_sentence and ("?" in text[end:] or _ASKS.match(text[end:].lower()) or _is_told(text[end:])):
        return _ASKED_OF_MANY
    return _CALLED_OF_MANY if last_sentence and len(text) - end < 80 else 0.5


def _is_told(rest: str) -> bool:
    """ ", начинай", ", go ahead": somebody is given the word."""
    plain = rest.lower()
    if _TOLD.match(plain):
        return True
    word = re.match(r"[, ]{1,3}(?:ну |а |тогда |давай )?([а-яё]{3,20})", plain)
    return word is not None and read(word[1]).mood == "impr"


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[max(start - 3, 0) : start].strip(), text[end : end + 3].strip()
    return (not before or before[-1] in ".!?…") and (not after or after[0] in ".…")


def _by_side(
    conversation: Conversation,
    sides: Sides,
    labels: Sequence[str],
    people: Sequence[Person],
    evidence: _Evidence,
    found: Sequence[Binding],
) -> list[Binding]:
    """The only voice of a side is the only person of it, where what is said makes the sides sure."""
    if not _tells(conversation, sides):
        return []
    if not found and not _is_told_by_content(conversation, sides):
        return []
    made = []
    bound_labels = {binding.label for binding in found}
    bound_people = {binding.person_id for binding in found}
    for side, of_side in (("employee", sides.employees), ("client", sides.clients)):
        members = [person for person in conversation.people if person.side == side]
        if len(of_side) != 1 or len(members) != 1:
            continue
        label, person = of_side[0], members[0]
        if label in bound_labels or person.id in bound_people or label not in labels or person not in people:
            continue
        if _is_possible(label, person, evidence):
            made.append(Binding(label, person.id, ONLY_ONE))
    return made


def _left_over(
    conversation: Conversation,
    sides: Sides,
    labels: Sequence[str],
    people: Sequence[Person],
    evidence: _Evidence,
    found: Sequence[Binding],
) -> list[Binding]:
    """The last voice and the last person, where there are as many of both and their sides agree."""
    if not _tells(conversation, sides) or len(conversation.labels) != len(conversation.people):
        return []
    if not found and all(person.label is None for person in conversation.people):
        return []
    bound = {binding.label for binding in found} | {binding.person_id for binding in found}
    voices = [label for label in labels if label not in bound]
    others = [person for person in people if person.id not in bound]
    if len(voices) != 1 or len(others) != 1 or not _is_possible(voices[0], others[0], evidence):
        return []
    return [Binding(voices[0], others[0].id, ONLY_ONE)] if sides.of.get(voices[0]) != "unknown" else []


def _is_told_by_content(conversation: Conversation, sides: Sides) -> bool:
    """Whether, where nobody gives a name or is bound, who is which of one employee and one client is told by several
    things said apart: a greeting with its answer is too little."""
    people = conversation.people
    if any(person.label for person in people):
        return True
    if len(people) != 2 or len(conversation.labels) != 2 or people[0].side == people[1].side:
        return False
    words = sides_cues_ru if conversation.language == "ru" else sides_cues_en
    company = brand(conversation.company.names) if conversation.company.names else None
    told: set[tuple[str, int, int]] = set()
    first = {"in": "client", "out": "employee"}.get(conversation.direction or "")
    if conversation.kind != "call" and first == sides.of.get(conversation.turns[0].label or ""):
        told.add((first or "", -1, 0))  # who wrote first, where the direction is known
    for at, run in enumerate(runs(conversation)[:_MOST_RUNS]):
        side = sides.of.get(run.label or "", "unknown")
        for weight, pattern in {"employee": words.EMPLOYEE, "client": words.CLIENT}.get(side, ()):
            found = islice(pattern.finditer(run.text), _MOST_OF_ONE) if weight >= _A_CUE else ()
            told.update((side, at, run.sentence(match.start())[0]) for match in found)
        if company is not None and side == "employee" and (span := company.named(run, introducing=at < _EARLY)):
            told.add((side, at, span[0]))
    return len(told) >= _LEAST_CUES


def _tells(conversation: Conversation, sides: Sides) -> bool:
    """Whether the sides of all voices are sure, and all are people's."""
    if sides.confidence < _SURE_SIDES or any(label not in sides.of for label in conversation.labels):
        return False
    return not any(_MACHINE.search(turn.text[:2_000].lower()) for turn in conversation.turns[:_OPENING])


def _is_possible(label: str, person: Person, evidence: _Evidence) -> bool:
    if (label, person.id) in evidence.against or evidence.points.get((label, person.id), 0.0) < 0:
        return False
    # Who gave another name is none of the named; an account, a phone number or a department may be theirs.
    return label not in evidence.strangers or not is_personal(person.name)
