"""The card of a call, chat or mail, and its timeline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ingest.analysis.catalogs import category_label
from mcp_server.cards.frame import ITEM_CHARACTERS, Card, Words, clock, deadline_of, part, uri_of
from mcp_server.quoting import Block, Place, quote
from mcp_server.registry import ToolContext
from mcp_server.tools.shapes import communication_url, local_time, shorten
from store import analysis, communications, details, speakers
from store.analysis import Item
from store.communications import ContentItem
from store.details import Details
from store.speakers import Participant

SUMMARY_CHARACTERS = 4_000
MOST_ITEMS = 30
MOST_PEOPLE = 50

_HEARD_LABEL = re.compile(r"SPEAKER_\d{1,3}")  # given by recognition, so no word of anybody


def communication_card(context: ToolContext, communication_id: str, place: Place | None) -> Card | None:
    """The conversation from `place` on, with its card before the first part; None where there is none."""
    with context.database.read() as connection:
        found = details.find_newest(context.tenant_id, connection, communication_id=communication_id)
        if found is None:
            return None
        first_idx = place.index if place is not None else 0
        content = communications.list_content(context.tenant_id, connection, communication_id, first_idx=first_idx)
        people = speakers.list_participants(context.tenant_id, connection, communication_id)
        shows_analysis = context.sees_analysis and place is None
        items = analysis.list_items(context.tenant_id, connection, communication_id) if shows_analysis else []
    words = Words(context)
    names = _Voices(context, words, people, content)
    head = [words.heading(found.communication.kind, place), *_facts(context, words, found, place), words["note"]]
    if place is None:
        head += words.section("title", found.communication.title, level="")
    if shows_analysis:
        head += _analysis(context, words, found, items)
    if names.legend:
        head += [f"## {words['participants']}", *names.legend]
    head.append(f"## {words['text']}")
    return part(words, head, _turns(context, words, names, content), place, uri_of("communications", communication_id))


def _facts(context: ToolContext, words: Words, found: Details, place: Place | None) -> list[str]:
    row = found.communication
    lines = [uri_of("communications", row.id), communication_url(context, row.id)]
    lines.append(f"{words['time']}: {local_time(context, row.occured_at)}")
    if place is not None:
        return ["\n".join(f"- {line}" for line in lines)]
    lines.append(f"{words['channel']}: {', '.join(filter(None, (row.channel_type, row.direction)))}")
    if row.duration_ms is not None:
        lines.append(f"{words['duration']}: {clock(row.duration_ms)}")
    lines.append(f"{words['status']}: {row.status(chat_quiet_s=context.chat_quiet_s)}")
    if found.transcription_status not in (None, "success"):
        lines.append(f"{words['transcription']}: {found.transcription_status}")
    if context.sees_analysis and found.category:
        lines.append(f"{words['category']}: {category_label(found.category, words.language)}")
    evaluation = found.evaluation if context.sees_analysis and "qc" in context.tenant.features else None
    if evaluation is not None and evaluation.score_pct is not None:
        lines.append(f"{words['qc']}: {evaluation.score_pct:g} % ({evaluation.scenario_code})")
    return ["\n".join(f"- {line}" for line in lines)]


def _analysis(context: ToolContext, words: Words, found: Details, items: Sequence[Item]) -> list[str]:
    lines = words.section("summary", shorten(found.summary_text or "", SUMMARY_CHARACTERS))
    lines += words.section("report", shorten(found.user_summary or "", SUMMARY_CHARACTERS))
    for name, item_type in (("promises", "commitment"), ("facts", "criteria")):
        chosen = [item for item in items if item.item_type == item_type][:MOST_ITEMS]
        if chosen:
            lines.append(f"## {words[name]}")
            lines += [_item(words, item) for item in chosen]
    return lines


def _item(words: Words, item: Item) -> str:
    """A promise with its deadline, or what was found under a key of the category."""
    text = shorten(item.content, ITEM_CHARACTERS)
    if item.item_type == "commitment":
        return f"{deadline_of(words, item) or '-'}\n{quote(text)}"
    # What is found may be filed under a key of the model's own wording.
    return quote(f"{item.subtype}: {text}" if item.subtype else text)


class _Voices:
    """How the speakers of a conversation are called on the server's lines: nobody's own words, and a legend to them."""

    def __init__(
        self, context: ToolContext, words: Words, people: Sequence[Participant], content: list[tuple[int, ContentItem]]
    ) -> None:
        self._of: dict[str, str] = {}
        self.legend: list[str] = []
        for number, person in enumerate(people[:MOST_PEOPLE] if context.sees_analysis else (), start=1):
            name = f"P{number} {person.role}"
            if person.label:
                self._of[person.label] = name
            self.legend.append(
                f"{name}, {uri_of('people', person.id)}\n{quote(person.name or person.external_id or '?')}"
            )
        for label in dict.fromkeys(item.label for _, item in content if item.label):
            if label not in self._of and not _HEARD_LABEL.fullmatch(label):
                name = f"V{len(self.legend) + 1} {words['voice']}"
                self._of[label] = name
                if len(self.legend) < MOST_PEOPLE * 2:
                    self.legend.append(f"{name}\n{quote(label)}")

    def __getitem__(self, label: str | None) -> str:
        return self._of.get(label, label) if label else ""


def _turns(
    context: ToolContext, words: Words, names: _Voices, content: Iterable[tuple[int, ContentItem]]
) -> Iterator[Block]:
    for idx, item in content:
        when = clock(item.start_ms) if item.start_ms is not None else ""
        when = when or (local_time(context, item.at) if item.at else "")
        media = words["attachment"] if item.media else ""
        yield Block(idx, " ".join(filter(None, (f"[{idx}]", when, names[item.label], media))), item.text)
