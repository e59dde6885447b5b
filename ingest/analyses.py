"""Analyses as they are ordered and paid for; what is done for one is `ingest/analysis_job.py`.

A stage of analysis is summary, quality control or memory. What will run is known when it is ordered: its status is
`pending` from then on, so that a poller waits for it, and its price is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from accounts import ledger
from accounts.ledger import Line
from rag.model_choice import resolve_model
from store import accounts, analyses, analysis, speakers
from store.accounts import Tenant
from store.analyses import Analysis
from store.analysis import STAGES
from store.database import Connection
from store.ids import new_id
from store.settings import Settings

_DESCRIPTION = "Analysis of a conversation"
_CALL_DESCRIPTION = "Transcription and analysis of a call"


def description(order: Analysis) -> str:
    """What the debit is for, in the account's history."""
    return _DESCRIPTION if order.hold_key.startswith("analysis:") else _CALL_DESCRIPTION


def planned(tenant: Tenant, *, knows_somebody: bool) -> tuple[str, ...]:
    """The stages that an analysis will have. Memory needs somebody to remember: a speaker with an id or a name."""
    stages = ["summary"]
    if "qc" in tenant.features and tenant.qc_enabled:
        stages.append("qc")
    if "memory" in tenant.features and tenant.memory_enabled and knows_somebody:
        stages.append("memory")
    return tuple(stages)


class Person(Protocol):
    """Somebody who takes part, in whatever room."""

    @property
    def external_id(self) -> str | None: ...
    @property
    def name(self) -> str | None: ...


def is_known(person: Person) -> bool:
    """Whether something can be remembered of them."""
    return bool(person.external_id or person.name)


def lines(settings: Settings, stages: Iterable[str]) -> list[Line]:
    """What the stages cost: one generation each, at the rate of the model that makes them."""
    return [line(settings, stage) for stage in stages]


def line(settings: Settings, stage: str) -> Line:
    assert stage in STAGES
    return Line(stage, 1, llm_model=resolve_model(settings).name or None)


def order(
    tenant_id: str,
    connection: Connection,
    settings: Settings,
    communication_id: str,
    *,
    user_summary: str | None = None,
    webhook_url: str | None = None,
    key_id: str | None = None,
) -> Analysis | None:
    """Orders the analysis of a text that is there, in the caller's transaction, who starts it after the commit
    (`analysis_job.start`). An earlier order that is not done ends with this one. None where the balance cannot bear it:
    the client is paused then."""
    tenant = accounts.get_tenant(tenant_id, connection, lock=True)
    assert tenant is not None, "a communication has its account"
    people = speakers.list_participants(tenant_id, connection, communication_id)
    stages = planned(tenant, knows_somebody=any(map(is_known, people)))
    earlier = analyses.get_of(tenant_id, connection, communication_id)
    if earlier is not None and earlier.status != "done":
        # First: what it still holds may well pay for this one.
        ledger.charge(tenant_id, connection, hold_key=earlier.hold_key, description=description(earlier))
    analysis_id = new_id()
    hold_key = f"analysis:{analysis_id}"
    if not ledger.hold(
        tenant_id,
        connection,
        key=hold_key,
        lines=lines(settings, stages),
        source="communication",
        source_ref=communication_id,
    ):
        return None
    return _put(
        tenant_id,
        connection,
        communication_id,
        stages,
        analysis_id=analysis_id,
        hold_key=hold_key,
        task_id=earlier.task_id if earlier else None,
        user_prompt=user_summary,
        webhook_url=webhook_url,
        key_id=key_id,
        is_ready=True,
    )


def order_with_task(
    tenant_id: str,
    connection: Connection,
    communication_id: str,
    stages: Sequence[str],
    *,
    task_id: str,
    hold_key: str,
    user_summary: str | None,
    webhook_url: str | None,
    key_id: str | None,
) -> Analysis:
    """The same for a recording: its analysis waits for the text, and is held and charged with the call."""
    return _put(
        tenant_id,
        connection,
        communication_id,
        stages,
        analysis_id=new_id(),
        hold_key=hold_key,
        task_id=task_id,
        user_prompt=user_summary,
        webhook_url=webhook_url,
        key_id=key_id,
        is_ready=False,
    )


def _put(
    tenant_id: str,
    connection: Connection,
    communication_id: str,
    stages: Sequence[str],
    *,
    analysis_id: str,
    hold_key: str,
    task_id: str | None,
    user_prompt: str | None,
    webhook_url: str | None,
    key_id: str | None,
    is_ready: bool,
) -> Analysis:
    for stage in STAGES:
        status = "pending" if stage in stages else "skipped"
        analysis.set_stage(tenant_id, connection, communication_id, stage, status)
    return analyses.put(
        tenant_id,
        connection,
        communication_id,
        task_id=task_id,
        user_prompt=user_prompt,
        webhook_url=webhook_url,
        key_id=key_id,
        is_ready=is_ready,
        hold_key=hold_key,
        analysis_id=analysis_id,
    )


def release_waiting(tenant_id: str, connection: Connection, communication_id: str) -> Analysis | None:
    """The analysis that waited for this recording's text, which is there now; None where none was ordered."""
    waiting = analyses.get_of(tenant_id, connection, communication_id)
    if waiting is None or not analyses.advance(tenant_id, connection, waiting.id, "ready"):
        return None
    return waiting


def give_up_waiting(tenant_id: str, connection: Connection, communication_id: str) -> None:
    """There will be no text: nothing is analysed."""
    waiting = analyses.get_of(tenant_id, connection, communication_id)
    if waiting is None or not analyses.advance(tenant_id, connection, waiting.id, "done"):
        return
    for stage in STAGES:
        analysis.set_stage(tenant_id, connection, communication_id, stage, "skipped")
