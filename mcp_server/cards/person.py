"""The profile of a person: latest contacts, and what is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ingest.analysis.catalogs import category_label
from mcp_server.cards.frame import ITEM_CHARACTERS, Card, Words, part, terms_of, uri_of
from mcp_server.quoting import MOST_TOKENS, Block, Place, quote
from mcp_server.registry import ToolContext
from mcp_server.tools.shapes import communication_url, local_time, person_url, shorten
from store import analysis, details, speakers
from store.analysis import Item
from store.details import Summarised
from store.speakers import Speaker

CONTACT_SUMMARY_CHARACTERS = 500
MOST_CONTACTS = 10
MOST_PROMISES = 5  # of a contact


def person_card(
    context: ToolContext,
    person_id: str,
    place: Place | None,
    *,
    language: str | None = None,
    most_tokens: int = MOST_TOKENS,
    most_contacts: int = MOST_CONTACTS,
) -> Card | None:
    """The profile: latest contacts with what was promised in them, then what is remembered, newest first."""
    if not context.sees_analysis:
        return None
    with context.database.read() as connection:
        person = speakers.get(context.tenant_id, connection, person_id)
        if person is None:
            return None
        items = analysis.list_items_of_speaker(context.tenant_id, connection, person_id)
        contacts: list[tuple[Summarised, list[Item]]] = []
        if place is None:
            newest = details.list_of_speaker(context.tenant_id, connection, person_id, limit=most_contacts)
            contacts = [
                (each, analysis.list_items(context.tenant_id, connection, each.communication.id)) for each in newest
            ]
    words = Words(context, language)
    head = [words.heading("person", place), _person_facts(context, words, person, place), words["note"]]
    head += words.section("name", person.name or person.external_id or "?", level="")
    if place is None:
        head += words.section("department", person.department or "", level="")
        head.append(f"## {words['contacts']}")
        head += [_contact(context, words, each, found) for each, found in contacts] or [words["nothing"]]
    known = [
        item
        for item in items
        if item.item_type == "commitment" or (item.item_type == "memory" and "memory" in context.tenant.features)
    ]
    head.append(f"## {words['remembered']}")
    if not known:
        head.append(words["nothing"])
    first = place.index if place is not None else 0
    blocks = (
        Block(index, _known_heading(context, words, index, item), item.content)
        for index, item in enumerate(known[first:], start=first)
    )
    return part(words, head, blocks, place, uri_of("people", person_id), most_tokens=most_tokens)


def _person_facts(context: ToolContext, words: Words, person: Speaker, place: Place | None) -> str:
    lines = [uri_of("people", person.id), person_url(context, person.id)]
    if place is None:
        lines.append(f"{words['role']}: {person.role}")
        lines.append(f"{words['updated']}: {local_time(context, person.updated_at)}")
    return "\n".join(f"- {line}" for line in lines)


def _contact(context: ToolContext, words: Words, contact: Summarised, items: Sequence[Item]) -> str:
    row = contact.communication
    about = filter(None, (row.channel_type, row.direction, category_label(contact.category, words.language)))
    addresses = f"{uri_of('communications', row.id)} {communication_url(context, row.id)}"
    lines = [f"{local_time(context, row.occured_at)} {row.kind} ({', '.join(about)}), {addresses}", quote(row.title)]
    if contact.summary_text:
        lines += ["", f"{words['summary']}:", quote(shorten(contact.summary_text, CONTACT_SUMMARY_CHARACTERS))]
    for item in [item for item in items if item.item_type == "commitment"][:MOST_PROMISES]:
        heading = " ".join(filter(None, (words["promises"], terms_of(words, item))))
        lines += ["", f"{heading}:", quote(shorten(item.content, ITEM_CHARACTERS))]
    return "\n".join(lines)


def _known_heading(context: ToolContext, words: Words, index: int, item: Item) -> str:
    learnt: Any = (item.meta or {}).get("communication_id")
    source = f"{words['from']} {uri_of('communications', str(learnt))}" if learnt else ""
    promised = words["promises"] if item.item_type == "commitment" else ""
    parts = (f"[{index}]", local_time(context, item.created_at), promised, terms_of(words, item), source)
    return " ".join(filter(None, parts))
