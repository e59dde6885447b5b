"""Corrections by people: what somebody said, who said it, and whose voice a label is. Each keeps what was there before,
and the index follows."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from ingest.timelines import do_index_work
from ingest.workshop import Workshop
from store import accounts, analyses, audit, communications, corrections, index_work, speakers, transcriptions, voices
from store.database import Connection
from store.errors import Conflict, InvalidRequest, NotFound
from store.index_work import INDEX_COMMUNICATION
from store.speakers import Attending

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Whose:
    """Somebody of the account by their id, or by a name or external id that is made known where nobody has it;
    nobody where all are None."""

    speaker_id: str | None = None
    name: str | None = None
    external_id: str | None = None
    role: str | None = None

    @property
    def is_nobody(self) -> bool:
        return not (self.speaker_id or self.name or self.external_id)


def require_settled(tenant_id: str, connection: Connection, communication_id: str) -> None:
    """Locks the communication. Raises NotFound, and Conflict while recognition or analysis is at work on it: what they
    store would not know of the change."""
    if not communications.lock(tenant_id, connection, communication_id):
        raise NotFound("No such communication.")
    task = transcriptions.newest_of(tenant_id, connection, communication_id)
    if task is not None and task[1] in transcriptions.UNFINISHED:
        raise Conflict("The recording is being recognised.", code="in_work")
    order = analyses.get_of(tenant_id, connection, communication_id)
    if order is not None and order.status != "done":
        raise Conflict("The conversation is being analysed.", code="in_work")


def correct_item(
    house: Workshop,
    tenant_id: str,
    communication_id: str,
    idx: int,
    *,
    text: str | None,
    label: str | None,
    actor: str,
) -> None:
    """A turn's text, or who said it; None leaves it. Raises NotFound, Conflict and InvalidRequest."""
    with house.database.write() as connection:
        require_settled(tenant_id, connection, communication_id)
        item = corrections.get_item(tenant_id, connection, communication_id, idx)
        if item is None:
            raise NotFound("The communication has no such item.")
        if text is not None and not text.strip() and not item.media:
            raise InvalidRequest("text: is empty.", param="text")
        if label is not None and label not in corrections.labels_of(tenant_id, connection, communication_id):
            raise InvalidRequest("label: nobody has this label here.", param="label")
        new_text = item.text if text is None else text
        new_label = item.label if label is None else label
        if new_text != item.text:
            corrections.add(
                tenant_id,
                connection,
                communication_id,
                kind="text",
                idx=idx,
                label=item.label,
                before=item.text,
                after=new_text,
                actor=actor,
            )
        if new_label != item.label:
            corrections.add(
                tenant_id,
                connection,
                communication_id,
                kind="label",
                idx=idx,
                label=item.label,
                before=item.label,
                after=new_label,
                actor=actor,
            )
        if (new_text, new_label) == (item.text, item.label):
            return
        corrections.set_item(tenant_id, connection, communication_id, idx, text=new_text, label=new_label)
        kinds = ["text"] * (new_text != item.text) + ["label"] * (new_label != item.label)
        _note(tenant_id, connection, communication_id, actor, kinds)
        work = index_work.add(tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=communication_id)
    _follow(house, work)


def correct_speaker(
    house: Workshop, tenant_id: str, communication_id: str, label: str, whose: Whose, *, actor: str
) -> None:
    """Says whose voice a label is. Who has another label here already gets this one's turns too, for then recognition
    took one voice for two. Raises NotFound, Conflict and InvalidRequest."""
    with house.database.write() as connection:
        require_settled(tenant_id, connection, communication_id)
        if label not in corrections.labels_of(tenant_id, connection, communication_id):
            raise NotFound("Nobody has this label in the communication.")
        people = speakers.list_participants(tenant_id, connection, communication_id)
        before = next((person for person in people if person.label == label), None)
        accounts.get_tenant(tenant_id, connection, lock=True)  # who learns a voice holds it too
        after_name: str | None = None
        if whose.is_nobody:
            if before is None:
                return
            voices.take_back(tenant_id, connection, communication_id, label)
            speakers.bind_label(tenant_id, connection, communication_id, before.id, None)
        else:
            person = _person(tenant_id, connection, whose)
            if before is not None and before.id == person.id:
                return
            after_name = person.name or person.external_id
            voices.take_back(tenant_id, connection, communication_id, label)
            there = next((each for each in people if each.id == person.id), None)
            if there is None:
                role = speakers.normal_role(whose.role) if whose.role else person.role
                speakers.attach(tenant_id, connection, communication_id, [Attending(person.id, role)])
            if there is not None and there.label is not None:
                corrections.relabel(tenant_id, connection, communication_id, label, there.label)
                voices.forget_heard(tenant_id, connection, communication_id, label)
                if before is not None:
                    speakers.bind_label(tenant_id, connection, communication_id, before.id, None)
            else:
                speakers.bind_label(tenant_id, connection, communication_id, person.id, label)
        corrections.add(
            tenant_id,
            connection,
            communication_id,
            kind="speaker",
            label=label,
            before=(before.name or before.external_id) if before else None,
            after=after_name,
            actor=actor,
        )
        _note(tenant_id, connection, communication_id, actor, ["speaker"])
        work = index_work.add(tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=communication_id)
    _follow(house, work)


def _note(tenant_id: str, connection: Connection, communication_id: str, actor: str, kinds: list[str]) -> None:
    """In the audit log, without what it said: that goes with the communication."""
    audit.add(
        tenant_id,
        connection,
        actor=actor,
        action="communication.corrected",
        subject=communication_id,
        details={"fields": kinds},
    )


def _person(tenant_id: str, connection: Connection, whose: Whose) -> speakers.Speaker:
    if whose.speaker_id is not None:
        person = speakers.get(tenant_id, connection, whose.speaker_id)
        if person is None:
            raise InvalidRequest("speaker_id: there is no such person.", param="speaker_id")
        return person
    return speakers.upsert(tenant_id, connection, external_id=whose.external_id, name=whose.name, role=whose.role)


def _follow(house: Workshop, work: index_work.IndexWork) -> None:
    try:
        do_index_work(house, work)
    # Whatever the index's trouble is, the correction is stored; the sweeper has the index follow.
    except Exception:
        log.exception("the index does not have the correction yet", communication_id=work.subject_id)
