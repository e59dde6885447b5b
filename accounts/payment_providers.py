"""What a payment provider does for us, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import structlog

from store.payments import PaymentLink
from store.settings import Settings

log = structlog.get_logger(__name__)

Outcome = Literal["pending", "paid", "failed", "cancelled", "expired"]


@dataclass(frozen=True, slots=True)
class Started:
    """A payment that the provider waits for. `payment_id` is its own id of it; None where it has none."""

    payment_id: str | None
    payment_url: str


@dataclass(frozen=True, slots=True)
class PaymentState:
    """What the provider says of a payment when it is asked. `is_ours` is False for a payment of another shop."""

    payment_id: str
    link_id: str | None
    outcome: Outcome
    amount_micro: int
    currency: str
    is_ours: bool


class Provider(Protocol):
    """`answers` tells whether the provider can be asked for the state of a payment."""

    name: str
    answers: bool

    def start(self, link: PaymentLink, *, language: str, payer_url: str) -> Started:
        """Makes the payment, or finds the one that was made for this link. `payer_url` is our own page for the payer.
        Raises UpstreamFailed."""

    def look_up(self, payment_id: str) -> PaymentState | None:
        """The state of a payment, None for one that the provider does not know. Raises UpstreamFailed."""


def make_provider(settings: Settings) -> Provider | None:
    """The provider of the settings, None where payments are not configured."""
    if settings.payment_provider == "sandbox":
        from accounts.sandbox_provider import Sandbox

        return Sandbox()
    if settings.payment_provider == "yookassa":
        if not settings.yookassa_shop_id or not settings.yookassa_secret_key.get_secret_value():
            log.error("payments are off: YooKassa needs PARLEY_YOOKASSA_SHOP_ID and PARLEY_YOOKASSA_SECRET_KEY")
            return None
        from accounts.yookassa_provider import YooKassa

        return YooKassa(settings)
    return None
