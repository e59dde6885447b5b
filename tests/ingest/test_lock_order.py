"""Row locks go task in work, communication, conversation, account, and then the rest of a communication, and a camera
before its visitors: nobody who waits for one of these holds one behind it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from api.speakers import delete_speaker
from ingest import calls, deletion, retention, trials
from store import (
    accounts,
    camera_streams,
    camera_visitors,
    chats,
    communications,
    speakers,
    transcriptions,
    widget,
)
from store.camera_visitors import VisitorLooks
from store.communications import Communication
from store.database import Connection, Database, now
from store.ids import new_id
from store.trials import HOUSE_ID, add, open_house
from tests.store.conftest import database as database
from tests.store.test_figures import wait_for_a_lock
from tests.support.camera_workers import held_stream

WORKER = "worker"


class House(SimpleNamespace):
    """The parts of a workshop that deletion needs, two conversations of the site's, in the first of which somebody
    takes part, and a camera that a worker has."""

    database: Database
    talk: Communication
    another: Communication
    person: speakers.Speaker

    @property
    def tenant_id(self) -> str:
        return HOUSE_ID


@pytest.fixture
def house(database: Database, monkeypatch: pytest.MonkeyPatch) -> House:
    with database.write() as connection:
        open_house(connection)
        chat = chats.create(HOUSE_ID, connection, name="c", header_title="c", public_key="pk")
        person = speakers.upsert(HOUSE_ID, connection, external_id="1", name="Anna Petrova", role="client")
        conversations = [
            communications.create(
                HOUSE_ID, connection, kind="chat", channel_type="widget", occured_at=now(), title="Anna Petrova"
            )
            for _ in range(2)
        ]
        talk, another = sorted(conversations, key=lambda each: each.id)  # of one millisecond, they come in any order
        speakers.attach(HOUSE_ID, connection, talk.id, [speakers.Attending(person.id, "client")])
        for each in (talk, another):
            widget.create(HOUSE_ID, connection, each.id, chat_id=chat.id)
        task = transcriptions.create(
            HOUSE_ID,
            connection,
            communication_id=talk.id,
            blob_key="a",
            file_name="Anna Petrova.wav",
            parameters={},
            occured_at=now(),
        )
        assert transcriptions.update(HOUSE_ID, connection, task.id, status="success")  # else it is called off first
    jobs = SimpleNamespace(forget=lambda _ids: None)
    indexes = SimpleNamespace(delete=lambda *_, **__: None)
    made = House(database=database, jobs=jobs, indexes=indexes, talk=talk, another=another, person=person)
    made.chat_id, made.task_id = chat.id, task.id
    made.stream_id = held_stream(database, HOUSE_ID, WORKER).id
    monkeypatch.setattr(calls, "workshop", lambda: made)
    return made


def delete_by_hand(house: Any) -> None:
    assert deletion.delete_communication(house, house.tenant_id, house.talk.id, actor="a key")


def remove_trial(house: Any) -> None:
    with house.database.write() as connection:
        trial = add(
            house.tenant_id,
            connection,
            token_hash="t",
            task_id=new_id(),
            communication_id=house.talk.id,
            expires_at=now(),
        )
    trials.remove(house, trial)


def forget_person(house: Any) -> None:
    call: Any = SimpleNamespace(
        tenant_id=house.tenant_id,
        services=house,
        path_id=lambda *_: house.person.id,
        note=lambda *_: None,
    )
    delete_speaker(call)


def let_expire(house: Any) -> None:
    long_ago, table = now() - timedelta(days=9), communications.communications
    with house.database.write() as connection:
        accounts.update_tenant(house.tenant_id, connection, retention_days=7)
        old = sa.update(table).values(occured_at=long_ago, created_at=long_ago, updated_at=long_ago)
        connection.execute(old.where(table.c.id == house.talk.id))
    assert retention.remove_batch(house, house.tenant_id)


def delete_chat(house: Any) -> None:
    with house.database.write() as connection:
        widget.forget_chat(house.tenant_id, connection, house.chat_id)
        accounts.get_tenant(house.tenant_id, connection, lock=True)


def lead_to_another_camera(house: Any) -> None:
    with house.database.write() as connection:
        camera_streams.update(house.tenant_id, connection, house.stream_id, url=b"another")


def delete_camera(house: Any) -> None:
    with house.database.write() as connection:
        assert camera_streams.delete(house.tenant_id, connection, house.stream_id)


def end_a_call(house: House, connection: Connection) -> None:
    task = transcriptions.transcription_tasks
    its_task = sa.update(task).where(task.c.id == house.task_id)
    with house.database.write() as before:
        before.execute(its_task.values(status="processing"))
    connection.execute(its_task.values(status="success"))
    communications.lock(house.tenant_id, connection, house.talk.id)


def end_a_stage(house: House, connection: Connection) -> None:
    communications.lock(house.tenant_id, connection, house.talk.id)


def begin_to_delete_a_chat(house: House, connection: Connection) -> None:
    widget.forget_chat(house.tenant_id, connection, house.chat_id)


def begin_to_delete(house: House, connection: Connection) -> None:
    assert deletion.lock(house.tenant_id, connection, house.talk.id)


def take_one_of_two(house: House, connection: Connection) -> None:
    with house.database.write() as before:
        widget.update(house.tenant_id, before, house.talk.id, last_at=now())  # the first lies behind the second now
    widget.lock(house.tenant_id, connection, [house.talk.id])


def take_account(house: House, connection: Connection) -> None:
    accounts.get_tenant(house.tenant_id, connection, lock=True)


def delete_the_rest(house: House, connection: Connection) -> None:
    deletion.remove(house.tenant_id, connection, [house.talk.id])


def take_the_other(house: House, connection: Connection) -> None:
    widget.lock(house.tenant_id, connection, [house.another.id])


def begin_to_record(house: House, connection: Connection) -> None:
    with house.database.write() as before:
        tell_of_a_visitor(house, before)
    assert camera_streams.hold(house.tenant_id, connection, house.stream_id, WORKER)


def tell_of_a_visitor(house: House, connection: Connection) -> None:
    looks = VisitorLooks(now().date(), visitor=1, came=1, looks=b"looks")
    camera_visitors.put(house.tenant_id, connection, house.stream_id, [looks])


@pytest.mark.parametrize(
    ("begin", "other", "go_on"),
    [
        (end_a_stage, delete_by_hand, take_account),
        (end_a_stage, remove_trial, take_account),
        (end_a_stage, forget_person, take_account),
        (end_a_call, forget_person, take_account),
        (begin_to_delete_a_chat, delete_by_hand, take_account),
        (begin_to_delete_a_chat, remove_trial, take_account),
        (begin_to_delete_a_chat, let_expire, take_account),
        (begin_to_delete, forget_person, delete_the_rest),
        (begin_to_delete, delete_chat, delete_the_rest),
        (take_one_of_two, delete_chat, take_the_other),
        (begin_to_record, lead_to_another_camera, tell_of_a_visitor),
        (begin_to_record, delete_camera, tell_of_a_visitor),
    ],
)
def test_who_goes_on_gets_what_comes_next_before_whoever_waits(
    house: House,
    begin: Callable[[House, Connection], None],
    other: Callable[[House], None],
    go_on: Callable[[House, Connection], None],
) -> None:
    if house.database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    with ThreadPoolExecutor(1) as threads:
        with house.database.write() as connection:
            begin(house, connection)
            waiting = threads.submit(other, house)
            wait_for_a_lock(house.database)
            # Before PostgreSQL looks whether two wait for each other.
            connection.execute(sa.text("SET LOCAL lock_timeout = '500ms'"))
            go_on(house, connection)
        waiting.result(timeout=60)


def test_deleting_what_is_gone_says_so(house: House) -> None:
    delete_by_hand(house)
    assert not deletion.delete_communication(house, house.tenant_id, house.talk.id, actor="a key")
    remove_trial(house)
