"""What a category's keys hold in a conversation, each as a sentence that was said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ingest.analysis.catalogs import CATEGORIES
from ingest.analysis.conversation import Conversation, Side
from ingest.analysis.findings import KeyItem, Sides
from ingest.analysis.rules import items_en, items_examples_en, items_examples_ru, items_ru
from ingest.analysis.rules.categories import telling_piece
from ingest.analysis.rules.categories_cues import Cue, compile_cues, phrases
from ingest.analysis.rules.categories_evidence import EXAMPLES as TALK
from ingest.analysis.rules.categories_evidence import SMALL_TALK, Embed, Evidence, Learned, Same, gather, learn
from ingest.analysis.rules.categories_excerpt import Piece
from ingest.analysis.rules.deadlines import find_deadline
from ingest.analysis.rules.items_wording import clean, short

_FADE = 0.6
_SHORT_WORDS = 4
_BARE = (0.0, 0.5, 0.6, 0.8)  # by words: "done" says less than what is done
_SAYS_MUCH = 6
_NUMBER = 3.0  # an offer has a price in it
_DATE = 4.0  # a next meeting has a day
_TIMED = 7.0
_DATED_PIECES = 80
_HEARD_PIECES = 40
_ANSWERED = 0.8  # what one is asked about is mostly what was before
_OPENING = 12
_NOT_LATE = 1.5  # more is asked in the first half
_MOST_DATED_CHARS = 400
_LIKENESS_WEIGHT = 30.0
_LEAST_LIKENESS = 0.1
_CUES_WEIGHT = 0.8

_EXAMPLES: tuple[Mapping[str, str], ...] = (items_examples_ru.EXAMPLES, items_examples_en.EXAMPLES)
Likeness = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class _Habit:
    """Who says it, whether early or late, and how much it takes: a single word of weight 5 is 5."""

    side: Side = "unknown"
    early: float = 1.0
    late: float = 1.0
    least: float = 2.25
    asked: float = 0.5  # what a question counts
    bare: bool = False  # a word or two say it: "it works"
    other: float = 0.35  # what the other side's words count


_HABITS = {
    "contact_outcome": _Habit(least=0, asked=1.0),
    "dial_hint": _Habit(least=1.75),
    "deal_type": _Habit("client", early=2.0, least=2, asked=1.0),
    "funnel_stage": _Habit("employee", late=1.6, least=2.75),
    "offer": _Habit("employee", least=3.25, asked=0.8),
    "objection": _Habit("client", asked=0.9),
    "agreement": _Habit(late=1.6, least=3.5, asked=0.3),
    "competitors": _Habit("client", asked=0.8),
    "next_touch_at": _Habit("employee", other=0.7, late=3.5, least=5.0, asked=0.7),
    "churn_risk": _Habit("client", early=1.3, asked=0.8),
    "outcome": _Habit(bare=True, late=2.2, least=1.5, asked=0.2),
    "urgency": _Habit("client", least=2.25, asked=0.7),
    "resolution": _Habit("employee", least=2.25, asked=0.5),
    "disputes": _Habit("client", early=1.3, asked=1.0),
    "order_status": _Habit(least=2.25, asked=0.3),
    "documents": _Habit(asked=0.5),
    "delivery_status": _Habit(asked=0.5),
    "constraints": _Habit("client", asked=0.6),
    "severity": _Habit("client", asked=0.8),
    "requested_resolution": _Habit("client", asked=0.9),
    "escalation": _Habit(asked=0.9),
    "agenda": _Habit(early=2.0, least=2.25, asked=1.0),
    "decisions": _Habit(late=1.3, least=2.5, asked=0.3),
}
assert {key for category in CATEGORIES.values() for key in category.keys} <= {*_HABITS, "topic"}

_OUTCOMES = (
    (
        "Голосовая почта",
        "Voicemail",
        "автоответчик, голосов* почт*, после _ сигнала, оставьте",
        "voicemail, mailbox, tone, beep, leave",
    ),
    ("Ошиблись номером", "Wrong number", "ошиблись, не туда, ошибся, ошиблась", "wrong number"),
    (
        "Связь прервалась",
        "Dropped",
        "слышно, слышите, прервалась, прерывается, алло алло",
        "hear, breaking up, hello hello, dropped",
    ),
    (
        "Номер недоступен",
        "Unreachable",
        "абонент, вне зоны, не обслуживается, недоступен, выключен",
        "cannot be reached, not in service, disconnected, dialed",
    ),
    ("Занято", "Busy", "занято, линия занята, короткие гудки", "busy tone, line is busy"),
    (
        "Автоответ",
        "Automatic reply",
        "автоматический ответ, в отпуске, вне офиса",
        "automatic reply, out of office, on leave",
    ),
    (
        "Голосовое меню",
        "Phone menu",
        "нажмите, операторы, оставайтесь на линии, звонок важен, режим работы",
        "press, menu, stay on the line, agents, please hold, closed",
    ),
)


# Another firm by name, with what it does or asks: «Браво» возят, "Acme" charges ...
_OTHERS = re.compile(
    r"[«\"][А-ЯЁA-Z][^»\"\n]{1,40}[»\"][^.!?\n]{0,60}?(?:\d|воз[яи]т|сотн|восемьсот|тысяч|насчита|предл|прос[яи]т|сто[ия]т|"
    r"дешевл|бер[её]|делают|сейчас|charge|quote|cheap|ask|do it|use)",
    re.IGNORECASE,
)
_NAMED = 5.0
_YES_NO = re.compile(r" (?:да|нет|yes|yeah|no) ")
_HOW_MANY = re.compile(r" (?:сколько|how (?:many|much)) ")
_NUMERAL = re.compile(
    r"\d| (?:ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|grand|nineteen|eighteen|"
    r"fifteen|двадцат|тридцат|сорок|пятьдесят|шестьдесят|семьдесят|восемьдесят|девяност|сто|двест|трист|четырест|пятьсот|"
    r"шестьсот|семьсот|восемьсот|девятьсот|тысяч|тыщ|полтор|полмиллион|миллион|пятнадцат|восемнадцат)"
)


@lru_cache(maxsize=2)
def _cues(language: str) -> dict[str, tuple[Cue, ...]]:
    table = items_en.CUES if language == "en" else items_ru.CUES
    return {key: compile_cues({key: lines}, language) for key, lines in table.items()}


@lru_cache(maxsize=2 * len(CATEGORIES))
def _known(by: Same, category: str) -> Learned:
    """Of the category's keys only: an agreement of one category is an outcome of another."""
    keys = (*CATEGORIES[category].keys, *(("agenda",) if category == "internal" else ()))
    said = [(key, line) for key in keys for table in _EXAMPLES for line in table.get(key, "").strip().splitlines()]
    said += [(SMALL_TALK, line) for table in TALK for line in table[SMALL_TALK].strip().splitlines()]
    return learn(by.embed, said)


def likeness(category: str | None, evidence: Evidence, embed: Embed | None) -> Likeness:
    """How much each piece, by its place, is like sentences that hold a key; nothing without an embedder."""
    if category not in CATEGORIES or embed is None or evidence.vectors is None:
        return {}
    learned = _known(Same(embed), category)
    near = np.maximum(0.0, learned.tell(evidence.vectors) - _LEAST_LIKENESS) * _LIKENESS_WEIGHT
    return {
        key: {at: float(near[row, column]) for row, at in enumerate(evidence.embedded)}
        for column, key in enumerate(learned.intents)
    }


def _weigh(piece: Piece, cues: Sequence[Cue], habit: _Habit, like: float) -> float:
    """How well a piece fits a key, its place aside; `like`: what likeness gives."""
    found = sorted((cue.weight for cue in cues if cue.pattern.search(piece.words)), reverse=True)
    weight = sum(each * _FADE**rank for rank, each in enumerate(found[:4])) * _CUES_WEIGHT + like
    if habit.side != "unknown" and piece.side not in (habit.side, "unknown"):
        weight *= habit.other
    if piece.text.rstrip(" \"»”')").endswith("?"):
        weight *= habit.asked
    words = piece.words.count(" ") - 1
    if words < _SHORT_WORDS and not habit.bare and not _NUMERAL.search(piece.words):
        weight *= _BARE[words]
    return weight


def _dated(conversation: Conversation, piece: Piece) -> float:
    """What a day adds to a next meeting, and a time of it."""
    said_at = next((turn.at for turn in conversation.turns if turn.idx == piece.idx), None)
    text = piece.text[:_MOST_DATED_CHARS]
    found = find_deadline(text, said_at or conversation.occured_at, conversation.zone, conversation.language)
    return 0.0 if found is None else _TIMED if "T" in found.iso else _DATE


def _is_none(key: str, piece: Piece, language: str) -> bool:
    """Whether it speaks of the key's matter and says the opposite: what suits is no objection."""
    table = items_en.DENIALS if language == "en" else items_ru.DENIALS
    return key in table and any(denial.search(piece.words) for denial in phrases(table[key], language))


def _is_count(pieces: Sequence[Piece], index: int) -> bool:
    """A short answer to "how many"."""
    if not index or pieces[index].words.count(" ") > _SAYS_MUCH:
        return False
    before = pieces[index - 1]
    return before.text.rstrip().endswith("?") and bool(_HOW_MANY.search(before.words))


def best_piece(
    key: str, pieces: Sequence[Piece], conversation: Conversation, likeness: Likeness | None = None
) -> Piece | None:
    """The sentence that holds the key most plainly; None where none does plainly enough."""
    habit, cues = _HABITS[key], _cues(conversation.language)[key]
    best, most = None, 0.0
    like = (likeness or {}).get(key, {})
    for index, piece in enumerate(pieces):
        weight = _weigh(piece, cues, habit, like.get(index, 0.0)) if piece.idx >= 0 else 0.0
        if weight and _is_none(key, piece, conversation.language):
            continue
        if key == "constraints" and _is_count(pieces, index):
            continue
        if key == "outcome" and index and _YES_NO.match(piece.words) and pieces[index - 1].text.rstrip().endswith("?"):
            weight *= _ANSWERED
        if key == "offer" and weight and _NUMERAL.search(piece.words):
            weight += _NUMBER
        if key == "competitors" and piece.side != "employee" and _OTHERS.search(piece.text):
            weight += _NAMED
        recent = index >= len(pieces) - _DATED_PIECES
        if weight and key == "next_touch_at" and recent:
            weight += _dated(conversation, piece)
        at = index / max(1, len(pieces) - 1)
        least = habit.least + (_NOT_LATE if key == "next_touch_at" and at < 0.5 else 0.0)
        if not weight or weight < least:
            continue
        weight *= habit.early + (habit.late - habit.early) * at
        if weight > most:
            best, most = piece, weight
    return best


def topic_piece(
    category: str | None, conversation: Conversation, evidence: Evidence, embed: Embed | None = None
) -> Piece | None:
    """What it was about: what tells most for the category, of a meeting what names its subject."""
    if category == "internal":
        early = evidence.pieces[: max(_OPENING, len(evidence.pieces) // 4)]
        named = best_piece("agenda", early, conversation, likeness(category, evidence, embed))
        if named:
            return named
        return next(
            (piece for piece in evidence.pieces if piece.idx >= 0 and piece.words.count(" ") > _SAYS_MUCH), None
        )
    return telling_piece(category or "", conversation, evidence)


def _with_context(piece: Piece, pieces: Sequence[Piece]) -> str:
    """A bare "agreed" says nothing: then what came before is put in front."""
    if piece.words.count(" ") - 1 >= _SHORT_WORDS:
        return clean(piece.text)
    at = next(index for index, each in enumerate(pieces) if each is piece)
    if at == 0 or pieces[at - 1].idx < 0:
        return short(piece.text)
    before = short(pieces[at - 1].text).rstrip(".…")
    return short(f"{before} — {piece.text}")


def _contact_outcome(pieces: Sequence[Piece], language: str) -> str:
    """In a word, by all that is said: a voicemail also says that somebody is not available."""
    for russian, english, in_russian, in_english in _OUTCOMES:
        for lines, tongue in ((in_russian, "ru"), (in_english, "en")):
            if any(pattern.search(piece.words) for pattern in phrases(lines, tongue) for piece in pieces):
                return english if language == "en" else russian
    return "No live contact" if language == "en" else "Живого контакта не было"


def find_items(
    conversation: Conversation,
    sides: Sides,
    category: str | None,
    embed: Embed | None = None,
    evidence: Evidence | None = None,
) -> tuple[KeyItem, ...]:
    """At most one item a key of the category's row, each with its quote. Nothing without a category."""
    if category not in CATEGORIES:
        return ()
    evidence = evidence or gather(conversation, sides, embed)
    language = conversation.language
    likely = likeness(category, evidence, embed)
    items = []
    for key in CATEGORIES[category].keys:
        if key == "topic":
            piece = topic_piece(category, conversation, evidence, embed)
        else:
            piece = best_piece(key, evidence.pieces, conversation, likely)
        if key == "contact_outcome":
            piece = piece or next((each for each in evidence.pieces if each.idx >= 0), None)
        if piece is None or (quote := piece.quote()) is None:
            continue
        if key == "contact_outcome":
            content = f"{_contact_outcome(evidence.pieces[:_HEARD_PIECES], language)}: {short(piece.text)}"
        else:
            content = _with_context(piece, evidence.pieces)
        items.append(KeyItem(key, content, quote))
    return tuple(items)
