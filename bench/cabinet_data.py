"""What the cabinet shows beside communications: webhooks, charges, audit, site conversations, camera events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from bench.bulk import insert_rows
from bench.mcp_data import Company, Filled
from store import camera_streams
from store.audit import audit_entries
from store.billing import ledger_transactions, usage_records
from store.camera_events import camera_events
from store.database import Connection, Database
from store.deliveries import deliveries
from store.ids import new_id
from store.widget import widget_conversations, widget_turns

BATCH = 10_000
KEPT_DAYS = 30  # of webhooks and camera events
EVENTS_A_CALL = ("transcription", "summary", "qc", "memory")
SITE_CONVERSATIONS, TURNS = 10_000, 6
AUDITED = 20_000
CAMERAS, CAMERA_EVENTS = 8, 100_000
WAITING_EACH, FOUND_NOTHING_EACH, VOTED_EACH = 500, 7, 5

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Surroundings:
    chat_id: str
    camera_id: str
    site_conversation_id: str


def fill_surroundings(
    database: Database, tenant_id: str, chat_id: str, filled: Filled, company: Company | None = None
) -> Surroundings:
    """In proportion to the communications that `fill` made, whose newest come first."""
    company = company or Company()
    maker = _Maker(
        tenant_id, chat_id, filled, company.end, timedelta(days=company.days) / len(filled.communication_ids)
    )
    with database.write() as connection:
        cameras = [_camera(tenant_id, connection, number) for number in range(CAMERAS)]
        for table, rows in (
            (deliveries, maker.deliveries()),
            (ledger_transactions, maker.debits()),
            (usage_records, maker.usage()),
            (audit_entries, maker.audit()),
            (widget_conversations, maker.conversations()),
            (widget_turns, maker.turns()),
            (camera_events, maker.camera_events(cameras)),
        ):
            _insert(connection, table, rows)
    return Surroundings(chat_id, cameras[0], filled.communication_ids[0])


def _insert(connection: Connection, table: sa.Table, rows: Iterator[Row]) -> None:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            insert_rows(connection, table, batch)
            batch = []
    insert_rows(connection, table, batch)


def _camera(tenant_id: str, connection: Connection, number: int) -> str:
    made = camera_streams.add(
        tenant_id,
        connection,
        name=f"Door {number}",
        url=b"sealed",
        shown_url="rtsp://10.0.0.1/",
        transport="tcp",
        scenarios=["traffic", "safety"],
        site_id=None,
        geo=None,
        webhook_url=None,
        key_id=None,
    )
    return made.id


@dataclass(frozen=True, slots=True)
class _Maker:
    tenant_id: str
    chat_id: str
    filled: Filled
    end: datetime
    step: timedelta
    """Between two communications."""

    def _at(self, place: int) -> datetime:
        return self.end - place * self.step

    def deliveries(self) -> Iterator[Row]:
        for place, id_ in enumerate(self.filled.communication_ids):
            at = self._at(place)
            if self.end - at > timedelta(days=KEPT_DAYS):
                return
            for name in EVENTS_A_CALL:
                event = f"{name}.completed"
                yield {
                    "id": new_id(),
                    "tenant_id": self.tenant_id,
                    "event_key": f"{event}:{id_}",
                    "event": event,
                    "body": f'{{"event":"{event}","task_id":"{id_}","communication_id":"{id_}"}}',
                    "url": "https://example.com/hook",
                    "is_account_url": True,
                    "key_id": None,
                    "communication_id": id_,
                    "status": "failed" if place % 100 == 0 else "delivered",
                    "attempts": 1,
                    "tries": 1,
                    "run": 1,
                    "next_attempt_at": None,
                    "delivered_at": at,
                    "created_at": at,
                    "updated_at": at,
                }

    def debits(self) -> Iterator[Row]:
        for place, id_ in enumerate(self.filled.communication_ids):
            yield {
                "id": id_,
                "tenant_id": self.tenant_id,
                "key": f"bench:{id_}",
                "kind": "debit",
                "amount_micro": -1_500_000,
                "description": "A call of 3 minutes",
                "product": "speech",
                "source": "transcription",
                "source_ref": id_,
                "created_at": self._at(place),
            }

    def usage(self) -> Iterator[Row]:
        for place, id_ in enumerate(self.filled.communication_ids):
            for product, amount in (("speech", 1_000_000), ("analysis", 500_000)):
                yield {
                    "id": new_id(),
                    "tenant_id": self.tenant_id,
                    "key": f"bench:{product}:{id_}",
                    "product": product,
                    "unit": "minute",
                    "quantity": 1,
                    "rate_micro": amount,
                    "amount_micro": amount,
                    "llm_model": None,
                    "source": "transcription",
                    "source_ref": id_,
                    "hold_id": id_,
                    "transaction_id": id_,
                    "created_at": self._at(place),
                }

    def audit(self) -> Iterator[Row]:
        for number in range(AUDITED):
            yield {
                "id": new_id(),
                "tenant_id": self.tenant_id,
                "at": self._at(number),
                "actor": f"operator {number % 5}",
                "action": ("communication.deleted", "key.created", "settings.changed")[number % 3],
                "subject": None,
                "details": {},
            }

    def conversations(self) -> Iterator[Row]:
        for place, id_ in enumerate(self.filled.communication_ids[:SITE_CONVERSATIONS]):
            at = self._at(place)
            yield {
                "id": id_,
                "tenant_id": self.tenant_id,
                "chat_id": self.chat_id,
                "created_at": at,
                "last_at": at,
                "turns": TURNS,
                "analysed_turns": TURNS,
                "operator_name": None,
                "person_requested_at": at if place % WAITING_EACH == 0 else None,
                "contact": None,
            }

    def turns(self) -> Iterator[Row]:
        for place, id_ in enumerate(self.filled.communication_ids[:SITE_CONVERSATIONS]):
            asked = ""
            for number in range(1, TURNS + 1):
                is_visitor = number % 2 == 1
                turn_id = new_id()
                found = (place + number) % FOUND_NOTHING_EACH != 0
                yield {
                    "tenant_id": self.tenant_id,
                    "conversation_id": id_,
                    "id": turn_id,
                    "number": number,
                    "role": "visitor" if is_visitor else "agent",
                    "text": "When do you deliver to the north?" if is_visitor else "On Tuesdays and Fridays [1].",
                    "at": self._at(place) + timedelta(seconds=number),
                    "status": "done",
                    "reply_to": None if is_visitor else asked,
                    "author": None,
                    "answer": None if is_visitor else {"markdown": "On Tuesdays", "context": {}, "found": found},
                    "touched_at": None,
                    "attempt": None,
                    "feedback": "up" if not is_visitor and (place + number) % VOTED_EACH == 0 else None,
                    "comment": None,
                }
                asked = turn_id

    def camera_events(self, cameras: list[str]) -> Iterator[Row]:
        step = timedelta(days=KEPT_DAYS) / CAMERA_EVENTS
        for number in range(CAMERA_EVENTS):
            at = self.end - number * step
            yield {
                "id": new_id(),
                "tenant_id": self.tenant_id,
                "stream_id": cameras[number % CAMERAS],
                "subject": f"bench:{number}",
                "scenario": "traffic",
                "type": "entry" if number % 2 else "exit",
                "confidence": 0.9,
                "occurred_at": at,
                "metadata": {"track_id": number},
                "snapshot_key": None,
                "created_at": at,
            }
