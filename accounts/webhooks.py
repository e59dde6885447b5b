"""Webhooks: events that are stored with what they tell of, then signed and sent until the receiver takes them.

A delivery is a row that is committed with its event (`emit`), then a durable job for each try (`start`). What a crash
left between the two the sweeper starts. So an event is delivered at least once, each time under the same id.
"""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from cryptography.fernet import InvalidToken

from accounts.keys import Keyring
from accounts.outbound import Answer, Outbound, OutboundFailed
from accounts.webhook_signature import signed_headers
from store import accounts, deliveries, meters, rounds, traces
from store.database import Connection, Database, now
from store.deliveries import Attempt, Delivery, Plan
from store.errors import Conflict, InvalidRequest, NotFound, RateLimited
from store.ids import new_id
from store.jobs import ENDED_BADLY, Jobs, QueuePlan, workflow
from store.rounds import Round
from store.settings import Settings

log = structlog.get_logger(__name__)

QUEUE = "webhooks"
TEST_EVENT = "webhook.test"
KEEP_DAYS = 30
_PROBES_AT_ONCE = 8
_PROBES_PER_TENANT = 2
_PURGED_AT_ONCE = 1000
_PURGED_A_SWEEP = 5000
_MAX_ERROR_CHARACTERS = 300
_INTERRUPTED = "The attempt was interrupted on our side."
_TURNED_OFF = "Notifications were turned off: the account has no webhook URL any more."


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """How a receiver answered a test. `status_code` and `answer_head` are None where no answer came; `error` is None
    where it was a 2xx."""

    ok: bool
    status_code: int | None
    latency_ms: int
    error: str | None
    answer_head: str | None


class _Places:
    """Bounds what is under way in this process, and what of one tenant more tightly: each may take a while."""

    def __init__(self, total: int, per_tenant: int) -> None:
        self._total = total
        self._per_tenant = per_tenant
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    @contextmanager
    def place(self, tenant_id: str) -> Iterator[bool]:
        """Whether there was a place; it is taken until the end."""
        with self._lock:
            free = self._taken.total() < self._total and self._taken[tenant_id] < self._per_tenant
            self._taken[tenant_id] += free
        try:
            yield free
        finally:
            with self._lock:
                self._taken[tenant_id] -= free
                self._taken += Counter()  # lets go of who has none


@dataclass(slots=True)
class _Sender:
    settings: Settings
    database: Database
    keyring: Keyring
    jobs: Jobs
    outbound: Outbound
    places: _Places
    probes: _Places = field(default_factory=lambda: _Places(_PROBES_AT_ONCE, _PROBES_PER_TENANT))
    sweeps: Round = field(default_factory=Round)


_opened: _Sender | None = None


def queue_plan(settings: Settings) -> QueuePlan:
    """The queue of deliveries: partitioned by tenant and receiver, so that a dead one holds few places."""
    per_receiver = min(settings.webhook_places_per_receiver, settings.webhook_places)
    return QueuePlan(QUEUE, settings.webhook_places, places_per_partition=per_receiver)


def open_sender(settings: Settings, database: Database, keyring: Keyring, jobs: Jobs) -> None:
    """Once a process, before its jobs are launched. Raises InvalidRequest for allowed networks that are none."""
    global _opened
    # Half for one tenant: the other half stays for the rest, however many dead receivers it has.
    places = _Places(settings.webhook_places, max(1, settings.webhook_places // 2))
    _opened = _Sender(settings, database, keyring, jobs, Outbound(settings.allowed_networks), places)


def _sender() -> _Sender:
    assert _opened is not None, "no sender of webhooks was opened in this process"
    return _opened


def emit(
    tenant_id: str,
    connection: Connection,
    *,
    event: str,
    subject: str,
    fields: Mapping[str, str | None],
    url: str | None = None,
    key_id: str | None = None,
) -> Delivery | None:
    """The delivery of an event, in the caller's transaction; the one there is for an event that was emitted before.

    `subject` is what the event is about: an event and a subject make one delivery. `url` is the request's own, which
    wins over the account's; None where there is neither. `key_id` is the key of the request, whose secret signs.
    """
    is_account_url = not url
    if not url:
        tenant = accounts.get_tenant(tenant_id, connection)
        url = tenant.webhook_url if tenant else None
    if not url:
        return None
    return deliveries.add(
        tenant_id,
        connection,
        event_key=f"{event}:{subject}",
        event=event,
        body=_json({"event": event, **fields}),
        url=url,
        is_account_url=is_account_url,
        key_id=key_id,
        communication_id=fields.get("communication_id"),
    )


def start(delivery: Delivery | None) -> None:
    """Starts the job of a delivery's next attempt, after the commit. Never raises: what cannot be started now the
    sweeper starts."""
    if delivery is None or delivery.next_attempt_at is None or _opened is None:
        return
    wait_s = (delivery.next_attempt_at - now()).total_seconds()
    try:
        _opened.jobs.enqueue(
            QUEUE,
            _job_id(delivery),
            send_webhook,
            delivery.tenant_id,
            delivery.id,
            delivery.run,
            delay_s=wait_s if wait_s > 0 else None,
            partition=_receiver(delivery),
        )
    # The job database may be away in any way; the delivery is stored and waits for the sweeper.
    except Exception:
        log.exception("a webhook could not be started yet", delivery_id=delivery.id)


def _job_id(delivery: Delivery) -> str:
    return f"{delivery.id}-{delivery.run}"


def _receiver(delivery: Delivery) -> str:
    """A partition of the queue: one address of one tenant, so that nobody's slow endpoint is another's."""
    return f"{delivery.tenant_id} {hashlib.sha256(delivery.url.encode()).hexdigest()[:16]}"


@workflow(name="send_webhook")
def send_webhook(tenant_id: str, delivery_id: str, run: int) -> None:
    """One attempt, then the next attempt's job. Without steps: run again after a crash it sends again, unless the
    attempt was recorded."""
    sender = _sender()
    with sender.places.place(tenant_id) as free:
        if free:
            _send(sender, tenant_id, delivery_id, run)
        else:
            _put_off(sender, tenant_id, delivery_id, run)


def _put_off(sender: _Sender, tenant_id: str, delivery_id: str, run: int) -> None:
    """Until one of the tenant's places may be free; it counts as no attempt."""
    wait_s = sender.settings.webhook_timeout_s * random.uniform(0.1, 0.5)  # noqa: S311
    with sender.database.write() as connection:
        later = now() + timedelta(seconds=wait_s)
        delivery = deliveries.put_off(tenant_id, connection, delivery_id, run, next_attempt_at=later)
    start(delivery)


def _send(sender: _Sender, tenant_id: str, delivery_id: str, run: int) -> None:
    with sender.database.read() as connection:
        delivery = deliveries.get(tenant_id, connection, delivery_id)
        if delivery is None or delivery.status != "pending" or delivery.run != run:
            return
        tenant = accounts.get_tenant(tenant_id, connection)
        if delivery.is_account_url and (tenant is None or not tenant.webhook_url):
            given_up = True
        else:
            given_up = False
            secret = _secret(sender, tenant_id, connection, delivery.key_id)
    if given_up:
        attempt, plan = Attempt(at=now(), latency_ms=0, error=_TURNED_OFF), Plan("failed")
    else:
        attempt = _attempt(sender, delivery.url, delivery.id, delivery.body.encode(), secret)
        plan = plan_after(attempt, delivery.tries, sender.settings.webhook_retry_schedule)
    with sender.database.write() as connection:
        planned = deliveries.record_attempt(tenant_id, connection, delivery, attempt, plan)
    meters.WEBHOOK_ATTEMPTS.labels("retried" if plan.status == "pending" else plan.status).inc()
    log.info(
        "sent a webhook" if attempt.error is None else "could not send a webhook",
        delivery_id=delivery_id,
        webhook_event=delivery.event,
        status_code=attempt.status_code,
        latency_ms=attempt.latency_ms,
    )
    start(planned)


def plan_after(attempt: Attempt, tries: int, schedule: Sequence[float]) -> Plan:
    """Delivered, or tried again by the schedule, or failed after its last try. `tries`: those before this attempt;
    `schedule`: seconds from the end of each failed try to the next."""
    if attempt.error is None:
        return Plan("delivered")
    if tries >= len(schedule):
        return Plan("failed")
    ended_at = attempt.at + timedelta(milliseconds=attempt.latency_ms)
    return Plan("pending", ended_at + timedelta(seconds=schedule[tries]))


def _secret(sender: _Sender, tenant_id: str, connection: Connection, key_id: str | None) -> str | None:
    """hex(SHA-256(key)) of the key, if it is active, else of the account's newest active key; None without any."""
    encrypted = accounts.signing_secret(tenant_id, connection, preferred_key_id=key_id)
    if encrypted is None:
        return None
    try:
        return sender.keyring.open_secret(encrypted)
    except InvalidToken:
        log.error("a signing secret was made under another PARLEY_SECRET_KEY", tenant_id=tenant_id)
        return None


def _attempt(sender: _Sender, url: str, delivery_id: str, body: bytes, secret: str | None) -> Attempt:
    """One signed POST, whatever comes of it."""
    at = now()
    if secret is None:
        return Attempt(at=at, latency_ms=0, error="There is no active API key to sign with.")
    headers = signed_headers(secret, delivery_id, int(at.timestamp()), body)
    begun = time.monotonic()
    answer: Answer | None = None
    try:
        with traces.span("POST webhook", traces.CLIENT, {"http.request.method": "POST"}) as span:
            answer = sender.outbound.post(url, body, headers, timeout_s=sender.settings.webhook_timeout_s)
            span.set_attribute("http.response.status_code", answer.status_code)
            error = _complaint(answer.status_code)
            if error is not None:
                traces.fail(span, str(answer.status_code))
    except OutboundFailed as failure:
        error = failure.message[:_MAX_ERROR_CHARACTERS]
    latency_ms = answer.latency_ms if answer else round((time.monotonic() - begun) * 1000)
    return Attempt(
        at=at,
        latency_ms=latency_ms,
        status_code=answer.status_code if answer else None,
        error=error,
        answer_head=answer.head if answer else None,
    )


def _complaint(status_code: int) -> str | None:
    if 200 <= status_code < 300:
        return None
    if 300 <= status_code < 400:
        return f"The receiver answered {status_code}: redirects are not followed."
    return f"The receiver answered {status_code}."


def probe(tenant_id: str, url: str, *, key_id: str | None = None) -> ProbeResult:
    """Sends a signed test event to a URL, now. Raises InvalidRequest where the account has no active key to sign with,
    RateLimited while too many tests are under way, the tenant's own or all."""
    sender = _sender()
    with sender.database.read() as connection:
        secret = _secret(sender, tenant_id, connection, key_id)
    if secret is None:
        raise InvalidRequest("The account has no active API key to sign with.", param="webhook_url")
    with sender.probes.place(tenant_id) as free:
        if not free:
            raise RateLimited("Too many webhook tests at the moment.", code="rate_limit_exceeded", retry_after_s=5)
        attempt = _attempt(sender, url, new_id(), _json({"event": TEST_EVENT}).encode(), secret)
    return ProbeResult(
        ok=attempt.error is None,
        status_code=attempt.status_code,
        latency_ms=attempt.latency_ms,
        error=attempt.error,
        answer_head=attempt.answer_head,
    )


def resend(tenant_id: str, connection: Connection, delivery_id: str) -> Delivery:
    """Begins a new schedule for a delivery, under its id and with its body; the caller commits, then calls `start`.

    Raises NotFound; Conflict webhook_disabled where it was made for the account's URL and there is none any more.
    """
    delivery = deliveries.get(tenant_id, connection, delivery_id)
    tenant = accounts.get_tenant(tenant_id, connection)
    if delivery is None or tenant is None:
        raise NotFound("No such webhook delivery.")
    if delivery.is_account_url and not tenant.webhook_url:
        raise Conflict("The account has no webhook URL.", code="webhook_disabled")
    again = deliveries.send_again(tenant_id, connection, delivery_id)
    if again is None:
        raise NotFound("No such webhook delivery.")
    return again


def sweep() -> None:
    """Starts deliveries whose time came and that no job works on, a bounded number at a time, going round."""
    sender = _sender()
    before = now() - timedelta(seconds=sender.settings.sweep_s)
    with sender.database.read() as connection:
        due = deliveries.list_due(connection, before=before, after=sender.sweeps.after, limit=rounds.AT_ONCE)
    sender.sweeps.go_on([(row.next_attempt_at, row.id) for row in due if row.next_attempt_at])
    if not due:
        return
    statuses = sender.jobs.statuses([_job_id(delivery) for delivery in due])
    for delivery in due:
        status = statuses.get(_job_id(delivery))
        if status is None:
            start(delivery)
        elif status == "SUCCESS" or status in ENDED_BADLY:
            # Counted as an attempt: a delivery that breaks its job every time must end too.
            attempt = Attempt(at=now(), latency_ms=0, error=_INTERRUPTED)
            with sender.database.write() as connection:
                plan = plan_after(attempt, delivery.tries, sender.settings.webhook_retry_schedule)
                planned = deliveries.record_attempt(
                    delivery.tenant_id, connection, delivery, attempt, plan, was_sent=False
                )
            start(planned)


def purge() -> None:
    """Deletes deliveries that ended and are older than 30 days, in batches, up to a bound."""
    before = now() - timedelta(days=KEEP_DAYS)
    for _ in range(_PURGED_A_SWEEP // _PURGED_AT_ONCE):
        with _sender().database.write() as connection:
            purged = deliveries.purge(connection, before=before, limit=_PURGED_AT_ONCE)
        if purged < _PURGED_AT_ONCE:
            return


def _json(body: Mapping[str, str | None]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))
