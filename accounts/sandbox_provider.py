"""The sandbox: a provider for development and tests."""

from __future__ import annotations

from accounts.payment_providers import PaymentState, Started
from store.payments import PaymentLink


class Sandbox:
    """Takes no money: the payer decides on a page of this server how the payment ends."""

    name = "sandbox"
    answers = False

    def start(self, link: PaymentLink, *, language: str, payer_url: str) -> Started:
        return Started(payment_id=None, payment_url=payer_url)

    def look_up(self, payment_id: str) -> PaymentState | None:
        return None
