"""A forgotten name goes out of texts and names of files, of the account and the communications that it is about."""

from __future__ import annotations

from datetime import UTC, datetime

from store import analysis, communications, forgetting, media, people, speakers, transcriptions
from store.communications import ContentItem
from store.database import Database
from store.speakers import Attending
from tests.store.test_database import make_call, make_tenant

AT = datetime(2026, 3, 4, tzinfo=UTC)
GONE = forgetting.GONE_NAME


def forms_of(name: str) -> list[str]:
    return [name, f"{name}'s"]


def add_call_of(database: Database, tenant_id: str, name: str) -> tuple[str, str, str, str]:
    """Ids of a call in which everything is called by the name: speaker, communication, task, file of a message."""
    call = make_call(database, tenant_id, AT)
    with database.write() as connection:
        person = speakers.upsert(tenant_id, connection, external_id="c-1", name=name)
        speakers.attach(tenant_id, connection, call, [Attending(person.id, "client")])
        communications.update(tenant_id, connection, call, title=f"{name}'s call")
        said = [
            ContentItem("chat_message", f"I am {name}"),
            ContentItem("chat_message", "", media=[{"type": "file", "ref": "", "name": f"{name}.pdf"}, {"ref": "x"}]),
        ]
        communications.replace_content(tenant_id, connection, call, said)
        analysis.put_summary(tenant_id, connection, call, text=f"{name} asked", category="support", items=[])
        task = transcriptions.create(
            tenant_id,
            connection,
            communication_id=call,
            blob_key="x",
            file_name=f"{name.lower()}.wav",
            parameters={},
            occured_at=AT,
        )
        file = media.create(
            tenant_id,
            connection,
            type="file",
            mime="text/plain",
            name="_".join(reversed(name.upper().split())) + ".TXT",
            size_bytes=1,
            blob_key="y",
            sha256="",
            communication_id=call,
        )
    return person.id, call, task.id, file.id


def test_every_name_goes_out_of_all_that_was_written_and_what_was_said_stays(database: Database) -> None:
    tenant_id, other_id = make_tenant(database, "one").id, make_tenant(database, "two").id
    person, call, task, file = add_call_of(database, tenant_id, "Anna Petrova")
    elsewhere = add_call_of(database, other_id, "Anna Petrova")
    with database.write() as connection:
        speaker = speakers.get(tenant_id, connection, person)
        assert speaker is not None
        assert people.update(tenant_id, connection, speaker, name="Anna Smirnova")
        unconcerned = transcriptions.get(other_id, connection, elsewhere[2])
        assert forgetting.take_name_out(other_id, connection, person, forms_of) == []
        assert forgetting.take_name_out(tenant_id, connection, person, forms_of) == []
    with database.read() as connection:
        row = communications.get(tenant_id, connection, call)
        found = transcriptions.get(tenant_id, connection, task)
        kept = media.get(tenant_id, connection, file)
        content = communications.list_content(tenant_id, connection, call)
        assert transcriptions.get(other_id, connection, elsewhere[2]) == unconcerned
    assert row is not None
    assert found is not None
    assert kept is not None
    assert (row.title, found.file_name, kept.name) == (f"{GONE} call", f"{GONE}.wav", f"{GONE}.TXT")
    assert found.version == 2, "who has read the task knows that it is another"
    assert [item.text for _, item in content] == ["I am Anna Petrova", ""]
    assert [file.get("name") for file in content[1][1].media] == [f"{GONE}.pdf", None]
