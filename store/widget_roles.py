"""Who speaks in a conversation of the site widget; apart from its tables, for child processes read it too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Role = Literal["visitor", "agent", "operator"]
SIDES: Mapping[Role, Literal["client", "staff"]] = {"visitor": "client", "agent": "staff", "operator": "staff"}
"""Of the labels in such a conversation, which are the roles: its people are no participants."""
