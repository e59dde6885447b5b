"""YooKassa through its official client (https://yookassa.ru/developers/api).

The client as it comes waits without end for an answer, follows redirects, sleeps for as long as a Retry-After says,
and trips over its own error handling when no answer comes at all: the session and the calls below say otherwise.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import requests
import structlog
from requests.adapters import HTTPAdapter
from urllib3 import Retry
from yookassa import Configuration, Payment  # type: ignore[import-untyped]
from yookassa.client import ApiClient  # type: ignore[import-untyped]
from yookassa.domain.exceptions import ApiError, NotFoundError  # type: ignore[import-untyped]

from accounts.ledger import micro_of, shown
from accounts.outbound import check_url
from accounts.payment_providers import Outcome, PaymentState, Started
from store import meters
from store.errors import InvalidRequest, UpstreamFailed
from store.ids import parse_id
from store.payments import PaymentLink
from store.settings import Settings

log = structlog.get_logger(__name__)

PAYMENT_ID = re.compile(r"[0-9A-Za-z-]{1,64}")
CONNECT_TIMEOUT_S = 3.0
READ_TIMEOUT_S = 10.0
PLACES = 8
WAIT_FOR_PLACE_S = 1.0
_DESCRIPTION_CHARACTERS = 128
_CANCELLED_BY_SOMEBODY = frozenset({"canceled_by_merchant", "permission_revoked"})
_EXPIRED = frozenset({"expired_on_confirmation", "expired_on_capture"})

R = TypeVar("R")


class _Session(requests.Session):
    def request(self, *arguments: Any, **options: Any) -> requests.Response:
        options |= {"timeout": (CONNECT_TIMEOUT_S, READ_TIMEOUT_S), "allow_redirects": False}
        return super().request(*arguments, **options)


class _Client(ApiClient):  # type: ignore[misc]
    def get_session(self) -> requests.Session:
        session = _Session()
        # 202: the payment is still being made, ask again with the same key.
        again = Retry(
            total=2,
            connect=0,
            read=0,
            backoff_factor=0.3,
            allowed_methods=["POST"],
            status_forcelist=[202],
            respect_retry_after_header=False,
            raise_on_status=False,
        )
        for scheme in ("https://", "http://"):
            session.mount(scheme, HTTPAdapter(max_retries=again))
        return session

    def execute(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().execute(*arguments, **options)
        except requests.RequestException as error:
            if error.response is None:
                # The caller of this method reads the error's response.
                error.response = requests.Response()
                error.response.status_code = 0
                error.response._content = b'{"type": "error", "code": "no_answer"}'
            raise


class YooKassa:
    """One shop. At most PLACES requests are in work at once, so that a slow provider slows payments alone."""

    name = "yookassa"
    answers = True

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._places = threading.BoundedSemaphore(PLACES)
        # The configuration is the whole process's; the client keeps what it finds there now.
        Configuration.configure(
            settings.yookassa_shop_id,
            settings.yookassa_secret_key.get_secret_value(),
            api_url=settings.yookassa_api_url.rstrip("/"),
        )
        client = _Client()

        class Payments(Payment):  # type: ignore[misc]
            def __init__(self) -> None:
                self.client = client

        self._payments = Payments

    def start(self, link: PaymentLink, *, language: str, payer_url: str) -> Started:
        """Under the link's id as idempotence key: asked again, YooKassa answers with the same payment."""
        wish = self._wish(link, language=language, payer_url=payer_url)

        def ask() -> Started:
            payment = self._payments.create(wish, link.id)
            url = check_url(str(payment.confirmation.confirmation_url), param="confirmation_url")
            return Started(payment_id=_payment_id(payment.id), payment_url=url)

        return self._asked(ask)

    def look_up(self, payment_id: str) -> PaymentState | None:
        assert PAYMENT_ID.fullmatch(payment_id)

        def ask() -> PaymentState | None:
            try:
                payment = self._payments.find_one(payment_id)
            except NotFoundError:
                return None
            return PaymentState(
                payment_id=_payment_id(payment.id),
                link_id=parse_id(str((payment.metadata or {}).get("link_id", ""))),
                outcome=_outcome(payment),
                amount_micro=micro_of(payment.amount.value),
                currency=str(payment.amount.currency),
                is_ours=str(payment.recipient.account_id) == self._settings.yookassa_shop_id,
            )

        return self._asked(ask)

    def _asked(self, ask: Callable[[], R]) -> R:
        if not self._places.acquire(timeout=WAIT_FOR_PLACE_S):
            raise UpstreamFailed("too many requests to YooKassa are in work")
        try:
            answer = ask()
        # Besides its own errors, the client raises these over answers that are not what YooKassa documents.
        except (
            ApiError,
            requests.RequestException,
            InvalidRequest,
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
            ArithmeticError,
        ) as error:
            content = getattr(error, "content", None) or {}
            log.warning("YooKassa failed", error=type(error).__name__, code=content.get("code"))
            meters.PAYMENT_ASKS.labels(self.name, "error").inc()
            raise UpstreamFailed(f"YooKassa failed: {type(error).__name__}") from error
        finally:
            self._places.release()
        meters.PAYMENT_ASKS.labels(self.name, "success").inc()
        return answer

    def _wish(self, link: PaymentLink, *, language: str, payer_url: str) -> dict[str, Any]:
        amount = {"value": shown(link.amount_micro), "currency": "RUB"}
        description = _shortened(link.purpose)
        wish: dict[str, Any] = {
            "amount": amount,
            "capture": True,
            "confirmation": {
                "type": "redirect",
                "return_url": payer_url,
                "locale": "ru_RU" if language == "ru" else "en_US",
            },
            "description": description,
            "metadata": {"link_id": link.id},
        }
        if link.customer_email:
            item = {
                "description": description,
                "quantity": "1.00",
                "amount": amount,
                "vat_code": self._settings.yookassa_vat_code,
                # Money for services that are not chosen yet is an advance.
                "payment_mode": "advance",
                "payment_subject": "payment",
            }
            wish["receipt"] = {"customer": {"email": link.customer_email}, "items": [item]}
        return wish


def _payment_id(value: Any) -> str:
    if not isinstance(value, str) or not PAYMENT_ID.fullmatch(value):
        raise ValueError("no payment id")
    return value


def _outcome(payment: Any) -> Outcome:
    if payment.status == "succeeded":
        return "paid"
    if payment.status != "canceled":
        return "pending"
    details = payment.cancellation_details
    reason = details.reason if details is not None else None
    if reason in _EXPIRED:
        return "expired"
    return "cancelled" if reason in _CANCELLED_BY_SOMEBODY else "failed"


def _shortened(text: str) -> str:
    return text if len(text) <= _DESCRIPTION_CHARACTERS else text[: _DESCRIPTION_CHARACTERS - 1] + "…"
