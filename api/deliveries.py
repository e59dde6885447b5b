"""Webhooks as an account sees them: what was sent and how it went, sending again, and a test of a URL."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, Field

from accounts import webhooks
from accounts.outbound import MAX_URL_CHARACTERS, check_url, without_path
from accounts.webhooks import ProbeResult
from api.fields import UtcTime, Uuid
from api.http import Body, Call, NoInput, Operation
from api.limits import enforce_limit
from api.paging import PageQuery, Pagination, pagination
from store import accounts, deliveries
from store.deliveries import Attempt, Delivery
from store.errors import InvalidRequest
from store.operators import OWNER

TESTS_PER_MINUTE = 10
RESENDS_PER_MINUTE = 60
SHOWN_ATTEMPTS = 20

DeliveryStatus = Literal["pending", "delivered", "failed"]


class DeliveryQuery(PageQuery):
    status: DeliveryStatus | None = None
    event: str | None = Field(None, min_length=1, max_length=64)
    communication_id: Uuid | None = Field(None, description="The events of one communication.")


class AttemptBody(BaseModel):
    """One attempt: `error` is null where the receiver took the event, `status_code` where no answer came."""

    at: UtcTime
    latency_ms: int
    status_code: int | None
    error: str | None
    answer_head: str | None = Field(description="The first 500 bytes of the answer, as text.")


class DeliveryBody(BaseModel):
    """An event that was or will be sent. `body` is what is sent; `attempt_log` has the last 20 attempts."""

    id: str
    event: str
    url: str
    status: DeliveryStatus
    attempts: int
    next_attempt_at: UtcTime | None
    delivered_at: UtcTime | None
    created_at: UtcTime
    body: dict[str, Any]
    attempt_log: list[AttemptBody]


class DeliveryList(BaseModel):
    items: list[DeliveryBody]
    pagination: Pagination


class WebhookTest(Body):
    """The URL to test; without one, the account's."""

    webhook_url: str | None = Field(None, max_length=MAX_URL_CHARACTERS)


class WebhookTestResult(BaseModel):
    """How the receiver answered a signed `webhook.test` event: `ok` for a 2xx."""

    ok: bool
    status_code: int | None
    latency_ms: int
    error: str | None
    answer_head: str | None = Field(description="The first 500 bytes of the answer, as text.")


def list_deliveries(call: Call[DeliveryQuery, NoInput]) -> DeliveryList:
    query = call.query
    with call.services.database.read() as connection:
        rows, total = deliveries.list_page(
            call.tenant_id,
            connection,
            status=query.status,
            event=query.event,
            communication_id=query.communication_id,
            limit=query.limit,
            offset=query.offset,
        )
        logs = deliveries.attempts_of(call.tenant_id, connection, [row.id for row in rows], newest=SHOWN_ATTEMPTS)
    items = [_delivery(call, row, logs[row.id]) for row in rows]
    return DeliveryList(items=items, pagination=pagination(query, len(rows), total))


def resend(call: Call[NoInput, NoInput]) -> DeliveryBody:
    delivery_id = call.path_id("delivery_id", "webhook delivery")
    enforce_limit(call.services.database, f"webhook_resend:{call.tenant_id}", RESENDS_PER_MINUTE, request=call.request)
    with call.services.database.write() as connection:
        delivery = webhooks.resend(call.tenant_id, connection, delivery_id)
        call.note(connection, "delivery.resent", delivery_id)
        log = deliveries.attempts_of(call.tenant_id, connection, [delivery_id], newest=SHOWN_ATTEMPTS)
        answer = _delivery(call, delivery, log[delivery_id])
        call.keep(connection, answer, 202)
    webhooks.start(delivery)
    return answer


def test_webhook(call: Call[NoInput, WebhookTest]) -> WebhookTestResult:
    url = call.body.webhook_url
    if not url:
        with call.services.database.read() as connection:
            tenant = accounts.get_tenant(call.tenant_id, connection)
        url = tenant.webhook_url if tenant else None
    if not url:
        raise InvalidRequest("webhook_url: the account has none, so give one.", param="webhook_url")
    result = probe(call, check_url(url, param="webhook_url"))
    return WebhookTestResult.model_validate(result, from_attributes=True)


def probe(call: Call[Any, Any], url: str) -> ProbeResult:
    """Tests a URL, whatever for: all tests of an account count as one. Raises RateLimited over its bounds."""
    enforce_limit(call.services.database, f"webhook_test:{call.tenant_id}", TESTS_PER_MINUTE, request=call.request)
    return webhooks.probe(call.tenant_id, url, key_id=call.principal.key_id)


def _delivery(call: Call[Any, Any], row: Delivery, log: list[Attempt]) -> DeliveryBody:
    return DeliveryBody(
        id=row.id,
        event=row.event,
        url=row.url if call.principal.has_role(OWNER) else without_path(row.url),
        status=row.status,
        attempts=row.attempts,
        next_attempt_at=row.next_attempt_at,
        delivered_at=row.delivered_at,
        created_at=row.created_at,
        body=json.loads(row.body),
        attempt_log=[AttemptBody.model_validate(attempt, from_attributes=True) for attempt in log],
    )


OPERATIONS = (
    Operation(
        "GET",
        "/v1/webhook-deliveries",
        list_deliveries,
        "List webhook deliveries",
        response=DeliveryList,
        query=DeliveryQuery,
    ),
    Operation(
        "POST",
        "/v1/webhook-deliveries/{delivery_id}/resend",
        resend,
        "Send a webhook again",
        response=DeliveryBody,
        status=202,
        errors=(401, 404, 409, 429),
        idempotent=True,
        role="owner",
        audited=("delivery.resent",),
    ),
    Operation(
        "POST",
        "/v1/settings/webhook-test",
        test_webhook,
        "Test a webhook URL",
        response=WebhookTestResult,
        body=WebhookTest,
        errors=(400, 401, 429),
        role="owner",
        unaudited="It tries an address and keeps nothing.",
    ),
)
