"""The official inspector's command line against the running server: it lists and calls every tool."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.contract.access import SECRET, TOOLS, Owner, make_owner
from tests.support.npm_tools import INSPECTOR, run_tool
from tests.support.server import Account, RunningServer

ERAS = ("legacy", "modern", "auto")
TOOL_FAILED, REFUSED = 5, 3  # exit statuses of the inspector


@pytest.fixture(scope="module")
def owner(server: RunningServer) -> Owner:
    """Tests only read it."""
    return make_owner(server.new_client("owner for the inspector"))


def inspect(
    account: Account, home: Path, method: str, *arguments: str, era: str = "legacy", header: str | None = None
) -> subprocess.CompletedProcess[str]:
    named = header or f"Authorization: Bearer {account.made.api_key}"
    options = ["--server-url", account.server.url + "/mcp", "--transport", "http", "--header", named]
    options += ["--protocol-era", era, "--stored-auth-only", "--format", "json", "--quiet", "--method", method]
    return run_tool(INSPECTOR, ["--cli", *options, *arguments], home)


def result_of(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)["result"]
    return found


def call(account: Account, home: Path, name: str, asked: dict[str, Any], era: str) -> subprocess.CompletedProcess[str]:
    return inspect(account, home, "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(asked), era=era)


@pytest.mark.proves("mcp.tools-list.shape")
@pytest.mark.parametrize("era", ERAS)
def test_every_tool_is_listed_and_its_schemas_are_portable(owner: Owner, tmp_path: Path, era: str) -> None:
    """With --strict, what some model providers would refuse in a schema ends the inspector with a status of its own."""
    tools = result_of(inspect(owner.account, tmp_path, "tools/list", "--strict", era=era))["tools"]
    assert {tool["name"] for tool in tools} == set(TOOLS)
    assert all(tool["description"] and tool["inputSchema"]["type"] == "object" for tool in tools)
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)


@pytest.mark.proves("mcp.tools-call.result")
@pytest.mark.parametrize(("name", "era"), [(name, ERAS[number % 2]) for number, name in enumerate(TOOLS)])
def test_every_tool_is_called(owner: Owner, tmp_path: Path, name: str, era: str) -> None:
    """By the fullest of its examples, the eras by turns: the official client calls each in every version."""
    asked, finds = max(TOOLS[name], key=lambda example: len(example[0]))
    result = result_of(call(owner.account, tmp_path, name, owner.filled(asked), era))
    assert not result.get("isError", False)
    assert isinstance(result["structuredContent"], dict)
    assert not finds or SECRET in json.dumps(result["structuredContent"])


@pytest.mark.parametrize("era", ERAS[:2])
def test_a_refused_call_ends_with_what_the_agent_is_told(owner: Owner, tmp_path: Path, era: str) -> None:
    ended = call(owner.account, tmp_path, "list_kb_spaces", {"limit": 0}, era)
    assert ended.returncode == TOOL_FAILED
    assert "limit" in ended.stdout


@pytest.mark.parametrize("era", ERAS[:2])
def test_resources_and_prompts_are_listed_and_read(owner: Owner, tmp_path: Path, era: str) -> None:
    def asked(method: str, *arguments: str) -> dict[str, Any]:
        return result_of(inspect(owner.account, tmp_path, method, *arguments, era=era))

    resources = asked("resources/list")["resources"]
    assert asked("resources/templates/list")["resourceTemplates"]
    for kind in ("communications", "documents", "people"):
        uri = next(each["uri"] for each in resources if f"//{kind}/" in each["uri"])
        (content,) = asked("resources/read", "--uri", uri)["contents"]
        assert SECRET in content["text"], uri
    for prompt in asked("prompts/list")["prompts"]:
        needed = [f"{each['name']}={SECRET}" for each in prompt["arguments"] if each.get("required")]
        options = ["--prompt-args", *needed] if needed else []
        assert asked("prompts/get", "--prompt-name", prompt["name"], *options)["messages"]


@pytest.mark.proves("mcp.auth.x-api-key", "mcp.auth.401-body")
def test_the_key_goes_into_either_header_and_a_wrong_one_is_refused(owner: Owner, tmp_path: Path) -> None:
    key = owner.account.made.api_key
    assert result_of(inspect(owner.account, tmp_path, "tools/list", header=f"X-API-Key: {key}"))["tools"]
    refused = inspect(owner.account, tmp_path, "tools/list", header="Authorization: Bearer sk_live_nobody")
    assert refused.returncode == REFUSED
    assert json.loads(refused.stderr.splitlines()[-1])["error"]["code"] == "auth_required"
