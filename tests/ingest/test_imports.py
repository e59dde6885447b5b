"""Conversations that come in as text are stored once, grow, and bring their people and files, on both databases."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from accounts import ledger
from ingest.import_turns import language_of, title_of
from ingest.imports import Imported, Wishes, record
from ingest.messages.imported import ImportedConversation, ImportedMedia, ImportedPerson, ImportedTurn
from store import accounts, analyses, analysis, index_work, speakers
from store.database import Database, now
from store.errors import NotPermitted
from store.index_work import INDEX_COMMUNICATION
from tests.ingest.office import NOON, PNG, Office, chat
from tests.ingest.office import office as office
from tests.store.conftest import database as database


def test_a_conversation_is_stored_with_its_people_and_turns(office: Office) -> None:
    found = office.record(chat("Is my order there?", "It left this morning.", direction="in", title="Anna's order"))
    row = office.row(found.communication_id)
    assert (found.state, found.order) == ("new", None)
    assert (row.kind, row.channel_type, row.direction, row.title) == ("chat", "telegram", "in", "Anna's order")
    assert (row.occured_at, row.request_record_id, row.language) == (NOON, "chat-1", "en")
    items = office.content(row.id)
    assert [(item.kind, item.text, item.label, item.at) for item in items] == [
        ("chat_message", "Is my order there?", "SPEAKER_00", NOON),
        ("chat_message", "It left this morning.", "SPEAKER_01", NOON + timedelta(minutes=1)),
    ]
    with office.database.read() as connection:
        people = speakers.list_participants(office.tenant_id, connection, row.id)
        statuses = analysis.stage_statuses(office.tenant_id, connection, row.id)
        work = index_work.get(office.tenant_id, connection, INDEX_COMMUNICATION, row.id)
    assert [(each.name, each.external_id, each.role, each.label) for each in people] == [
        ("Anna", "user1", "client", "SPEAKER_00"),
        ("Boris", "user2", "employee", "SPEAKER_01"),
    ]
    assert (statuses, work is not None) == ({}, True)


def test_the_same_again_is_the_one_that_is_there_and_costs_nothing(office: Office) -> None:
    first = office.record(chat("One two three", "Four"), summary=True)
    held = office.balance()
    again = office.record(chat("One two three", "Four"), summary=True)
    assert (again.communication_id, again.state, again.order) == (first.communication_id, "known", None)
    assert (office.count(), office.balance()) == (1, held)
    assert held.held_micro > 0


def test_what_differs_in_text_time_or_label_is_another_one(office: Office) -> None:
    base = chat("One", "Two", grows=False)
    later = (*base.turns[:1], replace(base.turns[1], at=NOON + timedelta(hours=1)))
    other = (*base.turns[:1], replace(base.turns[1], label="SPEAKER_00"))
    ids = {
        office.record(each).communication_id
        for each in (
            base,
            chat("One", "Three", grows=False),
            replace(base, turns=later),
            replace(base, turns=other),
            replace(base, record_id="chat-2"),
        )
    }
    assert (len(ids), office.count()) == (5, 5)


def test_without_a_record_id_each_is_a_new_one(office: Office) -> None:
    ids = {office.record(chat("One", record_id=None)).communication_id for _ in range(3)}
    assert len(ids) == 3


def test_one_that_was_stored_without_analysis_is_analysed_where_that_is_wanted_later(office: Office) -> None:
    first = office.record(chat("One", "Two"))
    assert first.order is None
    second = office.record(chat("One", "Two"), summary=True)
    assert (second.communication_id, second.state) == (first.communication_id, "known")
    assert second.order is not None
    assert office.record(chat("One", "Two"), summary=True).order is None


def end_analysis(office: Office, order: analyses.Analysis, **statuses: str) -> None:
    """As its job does, with what became of each stage."""
    with office.database.write() as connection:
        for stage, status in statuses.items():
            analysis.set_stage(office.tenant_id, connection, order.communication_id, stage, status)
        analyses.advance(office.tenant_id, connection, order.id, "done")
        ledger.charge(office.tenant_id, connection, hold_key=order.hold_key, description="Analysis")


@pytest.mark.parametrize("failed", ["summary", "qc", "memory"])
def test_one_whose_analysis_failed_is_analysed_anew_where_that_is_wanted(office: Office, failed: str) -> None:
    first = office.record(chat("One", "Two"), summary=True).order
    assert first is not None
    with office.database.write() as connection:
        analysis.set_stage(office.tenant_id, connection, first.communication_id, failed, "error")
    assert office.record(chat("One", "Two"), summary=True).order is None, "the other stages are in work"
    ended = {stage: "error" if stage == failed else "success" for stage in analysis.STAGES}
    end_analysis(office, first, **ended)
    paid = office.balance()
    assert office.record(chat("One", "Two")).order is None, "it is not wanted"
    found = office.record(chat("One", "Two"), summary=True)
    assert (found.communication_id, found.state) == (first.communication_id, "known")
    second = found.order
    assert second is not None
    assert second.id != first.id
    with office.database.read() as connection:
        statuses = analysis.stage_statuses(office.tenant_id, connection, first.communication_id)
    assert statuses[failed] == "pending"
    assert (paid.held_micro, office.balance().held_micro > 0) == (0, True)
    assert office.record(chat("One", "Two"), summary=True).order is None, "it is in work"
    end_analysis(office, second, **dict.fromkeys(analysis.STAGES, "skipped"))
    assert office.record(chat("One", "Two"), summary=True).order is None, "it is done"
    assert office.balance() == paid


def test_racers_for_an_analysis_that_failed_order_it_once(office: Office) -> None:
    first = office.record(chat("One", "Two"), summary=True).order
    assert first is not None
    end_analysis(office, first, summary="error", qc="success", memory="skipped")
    barrier = threading.Barrier(6)

    def race(_: int) -> Imported:
        barrier.wait()
        return office.record(chat("One", "Two"), summary=True)

    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(race, range(6)))
    assert sum(each.order is not None for each in found) == 1


def test_a_conversation_that_grew_gets_its_new_turns_and_is_analysed_anew(office: Office) -> None:
    first = office.record(chat("One", "Two"), summary=True)
    grown = office.record(chat("One", "Two", "Three", "Four"), summary=True)
    assert (grown.communication_id, grown.state) == (first.communication_id, "grown")
    assert office.texts(grown.communication_id) == ["One", "Two", "Three", "Four"]
    assert first.order is not None
    assert grown.order is not None
    assert grown.order.id != first.order.id
    with office.database.read() as connection:
        standing = analyses.get_of(office.tenant_id, connection, grown.communication_id)
    assert standing == grown.order
    for texts in (("One", "Two"), ("One", "Two", "Three", "Four"), ("One",)):
        assert office.record(chat(*texts), summary=True).state == "known", texts
    assert office.record(chat("One", "Two", "Three", "Four", "Five")).state == "grown"
    assert office.count() == 1


def test_somebody_who_joined_later_is_there_afterwards(office: Office) -> None:
    first = office.record(chat("One", "Two"))
    grown = chat("One", "Two", "Three")
    joined = (*grown.people, ImportedPerson("SPEAKER_02", "Vera", "user3", "employee"))
    office.record(replace(grown, people=joined))
    with office.database.read() as connection:
        people = speakers.list_participants(office.tenant_id, connection, first.communication_id)
    assert [(each.name, each.label) for each in people] == [
        ("Anna", "SPEAKER_00"),
        ("Boris", "SPEAKER_01"),
        ("Vera", "SPEAKER_02"),
    ]


def test_a_message_that_was_edited_since_is_changed_and_one_that_was_deleted_stays(office: Office) -> None:
    first = office.record(chat("One", "Two", "Three"), summary=True)
    edited = chat("One", "Too", "Three", "Four")
    found = office.record(replace(edited, turns=edited.turns[:2] + edited.turns[3:]), summary=True)
    assert (found.communication_id, found.state, office.count()) == (first.communication_id, "grown", 1)
    assert office.texts(first.communication_id) == ["One", "Too", "Three", "Four"]
    assert found.order is not None
    # An export from before the change takes nothing back.
    assert office.record(chat("One", "Two", "Three"), summary=True).state == "known"
    assert office.texts(first.communication_id) == ["One", "Too", "Three", "Four"]


def mail(*numbers: int) -> ImportedConversation:
    """Mails of one thread, as a parser gives those that it has: labels by who writes first in them."""
    people = {"anna@x.example": "client", "boris@shop.example": "employee", "vera@shop.example": "employee"}
    writers = ["anna@x.example", "boris@shop.example", "anna@x.example", "vera@shop.example"]
    labels: dict[str, str] = {}
    turns = []
    for number in numbers:
        label = labels.setdefault(writers[number], f"SPEAKER_{len(labels):02d}")
        turns.append(ImportedTurn(f"Mail {number}", label, NOON + timedelta(hours=number)))
    attending = tuple(
        ImportedPerson(labels.get(address), address.split("@")[0].title(), address, role)
        for address, role in people.items()
    )
    return ImportedConversation("email", "email", NOON, tuple(turns), attending, record_id="mail-1", grows=True)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
def test_mails_of_a_thread_that_come_one_by_one_are_one_communication(office: Office, order: tuple[int, ...]) -> None:
    found = {office.record(mail(number)).communication_id for number in order}
    assert len(found) == 1
    (communication_id,) = found
    assert office.record(mail(0, 1, 2, 3)).state == "known"
    assert (office.texts(communication_id), office.count()) == ([f"Mail {number}" for number in range(4)], 1)
    with office.database.read() as connection:
        people = speakers.list_participants(office.tenant_id, connection, communication_id)
    names = {each.label: each.name for each in people}
    assert [names[item.label] for item in office.content(communication_id)] == ["Anna", "Boris", "Anna", "Vera"]


def test_a_conversation_that_does_not_grow_is_another_one_when_it_is_longer(office: Office) -> None:
    office.record(chat("One", grows=False))
    assert office.record(chat("One", "Two", grows=False)).state == "new"


@pytest.mark.parametrize("wanted", [False, True])
def test_racers_with_the_same_make_one(office: Office, wanted: bool) -> None:
    barrier = threading.Barrier(6)

    def race(_: int) -> Imported:
        barrier.wait()
        return office.record(chat("One", "Two"), summary=wanted)

    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(race, range(6)))
    assert len({each.communication_id for each in found}) == 1
    assert sorted(each.state for each in found) == ["known"] * 5 + ["new"]
    assert sum(each.order is not None for each in found) == int(wanted)
    assert (office.count(), office.texts(found[0].communication_id)) == (1, ["One", "Two"])


def test_racers_of_an_older_and_a_newer_export_make_one_with_all_turns(office: Office) -> None:
    exports = [chat("One"), chat("One", "Two"), chat("One", "Two", "Three")] * 3
    barrier = threading.Barrier(len(exports))

    def race(conversation: ImportedConversation) -> Imported:
        barrier.wait()
        return office.record(conversation, summary=True)

    with ThreadPoolExecutor(len(exports)) as threads:
        found = list(threads.map(race, exports))
    assert len({each.communication_id for each in found}) == 1
    assert office.texts(found[0].communication_id) == ["One", "Two", "Three"]


def test_calls_and_mail_are_closed_at_once_and_chats_by_time(office: Office) -> None:
    def status(conversation: ImportedConversation) -> str:
        row = office.row(office.record(conversation).communication_id)
        return row.status(chat_quiet_s=office.settings.chat_quiet_s)

    just_now = (ImportedTurn("Hello", None, now()),)
    assert status(chat(kind="email", channel_type="email", turns=just_now, record_id=None)) == "closed"
    assert status(chat(kind="call", channel_type="phone", turns=just_now, record_id=None)) == "closed"
    assert status(chat(turns=just_now, record_id=None)) == "active"
    assert status(chat("A year ago", record_id=None)) == "closed"


def test_a_chat_that_is_written_in_again_is_active_again(office: Office) -> None:
    first = office.record(chat("Long ago"))
    assert office.row(first.communication_id).is_closed
    old = chat("Long ago")
    office.record(replace(old, turns=(*old.turns, ImportedTurn("And now", None, now()))))
    assert not office.row(first.communication_id).is_closed


def test_a_calls_length_and_times_follow_from_its_turns(office: Office) -> None:
    turns = (
        ImportedTurn("Hello", "A", start_ms=500, end_ms=1500),
        ImportedTurn("Bye", "B", start_ms=2000, end_ms=9000),
    )
    found = office.record(chat(kind="call", channel_type="phone", turns=turns, people=()))
    assert office.row(found.communication_id).duration_ms == 9000
    items = office.content(found.communication_id)
    assert [item.at for item in items] == [NOON + timedelta(milliseconds=500), NOON + timedelta(seconds=2)]
    assert office.record(chat(kind="call", channel_type="phone", turns=turns, people=())).state == "known"


def test_turns_with_neither_text_nor_files_are_left_out(office: Office) -> None:
    assert office.texts(office.record(chat("One", "", "Two")).communication_id) == ["One", "Two"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Здравствуйте, заказ из OZON и Wildberries пришёл?", "Да"), "ru"),
        (("Hello, is it there?", "Да"), "en"),
        (("Ещё не пришло", "ok"), "ru"),
        (("12:30", "+7 900 000-00-00", "👍"), None),
        (("😀" * 1000, ""), None),
    ],
)
def test_the_language_is_told_by_the_script(texts: tuple[str, ...], expected: str | None) -> None:
    assert language_of(chat(*texts)) == expected
    assert language_of(chat(*texts, language="en")) == "en"


def test_a_title_says_what_it_was_or_who_talked() -> None:
    assert title_of(chat("One", title="Order 17")) == "Order 17"
    assert title_of(chat("One")) == "Anna, Boris"
    assert title_of(chat("One", people=())) == "chat-1"
    assert title_of(chat("One", people=(), record_id=None)) == "chat"


def test_what_the_balance_cannot_bear_is_refused_with_nothing_stored_and_the_client_paused(
    database: Database, tmp_path: Path
) -> None:
    office = Office(database, tmp_path, balance_rub="0")
    path = tmp_path / "photo"
    path.write_bytes(PNG)
    turns = (ImportedTurn("Look", None, NOON, media=(ImportedMedia("image", "a.png", path=path),)),)
    with pytest.raises(NotPermitted) as refused:
        office.record(chat(turns=turns), summary=True)
    assert refused.value.code == "client_inactive"
    with database.read() as connection:
        tenant = accounts.get_tenant(office.tenant_id, connection)
        assert speakers.find(office.tenant_id, connection, external_id="user1") is None
    assert tenant is not None
    assert (tenant.is_active, tenant.pause_reason) == (False, "balance")
    assert (office.count(), office.stored_files(), office.balance().held_micro) == (0, [], 0)


def test_a_refused_growth_leaves_what_was_there(database: Database, tmp_path: Path) -> None:
    office = Office(database, tmp_path, balance_rub="0")
    first = office.record(chat("One", "Two"))
    grown = chat("One", "Two", "Three")
    joined = (*grown.people, ImportedPerson("SPEAKER_02", "Vera", "user3", "employee"))
    with pytest.raises(NotPermitted):
        office.record(replace(grown, people=joined), summary=True)
    assert office.texts(first.communication_id) == ["One", "Two"]
    with database.read() as connection:
        assert len(speakers.list_participants(office.tenant_id, connection, first.communication_id)) == 2
    assert office.record(grown).state == "grown"


def test_nothing_is_left_where_the_callers_own_part_of_the_transaction_fails(office: Office, tmp_path: Path) -> None:
    path = tmp_path / "photo"
    path.write_bytes(PNG)
    turns = (ImportedTurn("Look", None, NOON, media=(ImportedMedia("image", "a.png", path=path),)),)

    def fail(*_: object) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        record(office.database, office.blobs, office.settings, office.tenant_id, chat(turns=turns), Wishes(), also=fail)
    assert (office.count(), office.stored_files()) == (0, [])
