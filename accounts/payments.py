"""Payment links: made with a provider, credited once however often it says so, expired, and asked about.

A link moves from pending to paid, failed, cancelled or expired. Paid is reached from everywhere: money that came late
is money that came.
"""

from __future__ import annotations

import hmac
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from accounts import ledger
from accounts.keys import Keyring
from accounts.ledger import MICRO
from accounts.payment_providers import Outcome, PaymentState, make_provider
from store import audit, meters, payments
from store.accounts import Tenant
from store.database import Connection, Database, now
from store.errors import Unavailable, UpstreamFailed
from store.ids import new_id, parse_id
from store.payments import PaymentLink
from store.settings import Settings

log = structlog.get_logger(__name__)

LEAST_MICRO = 100 * MICRO
MOST_MICRO = 100_000 * MICRO
ASKED_FOR = timedelta(days=1)
"""So long after its expiry a link's payment is still asked about, and then until the provider has answered once."""
GIVEN_UP_AFTER = timedelta(days=30)
"""That provider does not answer any more."""
FIRST_CHECK = timedelta(seconds=60)
LONGEST_BACKOFF_S = 3600.0
CHECKS_A_SWEEP = 20
SWEEP_BUDGET_S = 5.0
REST_AFTER_FAILURE_S = 60.0
_PURPOSE = {"ru": "Пополнение баланса: {name}", "en": "Balance top-up: {name}"}
_MAC_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class Wish:
    """What a link is asked for. Without an e-mail the receipt goes to the client's own. `request_key` is the caller's
    Idempotency-Key; `link_id` is given by who needs to know it before."""

    amount_micro: int
    customer_email: str | None = None
    redirect_url: str | None = None
    fail_redirect_url: str | None = None
    request_key: str | None = None
    link_id: str | None = None


class Payments:
    """The payments of one process."""

    def __init__(self, settings: Settings, database: Database, keyring: Keyring) -> None:
        self._settings = settings
        self._database = database
        self._keyring = keyring
        self._rest_until_s = 0.0
        self.provider = make_provider(settings)

    def require_configured(self) -> None:
        """Raises Unavailable payments_not_configured."""
        if self.provider is None:
            raise Unavailable("Payment links are not configured.", code="payments_not_configured", retry_after_s=3600)

    def open_link(
        self, tenant: Tenant, wish: Wish, *, actor: str, keep: Callable[[Connection, PaymentLink], None] | None = None
    ) -> PaymentLink:
        """Makes a link with its payment. `keep` stores the answer in the transaction that finishes the link.

        The link is there before the provider is asked: whatever happens in between, a payment finds its link. The same
        request key finds a link again that was not finished. Raises Unavailable and UpstreamFailed.
        """
        self.require_configured()
        assert self.provider is not None
        with self._database.write() as connection:
            link = self._add(tenant, connection, wish)
        payer_url = self.payer_url(link)
        started = self.provider.start(link, language=tenant.language, payer_url=payer_url)
        asks = self.provider.answers and started.payment_id is not None
        with self._database.write() as connection:
            payments.set_started(
                tenant.id,
                connection,
                link.id,
                payment_id=started.payment_id,
                payment_url=started.payment_url,
                next_check_at=now() + FIRST_CHECK if asks else None,
            )
            made = payments.get(tenant.id, connection, link.id)
            assert made is not None
            details = {"amount_rub": ledger.shown(made.amount_micro), "provider": made.provider}
            audit.add(
                tenant.id, connection, actor=actor, action="payment_link.created", subject=made.id, details=details
            )
            if keep is not None:
                keep(connection, made)
        return made

    def payer_url(self, link: PaymentLink) -> str:
        """Our own page about this link: the sandbox's checkout, or where another provider sends the payer back to."""
        page = "sandbox" if link.provider == "sandbox" else "return"
        return f"{self._settings.effective_public_url}/payments/{page}/{self._token(link.id)}"

    def result_url(self, link: PaymentLink) -> str:
        """Our page that says what became of the payment, or leads to where the client wants the payer."""
        return f"{self._settings.effective_public_url}/payments/return/{self._token(link.id)}"

    def link_of(self, token: str) -> PaymentLink | None:
        """The link of a page's address. One that we did not make up does not reach the database."""
        link_id = parse_id(_hyphenated(token[:32]))
        if link_id is None or not hmac.compare_digest(self._token(link_id).encode(), token.encode()):
            return None
        with self._database.read() as connection:
            return payments.find(connection, link_id)

    def decide(self, link: PaymentLink, outcome: Outcome) -> PaymentLink:
        """Ends a payment of the sandbox as its payer wishes."""
        assert link.provider == "sandbox"
        return self._settle(link, outcome, payment_id=None)

    def notified(self, payment_id: str, link_id: str | None) -> bool:
        """The provider, or somebody in its name, says that a payment changed: asks the provider. False for a payment of
        which we know nothing. Raises UpstreamFailed."""
        assert self.provider is not None
        with self._database.read() as connection:
            link = payments.find_by_payment(connection, self.provider.name, payment_id)
            if link is None and link_id is not None:
                # It was made, and we were killed or are still waiting for the answer that names its id.
                link = payments.find(connection, link_id)
                if link is not None and (link.provider, link.provider_payment_id) != (self.provider.name, None):
                    link = None
        if link is None:
            return False
        if link.status == "paid":
            return True
        return self._ask(link, payment_id)

    def refreshed(self, link: PaymentLink) -> PaymentLink:
        """The link after asking the provider, where it can be asked and may say more. Raises UpstreamFailed."""
        if self.provider is None or not self.provider.answers or link.provider != self.provider.name:
            return link
        if link.provider_payment_id is None or link.status not in ("pending", "expired"):
            return link
        self._ask(link, link.provider_payment_id)
        return self._read(link)

    def sweep(self) -> bool:
        """Ends links that outlived their time, and asks about payments of which no notification came. False where the
        provider does not answer."""
        with self._database.write(durable=False) as connection:
            payments.expire_due(connection)
        if self.provider is None or not self.provider.answers or time.monotonic() < self._rest_until_s:
            return True
        with self._database.read() as connection:
            due = payments.list_due(connection, self.provider.name, limit=CHECKS_A_SWEEP)
        ends_at_s = time.monotonic() + SWEEP_BUDGET_S
        for link in due:
            if time.monotonic() > ends_at_s:
                break
            with self._database.write(durable=False) as connection:
                if not payments.claim_check(link.tenant_id, connection, link, next_check_at=_next_check(link)):
                    continue
            assert link.provider_payment_id is not None, "only a payment with an id is asked about"
            try:
                self._ask(link, link.provider_payment_id)
            except UpstreamFailed:
                self._rest_until_s = time.monotonic() + REST_AFTER_FAILURE_S
                return False
            if _is_over(link):
                with self._database.write(durable=False) as connection:
                    payments.end_checks(link.tenant_id, connection, link.id)
        return True

    def _ask(self, link: PaymentLink, payment_id: str) -> bool:
        """Settles by what the provider itself says. False for what is no payment of this link."""
        assert self.provider is not None
        state = self.provider.look_up(payment_id)
        if state is None or not _fits(link, state):
            log.warning("a payment that is not of its link is ignored", link_id=link.id, known=state is not None)
            return False
        self._settle(link, state.outcome, payment_id=state.payment_id)
        return True

    def _settle(self, link: PaymentLink, outcome: Outcome, *, payment_id: str | None) -> PaymentLink:
        if outcome != "pending":
            with self._database.write() as connection:
                settle(link.tenant_id, connection, link, outcome, payment_id=payment_id)
        return self._read(link)

    def _read(self, link: PaymentLink) -> PaymentLink:
        with self._database.read() as connection:
            return payments.get(link.tenant_id, connection, link.id) or link

    def _add(self, tenant: Tenant, connection: Connection, wish: Wish) -> PaymentLink:
        assert self.provider is not None
        assert LEAST_MICRO <= wish.amount_micro <= MOST_MICRO
        made_at = now()
        link = PaymentLink(
            id=wish.link_id or self._link_id(tenant.id, wish.request_key),
            tenant_id=tenant.id,
            amount_micro=wish.amount_micro,
            status="pending",
            customer_email=wish.customer_email or tenant.email or "",
            purpose=_PURPOSE.get(tenant.language, _PURPOSE["en"]).format(name=tenant.name),
            provider=self.provider.name,
            provider_payment_id=None,
            payment_url=None,
            redirect_url=wish.redirect_url,
            fail_redirect_url=wish.fail_redirect_url,
            expires_at=made_at + timedelta(seconds=self._settings.payment_lifetime_s),
            paid_at=None,
            next_check_at=None,
            checks=0,
            created_at=made_at,
            updated_at=made_at,
        )
        if payments.create(tenant.id, connection, link):
            return link
        there = payments.get(tenant.id, connection, link.id)
        if there is not None and _is_unfinished(there, link):
            return there
        link = replace(link, id=new_id())
        made = payments.create(tenant.id, connection, link)
        assert made, "a new id is free"
        return link

    def _link_id(self, tenant_id: str, request_key: str | None) -> str:
        """The same for the same request, so that it finds what an earlier try of it began."""
        if not request_key:
            return new_id()
        digest = self._keyring.hash(f"payment link of {tenant_id} by {request_key}")
        return str(uuid.UUID(hex=digest[:32], version=4))

    def _token(self, link_id: str) -> str:
        return uuid.UUID(link_id).hex + self._keyring.hash(f"payment page of {link_id}")[:_MAC_CHARACTERS]


def settle(
    tenant_id: str, connection: Connection, link: PaymentLink, outcome: Outcome, *, payment_id: str | None
) -> bool:
    """Moves a link by what its provider says; a payment is credited by the one transaction that makes it paid."""
    if outcome == "pending":
        return False
    if outcome != "paid":
        return payments.mark_ended(tenant_id, connection, link.id, status=outcome)
    if not payments.mark_paid(tenant_id, connection, link.id, payment_id=payment_id):
        return False
    ledger.credit(
        tenant_id,
        connection,
        key=f"payment:{link.id}",
        amount_micro=link.amount_micro,
        source="payment",
        source_ref=link.id,
        description=link.purpose,
    )
    details = {"amount_rub": ledger.shown(link.amount_micro), "provider": link.provider}
    actor = f"payment provider {link.provider}"
    audit.add(tenant_id, connection, actor=actor, action="payment.received", subject=link.id, details=details)
    meters.PAID.labels(link.provider).inc(link.amount_micro / MICRO)
    log.info("a payment was received", tenant_id=tenant_id, link_id=link.id, provider=link.provider)
    return True


def _fits(link: PaymentLink, state: PaymentState) -> bool:
    """A payment of our shop, made for this link, of its amount, and not a second one."""
    return (
        state.is_ours
        and state.link_id == link.id
        and link.provider_payment_id in (None, state.payment_id)
        and (state.amount_micro, state.currency) == (link.amount_micro, "RUB")
    )


def _is_unfinished(there: PaymentLink, wanted: PaymentLink) -> bool:
    """Whether `there` is the link of the same wish, left before its payment was known."""
    wish = ("amount_micro", "customer_email", "provider", "redirect_url", "fail_redirect_url")
    same = all(getattr(there, name) == getattr(wanted, name) for name in wish)
    return same and there.payment_url is None and there.shown_status == "pending"


def _next_check(link: PaymentLink) -> datetime | None:
    """Of a question that is about to be asked; the last one is asked again where the provider does not answer it."""
    delay_s = min(FIRST_CHECK.total_seconds() * 2**link.checks, LONGEST_BACKOFF_S)
    at = now() + timedelta(seconds=delay_s)
    return at if at < link.expires_at + GIVEN_UP_AFTER else None


def _is_over(link: PaymentLink) -> bool:
    """Whether an answer of the provider was the last that its payment was asked for."""
    return now() >= link.expires_at + ASKED_FOR


def _hyphenated(digits: str) -> str:
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
