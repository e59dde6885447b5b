"""Voices: what is heard teaches a speaker's voice once, and all of it goes with whom it belongs to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from accounts import clients
from store import accounts, speakers, voices
from store.database import Database
from store.voices import LEAST_CLEAN_MS, MOST_WEIGHT_MS, Voice
from tests.store.test_database import make_call, make_tenant

AT = datetime(2026, 3, 4, tzinfo=UTC)
MODEL = "some-model"
EAST, NORTH = (1.0, 0.0), (0.0, 1.0)


def make_person(database: Database, tenant_id: str, external_id: str = "p-1") -> str:
    with database.write() as connection:
        return speakers.upsert(tenant_id, connection, external_id=external_id, name=None).id


def hear(database: Database, tenant_id: str, communication_id: str, **heard: Voice) -> None:
    with database.write() as connection:
        voices.put_heard(tenant_id, connection, communication_id, model=MODEL, voices=heard)


def teach(database: Database, tenant_id: str, communication_id: str, label: str, speaker_id: str) -> bool:
    with database.write() as connection:
        return voices.teach(tenant_id, connection, communication_id, label, speaker_id)


def known(database: Database, tenant_id: str, *speaker_ids: str, model: str = MODEL) -> dict[str, Voice]:
    with database.read() as connection:
        return voices.list_known(tenant_id, connection, speaker_ids, model=model)


def rows(database: Database) -> tuple[int, int]:
    with database.read() as connection:
        counted = [
            connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            for table in (voices.heard_voices, voices.speaker_voices)
        ]
    return counted[0], counted[1]


def test_a_voice_that_was_heard_is_known_by_its_speaker_and_model(database: Database) -> None:
    tenant_id, other_id = make_tenant(database, "one").id, make_tenant(database, "two").id
    call, person = make_call(database, tenant_id, AT), make_person(database, tenant_id)
    hear(database, tenant_id, call, SPEAKER_00=Voice((0.6, 0.8), 9000))
    assert teach(database, tenant_id, call, "SPEAKER_00", person)
    (voice,) = known(database, tenant_id, person).values()
    assert (voice.clean_ms, voice.embedding) == (9000, pytest.approx((0.6, 0.8)))
    assert known(database, other_id, person) == {}
    assert known(database, tenant_id, person, model="another") == {}
    assert known(database, tenant_id) == {}
    with database.read() as connection:
        assert voices.list_heard(other_id, connection, call) == {}
        assert set(voices.list_heard(tenant_id, connection, call)) == {"SPEAKER_00"}


def test_a_new_voice_weighs_by_its_clean_speech_and_once(database: Database) -> None:
    tenant_id = make_tenant(database).id
    person = make_person(database, tenant_id)
    first, second = (make_call(database, tenant_id, AT) for _ in range(2))
    hear(database, tenant_id, first, SPEAKER_00=Voice(EAST, 30_000))
    hear(database, tenant_id, second, SPEAKER_01=Voice(NORTH, 10_000))
    assert teach(database, tenant_id, first, "SPEAKER_00", person)
    for again in range(3):
        assert teach(database, tenant_id, second, "SPEAKER_01", person) == (again == 0)
        hear(database, tenant_id, second, SPEAKER_01=Voice(NORTH, 10_000))  # the step ran again
    (voice,) = known(database, tenant_id, person).values()
    assert voice.clean_ms == 40_000
    assert voice.embedding == pytest.approx((3 / 10**0.5, 1 / 10**0.5))


def test_what_is_known_for_long_still_follows_a_voice_that_ages(database: Database) -> None:
    tenant_id = make_tenant(database).id
    person = make_person(database, tenant_id)
    for voice in (Voice(EAST, 100 * MOST_WEIGHT_MS), Voice(NORTH, MOST_WEIGHT_MS)):
        call = make_call(database, tenant_id, AT)
        hear(database, tenant_id, call, SPEAKER_00=voice)
        teach(database, tenant_id, call, "SPEAKER_00", person)
    (known_now,) = known(database, tenant_id, person).values()
    assert known_now.embedding == pytest.approx((0.5**0.5, 0.5**0.5))


def test_too_little_clean_speech_teaches_nothing(database: Database) -> None:
    tenant_id = make_tenant(database).id
    call, person = make_call(database, tenant_id, AT), make_person(database, tenant_id)
    hear(database, tenant_id, call, SPEAKER_00=Voice(EAST, LEAST_CLEAN_MS - 1))
    assert not teach(database, tenant_id, call, "SPEAKER_00", person)
    assert not teach(database, tenant_id, call, "SPEAKER_01", person)
    assert known(database, tenant_id, person) == {}


def test_a_voice_goes_with_its_speaker_and_with_all_that_was_heard_of_it(database: Database) -> None:
    tenant_id, other_id = make_tenant(database, "one").id, make_tenant(database, "two").id
    taught, bound, foreign = (make_call(database, tenant_id, AT) for _ in range(3))
    person, somebody = make_person(database, tenant_id), make_person(database, tenant_id, "p-2")
    for call in (taught, bound, foreign):
        hear(database, tenant_id, call, SPEAKER_00=Voice(EAST, 9000), SPEAKER_01=Voice(NORTH, 9000))
    teach(database, tenant_id, taught, "SPEAKER_00", person)
    teach(database, tenant_id, foreign, "SPEAKER_00", somebody)
    with database.write() as connection:
        speakers.attach(tenant_id, connection, bound, [speakers.Attending(person, "client", "SPEAKER_01")])
        voices.forget_speaker(other_id, connection, person)
        assert not speakers.delete(other_id, connection, person)
    assert rows(database) == (6, 2)
    with database.write() as connection:
        voices.forget_speaker(tenant_id, connection, person)
        assert speakers.delete(tenant_id, connection, person)
        assert not speakers.delete(tenant_id, connection, person)
    assert rows(database) == (4, 1)
    with database.read() as connection:
        left = {call: set(voices.list_heard(tenant_id, connection, call)) for call in (taught, bound, foreign)}
    assert left == {taught: {"SPEAKER_01"}, bound: {"SPEAKER_00"}, foreign: {"SPEAKER_00", "SPEAKER_01"}}
    assert set(known(database, tenant_id, person, somebody)) == {somebody}


def test_what_was_heard_goes_with_its_call(database: Database) -> None:
    tenant_id = make_tenant(database).id
    hear(database, tenant_id, make_call(database, tenant_id, AT), SPEAKER_00=Voice(EAST, 9000))
    assert rows(database) == (1, 0)
    with database.write() as connection:
        connection.execute(sa.text("DELETE FROM communications"))
    assert rows(database) == (0, 0)


def test_what_is_taken_back_leaves_the_voice_to_what_else_taught_it(database: Database) -> None:
    tenant_id = make_tenant(database).id
    person, somebody = make_person(database, tenant_id), make_person(database, tenant_id, "p-2")
    older, newer, others = (make_call(database, tenant_id, AT + timedelta(days=day)) for day in (0, 1, 2))
    for call, voice, whose in (
        (older, Voice(EAST, 30_000), person),
        (newer, Voice(NORTH, 10_000), person),
        (others, Voice(NORTH, 9000), somebody),
    ):
        hear(database, tenant_id, call, SPEAKER_00=voice)
        assert teach(database, tenant_id, call, "SPEAKER_00", whose)
    with database.write() as connection:
        voices.take_back(tenant_id, connection, older, "SPEAKER_00")
    left = known(database, tenant_id, person, somebody)
    assert (left[person].embedding, left[person].clean_ms) == (pytest.approx(NORTH), 10_000)
    assert left[somebody].clean_ms == 9000
    with database.write() as connection:
        voices.take_back_all(tenant_id, connection, [newer, older])
    assert set(known(database, tenant_id, person, somebody)) == {somebody}
    assert teach(database, tenant_id, older, "SPEAKER_00", person), "it may teach again"


def test_a_voice_that_is_made_anew_follows_the_order_of_its_calls(database: Database) -> None:
    tenant_id = make_tenant(database).id
    person = make_person(database, tenant_id)
    calls = [make_call(database, tenant_id, AT + timedelta(days=day)) for day in range(3)]
    lengths = (1, 100 * MOST_WEIGHT_MS, MOST_WEIGHT_MS)
    for call, direction, length in zip(calls, (NORTH, EAST, NORTH), lengths, strict=True):
        hear(database, tenant_id, call, SPEAKER_00=Voice(direction, max(length, LEAST_CLEAN_MS)))
        assert teach(database, tenant_id, call, "SPEAKER_00", person)
    with database.write() as connection:
        voices.take_back_all(tenant_id, connection, calls[:1])
    (voice,) = known(database, tenant_id, person).values()
    assert voice.embedding == pytest.approx((0.5**0.5, 0.5**0.5))
    assert voice.clean_ms == sum(lengths[1:])


@pytest.mark.parametrize("taught", ["SPEAKER_00", "SPEAKER_01"])
def test_of_two_labels_that_become_one_it_stays_known_whom_they_taught(database: Database, taught: str) -> None:
    tenant_id = make_tenant(database).id
    call, person = make_call(database, tenant_id, AT), make_person(database, tenant_id)
    hear(database, tenant_id, call, SPEAKER_00=Voice(EAST, 9000), SPEAKER_01=Voice(NORTH, 9000))
    assert teach(database, tenant_id, call, taught, person)
    with database.write() as connection:
        voices.join_heard(tenant_id, connection, call, "SPEAKER_00", "SPEAKER_01")
    assert rows(database) == (1, 1)
    with database.write() as connection:
        voices.take_back_all(tenant_id, connection, [call])
    assert rows(database) == (1, 0)


def test_switching_voices_off_deletes_those_of_the_account_alone(database: Database) -> None:
    accounts_of = [make_tenant(database, name).id for name in ("one", "two")]
    for tenant_id in accounts_of:
        call, person = make_call(database, tenant_id, AT), make_person(database, tenant_id)
        hear(database, tenant_id, call, SPEAKER_00=Voice(EAST, 9000))
        teach(database, tenant_id, call, "SPEAKER_00", person)
    for is_on in (True, False):
        with database.write() as connection:
            tenant = accounts.get_tenant(accounts_of[0], connection, lock=True)
            assert tenant is not None
            clients.change(tenant, connection, actor="test", voices_enabled=is_on)
        assert rows(database) == ((2, 2) if is_on else (1, 1))
    with database.read() as connection:
        left = connection.execute(sa.select(voices.speaker_voices.c.tenant_id)).scalar_one()
    assert left == accounts_of[1]
