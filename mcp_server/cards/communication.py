"""The card of a call, chat or mail, and its timeline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ingest.analysis.catalogs import category_label
from mcp_server.cards.frame import ITEM_CHARACTERS, Card, Words, clock, part, terms_of, uri_of
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
_REST = 500_000_000
"""What the card has no room for stands behind the text, as blocks from this index on, which no turn has."""

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
        items = analysis.list_items(context.tenant_id, connection, communication_id) if context.sees_analysis else []
    words = Words(context)
    names = _Voices(context, words, people, content)
    uri = uri_of("communications", communication_id)
    rest = _Rest(words, uri)
    listed = _items(words, items, rest)
    legend = _legend(words, names, rest)
    head = [words.heading(found.communication.kind, place), *_facts(context, words, found, place), words["note"]]
    if place is None:
        head += words.section("title", found.communication.title, level="")
        if context.sees_analysis:
            head += words.section("summary", shorten(found.summary_text or "", SUMMARY_CHARACTERS))
            head += words.section("report", shorten(found.user_summary or "", SUMMARY_CHARACTERS))
        head += listed
    head += legend
    if first_idx < _REST:
        head.append(f"## {words['text']}")
    blocks = chain(_turns(context, words, names, content), rest.blocks[max(first_idx - _REST, 0) :])
    return part(words, head, blocks, place, uri)


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


class _Rest:
    """What goes behind the text, and the lines that say so where it was left out."""

    def __init__(self, words: Words, uri: str) -> None:
        self._words = words
        self._uri = uri
        self.blocks: list[Block] = []

    def take(self, shown: int, blocks: Sequence[tuple[str, str]]) -> list[str]:
        """Keeps those behind the first `shown`, and gives the line that tells where they are."""
        if len(blocks) <= shown:
            return []
        first = _REST + len(self.blocks)
        for index, (heading, text) in enumerate(blocks[shown:], start=first):
            self.blocks.append(Block(index, heading, text))
        words = self._words
        return [f"{shown} {words['of']} {len(blocks)}; {words['rest']} {self._uri}?from={first}"]


def _items(words: Words, items: Sequence[Item], rest: _Rest) -> list[str]:
    """Promises, and what was found under the keys of the category."""
    lines: list[str] = []
    for section, name, item_type in (("promises", "promise", "commitment"), ("facts", "fact", "criteria")):
        chosen = [item for item in items if item.item_type == item_type]
        if chosen:
            lines.append(f"## {words[section]}")
            lines += [_item(words, item) for item in chosen[:MOST_ITEMS]]
            blocks = [
                (" ".join(filter(None, (f"{words[name]} {number}", _said(words, item)))), _text(item))
                for number, item in enumerate(chosen, start=1)
            ]
            lines += rest.take(MOST_ITEMS, blocks)
    return lines


def _item(words: Words, item: Item) -> str:
    said = _said(words, item)
    if item.item_type == "commitment":
        said = said or "-"
    return f"{said}\n{quote(_text(item))}" if said else quote(_text(item))


def _text(item: Item) -> str:
    text = shorten(item.content, ITEM_CHARACTERS)
    # What is found may be filed under a key of the model's own wording.
    return f"{item.subtype}: {text}" if item.subtype and item.item_type != "commitment" else text


def _said(words: Words, item: Item) -> str:
    """A promise's terms, and the turn that says it with its time in the recording, where they are known."""
    meta = item.meta or {}
    idx, start_ms = meta.get("idx"), meta.get("start_ms")
    turn = f"[{idx}]" if isinstance(idx, int) else ""
    at = clock(start_ms) if isinstance(start_ms, int) else ""
    return " ".join(filter(None, (terms_of(words, item), turn, at)))


def _legend(words: Words, names: _Voices, rest: _Rest) -> list[str]:
    if not names.people and not names.voices:
        return []
    lines = [f"## {words['participants']}"]
    lines += [f"{heading}\n{quote(text)}" for heading, text in (*names.people[:MOST_PEOPLE], *names.voices)]
    return lines + rest.take(MOST_PEOPLE, names.people)


class _Voices:
    """How the speakers of a conversation are called on the server's lines: nobody's own words, and a legend to them."""

    def __init__(
        self, context: ToolContext, words: Words, people: Sequence[Participant], content: list[tuple[int, ContentItem]]
    ) -> None:
        self._of: dict[str, str] = {}
        self.people: list[tuple[str, str]] = []
        self.voices: list[tuple[str, str]] = []
        for number, person in enumerate(people if context.sees_analysis else (), start=1):
            name = f"P{number} {person.role}"
            if person.label:
                self._of[person.label] = name
            self.people.append((f"{name}, {uri_of('people', person.id)}", person.name or person.external_id or "?"))
        for label in dict.fromkeys(item.label for _, item in content if item.label):
            if label not in self._of and not _HEARD_LABEL.fullmatch(label):
                name = f"V{len(self.people) + len(self.voices) + 1} {words['voice']}"
                self._of[label] = name
                if len(self.voices) < MOST_PEOPLE:
                    self.voices.append((name, label))

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
