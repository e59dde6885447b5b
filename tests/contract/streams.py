"""Server-sent events as a test reads them."""

from __future__ import annotations

import json
from typing import Any

import httpx2


def events_of(answer: httpx2.Response) -> list[tuple[str, dict[str, Any]]]:
    """(event, data) of each event of a whole answer; comments that keep the connection open are left out."""
    found = []
    for block in answer.text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found
