"""Figures follow from their communication, whatever happens to it, on both databases."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from ingest.analysis.catalogs import CRITERIA
from store import accounts, analysis, communications, retention, speakers
from store.analysis import CriterionResult, NewItem
from store.communications import ContentItem
from store.database import Connection, Database
from store.figures import CRITERION_BITS, communication_figures, participation_figures
from store.figures_refresh import fill_missing, refresh
from store.migrate import migrate
from store.signals import SIGNALS
from store.speakers import Attending

MOMENT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
TABLES = (communication_figures, participation_figures)


@pytest.fixture
def tenant_id(database: Database) -> str:
    return new_tenant(database)


def new_tenant(database: Database) -> str:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="figures")
    assert tenant is not None
    return tenant.id


def create(connection: Connection, tenant_id: str, *, kind: str = "call", **values: Any) -> str:
    channels = {"call": "phone", "chat": "telegram", "email": "email"}
    values = {"channel_type": channels[kind], "occured_at": MOMENT, "title": "", "direction": "in", **values}
    return communications.create(tenant_id, connection, kind=kind, **values).id


def spoken(*turns: tuple[str | None, int]) -> list[ContentItem]:
    """Utterances of (label, seconds), one after another."""
    items, at_s = [], 0
    for label, length_s in turns:
        items.append(ContentItem("audio_utterance", "слова", label, at_s * 1000, (at_s + length_s) * 1000))
        at_s += length_s
    return items


def written(*messages: tuple[str | None, int]) -> list[ContentItem]:
    """Messages of (author's label, seconds after the first moment)."""
    return [
        ContentItem("chat_message", "слова", label, at=MOMENT + timedelta(seconds=after_s))
        for label, after_s in messages
    ]


def attend(connection: Connection, tenant_id: str, communication_id: str, *people: tuple[str, str | None]) -> list[str]:
    """New people of (role, label) in it; their ids."""
    ids = [speakers.upsert(tenant_id, connection, external_id=None, name=None, role=role).id for role, _ in people]
    attending = [Attending(id_, role, label) for id_, (role, label) in zip(ids, people, strict=True)]
    speakers.attach(tenant_id, connection, communication_id, attending)
    return ids


def figures_of(database: Database, communication_id: str) -> Any:
    table = communication_figures
    with database.read() as connection:
        return connection.execute(sa.select(table).where(table.c.communication_id == communication_id)).one()


def everything(database: Database) -> list[list[tuple[Any, ...]]]:
    with database.read() as connection:
        return [sorted((tuple(row) for row in connection.execute(sa.select(table))), key=str) for table in TABLES]


def made_anew(database: Database) -> list[list[tuple[Any, ...]]]:
    """What the figures are when all of them are made at once, out of what is there."""
    with database.write() as connection:
        for table in TABLES:
            connection.execute(sa.delete(table))
    after: str | None = None
    while True:
        with database.write() as connection:
            after = fill_missing(connection, after=after, limit=7)
        if after is None:
            return everything(database)


def test_the_bits_of_criteria_are_those_of_the_catalog() -> None:
    assert list(CRITERION_BITS) == list(CRITERIA)


def test_talk_is_told_by_side_and_by_person(database: Database, tenant_id: str) -> None:
    with database.write() as connection:
        call = create(connection, tenant_id)
        client, seller = attend(connection, tenant_id, call, ("client", "A"), ("sales", "B"))
        communications.replace_content(tenant_id, connection, call, spoken(("A", 5), ("B", 20), ("A", 10)))
        communications.update(tenant_id, connection, call, duration_ms=40_000)
    found = figures_of(database, call)
    assert (found.client_ms, found.staff_ms, found.turns) == (15_000, 20_000, 3)
    assert (found.duration_ms, found.is_answered, found.first_reply_s) == (40_000, True, None)
    table = participation_figures
    with database.read() as connection:
        rows = {row.speaker_id: row for row in connection.execute(sa.select(table))}
    assert (rows[client].talk_ms, rows[client].turns, rows[client].all_talk_ms) == (15_000, 2, 35_000)
    assert (rows[seller].talk_ms, rows[seller].role, rows[seller].occured_at) == (20_000, "sales", MOMENT)


def test_of_two_voices_the_unknown_one_is_the_other_side(database: Database, tenant_id: str) -> None:
    with database.write() as connection:
        call = create(connection, tenant_id)
        attend(connection, tenant_id, call, ("support", "B"), ("client", None))
        communications.replace_content(tenant_id, connection, call, spoken(("A", 5), ("B", 20)))
    assert (figures_of(database, call).client_ms, figures_of(database, call).staff_ms) == (5_000, 20_000)


@pytest.mark.parametrize(
    ("people", "turns", "category"),
    [
        pytest.param([("support", "B")], [("A", 5), ("B", 5), ("C", 5)], None, id="three voices, one known"),
        pytest.param([("support", "B")], [(None, 5), ("B", 5)], None, id="words of nobody"),
        pytest.param([("support", "A"), ("sales", "B")], [("A", 5), ("B", 5)], None, id="colleagues"),
        pytest.param([("support", "A"), ("client", "B")], [("A", 5), ("B", 5)], "internal", id="a meeting"),
        pytest.param([("support", "A"), ("client", "A")], [("A", 5)], None, id="one label of two people"),
    ],
)
def test_sides_that_nobody_can_tell_are_not_made_up(
    database: Database,
    tenant_id: str,
    people: list[tuple[str, str | None]],
    turns: list[tuple[str | None, int]],
    category: str | None,
) -> None:
    with database.write() as connection:
        call = create(connection, tenant_id)
        attend(connection, tenant_id, call, *people)
        communications.replace_content(tenant_id, connection, call, spoken(*turns))
        analysis.put_summary(tenant_id, connection, call, text="", category=category)
    assert (figures_of(database, call).client_ms, figures_of(database, call).staff_ms) == (None, None)


@pytest.mark.parametrize(
    ("labels", "category", "is_closed", "answered"),
    [
        pytest.param("", None, False, None, id="not recognised yet"),
        pytest.param("", None, True, False, id="silence"),
        pytest.param("A", None, True, None, id="one voice, perhaps a machine's"),
        pytest.param("A", "support", True, True, id="one voice, and analysis knows"),
        pytest.param("AB", None, True, True, id="two voices"),
        pytest.param("AB", "no_contact", True, False, id="a machine and a caller"),
    ],
)
def test_a_call_was_answered_when_somebody_was_reached(
    database: Database, tenant_id: str, labels: str, category: str | None, is_closed: bool, answered: bool | None
) -> None:
    with database.write() as connection:
        call = create(connection, tenant_id, is_closed=is_closed)
        communications.replace_content(tenant_id, connection, call, spoken(*((label, 5) for label in labels)))
        if category is not None:
            analysis.put_summary(tenant_id, connection, call, text="", category=category)
    assert figures_of(database, call).is_answered is answered


@pytest.mark.parametrize(
    ("messages", "answered", "reply_s"),
    [
        pytest.param([("A", 0), ("B", 90), ("B", 95), ("A", 200), ("B", 500)], True, 90, id="a reply"),
        pytest.param([("B", 0), ("A", 60), ("B", 70)], True, 10, id="the company began"),
        pytest.param([("A", 0), ("A", 5)], False, None, id="no reply"),
        pytest.param([("B", 0), ("A", 5)], True, None, id="the client had the last word"),
        pytest.param([("C", 0)], False, None, id="one unknown author"),
        pytest.param([("C", 0), ("D", 9)], None, None, id="unknown authors"),
        pytest.param([], None, None, id="nothing"),
    ],
)
def test_a_chat_was_answered_when_both_sides_wrote(
    database: Database,
    tenant_id: str,
    messages: list[tuple[str | None, int]],
    answered: bool | None,
    reply_s: int | None,
) -> None:
    with database.write() as connection:
        chat = create(connection, tenant_id, kind="chat")
        attend(connection, tenant_id, chat, ("client", "A"), ("support", "B"))
        communications.replace_content(tenant_id, connection, chat, written(*messages))
    found = figures_of(database, chat)
    assert (found.is_answered, found.first_reply_s, found.client_ms) == (answered, reply_s, None)


def test_in_the_widget_the_agent_answers_for_the_company(database: Database, tenant_id: str) -> None:
    with database.write() as connection:
        chat = create(connection, tenant_id, kind="chat", channel_type="widget")
        communications.append_content(tenant_id, connection, chat, written(("visitor", 0), ("agent", 3)))
    assert (figures_of(database, chat).is_answered, figures_of(database, chat).first_reply_s) == (True, 3)


def test_quality_and_findings_are_bits_and_counts(database: Database, tenant_id: str) -> None:
    criteria = [
        CriterionResult("greeting", "binary", True),
        CriterionResult("farewell", "binary", False),
        CriterionResult("thanks", "binary", None, state="not_applicable"),
        CriterionResult("tone_of_voice", "numeric", 1.0),
        CriterionResult("of their own", "binary", True),
    ]
    with database.write() as connection:
        call = create(connection, tenant_id)
        (seller,) = attend(connection, tenant_id, call, ("sales", "A"))
        items = [
            NewItem("criteria", "дорого", "objection"),
            NewItem("criteria", "всё равно дорого", "objection"),
            NewItem("criteria", "уйдём", "churn_risk"),
            NewItem("commitment", "перезвонит", speaker_id=seller),
            NewItem("commitment", "придёт"),
        ]
        analysis.put_summary(tenant_id, connection, call, text="", category="sales", items=items)
        analysis.put_qc(
            tenant_id,
            connection,
            call,
            scenario_code="new_request",
            score_pct=50.0,
            comment=None,
            status="success",
            criteria=criteria,
        )
    found = figures_of(database, call)
    assert (found.scenario_code, found.score_pct, found.category, found.commitments) == (
        "new_request",
        50.0,
        "sales",
        2,
    )
    assert (found.qc_passed, found.qc_failed) == (
        1 << CRITERION_BITS["greeting"],
        1 << CRITERION_BITS["farewell"],
    )
    assert found.signals == sum(1 << SIGNALS.index(name) for name in ("objection", "churn_risk"))
    with database.read() as connection:
        (own,) = connection.execute(sa.select(participation_figures)).all()
    assert (own.commitments, own.score_pct, own.signals) == (1, 50.0, found.signals)


def test_after_any_changes_figures_are_what_they_would_be_made_anew(database: Database) -> None:
    """Two accounts, over both of which things happen in one sequence."""
    chance = random.Random(20260302)
    tenants = [new_tenant(database), new_tenant(database)]
    there: list[tuple[str, str]] = []
    for _ in range(12):
        happen(database, chance, tenants, there, ["create"])
    for _ in range(150):
        happen(database, chance, tenants, there, list(HAPPENINGS))
    assert len(there) >= 10
    kept = everything(database)
    assert [len(rows) > 5 for rows in kept] == [True, True]
    assert made_anew(database) == kept


def test_writers_at_the_same_moment_leave_the_same_figures(database: Database, tenant_id: str) -> None:
    with database.write() as connection:
        call = create(connection, tenant_id)
        communications.replace_content(tenant_id, connection, call, spoken(("A", 5), ("B", 20)))
        attend(connection, tenant_id, call, ("client", None), ("sales", None))
    gate = threading.Barrier(len(WRITERS))

    def write(number: int) -> None:
        chance = random.Random(number)
        gate.wait(timeout=30)
        for _ in range(8):
            with database.write() as connection:
                WRITERS[number](connection, chance, tenant_id, call)

    with ThreadPoolExecutor(len(WRITERS)) as threads:
        list(threads.map(write, range(len(WRITERS))))
    kept = everything(database)
    assert [len(rows) for rows in kept] == [1, 2]
    assert made_anew(database) == kept


def test_who_waited_for_another_transaction_sees_what_it_did(database: Database, tenant_id: str) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    with database.write() as connection:
        call = create(connection, tenant_id)
    with ThreadPoolExecutor(1) as threads:
        with database.write() as connection:
            _evaluate(connection, random.Random(1), tenant_id, call)
            refresh(connection, [(tenant_id, call)])
            other = threads.submit(summarise, database, tenant_id, call)
            wait_for_a_lock(database)
        other.result(timeout=30)
    found = figures_of(database, call)
    assert (found.scenario_code, found.category) == ("complaint", "sales")


def summarise(database: Database, tenant_id: str, call: str) -> None:
    with database.write() as connection:
        analysis.put_summary(tenant_id, connection, call, text="", category="sales")


def wait_for_a_lock(database: Database) -> None:
    """Until a transaction of this database waits for another one."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with database.read() as connection:
            if connection.execute(sa.text(waiting)).scalar_one():
                return
        time.sleep(0.01)
    raise AssertionError("nobody waits")


def test_an_upgrade_makes_the_figures_of_what_is_there(database: Database, tenant_id: str) -> None:
    with database.write() as connection:
        for number in range(3):
            call = create(connection, tenant_id, occured_at=MOMENT + timedelta(days=number))
            attend(connection, tenant_id, call, ("client", "A"), ("sales", "B"))
            communications.replace_content(tenant_id, connection, call, spoken(("A", 5), ("B", 20)))
    kept = everything(database)
    with database.write() as connection:
        for table in TABLES:
            connection.execute(sa.delete(table))
    migrate(database)
    assert everything(database) == kept
    assert [len(rows) for rows in kept] == [3, 6]


def test_what_a_transaction_took_back_changes_no_figures(database: Database, tenant_id: str) -> None:
    with database.write() as connection:
        call = create(connection, tenant_id)
        communications.replace_content(tenant_id, connection, call, spoken(("A", 5), ("B", 20)))
    kept = everything(database)

    def fail() -> None:
        with database.write() as connection:
            communications.append_content(tenant_id, connection, call, spoken(("C", 5)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.write() as connection:
        savepoint = connection.begin_nested()
        create(connection, tenant_id)
        communications.replace_content(tenant_id, connection, call, [])
        savepoint.rollback()
    assert everything(database) == kept


def happen(
    database: Database, chance: random.Random, tenants: list[str], there: list[tuple[str, str]], names: Sequence[str]
) -> None:
    """One to three changes in one transaction."""
    with database.write() as connection:
        for _ in range(chance.randint(1, 3)):
            name = chance.choice(names)
            tenant_id, communication_id = chance.choice(there) if there else (tenants[0], "")
            if name == "create":
                tenant_id = chance.choice(tenants)
                kind = chance.choice(["call", "chat", "email"])
                occured_at = MOMENT + timedelta(minutes=chance.randint(0, 10_000))
                there.append((tenant_id, create(connection, tenant_id, kind=kind, occured_at=occured_at)))
            elif name == "remove":
                retention.remove(tenant_id, connection, [communication_id])
                there.remove((tenant_id, communication_id))
            else:
                HAPPENINGS[name](connection, chance, tenant_id, communication_id)


def _write_content(connection: Connection, chance: random.Random, tenant_id: str, communication_id: str) -> None:
    labels = [chance.choice(["A", "B", "C", None]) for _ in range(chance.randint(1, 4))]
    make = chance.choice([spoken, written])
    items = make(*((label, chance.randint(0, 60)) for label in labels))
    put = chance.choice([communications.replace_content, communications.append_content])
    put(tenant_id, connection, communication_id, items)


def _empty_content(connection: Connection, chance: random.Random, tenant_id: str, communication_id: str) -> None:
    communications.replace_content(tenant_id, connection, communication_id, [])


def _update(connection: Connection, chance: random.Random, tenant_id: str, communication_id: str) -> None:
    values: dict[str, Any] = {
        "duration_ms": chance.choice([None, 1000, 90_000]),
        "is_closed": chance.random() < 0.5,
        "occured_at": MOMENT + timedelta(minutes=chance.randint(0, 10_000)),
    }
    name = chance.choice(list(values))
    communications.update(tenant_id, connection, communication_id, **{name: values[name]})


def _attend(connection: Connection, chance: random.Random, tenant_id: str, communication_id: str) -> None:
    role, label = chance.choice(speakers.ROLES), chance.choice(["A", "B", None])
    name = f"Имя {chance.randint(0, 5)}"
    person = speakers.upsert(tenant_id, connection, external_id=None, name=name, role=role)
    speakers.attach(tenant_id, connection, communication_id, [Attending(person.id, role, label)])


def _bind(connection: Connection, chance: random.Random, tenant_id: str, communication_id: str) -> None:
    people = speakers.list_participants(tenant_id, connection, communication_id)
    if people:
        label = chance.choice(["A", "B", None])
        speakers.bind_label(tenant_id, connection, communication_id, chance.choice(people).id, label)


def _forget_person(connection: Connection, chance: random.Random, tenant_id: str, communication_id: str) -> None:
    people = speakers.list_participants(tenant_id, connection, communication_id)
    if people:
        assert speakers.delete(tenant_id, connection, chance.choice(people).id)


def _summarise(connection: Connection, chance: random.Random, tenant_id: str, communication_id: str) -> None:
    people = speakers.list_participants(tenant_id, connection, communication_id)
    owner = chance.choice(people).id if people else None
    items = [NewItem("criteria", "что-то", chance.choice([*SIGNALS, "topic"])) for _ in range(chance.randint(0, 3))]
    items += [NewItem("commitment", "сделает", speaker_id=owner) for _ in range(chance.randint(0, 2))]
    category = chance.choice([None, "no_contact", "sales", "internal"])
    analysis.put_summary(tenant_id, connection, communication_id, text="", category=category, items=items)


def _evaluate(connection: Connection, chance: random.Random, tenant_id: str, communication_id: str) -> None:
    criteria = [
        CriterionResult(code, CRITERIA[code].value_type, chance.choice([True, False, None]))
        for code in chance.sample(list(CRITERIA), 5)
    ]
    score_pct = chance.choice([None, 0.0, 66.7, 100.0])
    analysis.put_qc(
        tenant_id,
        connection,
        communication_id,
        scenario_code="complaint",
        score_pct=score_pct,
        comment=None,
        status="success",
        criteria=criteria,
    )


WRITERS = (_bind, _summarise, _evaluate, _update, _write_content, _bind)
HAPPENINGS: dict[str, Any] = {
    "create": None,
    "remove": None,
    "write content": _write_content,
    "write more content": _write_content,
    "empty content": _empty_content,
    "update": _update,
    "attend": _attend,
    "attend again": _attend,
    "bind": _bind,
    "forget a person": _forget_person,
    "summarise": _summarise,
    "evaluate": _evaluate,
}
