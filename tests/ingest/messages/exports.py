"""Exports that the tests write themselves."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parent / "samples"
START = datetime(2026, 3, 3, 7, 15, tzinfo=UTC)
Read = Callable[..., Any]


def mail(
    text: str,
    *,
    number: int = 1,
    sender: str = "Anna <anna@client.example>",
    to: str = "sales@roof.example",
    subject: str = "Roof",
    answers: int | None = None,
    **headers: str,
) -> EmailMessage:
    """The `number` is its Message-ID's, and how many hours after START it was sent."""
    message = EmailMessage()
    message["Message-ID"] = f"<{number}@mail.example>"
    message["From"] = sender
    message["To"] = to
    message["Subject"] = subject
    message["Date"] = format_datetime(START + timedelta(hours=number - 1))
    if answers is not None:
        message["In-Reply-To"] = f"<{answers}@mail.example>"
    for name, value in headers.items():
        del message[name.replace("_", "-")]
        message[name.replace("_", "-")] = value
    message.set_content(text)
    return message


def box(*messages: EmailMessage | bytes) -> bytes:
    parts = [message if isinstance(message, bytes) else message.as_bytes() for message in messages]
    return b"".join(b"From - Tue Mar  3 07:15:00 2026\n" + part.rstrip(b"\n") + b"\n\n" for part in parts)


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in files.items():
            target.writestr(name, data)
    return path
