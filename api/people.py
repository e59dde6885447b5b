"""The Public layer's people by id: profile, memory, voice, renaming, merging two."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.commitments import today_of
from api.fields import UtcTime, Uuid, UuidText, left_out
from api.http import Body, Call, NoInput, Operation
from api.paging import PageQuery, Pagination, pagination
from store import accounts, communications, index_work, people, promise_lists, speakers, voices
from store.database import Connection
from store.errors import Conflict, InvalidRequest, NotFound
from store.index_work import INDEX_COMMUNICATION, INDEX_MEMORY
from store.people_memory import count_memory, find_turns, list_memory_page
from store.promise_lists import Wanted
from store.speakers import Speaker

Role = Literal["client", "sales", "support", "employee", "unknown"]


def _trimmed(text: str | None) -> str | None:
    return (text or "").strip() or None


PersonText = Annotated[str | None, Field(max_length=speakers.MOST_NAME_CHARACTERS), AfterValidator(_trimmed)]


class PersonAlias(BaseModel):
    """A profile that was merged into this one; `speaker_id` was its own."""

    speaker_id: UuidText
    external_id: str | None
    name: str | None
    merged_at: UtcTime


class PersonVoice(BaseModel):
    """What is known of the voice: made of `clean_s` seconds in which nobody else was heard."""

    clean_s: float
    updated_at: UtcTime


class Person(BaseModel):
    """A person with the figures of their profile. Asked for by the id of one that was merged into another, it is that
    other one. The promises are those that they made or that were made to them. `voice` is null where none is known."""

    id: UuidText
    external_id: str | None
    name: str | None
    role: str
    department: str | None
    created_at: UtcTime
    updated_at: UtcTime
    communications: int
    first_contact_at: UtcTime | None
    last_contact_at: UtcTime | None
    facts: int
    open_promises: int
    overdue_promises: int
    voice: PersonVoice | None
    aliases: list[PersonAlias]


class PersonFact(BaseModel):
    """A fact with its source: `quote` are words of the turn `idx` of the communication. `earlier` is what was known
    before it, newest first."""

    id: UuidText
    content: str
    key: str | None
    quote: str | None
    idx: int | None
    said_at: str | None
    communication_id: UuidText | None
    communication_title: str | None
    communication_kind: str | None
    earlier: list[str]
    created_at: UtcTime


class PersonFacts(BaseModel):
    items: list[PersonFact]
    pagination: Pagination


class PersonBody(Body):
    """What is left out stays; an empty name or department is taken away."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: PersonText = left_out()
    role: Role = left_out()
    department: PersonText = left_out()


class MergeBody(Body):
    """`speaker_id` is who is merged into the person of the path, and has no profile of their own then."""

    speaker_id: Uuid


def read_person(call: Call[NoInput, NoInput]) -> Person:
    speaker_id = call.path_id("speaker_id", "speaker")
    with call.services.database.read() as connection:
        return _shown(call, connection, speaker_id)


def list_person_memory(call: Call[PageQuery, NoInput]) -> PersonFacts:
    speaker_id = call.path_id("speaker_id", "speaker")
    query = call.query
    with call.services.database.read() as connection:
        _get(call, connection, speaker_id)
        items = list_memory_page(call.tenant_id, connection, speaker_id, limit=query.limit, offset=query.offset)
        total = count_memory(call.tenant_id, connection, speaker_id)
        sources = {id_: (item.meta or {}).get("communication_id") for id_, item in ((each.id, each) for each in items)}
        titles = communications.get_many(call.tenant_id, connection, [id_ for id_ in set(sources.values()) if id_])
        quotes = [
            (source, str((item.meta or {}).get("quote")))
            for item in items
            if (source := sources[item.id]) in titles and (item.meta or {}).get("quote")
        ]
        turns = find_turns(call.tenant_id, connection, [(str(source), quote) for source, quote in quotes])
    facts = []
    for item in items:
        meta = item.meta or {}
        source = titles.get(sources[item.id] or "")
        facts.append(
            PersonFact(
                id=item.id,
                content=item.content,
                key=meta.get("key"),
                quote=meta.get("quote"),
                idx=turns.get((source.id, meta.get("quote") or "")) if source else None,
                said_at=meta.get("confirmed_at") or meta.get("at"),
                communication_id=source.id if source else None,
                communication_title=source.title if source else None,
                communication_kind=source.kind if source else None,
                earlier=_earlier(meta.get("replaces")),
                created_at=item.created_at,
            )
        )
    return PersonFacts(items=facts, pagination=pagination(query, len(facts), total))


def change_person(call: Call[NoInput, PersonBody]) -> Person:
    speaker_id = call.path_id("speaker_id", "speaker")
    values = call.body.model_dump(exclude_unset=True)
    if "role" in values and values["role"] is None:
        raise InvalidRequest("role: is one of client, sales, support, employee, unknown.", param="role")
    with call.services.database.write() as connection:
        accounts.get_tenant(call.tenant_id, connection, lock=True)
        speaker = _get(call, connection, speaker_id)
        if people.update(call.tenant_id, connection, speaker, **values):
            index_work.add(call.tenant_id, connection, action=INDEX_MEMORY, subject_id=speaker_id)
            if "role" in values:
                _index_communications(call, connection, speakers.list_attended(call.tenant_id, connection, speaker_id))
            call.note(connection, "speaker.changed", speaker_id, {"fields": sorted(values)})
        return _shown(call, connection, speaker_id)


def delete_person_voice(call: Call[NoInput, NoInput]) -> Response:
    speaker_id = call.path_id("speaker_id", "speaker")
    with call.services.database.write() as connection:
        accounts.get_tenant(call.tenant_id, connection, lock=True)
        _get(call, connection, speaker_id)
        voices.forget_speaker(call.tenant_id, connection, speaker_id)
        call.note(connection, "speaker.voice_deleted", speaker_id)
    return Response(status_code=204)


def merge_person(call: Call[NoInput, MergeBody]) -> Person:
    speaker_id, gone_id = call.path_id("speaker_id", "speaker"), call.body.speaker_id
    with call.services.database.write() as connection:
        accounts.get_tenant(call.tenant_id, connection, lock=True)  # no call that ends now binds either of them
        kept = _get(call, connection, speaker_id)
        if gone_id == kept.id:
            raise InvalidRequest("speaker_id: is the person of the path.", param="speaker_id")
        gone = speakers.get(call.tenant_id, connection, gone_id)
        if gone is None and people.kept_id(call.tenant_id, connection, gone_id) is not None:
            raise Conflict("speaker_id: has been merged before.", code="already_merged")
        if gone is None:
            raise NotFound("No such speaker.")
        attended = people.merge(call.tenant_id, connection, kept, gone)
        index_work.add_many(
            call.tenant_id, connection, action=INDEX_MEMORY, blob_keys=dict.fromkeys((kept.id, gone.id))
        )
        _index_communications(call, connection, attended)
        call.note(connection, "speaker.merged", kept.id, {"merged": gone.id})
        answer = _shown(call, connection, kept.id)
        call.keep(connection, answer, 200)
        return answer


def _index_communications(call: Call[Any, Any], connection: Connection, ids: list[str]) -> None:
    index_work.add_many(call.tenant_id, connection, action=INDEX_COMMUNICATION, blob_keys=dict.fromkeys(ids))


def _earlier(before: object) -> list[str]:
    found: list[str] = []
    while isinstance(before, dict) and before.get("content"):
        found.append(str(before["content"]))
        before = before.get("replaces")
    return found


def _get(call: Call[Any, Any], connection: Connection, speaker_id: str) -> Speaker:
    speaker = speakers.get(call.tenant_id, connection, speaker_id)
    if speaker is None:
        raise NotFound("No such speaker.")
    return speaker


def _shown(call: Call[Any, Any], connection: Connection, speaker_id: str) -> Person:
    """Raises NotFound."""
    tenant_id = call.tenant_id
    speaker = speakers.get(tenant_id, connection, people.kept_id(tenant_id, connection, speaker_id) or speaker_id)
    if speaker is None:
        raise NotFound("No such speaker.")
    count, first_at, last_at = people.span_of(tenant_id, connection, speaker.id)
    promised = promise_lists.count_by_state(tenant_id, connection, Wanted(today_of(call), speaker_id=speaker.id))
    voice = voices.newest_known(tenant_id, connection, speaker.id)
    return Person(
        id=speaker.id,
        external_id=speaker.external_id,
        name=speaker.name,
        role=speaker.role,
        department=speaker.department,
        created_at=speaker.created_at,
        updated_at=speaker.updated_at,
        communications=count,
        first_contact_at=first_at,
        last_contact_at=last_at,
        facts=count_memory(tenant_id, connection, speaker.id),
        open_promises=promised["open"],
        overdue_promises=promised["overdue"],
        voice=PersonVoice(clean_s=voice[0] / 1000, updated_at=voice[1]) if voice else None,
        aliases=[
            PersonAlias(speaker_id=each.id, external_id=each.external_id, name=each.name, merged_at=each.merged_at)
            for each in people.list_aliases(tenant_id, connection, speaker.id)
        ],
    )


_PATH = "/v1/speakers/{speaker_id}"
OPERATIONS = (
    Operation("GET", _PATH, read_person, "Read a person", Person, errors=(401, 404), one_read=True),
    Operation(
        "PATCH",
        _PATH,
        change_person,
        "Change a person",
        Person,
        body=PersonBody,
        errors=(400, 401, 403, 404),
        paused=False,
        audited=("speaker.changed",),
    ),
    Operation(
        "GET",
        _PATH + "/memory",
        list_person_memory,
        "List what is remembered of a person",
        PersonFacts,
        query=PageQuery,
        errors=(400, 401, 403, 404),
        feature="memory",
        one_read=True,
    ),
    Operation(
        "DELETE",
        _PATH + "/voice",
        delete_person_voice,
        "Delete a person's voice",
        None,
        status=204,
        errors=(401, 403, 404),
        paused=False,
        audited=("speaker.voice_deleted",),
    ),
    Operation(
        "POST",
        _PATH + "/merge",
        merge_person,
        "Merge two people",
        Person,
        body=MergeBody,
        errors=(400, 401, 403, 404, 409, 422),
        paused=False,
        idempotent=True,
        audited=("speaker.merged",),
    ),
)
