"""The official conformance suite against the running server, and the committed list of what it may find missing.

The suite knows no keys, so it comes by a relay that adds one. It wants an example server with tools, resources and
prompts of its own making; `conformance.toml` says of each check that fails for it which sentence of the contract it
would break to make it pass.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.manifest import DOCUMENTS
from tests.contract.material import keep_communication
from tests.support.key_relay import key_relay
from tests.support.npm_tools import CONFORMANCE, run_tool
from tests.support.server import RunningServer

REVISIONS = ("2025-11-25", "2026-07-28")
EXPECTED: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("conformance.toml").read_text())["expected"]
RESULTS = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\dZ-]+")


def expected_at(revision: str) -> set[str]:
    return {check for entry in EXPECTED for check in entry.get(revision, ())}


@pytest.fixture(scope="module")
def relayed(server: RunningServer) -> Iterator[str]:
    """The endpoint of an account that has a call and a document, for a caller without a key."""
    account = server.new_client("conformance")
    keep_communication(account, ("A", "Good morning."))
    account.add_document(account.new_space(), b"One sentence of text.", "a.txt")
    with key_relay(server.port, account.made.api_key) as url:
        yield url + "/mcp"


def verdicts(folder: Path) -> dict[str, str]:
    """The worst status of each check, by SCENARIO:CHECK."""
    order = ("SUCCESS", "INFO", "SKIPPED", "WARNING", "FAILURE")
    found: dict[str, str] = {}
    for path in folder.glob("*/checks.json"):
        name = RESULTS.fullmatch(path.parent.name)
        assert name, path
        for check in json.loads(path.read_text(encoding="utf-8")):
            key = f"{name['scenario']}:{check['id']}"
            found[key] = max(found.get(key, order[0]), check["status"], key=order.index)
    return found


@pytest.mark.proves("mcp.versions.negotiated", "mcp.transport.streamable-http")
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_suite_finds_wrong_what_the_contract_wants_otherwise_and_nothing_else(
    relayed: str, tmp_path: Path, revision: str
) -> None:
    expected = expected_at(revision)
    baseline, results = tmp_path / "expected.yaml", tmp_path / "results"
    # JSON is YAML.
    baseline.write_text(json.dumps({"server": sorted(expected)}), encoding="utf-8")
    arguments = ["--url", relayed, "--requirements", revision, "--expected-failures", str(baseline)]
    ended = run_tool(CONFORMANCE, ["server", *arguments, "--output-dir", str(results)], tmp_path)

    found = verdicts(results)
    failed = {check for check, verdict in found.items() if verdict in ("WARNING", "FAILURE")}
    counted = Counter(found.values())
    print(f"{revision}: {dict(counted)}, of them expected: {len(expected)}")
    assert counted["SUCCESS"] > len(expected) / 2, ended.stdout[-2000:]
    assert sorted(failed - expected) == [], "fails and is not expected to: mend it, or say why in conformance.toml"
    assert sorted(expected - failed) == [], "is expected to fail and does not: take it out of conformance.toml"
    assert ended.returncode == 0, ended.stdout[-4000:]


def test_each_expected_failure_has_its_reason_and_its_sentence_of_the_contract() -> None:
    for entry in EXPECTED:
        assert set(entry) <= {"because", "says", "source", *REVISIONS}, entry
        assert entry["because"].endswith(".")
        assert entry["says"]
        assert entry["source"].partition(",")[0] in DOCUMENTS
        assert any(entry.get(revision) for revision in REVISIONS)
    for revision in REVISIONS:
        listed = [check for entry in EXPECTED for check in entry.get(revision, ())]
        assert len(listed) == len(set(listed)), "a check is listed twice"
        assert all(re.fullmatch(r"[a-z0-9-]+:[a-z0-9-]+", check) for check in listed)
