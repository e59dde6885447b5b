"""Transactions, column types and migrations, on both databases."""

from __future__ import annotations

import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from prometheus_client import REGISTRY

from store import accounts, audit, communications, index_work, kb_spaces, knowledge, limits, migrate, transcriptions
from store.accounts import Tenant
from store.clocks import CLOCK
from store.communications import ContentItem, Cursor
from store.database import Database, UtcDateTime, metadata, now
from store.ids import new_id, parse_id
from store.settings import Settings


def make_tenant(database: Database, name: str = "tenant") -> Tenant:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name=name, external_id=name)
    assert tenant is not None
    return tenant


def make_call(database: Database, tenant_id: str, occured_at: datetime, **values: str) -> str:
    with database.write() as connection:
        row = communications.create(
            tenant_id, connection, kind="call", channel_type="phone", occured_at=occured_at, title="a call", **values
        )
    return row.id


def test_migrations_make_exactly_the_tables_that_the_code_declares(database: Database) -> None:
    def compare_type(_c: object, _i: object, _m: object, _it: object, declared: object) -> bool | None:
        return False if isinstance(declared, UtcDateTime) else None

    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": compare_type})
        assert compare_metadata(context, metadata) == []


def test_migrating_twice_changes_nothing(database: Database) -> None:
    before, after = migrate.migrate(database)
    assert before == after == migrate.newest_revision()
    assert migrate.is_current(database)


def test_an_error_inside_a_write_takes_the_whole_transaction_back(database: Database) -> None:
    def fail_half_way() -> None:
        with database.write() as connection:
            accounts.create_tenant(connection, name="lost", external_id="lost")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail_half_way()
    with database.read() as connection:
        assert accounts.list_by_external_id(connection, "lost") == []


def test_many_threads_writing_at_once_all_succeed(database: Database) -> None:
    tenant = make_tenant(database)
    errors: list[BaseException] = []

    def write() -> None:
        try:
            for _ in range(10):
                with database.write() as connection:
                    # Read first, as real writers do: without BEGIN IMMEDIATE this is where SQLite gives up.
                    communications.count(tenant.id, connection)
                    kb_spaces.create_space(tenant.id, connection, name="s", description="")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with database.read() as connection:
        assert kb_spaces.list_spaces(tenant.id, connection, limit=1)[1] == 160


def test_how_long_a_transaction_waits_until_it_begins_is_counted(tmp_path: Path) -> None:
    """A writer of SQLite for another; a connection of PostgreSQL's is waited for in the same lines."""
    database = Database(Settings(data_dir=tmp_path, _env_file=None))  # type: ignore[call-arg]
    before_s = waited_s("write")
    with ThreadPoolExecutor(1) as threads:
        with database.write():
            other = threads.submit(write_nothing, database)
            time.sleep(0.3)
        other.result()
    assert 0.2 < waited_s("write") - before_s < 20
    database.close()


def write_nothing(database: Database) -> None:
    with database.write():
        pass


def waited_s(access: str) -> float:
    return REGISTRY.get_sample_value("parley_database_wait_seconds_sum", {"access": access}) or 0.0


def test_times_come_back_as_the_same_moment_in_utc(database: Database) -> None:
    tenant = make_tenant(database)
    moment = datetime(2026, 3, 1, 1, 30, 0, 123456, tzinfo=timezone(timedelta(hours=5)))
    call = make_call(database, tenant.id, moment)
    with database.read() as connection:
        row = communications.get(tenant.id, connection, call)
    assert row is not None
    assert row.occured_at == moment
    assert row.occured_at.tzinfo is UTC or row.occured_at.utcoffset() == timedelta(0)


def test_pages_of_communications_meet_without_gap_or_overlap_even_at_equal_times(database: Database) -> None:
    tenant = make_tenant(database)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    made = {make_call(database, tenant.id, moment + timedelta(minutes=number // 3)) for number in range(10)}
    seen: list[str] = []
    before: Cursor | None = None
    with database.read() as connection:
        while page := communications.list_page(tenant.id, connection, limit=3, before=before):
            seen += [row.id for row in page]
            before = Cursor(page[-1].occured_at, page[-1].id)
    assert len(seen) == 10
    assert set(seen) == made


def test_storing_a_timeline_twice_leaves_it_there_once(database: Database) -> None:
    tenant = make_tenant(database)
    call = make_call(database, tenant.id, datetime(2026, 1, 1, tzinfo=UTC))
    items = [ContentItem(kind="audio_utterance", text=text, label="SPEAKER_00") for text in ("один", "", "two")]
    for _ in range(2):
        with database.write() as connection:
            communications.replace_content(tenant.id, connection, call, items)
    with database.read() as connection:
        content = communications.list_content(tenant.id, connection, call)
    assert [(idx, item.text) for idx, item in content] == [(0, "один"), (2, "two")]


def test_a_finished_task_is_not_changed_any_more(database: Database) -> None:
    tenant = make_tenant(database)
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    call = make_call(database, tenant.id, moment)
    with database.write() as connection:
        task = transcriptions.create(
            tenant.id,
            connection,
            communication_id=call,
            blob_key="k",
            file_name="f",
            parameters={},
            occured_at=moment,
        )
        assert transcriptions.update(tenant.id, connection, task.id, status="success", progress=1.0)
        assert not transcriptions.update(tenant.id, connection, task.id, status="error")
        stored = transcriptions.get(tenant.id, connection, task.id)
    assert stored is not None
    assert (stored.status, stored.version) == ("success", 2)


def test_the_same_bytes_in_one_space_are_one_document(database: Database) -> None:
    tenant = make_tenant(database)
    with database.write() as connection:
        space = kb_spaces.create_space(tenant.id, connection, name="s", description="")
        values = {"space_id": space.id, "title": "t", "file_name": "t.txt", "size_bytes": 1, "sha256": "a" * 64}
        first = knowledge.add_document(tenant.id, connection, document_id=new_id(), blob_key="1", **values)  # type: ignore[arg-type]
        second = knowledge.add_document(tenant.id, connection, document_id=new_id(), blob_key="2", **values)  # type: ignore[arg-type]
    assert first[1]
    assert not second[1]
    assert first[0].id == second[0].id


def test_a_link_is_one_document_of_its_space(database: Database) -> None:
    tenant = make_tenant(database)
    with database.write() as connection:
        spaces = [kb_spaces.create_space(tenant.id, connection, name="s", description="") for _ in range(2)]
        values: dict[str, Any] = {"title": "t", "file_name": "t", "size_bytes": 0, "sha256": None, "blob_key": "b"}
        made = [
            knowledge.add_document(
                tenant.id, connection, document_id=new_id(), space_id=space.id, url=f"http://a.b/{path}", **values
            )
            for space, path in ((spaces[0], 1), (spaces[0], 1), (spaces[0], 2), (spaces[1], 1))
        ]
        assert [is_new for _, is_new in made] == [True, False, True, True]
        assert made[0][0].id == made[1][0].id
        assert made[2][0].sha256 is None, "what a link points to changes: its bytes are nobody's claim"


def test_a_version_takes_the_place_of_the_one_before_and_a_failed_one_does_not(database: Database) -> None:
    tenant, document_id = make_tenant(database), new_id()

    def chunk(idx: int, text: str) -> knowledge.StoredChunk:
        id_ = str(uuid.uuid5(uuid.UUID(document_id), text))
        return knowledge.StoredChunk(id_, idx, text, [], None, 0, len(text), None, None)

    with database.write() as connection:
        space = kb_spaces.create_space(tenant.id, connection, name="s", description="")
        values: dict[str, Any] = {"title": "t", "file_name": "t", "size_bytes": 1, "sha256": "a" * 64, "blob_key": "b"}
        knowledge.add_document(tenant.id, connection, document_id=document_id, space_id=space.id, **values)

        def found() -> list[str]:
            ids = knowledge.chunk_ids(tenant.id, connection, document_id)
            return sorted(each.text for each in knowledge.current_chunks(tenant.id, connection, sorted(ids)).values())

        old, kept, new = "old", "kept", "new"
        knowledge.put_chunks(tenant.id, connection, document_id, 1, [chunk(0, old), chunk(1, kept)])
        assert found() == [], "no run has ended"
        assert knowledge.switch_version(tenant.id, connection, document_id, 1, 2)
        assert found() == [kept, old]
        knowledge.begin_reindex(tenant.id, connection, document_id)
        knowledge.put_chunks(tenant.id, connection, document_id, 2, [chunk(0, kept), chunk(1, new)])
        assert found() == [kept, old], "while the new run is in work"
        knowledge.drop_chunks(tenant.id, connection, document_id, 1)
        knowledge.drop_chunks(tenant.id, connection, document_id, 2)
        assert found() == [kept, old], "a failed run goes, the version stays"
        knowledge.put_chunks(tenant.id, connection, document_id, 2, [chunk(0, kept), chunk(1, new)])
        assert knowledge.switch_version(tenant.id, connection, document_id, 2, 2)
        assert not knowledge.switch_version(tenant.id, connection, document_id, 2, 2), "it has ended"
        assert found() == [kept, new]
        assert len(knowledge.chunk_ids(tenant.id, connection, document_id)) == 2
        assert knowledge.delete_document(tenant.id, connection, document_id)
        assert found() == []


def test_of_many_creations_of_one_external_id_at_once_one_makes_the_client(database: Database) -> None:
    made: list[Tenant | None] = []

    def create() -> None:
        with database.write() as connection:
            made.append(accounts.create_tenant(connection, name="acme", external_id="acme"))

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert sum(tenant is not None for tenant in made) == 1


def test_turns_that_two_threads_add_to_a_new_conversation_are_all_kept(database: Database) -> None:
    tenant, conversation = make_tenant(database), new_id()
    moment = datetime(2026, 1, 1, tzinfo=UTC)

    def write(name: str) -> None:
        for number in range(5):
            with database.write() as connection:
                communications.create(
                    tenant.id,
                    connection,
                    kind="chat",
                    channel_type="widget",
                    occured_at=moment,
                    title=name,
                    communication_id=conversation,
                )
                turn = ContentItem(kind="chat_message", text=f"{name}{number}")
                communications.append_content(tenant.id, connection, conversation, [turn])

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as connection:
        content = communications.list_content(tenant.id, connection, conversation)
    assert [idx for idx, _ in content] == list(range(20))
    assert sorted(item.text for _, item in content) == sorted(
        f"{name}{number}" for name in "abcd" for number in range(5)
    )


def test_index_work_that_changed_while_it_was_done_stays_open(database: Database) -> None:
    tenant, subject = make_tenant(database), new_id()
    with database.write() as connection:
        first = index_work.add(tenant.id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=subject)
        second = index_work.add(tenant.id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=subject)
        index_work.done(tenant.id, connection, first)
        assert index_work.list_open(connection) == [second]
        index_work.done(tenant.id, connection, second)
        assert index_work.list_open(connection) == []


def test_index_work_that_failed_waits_behind_the_rest_unless_it_changed(database: Database) -> None:
    tenant = make_tenant(database)
    with database.write() as connection:
        bad, good = (
            index_work.add(tenant.id, connection, action=index_work.FORGET_DOCUMENT, subject_id=new_id())
            for _ in range(2)
        )
        index_work.put_back(tenant.id, connection, bad)
        assert index_work.list_open(connection) == [good, bad]
        assert index_work.list_open(connection, limit=1) == [good]
        changed = index_work.add(tenant.id, connection, action=index_work.FORGET_DOCUMENT, subject_id=good.subject_id)
        index_work.put_back(tenant.id, connection, bad)
        index_work.put_back(tenant.id, connection, good)
        assert index_work.list_open(connection) == [changed, bad]


def test_open_index_work_is_listed_an_account_in_turn_and_only_what_is_due(database: Database) -> None:
    busy, other = new_id(), new_id()
    with database.write() as connection:

        def add(tenant_id: str, minutes: int) -> index_work.IndexWork:
            subject = new_id()
            (work,) = index_work.add_many(
                tenant_id,
                connection,
                action=index_work.DELETE_BLOB,
                blob_keys={subject: f"{tenant_id}/{subject}"},
                not_before=now() + timedelta(minutes=minutes),
            )
            return work

        many = [add(busy, minute) for minute in range(-20, 0)]
        late = [add(other, minute) for minute in (-3, -2)]
        add(other, 1)
        assert index_work.list_open(connection, limit=5) == [many[0], late[0], many[1], late[1], many[2]]
        assert index_work.list_open(connection) == [many[0], late[0], many[1], late[1], *many[2:]]
        index_work.withdraw(busy, connection, index_work.DELETE_BLOB, [work.subject_id for work in (*many, *late)])
        assert index_work.list_open(connection) == late, "another account's work is its own"


def test_a_document_whose_run_ended_is_not_ended_again(database: Database) -> None:
    tenant, document_id = make_tenant(database), new_id()
    with database.write() as connection:
        space = kb_spaces.create_space(tenant.id, connection, name="space", description="")
        knowledge.add_document(
            tenant.id,
            connection,
            document_id=document_id,
            space_id=space.id,
            title="title",
            file_name="a.txt",
            size_bytes=1,
            sha256="0" * 64,
            blob_key="key",
        )
        assert knowledge.update_document(tenant.id, connection, document_id, 1, status="processing")
        assert knowledge.update_document(tenant.id, connection, document_id, 1, status="success", progress=1.0)
        assert not knowledge.update_document(tenant.id, connection, document_id, 1, status="error", error_code="x")
        found = knowledge.get_document(tenant.id, connection, document_id)
        assert found is not None
        assert (found.status, found.error_code) == ("success", None)
        knowledge.begin_reindex(tenant.id, connection, document_id)
        assert not knowledge.update_document(tenant.id, connection, document_id, 1, status="error")
        assert knowledge.update_document(tenant.id, connection, document_id, 2, status="error", error_code="x")


def test_old_entries_of_the_audit_log_are_purged_oldest_first(database: Database) -> None:
    tenant = make_tenant(database)
    with database.write() as connection:
        for number in range(3):
            audit.add(tenant.id, connection, actor="operator", action=str(number))
        assert audit.purge(connection, before=now() - timedelta(days=400)) == 0
        assert audit.purge(connection, before=now() + timedelta(seconds=1), limit=2) == 2
        (left,), total = audit.list_page(tenant.id, connection, limit=10)
        assert (left.action, total) == ("2", 1)


def test_a_rate_limit_counts_exactly_over_many_threads(database: Database) -> None:
    allowed: list[int] = []

    def hit() -> None:
        for _ in range(25):
            with database.write(durable=False) as connection:
                # A window of a year: the test must not straddle two.
                if not limits.hit(connection, "bucket", limit=60, window_s=365 * 24 * 3600).is_over:
                    allowed.append(1)

    threads = [threading.Thread(target=hit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(allowed) == 60


def test_old_windows_of_rate_limits_are_forgotten_and_new_ones_kept(database: Database) -> None:
    with database.write() as connection:
        connection.execute(sa.insert(limits.rate_windows).values(bucket="old", window=1, count=9))
        for window_s in (1, 60, 3600, 24 * 3600):
            limits.hit(connection, f"new {window_s}", limit=1, window_s=window_s)
        limits.forget_old_windows(connection)
        left = [row.bucket for row in connection.execute(sa.select(limits.rate_windows.c.bucket))]
    assert sorted(left) == ["new 1", "new 3600", "new 60", "new 86400"]


def test_a_window_of_a_rate_limit_is_forgotten_an_hour_after_its_end_whatever_its_length(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_at = 1_800_000_000 // 86_400 * 86_400.0  # a day begins
    counts = []
    with database.write() as connection:
        for after_s in (0, 86_399, 86_400 + 3600, 86_400 + 3601):
            monkeypatch.setattr(CLOCK, "time_s", lambda after_s=after_s: started_at + after_s)
            if after_s == 0:
                for window_s in (60, 86_400):
                    limits.hit(connection, str(window_s), limit=1, window_s=window_s)
            limits.forget_old_windows(connection)
            rows = connection.execute(sa.select(limits.rate_windows.c.bucket))
            counts.append(sorted(row.bucket for row in rows))
    assert counts == [["60", "86400"], ["86400"], ["86400"], []]


def test_another_tenants_rows_are_not_there(database: Database) -> None:
    owner, other = make_tenant(database, "owner"), make_tenant(database, "other")
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    call = make_call(database, owner.id, moment, request_record_id="record-1")
    with database.write() as connection:
        space = kb_spaces.create_space(owner.id, connection, name="s", description="")
        communications.replace_content(owner.id, connection, call, [ContentItem(kind="chat_message", text="secret")])
    with database.write() as connection:
        assert communications.get(other.id, connection, call) is None
        assert communications.get_many(other.id, connection, [call]) == {}
        assert communications.list_page(other.id, connection, limit=10) == []
        assert communications.list_content(other.id, connection, call) == []
        found = communications.find_newest(other.id, connection, communication_id=None, request_record_id="record-1")
        assert found is None
        assert kb_spaces.get_space(other.id, connection, space.id) is None
        assert knowledge.list_documents(other.id, connection, space.id, limit=10) == ([], 0)
        kb_spaces.delete_empty_space(other.id, connection, space.id)
        communications.replace_content(other.id, connection, call, [])
    with database.read() as connection:
        assert kb_spaces.get_space(owner.id, connection, space.id) is not None
        assert len(communications.list_content(owner.id, connection, call)) == 1


def test_deleting_a_tenant_deletes_what_belongs_to_it(database: Database) -> None:
    tenant = make_tenant(database)
    call = make_call(database, tenant.id, datetime(2026, 1, 1, tzinfo=UTC))
    with database.write() as connection:
        connection.execute(sa.delete(accounts.tenants).where(accounts.tenants.c.id == tenant.id))
    with database.read() as connection:
        assert communications.get(tenant.id, connection, call) is None


def test_new_ids_are_uuids_of_version_7_in_the_order_of_time() -> None:
    ids = [new_id() for _ in range(1000)]
    assert all(parse_id(made) == made and made[14] == "7" and made[19] in "89ab" for made in ids)
    assert len(set(ids)) == 1000
    assert [made[:13] for made in ids] == sorted(made[:13] for made in ids)


@pytest.mark.parametrize(
    "text", ["", "x", "123", "{01890000-0000-7000-8000-000000000000}", "0189000000007000800000000000000"]
)
def test_what_is_no_uuid_is_refused(text: str) -> None:
    assert parse_id(text) is None
