"""What analysis writes, so that each of its steps may run twice, and what is read of it at once."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from store import analysis, communications, details, speakers, transcriptions
from store.analysis import CriterionResult, NewItem
from store.database import Database
from store.details import Details
from store.ids import new_id
from store.speakers import Attending
from tests.store.test_database import make_call, make_tenant

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
OFFER = NewItem("criteria", "A discount of ten percent", "offer", {"percent": 10})
PROMISE = NewItem("commitment", "Call back", None, {"deadline": "2026-03-05T09:00:00Z"})


def read(database: Database, tenant_id: str, call_id: str) -> Details:
    with database.read() as connection:
        found = details.find_newest(tenant_id, connection, communication_id=call_id)
    assert found is not None
    return found


def test_a_communication_that_nothing_looked_at_reads_as_skipped(database: Database) -> None:
    tenant = make_tenant(database)
    found = read(database, tenant.id, make_call(database, tenant.id, AT))
    assert (found.summary_status, found.qc_status, found.memory_status) == ("skipped",) * 3
    assert (found.transcription_status, found.evaluation, found.summary_text) == (None, None, None)


def test_a_stage_is_where_it_was_put_last(database: Database) -> None:
    tenant = make_tenant(database)
    call_id = make_call(database, tenant.id, AT)
    with database.write() as connection:
        for status in ("pending", "processing", "error"):
            analysis.set_stage(tenant.id, connection, call_id, "qc", status, error_message="the model is away")
        analysis.set_stage(tenant.id, connection, call_id, "summary", "success")
    found = read(database, tenant.id, call_id)
    assert (found.summary_status, found.qc_status, found.memory_status) == ("success", "error", "skipped")
    assert found.qc_error_message == "the model is away"
    assert found.qc_updated_at is not None
    with database.write() as connection:
        analysis.set_stage(tenant.id, connection, call_id, "qc", "processing")
    later = read(database, tenant.id, call_id)
    assert (later.qc_status, later.qc_error_message) == ("processing", None)
    assert later.qc_updated_at is not None
    assert later.qc_updated_at >= found.qc_updated_at


def test_a_summary_put_twice_is_there_once_with_its_items_in_order(database: Database) -> None:
    tenant = make_tenant(database)
    call_id = make_call(database, tenant.id, AT)
    many = [NewItem("criteria", f"fact {number}", "topic") for number in range(30)]
    ids = []
    for items in ([OFFER], [PROMISE, *many]):
        with database.write() as connection:
            ids.append(
                analysis.put_summary(
                    tenant.id, connection, call_id, text="About a discount", category="sales", items=items
                )
            )
    assert ids[0] == ids[1]
    with database.read() as connection:
        found = analysis.list_items(tenant.id, connection, call_id)
    assert [item.content for item in found] == ["Call back", *(item.content for item in many)]
    assert {item.summary_id for item in found} == {ids[0]}
    assert (found[0].meta, found[0].item_type) == ({"deadline": "2026-03-05T09:00:00Z"}, "commitment")
    assert (found[1].meta, found[1].subtype) == (None, "topic")
    summary = read(database, tenant.id, call_id)
    assert (summary.summary_text, summary.user_summary, summary.category) == ("About a discount", None, "sales")


def test_results_put_at_once_leave_the_items_of_one(database: Database) -> None:
    tenant = make_tenant(database)
    call_id = make_call(database, tenant.id, AT)
    start = threading.Barrier(8)

    def put(number: int) -> None:
        start.wait()
        with database.write() as connection:
            items = [NewItem("criteria", f"{number}") for _ in range(5)]
            analysis.put_summary(tenant.id, connection, call_id, text=str(number), items=items)

    threads = [threading.Thread(target=put, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as connection:
        found = [item.content for item in analysis.list_items(tenant.id, connection, call_id)]
    assert found == [read(database, tenant.id, call_id).summary_text] * 5


def test_an_evaluation_put_twice_keeps_its_id_and_has_the_last_result(database: Database) -> None:
    tenant = make_tenant(database)
    call_id = make_call(database, tenant.id, AT)
    greeting = CriterionResult("greeting", "binary", True, "Good morning", idx=2)
    criteria = [greeting, CriterionResult("thanks", "binary", None)]
    ids = []
    for score, status in ((None, "partial"), (50.0, "success")):
        with database.write() as connection:
            ids.append(
                analysis.put_qc(
                    tenant.id,
                    connection,
                    call_id,
                    scenario_code="base_etiquette",
                    score_pct=score,
                    comment=None,
                    status=status,
                    criteria=criteria,
                )
            )
    evaluation = read(database, tenant.id, call_id).evaluation
    assert evaluation is not None
    assert [evaluation.id] * 2 == ids
    assert (evaluation.score_pct, evaluation.status, evaluation.comment) == (50.0, "success", None)
    assert evaluation.criteria == [
        {
            **{"code": code, "value_type": "binary", "value": value, "evidence": evidence},
            **{"state": "decided", "votes": [], "idx": idx},
        }
        for code, value, evidence, idx in (("greeting", True, "Good morning", 2), ("thanks", None, "", None))
    ]


def test_memory_is_in_the_profile_before_promises_and_not_in_the_communication(database: Database) -> None:
    tenant = make_tenant(database)
    first_id, second_id = make_call(database, tenant.id, AT), make_call(database, tenant.id, AT)
    with database.write() as connection:
        anna = speakers.upsert(tenant.id, connection, external_id=None, name="Anna")
        analysis.put_summary(tenant.id, connection, first_id, text="t", items=[OFFER])
        analysis.add_memory(tenant.id, connection, first_id, [NewItem("memory", "has a dog", speaker_id=anna.id)])
    with database.write() as connection:
        later = [NewItem("memory", fact, speaker_id=anna.id) for fact in ("moved", "pays by card")]
        analysis.add_memory(tenant.id, connection, second_id, later)
        promise = NewItem("commitment", "send a bill", speaker_id=anna.id)
        analysis.put_summary(tenant.id, connection, second_id, text="t", items=[promise])
    with database.read() as connection:
        profile = analysis.list_items_of_speaker(tenant.id, connection, anna.id)
        assert [item.content for item in analysis.list_items(tenant.id, connection, first_id)] == [OFFER.content]
        remembered = analysis.list_memory(tenant.id, connection, [anna.id])
        assert analysis.speakers_remembered_from(tenant.id, connection, [first_id]) == [anna.id]
    assert [item.content for item in profile] == ["moved", "pays by card", "has a dog", "send a bill"]
    assert [item.content for item in remembered] == ["moved", "pays by card", "has a dog"]
    with database.write() as connection:
        assert analysis.forget_items(tenant.id, connection, [profile[0].id, new_id()]) == 1
        analysis.set_meta(tenant.id, connection, profile[1].id, {"key": "payment"})
        analysis.add_memory(tenant.id, connection, new_id(), [NewItem("memory", "of nowhere", speaker_id=anna.id)])
    with database.read() as connection:
        left = analysis.list_items_of_speaker(tenant.id, connection, anna.id)
    assert [(item.content, item.meta) for item in left[:2]] == [
        ("pays by card", {"key": "payment"}),
        ("has a dog", None),
    ]
    assert len(left) == 3


def test_nothing_of_one_account_is_read_or_changed_by_another(database: Database) -> None:
    owner, stranger = make_tenant(database, "owner"), make_tenant(database, "stranger")
    call_id = make_call(database, owner.id, AT, request_record_id="crm-1")
    with database.write() as connection:
        anna = speakers.upsert(owner.id, connection, external_id="c-1", name="Anna")
        speakers.attach(owner.id, connection, call_id, [Attending(anna.id, "client")])
        analysis.set_stage(owner.id, connection, call_id, "summary", "success")
        analysis.put_summary(owner.id, connection, call_id, text="ours", items=[OFFER])
        analysis.add_memory(owner.id, connection, call_id, [NewItem("memory", "a fact", speaker_id=anna.id)])
        items = analysis.list_items_of_speaker(owner.id, connection, anna.id)
    with database.write() as connection:
        analysis.set_stage(stranger.id, connection, call_id, "summary", "error")
        assert analysis.forget_items(stranger.id, connection, [item.id for item in items]) == 0
        analysis.add_memory(stranger.id, connection, call_id, [NewItem("memory", "theirs", speaker_id=anna.id)])
        analysis.set_meta(stranger.id, connection, items[0].id, {"theirs": True})
        with pytest.raises(sa.exc.NoResultFound):
            analysis.put_summary(stranger.id, connection, call_id, text="theirs")
    with database.read() as connection:
        for given in ({"communication_id": call_id}, {"request_record_id": "crm-1"}):
            assert details.find_newest(stranger.id, connection, **given) is None
        assert analysis.list_items(stranger.id, connection, call_id) == []
        assert analysis.list_items_of_speaker(stranger.id, connection, anna.id) == []
        assert speakers.list_participants(stranger.id, connection, call_id) == []
        assert details.list_of_speaker(stranger.id, connection, anna.id, limit=10) == []
        assert analysis.list_items_of_speaker(owner.id, connection, anna.id) == items
    found = read(database, owner.id, call_id)
    assert (found.summary_status, found.summary_text) == ("success", "ours")


def test_the_newest_communication_with_its_newest_task_is_read(database: Database) -> None:
    tenant = make_tenant(database)
    old, new = (make_call(database, tenant.id, AT - timedelta(days=n), request_record_id="same") for n in (0, 1))
    with database.write() as connection:
        for status in ("error", "success"):
            task = transcriptions.create(
                tenant.id,
                connection,
                communication_id=new,
                blob_key="none",
                file_name="a.wav",
                parameters={},
                occured_at=AT,
            )
            transcriptions.update(tenant.id, connection, task.id, status=status)
    with database.read() as connection:
        newest = details.find_newest(tenant.id, connection, request_record_id="same")
        both = details.find_newest(tenant.id, connection, communication_id=old, request_record_id="same")
        neither = details.find_newest(tenant.id, connection, communication_id=old, request_record_id="other")
        row = communications.get(tenant.id, connection, new)
    assert newest is not None
    assert both is not None
    assert (newest.communication, newest.transcription_status) == (row, "success")
    assert (both.communication.id, both.transcription_status) == (old, None)
    assert neither is None


def test_a_list_is_newest_first_and_paged(database: Database) -> None:
    tenant = make_tenant(database)
    with database.write() as connection:
        anna = speakers.upsert(tenant.id, connection, external_id="c-1", name="Anna")
    calls = [make_call(database, tenant.id, AT + timedelta(days=n % 3)) for n in range(7)]
    with database.write() as connection:
        for call_id in calls[:6]:
            speakers.attach(tenant.id, connection, call_id, [Attending(anna.id, "client")])
        analysis.put_summary(tenant.id, connection, calls[0], text="t", user_summary="u", category="billing")
    expected = sorted(calls[:6], key=lambda id_: (calls.index(id_) % 3, id_), reverse=True)
    with database.read() as connection:
        pages = [
            details.list_of_speaker(tenant.id, connection, anna.id, limit=4, offset=offset) for offset in (0, 4, 8)
        ]
    assert [[each.communication.id for each in page] for page in pages] == [expected[:4], expected[4:], []]
    (summarised,) = [each for page in pages for each in page if each.communication.id == calls[0]]
    assert (summarised.summary_text, summarised.user_summary, summarised.category) == ("t", "u", "billing")
