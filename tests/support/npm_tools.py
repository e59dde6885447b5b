"""The official MCP tools of npm, where `scripts/install-mcp-tools` put them, run by the Node of the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

PACKAGES = Path(sys.prefix) / "mcp-tools" / "node_modules" / "@modelcontextprotocol"
CONFORMANCE = PACKAGES / "conformance" / "dist" / "index.js"
INSPECTOR = PACKAGES / "inspector" / "clients" / "launcher" / "build" / "index.js"
NODE = Path(sys.executable).with_name("node")
LONGEST_RUN_S = 120.0


def run_tool(program: Path, arguments: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
    """Runs a tool to its end. What it keeps for its user goes into `home`; the test is skipped where it is not
    installed."""
    if not NODE.exists() or not program.is_file():
        pytest.skip("the MCP tools of npm are not installed (scripts/install-mcp-tools)")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1"}
    return subprocess.run(
        [str(NODE), str(program), *arguments],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONGEST_RUN_S,
        check=False,
    )
