"""docs/mcp.md says what is true: its tables against the code, its examples against a running server."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS

from mcp_server.endpoint import MAX_BODY_BYTES
from mcp_server.prompts import PROMPTS
from mcp_server.resources import EVENTS_TEMPLATE, KINDS, PAGE, template_of
from mcp_server.tools import make_registry
from mcp_server.tools.periods import MOST_DAYS
from store.settings import Settings
from tests.support.npm_tools import INSPECTOR, NODE, PACKAGES
from tests.support.server import Account

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS / "examples"
TEXT = (DOCS / "mcp.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    """The part under a heading of the second level."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S)
    assert found is not None, heading
    return found[1]


def rows(heading: str) -> list[list[str]]:
    """The cells of the rows whose first one is code."""
    lines = [line for line in section(heading).splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_table_of_tools_has_every_tool_and_what_it_points_to() -> None:
    tools = {tool.name for tool in make_registry().tools}
    table = [row for row in rows("Tools") if len(row) == 3]
    assert {code(row[0])[0] for row in table} == tools
    named = {
        name for row in table for cell in row[1:] for name in code(cell) if re.match(r"(search|get|list|rank)_", name)
    }
    assert named <= tools
    assert {tool.name for tool in make_registry().tools if tool.feature == "qc"} == {"rank_qc", "get_qc_evaluation"}


def test_the_table_of_prompts_has_every_prompt_with_its_arguments() -> None:
    assert {code(row[0])[0]: code(row[1]) for row in rows("Prompts")} == {
        prompt.name: [argument.name for argument in prompt.arguments] for prompt in PROMPTS.values()
    }


def test_the_table_of_resources_has_every_template() -> None:
    templates = [*map(template_of, KINDS), EVENTS_TEMPLATE]
    assert [code(row[0])[0] for row in rows("Resources")] == templates


def test_the_versions_are_those_that_are_spoken() -> None:
    told = re.findall(r"^\| (\d{4}-\d\d-\d\d) \|", section("Protocol versions"), re.M)
    assert tuple(told) == tuple(SUPPORTED_PROTOCOL_VERSIONS)


def test_the_limits_are_those_of_the_code() -> None:
    limits = section("Limits")
    assert f"{Settings.model_fields['mcp_requests_per_minute'].default} a minute" in limits
    assert f"{MAX_BODY_BYTES // 1024 // 1024} MiB" in limits
    assert f"{MOST_DAYS:,} days" in limits
    assert f"of resources {PAGE}" in limits
    settings = {f"PARLEY_{name.upper()}" for name in Settings.model_fields}
    assert set(re.findall(r"PARLEY_(?:MCP|TOOL)\w+", TEXT)) <= settings


@pytest.mark.parametrize("number", range(len(blocks("json"))))
def test_a_configuration_is_json_that_names_the_endpoint_and_the_key(number: int) -> None:
    text = json.dumps(json.loads(blocks("json")[number]))
    assert re.search(r"(https://parley\.example\.com|\$\{PARLEY_URL\})/mcp", text)
    assert "Bearer" in text


@pytest.fixture
def shopkeeper(account: Account) -> Account:
    space = account.new_space()
    record = account.add_document(space, b"Refunds are paid within fourteen days.", "refunds.txt")
    assert record["status"] == "success", record
    return account


def run(command: list[str], account: Account, **more: str) -> str:
    """What the command prints, told where the server is by the page's variables."""
    told = {"PARLEY_URL": account.server.url, "PARLEY_KEY": account.made.api_key, "NO_COLOR": "1", **more}
    done = subprocess.run(command, env={**os.environ, **told}, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def shell_blocks(beginning: str) -> str:
    (block,) = [block for block in blocks("sh") if block.startswith(beginning)]
    return block


def test_the_curl_example_finds_a_document(shopkeeper: Account) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    answer = json.loads(run(["sh", "-c", shell_blocks("curl")], shopkeeper))
    assert "fourteen days" in answer["result"]["structuredContent"]["items"][0]["snippet"]


def test_the_inspector_examples_list_tools_and_find_a_document(shopkeeper: Account, tmp_path: Path) -> None:
    if not NODE.exists() or not INSPECTOR.is_file():
        pytest.skip("the MCP tools of npm are not installed (scripts/install-mcp-tools)")
    npx = tmp_path / "npx"
    npx.write_text(f'#!/bin/sh\nshift\nexec "{NODE}" "{INSPECTOR}" "$@"\n')
    npx.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    printed = run(["sh", "-ec", shell_blocks("npx @modelcontextprotocol")], shopkeeper, PATH=path, HOME=str(tmp_path))
    assert '"search_product_docs"' in printed
    assert "fourteen days" in printed


def test_the_typescript_example_finds_a_document(shopkeeper: Account, tmp_path: Path) -> None:
    if not NODE.exists() or not (PACKAGES / "client").is_dir():
        pytest.skip("the MCP tools of npm are not installed (scripts/install-mcp-tools)")
    # Node looks for packages beside the program.
    shutil.copy(EXAMPLES / "mcp_client.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(PACKAGES.parent)
    printed = run([str(NODE), str(tmp_path / "mcp_client.mjs"), "refunds"], shopkeeper)
    assert "search_product_docs" in printed
    assert "fourteen days" in printed


def test_the_langchain_example_finds_a_document(shopkeeper: Account) -> None:
    python = os.environ.get("LANGCHAIN_PYTHON", sys.executable)
    if python == sys.executable and importlib.util.find_spec("langchain_mcp_adapters") is None:
        pytest.skip("langchain-mcp-adapters wants an older SDK: LANGCHAIN_PYTHON names an environment that has it")
    printed = run([python, str(EXAMPLES / "mcp_langchain.py"), "refunds"], shopkeeper)
    assert "search_product_docs" in printed
    assert "fourteen days" in printed
