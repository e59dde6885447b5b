"""The local model's child process: the real one, where its file is installed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag import local_model
from rag.language_model import LitellmModel, open_language_model
from rag.local_model import Endpoint, LocalModel, find_model
from store.errors import Unavailable, UpstreamFailed
from store.settings import load_settings

# litellm reads a pydantic attribute in a way that newer pydantic warns of.
pytestmark = pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning")
ROOT = Path(__file__).resolve().parents[2]


def installed() -> tuple[str, Path]:
    found = find_model(load_settings(_env_file=None, llm_model="local"))
    if found is None:
        pytest.skip("the local language model is not installed: parley models pull")
    return found


def eventually(holds: Callable[[], bool], within_s: float = 120.0) -> bool:
    deadline, pause = time.monotonic() + within_s, threading.Event()
    while not holds():
        if time.monotonic() > deadline:
            return False
        pause.wait(0.05)
    return True


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def local() -> Iterator[LocalModel]:
    name, file = installed()
    model = LocalModel(name, file, idle_s=600)
    yield model
    model.close()


def status_of(endpoint: Endpoint, key: str) -> int:
    request = urllib.request.Request(f"{endpoint.api_base}/models", headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.models
def test_many_first_questions_start_one_child_that_only_its_key_opens(local: LocalModel) -> None:
    with ThreadPoolExecutor(8) as pool:
        endpoints = set(pool.map(lambda _: local.ensure_running(), range(8)))
    assert len(endpoints) == 1
    endpoint = endpoints.pop()
    assert endpoint.api_base.startswith("http://127.0.0.1:")
    assert status_of(endpoint, endpoint.api_key) == 200
    assert status_of(endpoint, "guess") == 401
    assert endpoint.api_key not in Path(f"/proc/{endpoint.pid}/cmdline").read_text()
    assert endpoint.api_key not in Path(f"/proc/{endpoint.pid}/environ").read_text()
    local.close()
    assert not runs(endpoint.pid)
    with pytest.raises(Unavailable):
        local.ensure_running()


@pytest.mark.models
def test_a_child_killed_in_the_middle_of_an_answer_fails_it_and_the_next_question_works(local: LocalModel) -> None:
    settings = load_settings(_env_file=None, llm_model="local")

    async def killed() -> tuple[int | None, int | None, str]:
        model = LitellmModel(settings, "openai/local", local=local, is_local=True)
        stream = model.stream([{"role": "user", "content": "Напиши длинную сказку."}], max_tokens=600)
        await anext(stream)
        first = local.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        with pytest.raises(UpstreamFailed):
            async for _ in stream:
                pass
        hello = [{"role": "user", "content": "Напиши слово «да»."}]
        answer = "".join([piece.text async for piece in model.stream(hello, max_tokens=8)])
        second = local.pid
        await model.aclose()
        return first, second, answer

    first, second, answer = asyncio.run(killed())
    assert first != second
    assert answer


@pytest.mark.models
def test_a_child_that_nobody_asks_is_let_go_but_never_while_it_is_in_use() -> None:
    name, file = installed()
    local = LocalModel(name, file, idle_s=0.2)
    try:
        with local.in_use():
            pid = local.ensure_running().pid
            assert not eventually(lambda: local.pid is None, within_s=1.0)
        assert eventually(lambda: local.pid is None)
        assert eventually(lambda: not runs(pid))
    finally:
        local.close()


@pytest.mark.models
def test_the_child_does_not_outlive_a_server_that_is_killed() -> None:
    name, file = installed()
    program = (
        "import sys, threading\nfrom pathlib import Path\nfrom rag.local_model import LocalModel\n"
        "print(LocalModel(sys.argv[1], Path(sys.argv[2])).ensure_running().pid, file=sys.stderr, flush=True)\n"
        "threading.Event().wait()\n"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", program, name, str(file)], cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    with server:
        assert server.stderr is not None
        pid = int(server.stderr.readline())
        assert runs(pid)
        server.kill()
    assert eventually(lambda: not runs(pid))


def test_a_file_that_is_no_model_fails_the_start_and_not_the_server(tmp_path: Path) -> None:
    broken = tmp_path / "model.gguf"
    broken.write_bytes(b"GGUF" + bytes(1000))
    local = LocalModel("broken", broken)
    try:
        with pytest.raises(UpstreamFailed):
            local.ensure_running()
        assert local.pid is None
    finally:
        local.close()


def test_closing_ends_a_start_that_is_still_loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads_forever = "import sys, threading; sys.stdin.readline(); threading.Event().wait()"
    monkeypatch.setattr(local_model, "SERVER_COMMAND", (sys.executable, "-c", loads_forever))
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    local = LocalModel("slow", file)
    with ThreadPoolExecutor(2) as pool:
        start = pool.submit(local.ensure_running)
        assert eventually(lambda: local.pid is not None)
        pid = local.pid
        assert pid is not None
        closing = pool.submit(local.close)
        try:
            closing.result(timeout=30)  # a start may take START_TIMEOUT_S, four times as long
            with pytest.raises(Unavailable, match="stopping"):
                start.result(timeout=30)
        finally:
            if runs(pid):
                os.kill(pid, signal.SIGKILL)
    assert not runs(pid)


def test_closing_before_the_child_exists_ends_it_as_soon_as_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads_forever = "import sys, threading; sys.stdin.readline(); threading.Event().wait()"
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    local = LocalModel("slow", file)
    really_open = subprocess.Popen
    children: list[subprocess.Popen[bytes]] = []
    closing = threading.Thread(target=local.close)

    def opened(*_: object, **options: object) -> subprocess.Popen[bytes]:
        closing.start()  # finds no child, then waits for the start to end
        assert eventually(local._closed.is_set)
        children.append(really_open([sys.executable, "-c", loads_forever], **options))  # type: ignore[call-overload]
        return children[0]

    monkeypatch.setattr(subprocess, "Popen", opened)
    with ThreadPoolExecutor(1) as pool:
        start = pool.submit(local.ensure_running)
        try:
            with pytest.raises(Unavailable, match="stopping"):
                start.result(timeout=30)  # a start may take START_TIMEOUT_S, four times as long
            closing.join(30)
            assert not closing.is_alive()
        finally:
            for child in children:
                child.kill()
    assert children[0].returncode is not None


def test_a_file_that_is_gone_says_how_to_get_it(tmp_path: Path) -> None:
    local = LocalModel("gone", tmp_path / "model.gguf")
    with pytest.raises(Unavailable, match="parley models pull"):
        local.ensure_running()
    local.close()


@pytest.mark.models
def test_the_installed_model_is_what_the_default_settings_use() -> None:
    name, _ = installed()
    model = open_language_model(load_settings(_env_file=None, llm_model=""))
    assert model is not None
    assert (model.is_local, model.name, model.max_prompt_tokens) == (True, f"openai/{name}", 1400)
    assert json.loads(json.dumps(asyncio.run(model.supports_tools()))) is False
