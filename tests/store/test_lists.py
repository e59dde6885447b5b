"""What agents list and look for, on both databases: people, promises, conversations by their people, documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import pytest
import sqlalchemy as sa

from store import (
    analysis,
    commitments,
    communications,
    conversation_lists,
    document_lists,
    kb_spaces,
    knowledge,
    people_order,
    people_search,
    speakers,
)
from store.accounts import create_tenant
from store.analysis import NewItem
from store.commitments import Order, Wanted
from store.conversation_lists import Conditions
from store.database import Connection, Database
from store.ids import new_id
from store.speakers import Attending

AT = datetime(2026, 1, 10, 12, tzinfo=UTC)


@pytest.fixture
def tenant_id(database: Database) -> str:
    with database.write() as connection:
        tenant = create_tenant(connection, name="A company")
    assert tenant is not None
    return tenant.id


def talk(tenant_id: str, connection: Connection, day: int, people: dict[str, str], *promises: NewItem) -> str:
    row = communications.create(
        tenant_id, connection, kind="call", channel_type="phone", occured_at=AT + timedelta(days=day), title="A call"
    )
    speakers.attach(tenant_id, connection, row.id, [Attending(id_, role) for id_, role in people.items()])
    if promises:
        analysis.put_summary(tenant_id, connection, row.id, text=None, category="sales", items=promises)
    return row.id


def paged(page: Callable[[Any], Sequence[Any]], place: Callable[[Any], Any], limit: int) -> list[Any]:
    """All of a list, page by page."""
    found: list[Any] = []
    after = None
    while True:
        rows = page(after)
        found += rows
        if len(rows) < limit:
            return found
        after = place(rows[-1])


def test_people_are_paged_by_how_well_they_fit_and_by_when_they_were_updated(
    database: Database, tenant_id: str
) -> None:
    names = ["Анна", "Анна Шмидт", "Мария Анна", "Жоанна", "Борис", "АННА Ёлкина", "Анна Елкина"]
    with database.write() as connection:
        for number, name in enumerate(names):
            speakers.upsert(tenant_id, connection, external_id=f"E{number}", name=name)
        speakers.upsert(tenant_id, connection, external_id="nobody", name=None)
    with database.read() as connection:

        def search(after: Any = None, limit: int = 50, **asked: Any) -> list[Any]:
            return people_search.search(tenant_id, connection, limit=limit, after=after, **asked)

        def found(**asked: Any) -> list[str | None]:
            whole = search(**asked)
            assert paged(lambda after: search(after, 2, **asked), lambda each: each.place, 2) == whole
            return [each.speaker.name for each in whole]

        assert found(query="анна") == ["Анна", "Анна Елкина", "АННА Ёлкина", "Анна Шмидт", "Мария Анна", "Жоанна"]
        assert found(query="ЕЛКИНА  анна") == found(query="ёлкина анна") == ["Анна Елкина", "АННА Ёлкина"]
        assert found(query="e4") == ["Борис"]
        assert found(query="e%") == []
        assert found() == [None, *reversed(names)]


def test_departments_are_found_whatever_their_case(database: Database, tenant_id: str) -> None:
    with database.write() as connection:
        for department in ("Отдел Продаж", "СЧЁТНЫЙ", "back office"):
            speakers.upsert(tenant_id, connection, external_id=department, name=None, department=department)
    with database.read() as connection:
        for part, expected in (
            ("продаж", ["Отдел Продаж"]),
            ("отдел", ["Отдел Продаж"]),
            ("счет", ["СЧЁТНЫЙ"]),
            ("Office", ["back office"]),
            ("_", []),
        ):
            found = people_search.search(tenant_id, connection, department=part, limit=5)
            assert [each.speaker.department for each in found] == expected, part


def test_last_contacts_of_busy_and_of_rare_people_are_told_alike(
    database: Database, tenant_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database.write() as connection:
        busy, rare, never = (
            speakers.upsert(tenant_id, connection, external_id=name, name=None).id for name in ("b", "r", "n")
        )
        for day in (1, 4, 2):
            talk(tenant_id, connection, day, {busy: "sales"} | ({rare: "client"} if day == 1 else {}))
        talk(tenant_id, connection, 9, {})
    expected = {
        busy: people_search.Contacts(3, AT + timedelta(days=4)),
        rare: people_search.Contacts(1, AT + timedelta(days=1)),
    }
    with database.read() as connection:
        assert people_search.contacts_of(tenant_id, connection, [busy, rare, never]) == expected
        monkeypatch.setattr(people_search, "FEW", 1)
        assert people_search.contacts_of(tenant_id, connection, [busy, rare, never]) == expected
        assert people_search.contacts_of(new_id(), connection, [busy, rare, never]) == {}


@pytest.mark.parametrize("few", [0, 5_000], ids=["walking back", "one by one"])
def test_people_are_listed_by_their_last_contact_and_by_name(
    database: Database, tenant_id: str, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(people_order, "FEW", few)
    with database.write() as connection:
        stranger = create_tenant(connection, name="Another company")
        assert stranger is not None
        for account in (tenant_id, stranger.id):
            made = {
                name or "": speakers.upsert(account, connection, external_id=f"E{number}", name=name, role=role).id
                for number, (name, role) in enumerate(
                    [("Борис", "sales"), ("анна", "client"), ("Вера", "client"), (None, "client"), ("Алла", "client")]
                )
            }
            # Boris is in each; Anna was heard twice at one time, Vera at that time too; Alla never was.
            for day, name in ((1, "анна"), (3, "анна"), (3, "анна"), (3, "Вера"), (2, ""), (2, "Вера")):
                talk(account, connection, day, {made["Борис"]: "sales", made[name]: "client"})
    with database.read() as connection:

        def found(order: Any, **asked: Any) -> list[str]:
            def page(after: Any = None, *, limit: int = 50) -> Any:
                return people_order.list_people(tenant_id, connection, order, limit=limit, after=after, **asked)

            whole = page()
            for limit in (1, 2):
                assert paged(partial(page, limit=limit), lambda each: each.spot, limit) == whole
            assert all(each.speaker.tenant_id == tenant_id for each in whole)
            return [each.speaker.name or "" for each in whole]

        everybody = found("last_contact")
        assert sorted(everybody[:3]) == ["Борис", "Вера", "анна"], "all three of the third day"
        assert everybody[3:] == ["", "Алла"]
        assert found("last_contact", role="client") == [name for name in everybody if name != "Борис"]
        assert found("last_contact", role="support") == []
        assert found("name") == ["Алла", "анна", "Борис", "Вера", ""]
        assert found("name", role="client") == ["Алла", "анна", "Вера", ""]


def promise(content: str, due: date | None = None, by: str | None = None) -> NewItem:
    return NewItem("commitment", content, meta={"deadline": due.isoformat() if due else None}, speaker_id=by)


@pytest.mark.parametrize("order", ["newest", "due"])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_promises_are_paged_in_both_orders(database: Database, tenant_id: str, order: Order, limit: int) -> None:
    first = date(2026, 2, 1)
    with database.write() as connection:
        for day in range(4):
            items = [promise(f"{day}{place}", first + timedelta(days=(day * 3 + place) % 5)) for place in range(3)]
            talk(tenant_id, connection, day // 2, {}, *items, promise(f"{day}x"), NewItem("criteria", "fact", "topic"))
        talk(tenant_id, connection, 9, {}, NewItem("criteria", "fact", "topic"))

    def place(each: commitments.Promise) -> commitments.Place:
        at = each.due_on if order == "due" else each.occured_at
        assert at is not None
        return commitments.Place(at, each.communication_id, each.id)

    with database.read() as connection:
        for wanted in (Wanted(), Wanted(due_from=first), Wanted(since=AT + timedelta(days=1))):
            whole = commitments.list_commitments(tenant_id, connection, wanted, order=order, limit=50)

            def page(after: Any, wanted: Wanted = wanted) -> list[commitments.Promise]:
                return commitments.list_commitments(
                    tenant_id, connection, wanted, order=order, limit=limit, after=after
                )

            assert paged(page, place, limit) == whole
            assert len(whole) == (16 if wanted.since is None else 8) - (4 if wanted.since is None else 2) * (
                order == "due" or wanted.due_from is not None
            )
            key = (
                (lambda each: (each.due_on, each.id)) if order == "due" else (lambda each: -each.occured_at.timestamp())
            )
            assert whole == sorted(whole, key=key)


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("договор", {"Договор о поставке", "выслать ДОГОВОР", "подписать договоры"}),
        ("счет", {"счёт", "СЧЁТ", "Счет"}),
        ("ел", {"ЁЛКА", "ель"}),
        ("a_b", {"a_b"}),
        ("слон", set()),
    ],
)
def test_words_of_promises_are_found_however_they_are_written(
    database: Database, tenant_id: str, part: str, found: set[str]
) -> None:
    texts = [
        "Договор о поставке",
        "выслать ДОГОВОР",
        "подписать договоры",
        "счёт",
        "СЧЁТ",
        "Счет",
        "ЁЛКА",
        "a_b",
        "ель",
    ]
    with database.write() as connection:
        talk(tenant_id, connection, 1, {}, *(promise(text) for text in texts), NewItem("criteria", "счёт", "topic"))
    with database.read() as connection:
        rows = commitments.list_commitments(tenant_id, connection, Wanted(word_parts=(part,)), order="newest", limit=50)
        assert {row.content for row in rows} == found
        others = commitments.list_commitments(new_id(), connection, Wanted(word_parts=(part,)), order="due", limit=50)
        assert others == []


@pytest.mark.parametrize("order", ["newest", "due"])
@pytest.mark.parametrize("most_weighed", [9, 2_000])
def test_no_common_word_hides_a_rare_one_or_two_that_are_held_together(
    database: Database, tenant_id: str, monkeypatch: pytest.MonkeyPatch, order: Order, most_weighed: int
) -> None:
    monkeypatch.setattr(commitments, "_MOST_WEIGHED", most_weighed)
    far, soon = date(2027, 1, 1), date(2026, 2, 1)
    best = ["We will send the zebra crate", "We will send the invoice"]
    with database.write() as connection:
        talk(tenant_id, connection, 0, {}, *(promise(text, far) for text in best), promise("Nothing of it", far))
        for number in range(40):
            verb = "send parcel" if number % 2 else "pay invoice"
            day = soon + timedelta(days=40 - number)
            talk(tenant_id, connection, 1 + number, {}, promise(f"We will {verb} {number}", day))
    with database.read() as connection:

        def found(limit: int, *parts: str, owner: str = tenant_id, **conditions: Any) -> list[str]:
            wanted = Wanted(word_parts=parts, **conditions)
            rows = commitments.list_best(owner, connection, wanted, order=order, limit=limit)
            return [row.content for row in rows]

        # Of the others, which are all alike, the first of the order.
        newest = [f"We will send parcel {number}" for number in range(39, 0, -2)]
        assert set(found(5, "send", "zebra")) == {best[0], *newest[:4]}
        assert best[1] in found(5, "send", "invoice")
        assert found(8, "parcel") == newest[:8]
        assert found(8, "parcel", since=AT + timedelta(days=1)) == newest[:8]
        assert found(8, "parcel", until=AT + timedelta(days=39)) == newest[1:9]
        assert found(8, "zebra") == best[:1]
        assert found(8, "parcel", due_from=soon + timedelta(days=2)) == newest[1:9]
        assert found(8, "parcel", owner=new_id()) == []


def test_conversations_are_listed_by_people_roles_and_categories(database: Database, tenant_id: str) -> None:
    with database.write() as connection:
        other = create_tenant(connection, name="Another")
        assert other is not None
        anna, olga = (speakers.upsert(tenant_id, connection, external_id=name, name=None).id for name in "ab")
        both = talk(tenant_id, connection, 1, {anna: "client", olga: "sales"}, promise("one"))
        alone = talk(tenant_id, connection, 2, {anna: "client"})
        talk(tenant_id, connection, 3, {})
    with database.read() as connection:

        def ids(owner: str = tenant_id, **conditions: Any) -> list[str]:
            rows = conversation_lists.list_page(owner, connection, Conditions(**conditions), limit=5)
            return [row.id for row in rows]

        assert ids(participants=[anna]) == ids(participant_role="client") == [alone, both]
        assert ids(participants=[anna, olga]) == ids(category="sales") == ids(participant_role="sales") == [both]
        assert ids(participants=[anna], until=AT + timedelta(days=2)) == [both]
        assert len(ids()) == 3
        assert ids(other.id) == ids(other.id, participants=[anna]) == ids(other.id, category="sales") == []
        assert conversation_lists.categories_of(tenant_id, connection, [both, alone]) == {both: "sales"}
        assert conversation_lists.categories_of(other.id, connection, [both]) == {}


def test_documents_are_paged_with_their_last_page(database: Database, tenant_id: str) -> None:
    with database.write() as connection:
        space = kb_spaces.create_space(tenant_id, connection, name="S", description="")
        for number in range(5):
            document, _ = knowledge.add_document(
                tenant_id,
                connection,
                document_id=new_id(),
                space_id=space.id,
                title=str(number),
                file_name="a",
                size_bytes=1,
                sha256=f"{number:064}",
                blob_key="none",
            )
            for run in (1, 2):
                rows = [knowledge.StoredChunk(new_id(), idx, "text", [], idx + run, 0, 1) for idx in range(number)]
                knowledge.put_chunks(tenant_id, connection, document.id, run, rows)
        connection.execute(sa.update(knowledge.documents).values(created_at=AT, version=1))
    with database.read() as connection:

        def page(before: Any, limit: int = 2) -> list[Any]:
            return document_lists.list_page(tenant_id, connection, space.id, limit=limit, before=before)

        def place(each: Any) -> document_lists.Place:
            return document_lists.Place(each.document.created_at, each.document.id)

        whole = page(None, 10)
        assert paged(page, place, 2) == whole
        assert {each.document.title: each.last_page for each in whole} == {"0": None, "1": 1, "2": 2, "3": 3, "4": 4}
        assert document_lists.list_page(new_id(), connection, space.id, limit=5) == []
        ids = [each.document.id for each in whole]
        assert document_lists.updated_at_of(tenant_id, connection, ids).keys() == set(ids)
        assert document_lists.updated_at_of(new_id(), connection, ids) == {}
