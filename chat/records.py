"""Questions that records answer better than words found in texts: what was promised, what customers complain about.

They are recognised narrowly, by a promise or a complaint and nothing beside it but a person's name: whoever asks about
more ("what discount did Max promise?") asks for a passage, and gets one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from chat.citations import Citations, escape
from chat.contract import Done, Message, Record, Records, ToolBox, Usage
from chat.language import Language
from rag.text_terms import query_terms, term_set, terms

MOST_NAME_TERMS = 4

_PROMISE = term_set(
    "обещали обещал обещала обещано обещает обещание обещания обещаний пообещали пообещал пообещала обязательства "
    "promise promised promises commitment commitments"
)
_OVERDUE = term_set("просрочены просрочено просрочил просрочили просроченные overdue")
_COMPLAINT = term_set(
    "жалуются жалуется жаловались жалобы жалоба недовольны недоволен недовольство претензии претензия "
    "complain complains complained complaint complaints unhappy dissatisfied upset"
)
_ANYBODY = term_set(
    "клиенты клиент клиентам клиентов клиенту покупатели покупателям заказчики заказчикам люди людям сотрудники "
    "компания команда менеджеры чаще часто обычно недавно покажи покажите назови перечисли список "
    "customers customer clients client people staff team company anybody anyone often usually lately recently show list"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question asks the records for. `name` as the question has it, "" where it names nobody."""

    kind: Literal["promises", "complaints"]
    name: str = ""
    is_overdue: bool = False


@dataclass(frozen=True, slots=True)
class _Words:
    promises: str
    of_person: str
    overdue: str
    overdue_of_person: str
    complaints: str
    until: str
    late: str
    done: str
    more: str
    signals: dict[str, str]


_WORDS: dict[Language, _Words] = {
    "ru": _Words(
        promises="Обещано в разговорах и ещё не отмечено выполненным, сначала новое:",
        of_person="Обещания в разговорах, где участвует {name}, сначала новые:",
        overdue="Просроченные обещания, сначала самые давние:",
        overdue_of_person="Просроченные обещания, где участвует {name}, сначала самые давние:",
        complaints="Чем были недовольны клиенты в последние 30 дней, сначала новое:",
        until="до {day}",
        late="просрочено",
        done="выполнено",
        more="Это не все.",
        signals={
            "complaint": "Жалоба",
            "disputes": "Спор",
            "churn_risk": "Могут уйти",
            "escalation": "Зовут старшего",
            "objection": "Возражение",
        },
    ),
    "en": _Words(
        promises="Promised in conversations and not marked as done, the newest first:",
        of_person="Promises in conversations of {name}, the newest first:",
        overdue="Overdue promises, the oldest first:",
        overdue_of_person="Overdue promises in conversations of {name}, the oldest first:",
        complaints="What customers were unhappy about in the last 30 days, the newest first:",
        until="by {day}",
        late="overdue",
        done="done",
        more="There are more.",
        signals={
            "complaint": "Complaint",
            "disputes": "Dispute",
            "churn_risk": "May leave",
            "escalation": "Asked for somebody senior",
            "objection": "Objection",
        },
    ),
}


def wanted_records(question: str, *, is_first: bool) -> Wanted | None:
    """None where the question is about anything else, or about more. One that is not the first may be about what was
    said before it: "what did we promise?" then is, "what did we promise our customers?" is not."""
    asked = query_terms(question)
    rest = [term for term in asked if term not in _ANYBODY]
    if not is_first and len(rest) == len(asked) and _PROMISE.union(_COMPLAINT).issuperset(rest):
        return None
    if _PROMISE.intersection(rest):
        others = [term for term in rest if term not in _PROMISE and term not in _OVERDUE]
        if len(others) > MOST_NAME_TERMS:
            return None
        return Wanted("promises", _words_of(question, others), bool(_OVERDUE.intersection(rest)))
    if rest and _COMPLAINT.issuperset(rest):
        return Wanted("complaints")
    return None


def _words_of(question: str, stems: Sequence[str]) -> str:
    """The question's own words that have these stems, in its order."""
    words = (word.strip('.,;:!?…«»"“”()') for word in question.split())
    return " ".join(word for word in words if set(terms(word)).intersection(stems))


async def told_by_records(
    question: str, history: Sequence[Message], language: Language, tools: ToolBox | None
) -> Done | None:
    """The answer, a line for each record with its citation; None where the records are not asked, or have nothing."""
    wanted = wanted_records(question, is_first=not history) if tools is not None else None
    if wanted is None or tools is None:
        return None
    if wanted.kind == "complaints":
        found = await tools.complaints()
    else:
        found = await tools.promises(wanted.name, overdue=wanted.is_overdue)
    if not found.items:
        return None
    words, citations = _WORDS[language], Citations([])
    lines = [_line(record, words, language, citations) for record in found.items]
    end = [words.more] if found.has_more else []
    markdown = "\n\n".join([_heading(wanted, found, words), "\n".join(lines), *end])
    return Done(markdown, citations.used, True, Usage())


def _heading(wanted: Wanted, found: Records, words: _Words) -> str:
    if wanted.kind == "complaints":
        return words.complaints
    if wanted.name:
        heading = words.overdue_of_person if wanted.is_overdue else words.of_person
        return heading.format(name=escape(found.person))
    return words.overdue if wanted.is_overdue else words.promises


def _line(record: Record, words: _Words, language: Language, citations: Citations) -> str:
    who = record.by or words.signals.get(record.label, "")
    state = words.done if record.is_done else words.late if record.is_overdue else ""
    until = words.until.format(day=_day(record.due, language)) if record.due else ""
    notes = ", ".join(filter(None, (until, state)))
    lead = f"**{escape(' '.join(who.split()))}:** " if who else ""
    text = escape(" ".join(record.text.split()))
    return f"- {lead}{text}{f' — {notes}' if notes else ''} {citations.cite(record.passage)}"


def _day(day: date, language: Language) -> str:
    return f"{day:%d.%m.%Y}" if language == "ru" else f"{day.day} {day:%B %Y}"
