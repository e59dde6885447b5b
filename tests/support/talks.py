"""Analysed conversations as the store holds them, for tests that need no engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from store import analysis, communications, index_work, speakers
from store.analysis import CriterionResult, NewItem
from store.communications import ContentItem
from store.database import now
from store.speakers import Attending
from tests.support.server import Account


@dataclass(frozen=True, slots=True)
class Someone:
    """Who takes part, under a label of the timeline."""

    name: str | None
    external_id: str | None = None
    role: str = "client"
    department: str | None = None


ANNA = Someone("Anna Fairweather", "cl-anna")
BORIS = Someone("Boris Keeper", "emp-boris", "support", "Service")


@dataclass(frozen=True, slots=True)
class Talk:
    """Ids of what was stored; `people` by their labels, `promises` in their order."""

    id: str
    people: dict[str, str]
    promises: list[str] = field(default_factory=list)


def add_talk(
    account: Account,
    *,
    people: dict[str, Someone],
    turns: Sequence[tuple[str, str]],
    promises: Sequence[NewItem] = (),
    facts: Sequence[NewItem] = (),
    score_pct: float | None = None,
    criteria: Sequence[CriterionResult] = (),
    category: str = "support",
    title: str = "A call",
    kind: str = "call",
    at: datetime | None = None,
) -> Talk:
    """`turns` are (label, text). A promise's or fact's `speaker_id` is a label here."""
    tenant_id = account.tenant_id
    at = at or now() - timedelta(hours=1)
    with account.server.database.write() as connection:
        row = communications.create(
            tenant_id,
            connection,
            kind=kind,
            channel_type="phone" if kind == "call" else "telegram",
            occured_at=at,
            title=title,
            direction="in",
            is_closed=True,
            duration_ms=1000 * len(turns) if kind == "call" else None,
        )
        said = [
            ContentItem("audio_utterance", text, label, 1000 * idx, 1000 * idx + 900, at)
            for idx, (label, text) in enumerate(turns)
        ]
        communications.replace_content(tenant_id, connection, row.id, said)
        there = {
            label: speakers.upsert(
                tenant_id,
                connection,
                external_id=each.external_id,
                name=each.name,
                role=each.role,
                department=each.department,
            )
            for label, each in people.items()
        }
        attending = [Attending(person.id, person.role, label) for label, person in there.items()]
        speakers.attach(tenant_id, connection, row.id, attending)
        ids = {label: person.id for label, person in there.items()}
        items = [_of(item, ids) for item in promises]
        analysis.put_summary(tenant_id, connection, row.id, text=f"About: {title}", category=category, items=items)
        analysis.add_memory(tenant_id, connection, row.id, [_of(item, ids, row.id) for item in facts])
        if criteria or score_pct is not None:
            analysis.put_qc(
                tenant_id,
                connection,
                row.id,
                scenario_code="base_etiquette",
                score_pct=score_pct,
                comment=None,
                status="success",
                criteria=criteria,
            )
        for stage in ("summary", "qc", "memory"):
            analysis.set_stage(tenant_id, connection, row.id, stage, "success")
        index_work.add(tenant_id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=row.id)
        for person_id in ids.values():
            index_work.add(tenant_id, connection, action=index_work.INDEX_MEMORY, subject_id=person_id)
        stored = analysis.list_items(tenant_id, connection, row.id)
    return Talk(row.id, ids, [item.id for item in stored if item.item_type == "commitment"])


def promise(content: str, label: str | None = None, *, due: Any = None, quote: str = "", idx: int = 0) -> NewItem:
    """A promise by the day `due`, made in the turn `idx`."""
    meta = {"deadline": due.isoformat() if due else None, "deadline_text": None}
    return NewItem("commitment", content, None, {**meta, "quote": quote or content, "idx": idx, "label": label}, label)


def fact(content: str, label: str, *, quote: str = "", key: str = "plan") -> NewItem:
    return NewItem("memory", content, None, {"key": key, "quote": quote or content, "at": now().isoformat()}, label)


def _of(item: NewItem, ids: dict[str, str], communication_id: str | None = None) -> NewItem:
    """With the person's id in place of the label, and the source that memory has."""
    meta = item.meta if communication_id is None else {**(item.meta or {}), "communication_id": communication_id}
    return NewItem(item.item_type, item.content, item.subtype, meta, ids[item.speaker_id] if item.speaker_id else None)
