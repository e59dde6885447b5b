"""Profiles of speakers: how they are found and made, and who is in which communication."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from store import communications, speakers
from store.database import Database
from store.errors import InvalidRequest
from store.speakers import Attending, Speaker
from tests.store.test_database import make_call, make_tenant

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def upsert(database: Database, tenant_id: str, **values: str | None) -> Speaker:
    with database.write() as connection:
        given: dict[str, str | None] = {"external_id": None, "name": None, **values}
        return speakers.upsert(tenant_id, connection, **given)


def find(database: Database, tenant_id: str, **values: str) -> Speaker | None:
    with database.read() as connection:
        return speakers.find(tenant_id, connection, **values)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("client", "client"),
        ("sales", "sales"),
        ("support", "support"),
        ("employee", "employee"),
        ("unknown", "unknown"),
        ("manager", "employee"),
        ("Client", "employee"),
        ("", "unknown"),
        ("  ", "unknown"),
        (None, "unknown"),
    ],
)
def test_a_role_outside_the_list_becomes_employee_and_an_empty_one_unknown(given: str | None, stored: str) -> None:
    assert speakers.normal_role(given) == stored


def test_of_very_many_former_names_a_hundred_are_kept_those_that_were_in_use_last(database: Database) -> None:
    tenant, other = make_tenant(database), make_tenant(database, "other")
    person = upsert(database, tenant.id, external_id="c-1", name="Anna")
    for number in (*range(110), 109, 50):
        upsert(database, tenant.id, external_id="c-1", name=f"Anna {number}")
    with database.read() as connection:
        former = speakers.list_former_names(tenant.id, connection, person.id)
        assert speakers.list_former_names(other.id, connection, person.id) == []
    assert len(former) == 100
    assert former[:2] == ["Anna 109", "Anna 108"]
    assert "Anna 50" in former, "the one of now was one of before, too"
    with database.write() as connection:
        assert speakers.delete(tenant.id, connection, person.id)
        assert speakers.list_former_names(tenant.id, connection, person.id) == []


def test_a_profile_is_found_again_by_its_external_id_and_takes_what_is_new(database: Database) -> None:
    tenant = make_tenant(database)
    first = upsert(database, tenant.id, external_id="c-1", name="Anna", role="client", department="north")
    again = upsert(database, tenant.id, external_id="c-1", name="Anna Petrova", role="", department="")
    assert again == find(database, tenant.id, external_id="c-1")
    assert (again.id, again.name, again.role, again.department) == (first.id, "Anna Petrova", "client", "north")
    assert again.created_at == first.created_at
    assert again.updated_at >= first.updated_at
    assert find(database, tenant.id, name="Anna") is None, "the name that was replaced still finds the profile"
    assert find(database, tenant.id, name="anna petrova") == again


def test_a_profile_without_an_external_id_is_found_by_its_name(database: Database) -> None:
    tenant = make_tenant(database)
    first = upsert(database, tenant.id, name="Ёлкина Мария", role="client")
    assert upsert(database, tenant.id, name=" ёлкина МАРИЯ ").id == first.id
    assert upsert(database, tenant.id, name="Ёлкина").id != first.id
    assert upsert(database, tenant.id, external_id="c-2", name="Ёлкина Мария").id != first.id


def test_of_several_profiles_of_a_name_the_one_updated_last_is_taken(database: Database) -> None:
    tenant = make_tenant(database)
    ids = [upsert(database, tenant.id, external_id=f"c-{number}", name="Иван").id for number in range(3)]
    upsert(database, tenant.id, external_id="c-1", role="client")
    found = find(database, tenant.id, name="иван")
    assert found is not None
    assert found.id == ids[1]
    assert upsert(database, tenant.id, name="ИВАН").id == ids[1]


def test_a_person_with_neither_id_nor_name_gets_a_profile_each_time(database: Database) -> None:
    tenant = make_tenant(database)
    first, second = (upsert(database, tenant.id, external_id="", name=" ", role="client") for _ in range(2))
    assert first.id != second.id
    assert (first.external_id, first.name, first.role) == (None, None, "client")


@pytest.mark.parametrize("field", ["name", "department"])
def test_a_text_that_is_too_long_is_refused_by_its_name(database: Database, field: str) -> None:
    tenant = make_tenant(database)
    upsert(database, tenant.id, external_id="c-1", **{field: "\u0390" * 200})  # three characters when compared
    with pytest.raises(InvalidRequest) as refusal:
        upsert(database, tenant.id, external_id="c-1", **{field: "я" * 201})
    assert refusal.value.param == f"speakers.{field}"


def test_the_same_person_in_another_account_is_somebody_else(database: Database) -> None:
    one, other = make_tenant(database, "one"), make_tenant(database, "other")
    first = upsert(database, one.id, external_id="c-1", name="Anna")
    second = upsert(database, other.id, external_id="c-1", name="Anna")
    assert first.id != second.id
    assert find(database, other.id, speaker_id=first.id) is None
    assert find(database, one.id, name="Anna") == first


@pytest.mark.parametrize("given", [{"external_id": "c-1", "name": "Anna"}, {"name": "Anna"}])
def test_many_writers_make_one_profile(database: Database, given: dict[str, str]) -> None:
    tenant = make_tenant(database)
    ids: list[str] = []
    start = threading.Barrier(12)

    def write() -> None:
        start.wait()
        ids.append(upsert(database, tenant.id, **given).id)

    threads = [threading.Thread(target=write) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 12
    assert len(set(ids)) == 1


def test_writers_of_the_same_people_in_other_orders_do_not_block_each_other(database: Database) -> None:
    tenant = make_tenant(database)
    errors: list[BaseException] = []

    def write(names: list[str]) -> None:
        try:
            for _ in range(8):
                with database.write() as connection:
                    for name in names:
                        speakers.upsert(tenant.id, connection, external_id=name, name=name)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(names,)) for names in (["a", "b", "c"], ["c", "b", "a"]) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_people_are_attached_in_order_and_only_once(database: Database) -> None:
    tenant = make_tenant(database)
    call_id = make_call(database, tenant.id, AT)
    anna, boris = (upsert(database, tenant.id, name=name, role="client") for name in ("Anna", "Boris"))
    people = [Attending(boris.id, "sales"), Attending(anna.id, "client", "SPEAKER_01"), Attending(anna.id, "sales")]
    for _ in range(2):
        with database.write() as connection:
            speakers.attach(tenant.id, connection, call_id, people)
            speakers.attach(tenant.id, connection, call_id, [])
    with database.read() as connection:
        found = speakers.list_participants(tenant.id, connection, call_id)
        assert speakers.list_participants_of(tenant.id, connection, [call_id]) == {call_id: found}
        assert speakers.list_participants_of(tenant.id, connection, []) == {}
    assert [(each.name, each.role, each.label) for each in found] == [
        ("Boris", "sales", None),
        ("Anna", "client", "SPEAKER_01"),
    ]


def test_a_label_is_one_persons_at_a_time(database: Database) -> None:
    tenant, stranger = make_tenant(database), make_tenant(database, "stranger")
    call_id, other_id = make_call(database, tenant.id, AT), make_call(database, tenant.id, AT)
    people = [upsert(database, tenant.id, name=name) for name in ("Anna", "Boris")]
    with database.write() as connection:
        for each in (call_id, other_id):
            attending = [Attending(person.id, "unknown", f"SPEAKER_0{n}") for n, person in enumerate(people)]
            speakers.attach(tenant.id, connection, each, attending)
        assert speakers.bind_label(tenant.id, connection, call_id, people[0].id, "SPEAKER_01")
        assert not speakers.bind_label(tenant.id, connection, call_id, stranger.id, "SPEAKER_01")
        assert not speakers.bind_label(stranger.id, connection, call_id, people[1].id, "SPEAKER_00")
    with database.read() as connection:
        found = speakers.list_participants_of(tenant.id, connection, [call_id, other_id])
    assert [each.label for each in found[call_id]] == ["SPEAKER_01", None]
    assert [each.label for each in found[other_id]] == ["SPEAKER_00", "SPEAKER_01"]


def test_a_deleted_communication_leaves_the_profiles(database: Database) -> None:
    tenant = make_tenant(database)
    call_id = make_call(database, tenant.id, AT)
    anna = upsert(database, tenant.id, name="Anna")
    with database.write() as connection:
        speakers.attach(tenant.id, connection, call_id, [Attending(anna.id, "client")])
        connection.execute(communications.communications.delete())
    with database.read() as connection:
        assert speakers.list_participants(tenant.id, connection, call_id) == []
        assert speakers.get(tenant.id, connection, anna.id) == anna
