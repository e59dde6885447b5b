"""Everything a running server holds, made once and handed to every request."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.keys import Keyring
from accounts.payments import Payments
from chat.agent import Agent
from chat.answers import Answers
from ingest.vision.supervisor import CameraSupervisor
from ingest.workshop import Workshop
from mcp_server.call_log import CallLog
from mcp_server.registry import Registry
from store.database import Database
from store.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    keyring: Keyring
    workshop: Workshop
    tools: Registry
    agent: Agent
    answers: Answers
    payments: Payments
    calls: CallLog
    cameras: CameraSupervisor

    @property
    def database(self) -> Database:
        return self.workshop.database
