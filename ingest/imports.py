"""Conversations that come in as text: stored once, however often they are sent, with their people and files; analysed
where that is wanted.

Row locks go communication, then tenant, then the rest; before any of them one import of a record id waits for another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from accounts import ledger
from ingest import analyses, analysis_job
from ingest.import_media import Files, UnusableMedia, uploaded_of
from ingest.import_merge import Merge, merge
from ingest.import_turns import duration_ms, identity_of, import_key, item_of, language_of, title_of
from ingest.messages.imported import ImportedConversation, ImportedPerson, ImportedTurn
from ingest.workshop import workshop
from store import accounts, analysis, communications, imports, index_work, speakers
from store import analyses as orders
from store.analyses import Analysis
from store.blobs import Blobs
from store.communications import Communication
from store.database import Connection, Database, now
from store.errors import NotPermitted
from store.ids import new_id
from store.index_work import INDEX_COMMUNICATION
from store.settings import Settings
from store.speakers import Attending, normal_role

__all__ = ["Imported", "UnusableMedia", "Wishes", "accept", "record"]

State = Literal["new", "grown", "known"]
_MOST_TRIES = 5


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is to be done with a conversation once it is stored."""

    summary: bool = False
    user_summary: str | None = None
    webhook_url: str | None = None
    key_id: str | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    """`order` is the analysis that this import ordered, to be started after the commit."""

    communication_id: str
    occured_at: datetime
    state: State
    order: Analysis | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """What an import comes to: `there` is the communication that it belongs to, which has the first `known` turns, or
    other turns than these, with which they are merged."""

    there: Communication | None = None
    known: int = 0
    merge: Merge | None = None

    def more(self, conversation: ImportedConversation) -> tuple[ImportedTurn, ...]:
        """The turns that are not there yet."""
        return self.merge.fresh if self.merge is not None else conversation.turns[self.known :]

    def changes(self, conversation: ImportedConversation) -> bool:
        return bool(self.merge) if self.merge is not None else self.known < len(conversation.turns)


class _NotBorne(Exception):
    """The balance cannot bear the analysis."""


def accept(
    tenant_id: str,
    conversation: ImportedConversation,
    wishes: Wishes,
    *,
    also: Callable[[Connection, Imported], None] | None = None,
) -> Imported:
    """`record`, then the start of what was ordered, which the sweeper does where it fails."""
    house = workshop()
    found = record(house.database, house.blobs, house.settings, tenant_id, conversation, wishes, also=also)
    if found.order is not None:
        analysis_job.start(found.order)
    return found


def record(
    database: Database,
    blobs: Blobs,
    settings: Settings,
    tenant_id: str,
    conversation: ImportedConversation,
    wishes: Wishes,
    *,
    also: Callable[[Connection, Imported], None] | None = None,
) -> Imported:
    """Stores a conversation and orders its analysis in one transaction, in which `also` runs too. Doing it again does
    nothing: the same turns under the same record id are the communication that is there, and a conversation that grew
    gets its new turns. One that was not analysed, or whose analysis failed, is where that is wanted now.

    Raises UnusableMedia, and NotPermitted where the balance cannot bear the analysis: nothing is stored then.
    """
    conversation = replace(conversation, turns=tuple(turn for turn in conversation.turns if turn.text or turn.media))
    assert conversation.turns, "a conversation has something said in it"
    for _ in range(_MOST_TRIES):
        with database.read() as connection:
            uploaded = uploaded_of(tenant_id, connection, conversation)
            key = import_key(conversation, uploaded)
            expected = _plan(tenant_id, connection, conversation, key)
            if also is None and _is_done(tenant_id, connection, expected, conversation, wishes):
                assert expected.there is not None
                return Imported(expected.there.id, expected.there.occured_at, "known")
        is_stored = is_borne = False
        with Files(database, blobs, tenant_id, uploaded) as files:
            files.put(expected.more(conversation))
            with database.write() as connection:
                if conversation.record_id is not None:
                    imports.wait_for_others(tenant_id, connection, conversation.record_id)
                plan = _plan(tenant_id, connection, conversation, key, lock=True)
                # Where turns that were there are there no more, their files are needed after all.
                if _files_of(plan, conversation) <= _files_of(expected, conversation):
                    work = _Import(tenant_id, connection, settings, conversation, key, wishes, files)
                    found = work.store(plan)
                    is_stored, is_borne = True, found is not None
                    if found is not None and also is not None:
                        also(connection, found)
        if is_stored and not is_borne:
            raise NotPermitted("The balance does not cover the analysis; the client is paused.", code="client_inactive")
        if is_stored:
            assert found is not None
            return found
    raise AssertionError("a communication does not vanish each time it is looked at")


def _files_of(plan: _Plan, conversation: ImportedConversation) -> set[Path]:
    """What has to be stored for it."""
    return {file.path for turn in plan.more(conversation) for file in turn.media if file.path is not None}


def _is_done(
    tenant_id: str, connection: Connection, plan: _Plan, conversation: ImportedConversation, wishes: Wishes
) -> bool:
    """Whether nothing is left to do: all of it is there, and it was analysed or need not be."""
    if plan.there is None or plan.changes(conversation):
        return False
    return not wishes.summary or _is_analysed(tenant_id, connection, plan.there.id)


def _is_analysed(tenant_id: str, connection: Connection, communication_id: str) -> bool:
    """Or is in work. What ended with a stage that failed is not: it can be ordered anew."""
    order = orders.get_of(tenant_id, connection, communication_id)
    if order is None or order.status != "done":
        return order is not None
    return "error" not in analysis.stage_statuses(tenant_id, connection, communication_id).values()


def _plan(
    tenant_id: str,
    connection: Connection,
    conversation: ImportedConversation,
    key: str | None,
    *,
    lock: bool = False,
) -> _Plan:
    """What is there of it. With `lock` the communication's row is locked before it is read."""
    if key is None:
        return _Plan()
    assert conversation.record_id is not None
    there = communications.find_import(tenant_id, connection, key)
    if there is not None and lock:
        communications.lock(tenant_id, connection, there.id)
        there = communications.find_import(tenant_id, connection, key)
    if there is not None:
        return _Plan(there, len(conversation.turns))
    if not conversation.grows:
        return _Plan()
    new = [identity_of(item_of(conversation, turn)) for turn in conversation.turns]
    others: list[_Plan] = []
    for candidate in imports.list_of_record(
        tenant_id,
        connection,
        conversation.record_id,
        kind=conversation.kind,
        channel_type=conversation.channel_type,
    ):
        if lock:
            communications.lock(tenant_id, connection, candidate.id)
        items = [item for _, item in communications.list_content(tenant_id, connection, candidate.id)]
        stored = [identity_of(item) for item in items]
        # An export that is older than what is there says nothing new.
        shared = min(len(stored), len(new))
        if shared and stored[:shared] == new[:shared]:
            return _Plan(candidate, shared)
        merged = merge(conversation, items, _authors(tenant_id, connection, candidate.id)) if items else None
        if merged is not None:
            others.append(_Plan(candidate, merge=merged))
    return others[0] if others else _Plan()


def _authors(tenant_id: str, connection: Connection, communication_id: str) -> dict[str, str | None]:
    """External ids, or names, by label."""
    people = speakers.list_participants(tenant_id, connection, communication_id)
    return {person.label: person.external_id or person.name for person in people if person.label}


@dataclass(frozen=True, slots=True)
class _Import:
    """One conversation in its transaction."""

    tenant_id: str
    connection: Connection
    settings: Settings
    conversation: ImportedConversation
    key: str | None
    wishes: Wishes
    files: Files

    def store(self, plan: _Plan) -> Imported | None:
        """None where the balance cannot bear the analysis: the pause is all that is written then."""
        there, changes = plan.there, plan.changes(self.conversation)
        state: State = "new" if there is None else "grown" if changes else "known"
        if there is not None and _is_done(self.tenant_id, self.connection, plan, self.conversation, self.wishes):
            return Imported(there.id, there.occured_at, state)
        accounts.get_tenant(self.tenant_id, self.connection, lock=True)
        try:
            with self.connection.begin_nested():
                there = there or self._create()
                if changes:
                    self._add(there, plan)
                order = self._order(there.id) if self.wishes.summary else None
        except _NotBorne:
            self._pause()
            return None
        return Imported(there.id, there.occured_at, state, order)

    def _create(self) -> Communication:
        given = self.conversation
        return communications.create(
            self.tenant_id,
            self.connection,
            kind=given.kind,
            channel_type=given.channel_type,
            occured_at=given.occured_at,
            title=title_of(given),
            request_record_id=given.record_id,
            direction=given.direction,
            is_closed=self._is_over(),
            language=language_of(given),
            import_key=self.key,
        )

    def _is_over(self) -> bool:
        """A chat closes by itself later, unless its last message is that old already."""
        if self.conversation.kind != "chat":
            return True
        last = max((turn.at for turn in self.conversation.turns if turn.at), default=self.conversation.occured_at)
        return now() - last > timedelta(seconds=self.settings.chat_quiet_s)

    def _add(self, there: Communication, plan: _Plan) -> None:
        """What is not there yet, with who said it, and what follows from all."""
        tenant_id, connection, given = self.tenant_id, self.connection, self.conversation
        self._add_people(there.id, plan.merge.people if plan.merge is not None else given.people)
        items = [
            replace(item_of(given, turn), media=self.files.attach(connection, turn, there.id))
            for turn in plan.more(given)
        ]
        if plan.merge is None:
            communications.append_content(tenant_id, connection, there.id, items)
        else:
            stored = [item for _, item in communications.list_content(tenant_id, connection, there.id)]
            for place, text in plan.merge.edits.items():
                stored[place] = replace(stored[place], text=text)
            content = sorted([*stored, *items], key=lambda item: item.at or there.occured_at)
            communications.replace_content(tenant_id, connection, there.id, content)
        communications.update(
            tenant_id,
            connection,
            there.id,
            import_key=self.key,
            duration_ms=duration_ms(given),
            is_closed=self._is_over(),
            language=there.language or language_of(given),
            occured_at=min(there.occured_at, given.occured_at),
        )
        index_work.add(tenant_id, connection, action=INDEX_COMMUNICATION, subject_id=there.id)

    def _add_people(self, communication_id: str, people: Sequence[ImportedPerson]) -> None:
        """Each person once: of the same one given twice, what the later element says counts."""
        attending: dict[str, Attending] = {}
        for person in people:
            profile = speakers.upsert(
                self.tenant_id,
                self.connection,
                external_id=person.external_id,
                name=person.name,
                role=person.role,
                department=person.department,
            )
            before = attending.get(profile.id, Attending(profile.id, "unknown"))
            role = normal_role(person.role)
            attending[profile.id] = Attending(
                profile.id, before.role if role == "unknown" else role, person.label or before.label
            )
        speakers.attach(self.tenant_id, self.connection, communication_id, list(attending.values()))
        # Who was only written to so far may have written now.
        for there in speakers.list_participants(self.tenant_id, self.connection, communication_id):
            given = attending.get(there.id)
            if there.label is None and given is not None and given.label is not None:
                speakers.bind_label(self.tenant_id, self.connection, communication_id, there.id, given.label)

    def _order(self, communication_id: str) -> Analysis:
        """Raises _NotBorne."""
        order = analyses.order(
            self.tenant_id,
            self.connection,
            self.settings,
            communication_id,
            user_summary=self.wishes.user_summary,
            webhook_url=self.wishes.webhook_url,
            key_id=self.wishes.key_id,
        )
        if order is None:
            raise _NotBorne
        return order

    def _pause(self) -> None:
        """What a hold that is not borne does, once more: it was taken back with all that came before it."""
        tenant = accounts.get_tenant(self.tenant_id, self.connection, lock=True)
        assert tenant is not None, "a caller has an account"
        knows_somebody = any(map(analyses.is_known, self.conversation.people))
        key = f"refused:{new_id()}"
        lines = analyses.lines(self.settings, analyses.planned(tenant, knows_somebody=knows_somebody))
        if ledger.hold(self.tenant_id, self.connection, key=key, lines=lines, source="communication", source_ref=None):
            ledger.release(self.tenant_id, self.connection, hold_key=key)
