"""Mail to people of the cabinet: over SMTP, or into the log of a server that only its own machine reaches."""

from __future__ import annotations

import re
import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formataddr, formatdate, make_msgid, parseaddr

import structlog

from store import meters
from store.errors import UpstreamFailed
from store.settings import Settings

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Letter:
    """A short plain text to one address. `link` is its one-time link, which the text holds too."""

    to: str
    subject: str
    text: str
    link: str


def send(settings: Settings, letter: Letter) -> None:
    """Hands a letter over to the mail server. Raises UpstreamFailed mail_failed.

    Without a mail server the link is written into the log of whoever tries Parley out on a machine of their own; where
    others reach it, its log may go to more people than its links are for.
    """
    if not settings.smtp_host:
        if not settings.is_at_home:
            log.error("a mail could not be sent: no mail server is set up (PARLEY_SMTP_HOST)")
            meters.LETTERS.labels("failed").inc()
            raise UpstreamFailed("No mail server is set up.", code="mail_failed")
        log.warning("no mail server is set up, so here is the link", to=letter.to, link=letter.link)
        return
    try:
        with _connected(settings) as server:
            if settings.smtp_user:
                server.login(settings.smtp_user, settings.smtp_password.get_secret_value())
            server.send_message(_message(settings, letter))
        meters.LETTERS.labels("sent").inc()
    except (OSError, ValueError, smtplib.SMTPException) as error:
        # The server's own words may hold what it was sent.
        code = getattr(error, "smtp_code", None)
        log.error("a mail could not be sent", host=settings.smtp_host, error=type(error).__name__, code=code)
        meters.LETTERS.labels("failed").inc()
        raise UpstreamFailed("The mail server did not take the letter.", code="mail_failed") from error


def _connected(settings: Settings) -> smtplib.SMTP:
    wait_s = settings.smtp_timeout_s
    if settings.smtp_security == "tls":
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(settings.smtp_host, settings.smtp_port or 465, timeout=wait_s, context=context)
    server = smtplib.SMTP(settings.smtp_host, settings.smtp_port or 587, timeout=wait_s)
    if settings.smtp_security == "starttls":
        try:
            server.starttls(context=ssl.create_default_context())
        # Whatever it was, the connection is not left open.
        except BaseException:
            server.close()
            raise
    return server


def _message(settings: Settings, letter: Letter) -> EmailMessage:
    name, address = parseaddr(settings.mail_from)
    address = address or f"parley@{settings.smtp_host}"
    message = EmailMessage()
    message["From"] = formataddr((name or "Parley", address))
    message["To"] = letter.to
    message["Subject"] = re.sub(r"[\x00-\x1f\x7f\u2028\u2029]+", " ", letter.subject)
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain=address.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"  # no answers of absent people
    message.set_content(letter.text)
    return message
