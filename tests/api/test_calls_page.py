"""What docs/calls.md shows runs: its commands as they stand there, and its program."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.speech.recognise import choose_engine
from store.settings import load_settings
from store.weights import ModelMissing
from tests.contract.recordings import tone, wav
from tests.support.audio import call_clip
from tests.support.server import Account, RunningServer

DOCS = Path(__file__).parents[2] / "docs"
ALL = re.findall(r"```sh\n(curl .*?)```", (DOCS / "calls.md").read_text(), re.DOTALL)
COMMANDS, OF_A_TEXT = ALL[:8], ALL[8:]


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """A server of its own, without a model: what the page sends is accepted, and ends in error."""
    folder = tmp_path_factory.mktemp("calls-page")
    running = RunningServer(folder / "data", cache_dir=str(folder / "no-models"))
    return running.new_client("client")


def run(command: str, folder: Path, account: Account, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PARLEY_URL": account.server.url, "PARLEY_KEY": account.made.api_key, **variables}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_commands_of_the_page_run(caller: Account, tmp_path: Path) -> None:
    (tmp_path / "call.wav").write_bytes(wav(tone(1.0)))
    variables: dict[str, str] = {}
    caller.server.start()
    try:
        for command in COMMANDS:
            answer = run(command, tmp_path, caller, **variables)
            if "mode=sync" in command:
                assert "502" in answer.stderr  # there is no model
                continue
            assert answer.returncode == 0, f"{command}\n{answer.stderr}"
            if "call.wav" in command:
                accepted = json.loads(answer.stdout)
                variables = {"TASK_ID": accepted["task_id"], "COMMUNICATION_ID": accepted["communication_id"]}
        assert (tmp_path / "part.bin").read_bytes() == wav(tone(1.0))[:1024]
    finally:
        caller.server.close()


@pytest.mark.models
def test_the_program_of_the_page_prints_who_said_what(account: Account, tmp_path: Path) -> None:
    try:
        choose_engine(load_settings())
    except ModelMissing as missing:
        pytest.skip(str(missing))
    path = tmp_path / "call.wav"
    path.write_bytes(call_clip("04", 0, 11))
    command = f"{sys.executable} {DOCS / 'examples' / 'transcribe_call.py'} {path}"
    answer = run(command, tmp_path, account)
    assert answer.returncode == 0, answer.stderr
    assert re.search(r"^00:0\d SPEAKER_00: .*[Pp]olar", answer.stdout, re.MULTILINE), answer.stdout
    assert re.search(r"^00:\d\d SPEAKER_01: ", answer.stdout, re.MULTILINE), answer.stdout
    (call,) = account.post("/public/v1/tools/search_communications", json={}).json()["items"]
    assert OF_A_TEXT
    for each in OF_A_TEXT:
        answer = run(each, tmp_path, account, COMMUNICATION_ID=call["id"])
        assert answer.returncode == 0, f"{each}\n{answer.stderr}"
