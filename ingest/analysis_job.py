"""The durable job of an analysis: summary with the binding of labels to people, quality control, memory, the charge.

Each stage ends in one transaction with its event and its usage, so that a step which runs twice finds it done. A model
provider that fails is asked again by a later run of the job; what ended stays ended.
"""

from __future__ import annotations

from typing import Literal

import structlog

from accounts import ledger, webhooks
from ingest import analyses as orders
from ingest.analysis.conversation import Conversation
from ingest.analysis.model.analyst import Analyst
from ingest.analysis.reading import read_conversation
from ingest.analysis_stages import WORK, Found, ModelFailed, open_analyst, tokens_of
from ingest.outages import closing_step, lasting_step
from ingest.timelines import do_index_work
from ingest.workshop import ANALYSES_QUEUE, Workshop, start_or_leave, workshop
from store import accounts, analyses, analysis, communications, meters
from store.accounts import Tenant
from store.analyses import Analysis
from store.analysis import STAGES
from store.database import Connection
from store.deliveries import Delivery
from store.jobs import ENDED_BADLY, StepsChanged, workflow
from store.transcriptions import UNFINISHED

log = structlog.get_logger(__name__)

FAILED = "Analysis failed."
Outcome = Literal["ended", "again", "gone"]


def start(order: Analysis, *, delay_s: float | None = None) -> None:
    """Starts the next run of an order that is committed; twice is harmless, and what cannot be started now the sweeper
    starts."""
    start_or_leave(order.id, _enqueue, order.tenant_id, order.id, order.run, delay_s)


def _enqueue(tenant_id: str, analysis_id: str, run: int, delay_s: float | None = None) -> None:
    workshop().jobs.enqueue(
        ANALYSES_QUEUE,
        _job_id(analysis_id, run),
        analyse_communication,
        tenant_id,
        analysis_id,
        run,
        partition=tenant_id,
        delay_s=delay_s,
    )


def _job_id(analysis_id: str, run: int) -> str:
    return f"analysis-{analysis_id}-{run}"


def job_ids(order: Analysis) -> list[str]:
    """Of all its runs until now."""
    return [_job_id(order.id, run) for run in range(order.run + 1)]


@workflow(name="analyse_communication")
def analyse_communication(tenant_id: str, analysis_id: str, run: int) -> None:
    """One run over the stages that have not ended."""
    for stage in STAGES:
        try:
            outcome = _run_stage(tenant_id, analysis_id, stage, run)
        except StepsChanged:
            raise
        # Whatever is wrong with one stage, the others have their turn, and what is held is settled.
        except Exception as error:
            log.error("an analysis cannot be made", analysis_id=analysis_id, stage=stage, error=type(error).__name__)
            _fail_stage(tenant_id, analysis_id, stage, FAILED)
            continue
        if outcome != "ended":
            return
    _end(tenant_id, analysis_id)


@lasting_step("analyse_stage")
def _run_stage(tenant_id: str, analysis_id: str, stage: str, run: int) -> Outcome:
    """Does one stage, unless it has ended; "again" where the model failed and a later run tries anew, "gone" where the
    order or its communication is no more."""
    house = workshop()
    with house.database.read() as connection:
        order = analyses.get(tenant_id, connection, analysis_id)
        tenant = accounts.get_tenant(tenant_id, connection)
        conversation = None
        if order is not None and order.status == "ready" and tenant is not None:
            conversation = read_conversation(tenant, connection, order.communication_id)
        if order is None or tenant is None or conversation is None:
            return "gone"
        statuses = analysis.stage_statuses(tenant_id, connection, order.communication_id)
    if statuses.get(stage, "skipped") not in UNFINISHED:
        return "ended"
    if not _is_wanted(house, tenant, conversation, stage, statuses):
        _end_stage(house, order, stage, "skipped")
        return "ended"
    if not _begin_stage(house, order, stage, run):
        return "gone"
    analyst = open_analyst(house, order, conversation)
    try:
        found = WORK[stage](house, tenant, order, conversation, analyst)
    except ModelFailed as failure:
        assert analyst is not None, "who else would fail"
        pauses_s = house.settings.analysis_retry_schedule
        if failure.is_away and not analyst.is_local:
            pauses_s += house.settings.analysis_outage_schedule
        if order.failures < len(pauses_s):
            return _ask_again_later(house, order, stage, analyst, pauses_s[order.failures])
        if not analyst.is_local:
            _end_stage(house, order, stage, "error", message=str(failure))
            return "ended"
        # Nobody pays for the local model, and what rules find is better than nothing.
        found = WORK[stage](house, tenant, order, conversation, None)
    _end_stage(house, order, stage, "skipped" if found is None else "success", found=found)
    return "ended"


def _is_wanted(
    house: Workshop, tenant: Tenant, conversation: Conversation, stage: str, statuses: dict[str, str]
) -> bool:
    """Whether there is enough to go by, and the account still wants it."""
    if conversation.words < house.settings.analysis_min_words:
        return False
    knows_somebody = any(map(orders.is_known, conversation.people))
    if stage not in orders.planned(tenant, knows_somebody=knows_somebody):
        return False
    return stage != "memory" or statuses.get("summary") == "success"


def _begin_stage(house: Workshop, order: Analysis, stage: str, run: int) -> bool:
    """False where another run has taken over, or a newer order, or the stage has ended meanwhile."""
    with house.database.write(durable=False) as connection:
        communications.lock(order.tenant_id, connection, order.communication_id)
        if order.run != run or not _is_open(connection, order, stage):
            return False
        analysis.set_stage(order.tenant_id, connection, order.communication_id, stage, "processing")
    return True


def _ask_again_later(house: Workshop, order: Analysis, stage: str, analyst: Analyst, delay_s: float) -> Outcome:
    with house.database.write() as connection:
        put_off = analyses.put_off(order.tenant_id, connection, order.id, order.run, delay_s)
        if put_off:
            analyses.add_tokens(order.tenant_id, connection, order.id, tokens_of(analyst))
        following = analyses.get(order.tenant_id, connection, order.id)
    if put_off and following is not None:
        log.info("an analysis is tried again later", analysis_id=order.id, stage=stage, delay_s=delay_s)
        start(following, delay_s=delay_s)
    return "again"


@closing_step("fail_analysis_stage")
def _fail_stage(tenant_id: str, analysis_id: str, stage: str, message: str) -> None:
    house = workshop()
    with house.database.read() as connection:
        order = analyses.get(tenant_id, connection, analysis_id)
    if order is not None:
        _end_stage(house, order, stage, "error", message=message)


def _end_stage(
    house: Workshop,
    order: Analysis,
    stage: str,
    status: Literal["success", "error", "skipped"],
    *,
    message: str | None = None,
    found: Found | None = None,
) -> None:
    """In one transaction: what was found, the stage's end, and of a success its usage and event. Once, however often
    the step runs."""
    delivery, follow = None, []
    with house.database.write() as connection:
        communications.lock(order.tenant_id, connection, order.communication_id)
        if not _is_open(connection, order, stage):
            return
        if found is not None:
            follow = found.keep(connection)
            analyses.add_tokens(order.tenant_id, connection, order.id, found.tokens)
        analyses.forget_failures(order.tenant_id, connection, order.id)
        analysis.set_stage(order.tenant_id, connection, order.communication_id, stage, status, error_message=message)
        if status == "success":
            ledger.use(
                order.tenant_id,
                connection,
                hold_key=order.hold_key,
                key=f"{stage}:{order.id}",
                line=orders.line(house.settings, stage),
            )
            delivery = _emit(connection, order, stage)
    meters.ended("analysis", status)
    webhooks.start(delivery)
    for work in follow:
        try:
            do_index_work(house, work)
        # Whatever the index's trouble is, what was found is stored; the sweeper has the index follow.
        except Exception:
            log.exception("the index does not have it yet", analysis_id=order.id)


def _is_open(connection: Connection, order: Analysis, stage: str) -> bool:
    """Whether the order still stands, this is its run, and its stage has not ended."""
    now = analyses.get(order.tenant_id, connection, order.id)
    statuses = analysis.stage_statuses(order.tenant_id, connection, order.communication_id)
    stands = now is not None and now.status == "ready" and now.run == order.run
    return stands and statuses.get(stage) in UNFINISHED


def _emit(connection: Connection, order: Analysis, stage: str) -> Delivery | None:
    """`task_id` is null for a conversation that came in as text."""
    return webhooks.emit(
        order.tenant_id,
        connection,
        event=f"{stage}.completed",
        subject=order.id,
        fields={"task_id": order.task_id, "communication_id": order.communication_id},
        url=order.webhook_url,
        key_id=order.key_id,
    )


@closing_step("end_analysis")
def _end(tenant_id: str, analysis_id: str) -> None:
    _close(workshop(), tenant_id, analysis_id)


def _close(house: Workshop, tenant_id: str, analysis_id: str, *, message: str | None = None) -> None:
    """One debit for what was done; what is left of the hold is available again. `message` ends stages that have not."""
    with house.database.write() as connection:
        order = analyses.get(tenant_id, connection, analysis_id)
        if order is None:
            return
        communications.lock(tenant_id, connection, order.communication_id)
        if not analyses.advance(tenant_id, connection, analysis_id, "done"):
            return
        if message is not None:
            statuses = analysis.stage_statuses(tenant_id, connection, order.communication_id)
            for stage in STAGES:
                if statuses.get(stage) in UNFINISHED:
                    analysis.set_stage(
                        tenant_id, connection, order.communication_id, stage, "error", error_message=message
                    )
        ledger.charge(tenant_id, connection, hold_key=order.hold_key, description=orders.description(order))


def sweep() -> None:
    """Starts analyses that a crash left unstarted, and ends those whose job ended without telling."""
    house = workshop()
    with house.database.read() as connection:
        due = analyses.list_due(connection, older_than_s=house.settings.sweep_s)
    if not due:
        return
    statuses = house.jobs.statuses([_job_id(analysis_id, run) for _, analysis_id, run in due])
    known = [analysis_id for _, analysis_id, run in due if _job_id(analysis_id, run) in statuses]
    if known:
        with house.database.write(durable=False) as connection:
            analyses.put_back(connection, known)
    for tenant_id, analysis_id, run in due:
        status = statuses.get(_job_id(analysis_id, run))
        if status is None:
            log.info("starting an analysis that was left unstarted", analysis_id=analysis_id)
            _enqueue(tenant_id, analysis_id, run)
        elif status in ENDED_BADLY:
            _close(house, tenant_id, analysis_id, message=FAILED)
