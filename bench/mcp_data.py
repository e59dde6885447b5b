"""A company's conversations in bulk, as recognition and analysis leave them: rows by the thousand, written in seconds
into SQLite or PostgreSQL. `fill` makes communications with their people, turns, findings and quality control; the
documents are in `bench.bulk`. The same arguments give the same rows, but for the moments, which count back from `end`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from bench.bulk import Made, insert_rows, made_id
from bench.mcp_findings import SENTENCES, Analysed, Findings, Rows
from store.analysis import qc_evaluations, stages, summaries, summary_items
from store.communications import communications, content_items
from store.database import Database
from store.figures_refresh import refresh
from store.speakers import communication_speakers, name_key, speakers
from store.transcriptions import transcription_tasks

BATCH = 5_000
REFRESHED_AT_ONCE = 10_000
DEPARTMENTS = ("Продажи", "Поддержка", "Доставка", "Бухгалтерия", "Удержание")
_STAFF_NAMES = ("Анна", "Борис", "Вера", "Глеб", "Дина", "Егор", "Жанна", "Захар", "Инна", "Кирилл")
_CLIENT_NAMES = ("Олег", "Полина", "Роман", "Софья", "Тимур", "Ульяна", "Фёдор", "Эмма", "Юрий", "Яна")
_SURNAMES = ("Белов", "Волков", "Громов", "Дронов", "Ершов", "Зимин", "Котов", "Лосев", "Мухин", "Носов")
_KINDS = {"call": ("phone",), "chat": ("telegram", "whatsapp", "widget"), "email": ("email",)}
_UTTERANCES = {"call": "audio_utterance", "chat": "chat_message", "email": "email_message"}


@dataclass(frozen=True, slots=True)
class Company:
    """What `fill` makes. `days` are those before `end` that the communications lie in; `turns` are of each but the long
    call, which is the newest of all and has `long_call_turns` in six hours."""

    communications: int = 100_000
    clients: int = 3_000
    staff: int = 40
    days: int = 180
    turns: int = 3
    long_call_turns: int = 4_000
    end: datetime = field(default_factory=lambda: datetime.now(UTC))


@dataclass(frozen=True, slots=True)
class Filled:
    """Ids of what was made; communications newest first."""

    communication_ids: Sequence[str]
    client_ids: Sequence[str]
    staff_ids: Sequence[str]
    long_call_id: str


def fill(database: Database, tenant_id: str, company: Company | None = None) -> Filled:
    """Writes the company's people and communications, and the figures that follow from them."""
    company = company or Company()
    maker = _Maker(tenant_id, company)
    with database.write() as connection:
        insert_rows(connection, speakers, maker.people())
        for first in range(0, company.communications, BATCH):
            rows = maker.batch(range(first, min(first + BATCH, company.communications)))
            for table, made in rows.items():
                insert_rows(connection, table, made)
    ids = [made_id(tenant_id, Made.COMMUNICATION, number) for number in range(company.communications)]
    for first in range(0, len(ids), REFRESHED_AT_ONCE):
        with database.write() as connection:
            refresh(connection, [(tenant_id, id_) for id_ in ids[first : first + REFRESHED_AT_ONCE]])
        if not database.is_sqlite:  # without statistics of what grows here, each batch would read all before it
            with database.write() as connection:
                connection.execute(sa.text("ANALYZE"))
    return Filled(ids[::-1], maker.clients, maker.staff, long_call_id=ids[-1])


class _Maker:
    def __init__(self, tenant_id: str, company: Company) -> None:
        self.tenant_id, self.company = tenant_id, company
        self.chance = random.Random(7)
        self.staff = [made_id(tenant_id, Made.PERSON, number) for number in range(company.staff)]
        self.clients = [made_id(tenant_id, Made.PERSON, company.staff + number) for number in range(company.clients)]
        # A few clients and colleagues are in most of the conversations.
        self.client_weights = _cumulated(len(self.clients))
        self.staff_weights = _cumulated(len(self.staff))
        self.findings = Findings(tenant_id, self.chance)

    def people(self) -> list[dict[str, Any]]:
        made_at = self.company.end - timedelta(days=self.company.days)
        rows = []
        for number, id_ in enumerate([*self.staff, *self.clients]):
            is_staff = number < len(self.staff)
            first = (_STAFF_NAMES if is_staff else _CLIENT_NAMES)[number % 10]
            name = f"{first} {_SURNAMES[number // 10 % 10]} {number}"
            rows.append(
                {
                    "id": id_,
                    "tenant_id": self.tenant_id,
                    "external_id": f"person-{number}",
                    "name": name,
                    "name_key": name_key(name),
                    "role": ("sales", "support", "employee")[number % 3] if is_staff else "client",
                    "department": DEPARTMENTS[number % len(DEPARTMENTS)] if is_staff else None,
                    "created_at": made_at,
                    "updated_at": made_at,
                }
            )
        return rows

    def batch(self, numbers: Iterable[int]) -> Rows:
        tables = (
            communications,
            content_items,
            communication_speakers,
            transcription_tasks,
            stages,
            summaries,
            summary_items,
            qc_evaluations,
        )
        rows: Rows = {table: [] for table in tables}
        for number in numbers:
            self._communication(number, rows)
        return rows

    def _communication(self, number: int, rows: Rows) -> None:
        chance = self.chance
        id_ = made_id(self.tenant_id, Made.COMMUNICATION, number)
        own = {"communication_id": id_, "tenant_id": self.tenant_id}
        is_long = number == self.company.communications - 1
        kind = "call" if is_long else chance.choices(tuple(_KINDS), (7, 2, 1))[0]
        at = self._moment(number)
        texts = self._turns(number, is_long)
        length_ms = 6 * 3_600_000 if is_long else chance.randrange(20_000, 600_000)
        rows[communications].append(
            {
                "id": id_,
                "tenant_id": self.tenant_id,
                "kind": kind,
                "channel_type": chance.choice(_KINDS[kind]),
                "request_record_id": f"record-{number}",
                "direction": chance.choice(("in", "out")),
                "language": "ru",
                "duration_ms": length_ms if kind == "call" else None,
                "title": f"Разговор о заказе {number}",
                "is_closed": True,
                "import_key": None,
                "occured_at": at,
                "created_at": at,
                "updated_at": at,
            }
        )
        labels = ("SPEAKER_00", "SPEAKER_01")
        rows[content_items] += self._content(own, kind, at, texts, length_ms, labels)
        employee = chance.choices(range(len(self.staff)), cum_weights=self.staff_weights)[0]
        client = chance.choices(self.clients, cum_weights=self.client_weights)[0]
        roles = (("sales", "support", "employee")[employee % 3], "client")
        for position, speaker_id in enumerate((self.staff[employee], client)):
            person = {"speaker_id": speaker_id, "position": position, "role": roles[position]}
            rows[communication_speakers].append({**own, **person, "label": labels[position]})
        if kind == "call":
            rows[transcription_tasks].append(self._task(number, own, at, length_ms))
        self.findings.add(Analysed(number, id_, at, texts, self.staff[employee], client), rows)

    def _moment(self, number: int) -> datetime:
        """A little apart, in the order of ids, the last one a minute ago."""
        share = 1 - (number + 1) / self.company.communications
        return self.company.end - timedelta(minutes=1) - share * timedelta(days=self.company.days)

    def _turns(self, number: int, is_long: bool) -> list[str]:
        count = self.company.long_call_turns if is_long else self.company.turns
        return [self.chance.choice(SENTENCES).format(number + turn) for turn in range(count)]

    def _content(
        self,
        own: dict[str, str],
        kind: str,
        at: datetime,
        texts: Sequence[str],
        length_ms: int,
        labels: Sequence[str],
    ) -> list[dict[str, Any]]:
        step = length_ms // max(1, len(texts))
        spoken = kind == "call"
        rows: list[dict[str, Any]] = []
        for idx, text in enumerate(texts):
            length = self.chance.randrange(step // 4, step) if spoken else 0
            rows.append(
                {
                    **own,
                    "idx": idx,
                    "kind": _UTTERANCES[kind],
                    "at": at + timedelta(milliseconds=idx * step),
                    "text": text,
                    "label": labels[idx % len(labels)],
                    "start_ms": idx * step if spoken else None,
                    "end_ms": idx * step + length if spoken else None,
                    "media": [],
                }
            )
        return rows

    def _task(self, number: int, own: dict[str, str], at: datetime, length_ms: int) -> dict[str, Any]:
        return {
            **own,
            "id": made_id(self.tenant_id, Made.TASK, number),
            "status": "success",
            "progress": 1.0,
            "blob_key": "none",
            "file_name": "call.wav",
            "parameters": {},
            "audio_ms": length_ms,
            "version": 3,
            "occured_at": at,
            "created_at": at,
            "updated_at": at,
        }


def _cumulated(count: int) -> list[float]:
    total, found = 0.0, []
    for rank in range(1, count + 1):
        total += 1 / (rank + 10)
        found.append(total)
    return found
