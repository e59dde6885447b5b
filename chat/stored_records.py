"""Records of one conversation's scope, read by the same tools as an agent's (`mcp_server.tools`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import date
from typing import Any

from pydantic import BaseModel

from chat.contract import Passage, Record, Records
from chat.found_passages import passage_of
from chat.relevance import term_likeness
from mcp_server.registry import ToolContext
from mcp_server.tools.commitments import CommitmentItem, CommitmentPage
from mcp_server.tools.communications import CommunicationPage
from mcp_server.tools.rankings_signals import RankedSignal, SignalRanking
from mcp_server.tools.shapes import found_communication
from mcp_server.tools.speakers import SpeakerPage
from rag.text_terms import terms
from store import communications

MOST = 8
_CANDIDATES = 3
_CALLED_SO = 0.8  # from which likeness on a word is a form of a name's
_QUOTE_CHARACTERS = 300
UNHAPPY = ("disputes", "churn_risk", "escalation", "objection")
"""Signals by which a customer is unhappy."""

Call = Callable[[str, dict[str, Any]], BaseModel]


class StoredRecords:
    """`allowed`: the tools that may be called; blocking, not for the event loop's thread."""

    def __init__(self, context: ToolContext, call: Call, allowed: Collection[str]) -> None:
        self._context = context
        self._call = call
        self._allowed = allowed

    def promises(self, name: str, *, overdue: bool) -> Records:
        nothing = Records([], has_more=False)
        if "search_commitments" not in self._allowed:
            return nothing
        arguments: dict[str, Any] = {"limit": MOST, "overdue": overdue, "open": not name}
        if overdue:
            arguments["order"] = "due"
        person = ""
        if name:
            found = self._person(name)
            if found is None:
                return nothing
            arguments["speaker_id"], person = found
        page = self._call("search_commitments", arguments)
        assert isinstance(page, CommitmentPage)
        passages = self._passages([(item.communication_id, item.content) for item in page.items])
        items = [_promise(item, passages[place]) for place, item in enumerate(page.items) if place in passages]
        return Records(items, page.next_cursor is not None, person)

    def complaints(self) -> Records:
        signals: list[RankedSignal] = []
        if "rank_signals" in self._allowed:
            for signal in UNHAPPY:
                ranking = self._call("rank_signals", {"group_by": "value", "signal": signal, "limit": MOST})
                assert isinstance(ranking, SignalRanking)
                signals += ranking.items
        told = [
            (item.occured_at, item.signal or "", item.communication_id, item.quote or item.name)
            for item in signals
            if item.communication_id is not None
        ]
        if "search_communications" in self._allowed:
            page = self._call("search_communications", {"category": "complaint", "limit": MOST})
            assert isinstance(page, CommunicationPage)
            known = {communication_id for _, _, communication_id, _ in told}
            told += [
                (each.occured_at, "complaint", each.id, each.snippet) for each in page.items if each.id not in known
            ]
        told.sort(key=lambda each: each[0], reverse=True)
        passages = self._passages([(communication_id, text) for _, _, communication_id, text in told[:MOST]])
        items = [Record(passage.text, passage, label=told[place][1]) for place, passage in passages.items()]
        return Records(items, len(told) > MOST)

    def _person(self, name: str) -> tuple[str, str] | None:
        """Id and name of whom these words name, each a form of one of the name's."""
        if "search_speakers" not in self._allowed:
            return None
        page = self._call("search_speakers", {"query": name, "limit": _CANDIDATES})
        assert isinstance(page, SpeakerPage)
        for item in page.items:
            own = set(terms(item.name))
            if all(term_likeness(term, own) >= _CALLED_SO for term in terms(name)):
                return item.id, item.name
        return None

    def _passages(self, places: Sequence[tuple[str, str]]) -> dict[int, Passage]:
        """By their place, for (communication id, text); of a communication that is gone there is none."""
        with self._context.database.read() as connection:
            rows = communications.get_many(self._context.tenant_id, connection, [id_ for id_, _ in places])
        found = {}
        for place, (communication_id, text) in enumerate(places):
            row = rows.get(communication_id)
            if row is not None:
                found[place] = passage_of(found_communication(self._context, row, text, _QUOTE_CHARACTERS))
        return found


def _promise(item: CommitmentItem, passage: Passage) -> Record:
    due = None
    with suppress(ValueError):  # a deadline may be no day
        due = date.fromisoformat((item.deadline or "")[:10])
    return Record(
        passage.text,
        passage,
        by=item.promised_by or "",
        due=due,
        is_overdue=bool(item.overdue),
        is_done=item.done_at is not None,
    )
