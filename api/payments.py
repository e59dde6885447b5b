"""Payment links of the Public API, and what payment providers tell us."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accounts.clients import normal_email
from accounts.ledger import micro_of, roubles
from accounts.outbound import AddressRefused, parse_url
from accounts.payments import LEAST_MICRO, MOST_MICRO, Wish
from api.fields import UtcTime
from api.http import Body, Call, NoInput, Operation, json_response, read_body
from api.idempotency import HEADER
from api.limits import enforce_limit
from api.services import Services
from store import payments
from store.database import Connection
from store.errors import Conflict, InvalidRequest, NotFound, ParleyError, UpstreamFailed
from store.ids import parse_id
from store.payments import PaymentLink

LEAST_RUB, MOST_RUB = int(roubles(LEAST_MICRO)), int(roubles(MOST_MICRO))
NOTIFICATION_PATH = "/payments/yookassa/notifications"
MAX_NOTIFICATION_BYTES = 64 * 1024
NOTIFICATIONS_A_MINUTE = 60


def _amount(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is no number")
    if not LEAST_RUB <= value <= MOST_RUB:
        raise ValueError(f"is not between {LEAST_RUB} and {MOST_RUB}")
    amount = Decimal(str(value))
    if amount != amount.quantize(Decimal("0.01")):
        raise ValueError("has more than two digits after the point")
    return amount


def _email(value: str) -> str:
    try:
        normal_email(value)
    except InvalidRequest as error:
        raise ValueError(error.message) from None
    return value


def _url(value: str) -> str:
    try:
        parse_url(value)
    except AddressRefused as error:
        raise ValueError(error.message) from None
    return value


AmountRub = Annotated[
    Decimal,
    BeforeValidator(_amount),
    WithJsonSchema(
        {
            "type": "number",
            "minimum": LEAST_RUB,
            "maximum": MOST_RUB,
            "description": "Roubles, with at most two digits after the point.",
            "examples": [1500],
        }
    ),
]
Email = Annotated[str, AfterValidator(_email), Field(json_schema_extra={"format": "email"})]
WebUrl = Annotated[str, AfterValidator(_url), Field(json_schema_extra={"format": "uri"})]


class PaymentLinkRequest(Body):
    """What is to be paid. Without an e-mail the receipt goes to the client's own address."""

    amount_rub: AmountRub
    customer_email: Email | None = None
    redirect_url: WebUrl | None = Field(None, description="Opened after a payment that succeeded.")
    fail_redirect_url: WebUrl | None = Field(None, description="Opened after a payment that failed.")


class PaymentLinkBody(BaseModel):
    """A link by which the balance is topped up. `customer_email` is empty where none is known."""

    id: str = Field(json_schema_extra={"format": "uuid"})
    payment_url: str | None = Field(json_schema_extra={"format": "uri"})
    amount_rub: float
    status: Literal["pending", "paid", "expired", "cancelled", "failed"]
    customer_email: str
    purpose: str
    expires_at: UtcTime
    paid_at: UtcTime | None
    created_at: UtcTime


class _NotifiedPayment(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str
    metadata: dict[str, Any] | None = None


class _Notification(BaseModel):
    model_config = ConfigDict(extra="ignore")

    object: _NotifiedPayment


def create_payment_link(call: Call[NoInput, PaymentLinkRequest]) -> PaymentLinkBody:
    asked = call.body
    wish = Wish(
        amount_micro=micro_of(asked.amount_rub),
        customer_email=asked.customer_email,
        redirect_url=asked.redirect_url,
        fail_redirect_url=asked.fail_redirect_url,
        request_key=call.request.headers.get(HEADER),
    )

    def keep(connection: Connection, link: PaymentLink) -> None:
        call.keep(connection, link_body(link), 200)

    return link_body(call.services.payments.open_link(call.principal.tenant, wish, actor=call.actor, keep=keep))


def read_payment_link(call: Call[NoInput, NoInput]) -> PaymentLinkBody:
    link_id = parse_id(call.request.path_params["payment_link_id"])
    if link_id is None:
        raise InvalidRequest("id: is not a UUID", param="id")
    call.services.payments.require_configured()
    with call.services.database.read() as connection:
        link = payments.get(call.tenant_id, connection, link_id)
    if link is None:
        raise NotFound("No such payment link.")
    return link_body(link)


def link_body(link: PaymentLink) -> PaymentLinkBody:
    return PaymentLinkBody(
        id=link.id,
        payment_url=link.payment_url,
        amount_rub=float(roubles(link.amount_micro)),
        status=link.shown_status,  # type: ignore[arg-type]
        customer_email=link.customer_email,
        purpose=link.purpose,
        expires_at=link.expires_at,
        paid_at=link.paid_at,
        created_at=link.created_at,
    )


async def take_notification(request: Request) -> Response:
    """A word of YooKassa, or of anybody who says so: it is only a reason to ask YooKassa itself.

    200 also for what is not ours, so that it is not sent again; not 200 where YooKassa could not be asked, so that it
    is.
    """
    services: Services = request.app.state.services
    provider = services.payments.provider
    if provider is None or provider.name != "yookassa":
        raise NotFound("There is nothing at this address.")
    from accounts.yookassa_provider import PAYMENT_ID

    raw = await read_body(request, MAX_NOTIFICATION_BYTES)
    try:
        said = _Notification.model_validate_json(raw).object
    except ValidationError:
        raise InvalidRequest("This is no notification.") from None
    link_id = parse_id(str((said.metadata or {}).get("link_id", "")))
    if not PAYMENT_ID.fullmatch(said.id):
        return json_response({"known": False})
    try:
        # Whoever saw a payment's page knows its link's id, and each word makes us ask.
        bucket = f"payment-notification:{link_id or said.id}"
        await run_in_threadpool(enforce_limit, services.database, bucket, NOTIFICATIONS_A_MINUTE)
        known = await run_in_threadpool(services.payments.notified, said.id, link_id)
    except UpstreamFailed as error:
        raise _not_now() from error
    return json_response({"known": known})


def _not_now() -> ParleyError:
    return Conflict("The payment's state could not be asked for: send this again.", code="payment_state_unknown")


ROUTES = (Route(NOTIFICATION_PATH, take_notification, methods=["POST"]),)

OPERATIONS = (
    Operation(
        "POST",
        "/v1/payment-link",
        create_payment_link,
        "Make a payment link",
        response=PaymentLinkBody,
        body=PaymentLinkRequest,
        errors=(400, 401, 502, 503),
        idempotent=True,
        role="owner",
        audited=("payment_link.created",),
    ),
    Operation(
        "GET",
        "/v1/payment-link/{payment_link_id}",
        read_payment_link,
        "Read a payment link",
        response=PaymentLinkBody,
        errors=(400, 401, 404, 503),
    ),
)
