"""tools/call under load: what one is in each protocol version, and one of several servers that are asked."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2

from bench.load import Answered, Load, run_load

OLDEST, HANDSHAKE, NEWEST = "2024-11-05", "2025-11-25", "2026-07-28"
VERSIONS = (OLDEST, HANDSHAKE, NEWEST)


@dataclass(frozen=True)
class ToolCalls:
    """One tool with arguments that are taken in turn, over one protocol version."""

    version: str
    tool: str
    arguments: Sequence[dict[str, Any]]

    @property
    def headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json, text/event-stream"}
        if self.version != OLDEST:
            headers["MCP-Protocol-Version"] = self.version
        if self.version == NEWEST:
            headers |= {"Mcp-Method": "tools/call", "Mcp-Name": self.tool}
        return headers

    def bodies(self) -> list[str]:
        return [json.dumps(self._body(number, each)) for number, each in enumerate(self.arguments)]

    def _body(self, number: int, arguments: dict[str, Any]) -> dict[str, Any]:
        params: dict[str, Any] = {"name": self.tool, "arguments": arguments}
        if self.version == NEWEST:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": NEWEST,
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@dataclass
class Served:
    """A server that answers tool calls, and what it took for them. `keys` of one account are sent in turn, each within
    the limit of a key."""

    name: str
    process_id: int
    port: int
    keys: Sequence[str]
    rounds: list[Answered] = field(default_factory=list)
    cpu_s: float = 0.0
    _sent: int = 0

    def ask(self, calls: ToolCalls, seconds: float, connections: int, *, counts: bool = True) -> None:
        before = _cpu_s(self.process_id)
        # Begins elsewhere each time, so that no key is sent more often than the others.
        first = self._sent % len(self.keys)
        keys = [*self.keys[first:], *self.keys[:first]]
        load = Load("127.0.0.1", self.port, ["/mcp"], calls.headers, seconds, connections, calls.bodies(), keys)
        answered = run_load(load)
        if counts:
            self.rounds.append(answered)
            self.cpu_s += _cpu_s(self.process_id) - before
        self._sent += answered.requests

    def found(self, calls: ToolCalls) -> dict[str, Any]:
        """The object that the first of the calls finds."""
        answer = httpx2.post(
            f"http://127.0.0.1:{self.port}/mcp",
            content=calls.bodies()[0],
            headers=self.headers(calls),
            timeout=60,
        )
        result = answer.json().get("result")
        assert result is not None, answer.text[:2000]
        assert not result.get("isError", False), answer.text[:2000]
        text: str = result["content"][0]["text"]
        structured: dict[str, Any] | None = result.get("structuredContent")
        found: dict[str, Any] = structured if structured is not None else json.loads(text)
        return found

    def forget(self) -> None:
        self.rounds, self.cpu_s = [], 0.0

    def taken(self) -> Served:
        """What was measured so far, which is forgotten here."""
        measured = replace(self)
        self.forget()
        return measured

    @staticmethod
    def joined(several: Sequence[Served]) -> Served:
        """What was measured of each, together."""
        rounds = [each for one in several for each in one.rounds]
        return replace(several[0], rounds=rounds, cpu_s=sum(one.cpu_s for one in several))

    def headers(self, calls: ToolCalls) -> dict[str, str]:
        """Of one request, or of a few, with the next key."""
        self._sent += 1
        authorization = f"Bearer {self.keys[self._sent % len(self.keys)]}"
        return {**calls.headers, "Authorization": authorization, "Content-Type": "application/json"}

    @property
    def per_s(self) -> float:
        return statistics.median(each.per_s for each in self.rounds)

    @property
    def cpu_ms(self) -> float:
        """Of the server's processor time, a call."""
        return self.cpu_s * 1000 / sum(each.requests for each in self.rounds)

    def at(self, name: str) -> float:
        """The median of `p50_ms`, `p95_ms`, `p99_ms` or `bytes_each` over the rounds."""
        return float(statistics.median(getattr(each, name) for each in self.rounds))


def _cpu_s(process_id: int) -> float:
    """Processor time of a process and its threads so far."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
