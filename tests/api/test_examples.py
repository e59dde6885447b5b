"""The programs in docs/examples run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.server import Account

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def test_the_mcp_client_example_finds_a_document(account: Account) -> None:
    space = account.new_space()
    record = account.add_document(space, "Возврат принимаем четырнадцать дней.".encode(), "возврат.txt")
    assert record["status"] == "success", record
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "mcp_client.py"), "возврат"],
        env={**os.environ, "PARLEY_URL": account.server.url, "PARLEY_KEY": account.made.api_key},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "search_documents" in run.stdout
    assert "четырнадцать дней" in run.stdout
