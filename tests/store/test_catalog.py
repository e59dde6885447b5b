"""What MCP lists: pages over documents and people that stand still, sizes in bytes, ids by their beginning."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from store import catalog, communications, knowledge, speakers
from store.catalog import Place
from store.communications import ContentItem
from store.database import Database, now
from tests.store.test_database import make_call, make_tenant
from tests.support.stored_documents import add_document

TEXTS = ["", "plain", "Привет, «мир»", "back\\slash \\x41 \\", "🙂\n\ttab"]


def test_pages_of_people_go_on_though_profiles_change(database: Database) -> None:
    tenant, other = make_tenant(database).id, make_tenant(database, "other").id
    with database.write() as connection:
        made = [speakers.upsert(tenant, connection, external_id=f"p{n}", name=f"P {n}") for n in range(7)]
        same_moment = speakers.speakers.c.external_id.in_(["p2", "p3", "p4"])
        connection.execute(sa.update(speakers.speakers).where(same_moment).values(created_at=made[2].created_at))
        speakers.upsert(other, connection, external_id="p1", name="Another's")
    seen: list[str] = []
    before: Place | None = None
    while True:
        with database.read() as connection:
            page = catalog.list_people(tenant, connection, limit=2, before=before)
        if not page:
            break
        seen += [person.id for person in page]
        before = Place(page[-1].created_at, page[-1].id)
        with database.write() as connection:
            speakers.upsert(tenant, connection, external_id="p0", name="Changed")
    assert sorted(seen) == sorted(person.id for person in made)
    assert seen[0] == made[6].id
    assert seen[-1] == made[0].id


def test_documents_are_listed_where_they_can_be_found_and_the_space_is_seen(database: Database) -> None:
    tenant, other = make_tenant(database).id, make_tenant(database, "other").id
    found, elsewhere, unread = (add_document(database, tenant, "text", f"D {number}") for number in range(3))
    add_document(database, other, "text", "Another's")
    with database.write() as connection:
        never = knowledge.documents.c.id == unread.id
        connection.execute(sa.update(knowledge.documents).where(never).values(version=0))

    def listed(space_ids: tuple[str, ...] | None, before: Place | None = None) -> list[str]:
        with database.read() as connection:
            rows = catalog.list_documents(tenant, connection, limit=10, before=before, space_ids=space_ids)
            beginning = catalog.ids_beginning_with(tenant, connection, "documents", "", limit=10, space_ids=space_ids)
        assert before is not None or sorted(beginning) == sorted(row.id for row in rows)
        return [row.id for row in rows]

    assert listed(None) == [elsewhere.id, found.id]
    assert listed((found.space_id, unread.space_id)) == [found.id]
    assert listed(()) == []
    with database.read() as connection:
        (newest, *_) = catalog.list_documents(tenant, connection, limit=1, before=None, space_ids=None)
    assert listed(None, Place(newest.created_at, newest.id)) == [found.id]


def test_sizes_are_bytes_of_what_is_shown(database: Database) -> None:
    tenant, other = make_tenant(database).id, make_tenant(database, "other").id
    call, empty = (make_call(database, tenant, now()) for _ in range(2))
    document = add_document(database, tenant, "replaced").next_version("\n".join(TEXTS))
    document.store(database)
    with database.write() as connection:
        items = [ContentItem(kind="audio_utterance", text=text) for text in TEXTS]
        communications.replace_content(tenant, connection, call, items)
    with database.read() as connection:
        sizes = catalog.communication_sizes(tenant, connection, [call, empty])
        assert sizes == {call: sum(len(text.encode()) for text in TEXTS)}
        assert catalog.document_sizes(tenant, connection, [document.id]) == {document.id: len(document.text.encode())}
        assert catalog.communication_sizes(other, connection, [call]) == {}
        assert catalog.document_sizes(other, connection, [document.id]) == {}
        assert catalog.communication_sizes(tenant, connection, []) == {}


@pytest.mark.parametrize("kind", ["communications", "people"])
def test_ids_are_found_by_their_beginning(database: Database, kind: catalog.Kind) -> None:
    tenant, other = make_tenant(database).id, make_tenant(database, "other").id
    if kind == "people":
        with database.write() as connection:
            ids = [speakers.upsert(tenant, connection, external_id=None, name=None).id for _ in range(4)]
    else:
        ids = [make_call(database, tenant, now()) for _ in range(4)]

    def found(beginning: str, limit: int = 10, of: str = tenant) -> list[str]:
        with database.read() as connection:
            return catalog.ids_beginning_with(of, connection, kind, beginning, limit=limit)

    newest_first = sorted(ids, reverse=True)
    assert found("") == newest_first
    assert found("", limit=2) == newest_first[:2]
    for id_ in ids:
        assert found(id_) == found(id_.replace("-", "")) == found(id_.upper()) == [id_]
        assert found(id_, of=other) == []
    assert found(ids[0][:6]) == [each for each in newest_first if each.startswith(ids[0][:6])]
    for nonsense in ("x", "0" * 33, "%", "f" * 32):
        assert found(nonsense) == []
