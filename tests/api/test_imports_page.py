"""What docs/imports.md and docs/quality.md show runs: their commands as they stand there."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.api.test_calls_page import DOCS, run
from tests.contract.recordings import png
from tests.contract.test_imports_exports import ANSWER, MAIL, OTHER, mbox
from tests.support.server import Account

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


def commands(page: str) -> list[str]:
    return re.findall(r"```sh\n(curl .*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


def test_the_commands_of_the_imports_page_run(account: Account, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(png())
    (tmp_path / "support.mbox").write_bytes(mbox(MAIL, ANSWER, OTHER))
    found = commands("imports.md")
    assert len(found) == 5
    variables: dict[str, str] = {}
    for command in found:
        answer = run(command, tmp_path, account, **variables)
        assert answer.returncode == 0, f"{command}\n{answer.stderr}"
        if "photo.png" in command:
            variables = {"REF": json.loads(answer.stdout)["ref"]}
        if "support.mbox" in command:
            assert json.loads(answer.stdout)["imported"] == 2
    assert (tmp_path / "photo-again.png").read_bytes() == png()


def test_the_commands_of_the_quality_page_run(account: Account, tmp_path: Path) -> None:
    found = commands("quality.md")
    assert len(found) == 3
    for command in found:
        answer = run(command, tmp_path, account)
        assert answer.returncode == 0, f"{command}\n{answer.stderr}"
    items = json.loads(answer.stdout)["items"]
    assert [item["code"] for item in items if item["enabled"]] == ["complaint", "base_etiquette"]
