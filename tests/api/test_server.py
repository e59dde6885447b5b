"""The server as a process: on PostgreSQL, without models, its memory's contents, its end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.support.server import Account, RunningServer


def find(account: Account, query: str) -> list[str]:
    """Titles that search_documents finds."""
    answer = account.call_tool("search_documents", query=query)
    return [item["title"] for item in json.loads(answer["result"]["content"][0]["text"])["items"]]


@pytest.mark.postgresql
def test_the_same_program_runs_on_postgresql(postgresql_url: str, tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", database_url=postgresql_url)
    try:
        account = server.start().new_client("client")
        record = account.add_document(account.new_space(), "Склад закрыт по средам.".encode(), "склад.txt")
        assert record["status"] == "success", record
        assert find(account, "когда закрыт склад") == ["склад"]
        server.kill()
        server.start()
        assert find(account, "когда закрыт склад") == ["склад"]
        assert not (tmp_path / "data" / "parley.sqlite3").exists()
        assert not (tmp_path / "data" / "jobs.sqlite3").exists()
    finally:
        server.close()


def test_without_any_model_documents_are_found_by_words_and_calls_end_with_a_clear_error(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data", cache_dir=str(tmp_path / "no models"))
    try:
        account = server.start().new_client("client")
        account.add_document(account.new_space(), "Склад закрыт по средам.".encode(), "склад.txt")
        assert find(account, "склад по средам") == ["склад"]
        accepted = account.upload_audio(tone()).json()
        record = account.finished_task(accepted["task_id"])
        assert record["transcription_status"] == "error"
        assert "model" in record["transcription_error_message"]
    finally:
        server.close()


def tone() -> bytes:
    """A second of a 440 Hz tone as a WAV file."""
    import io
    import math
    import struct
    import wave

    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"".join(struct.pack("<h", round(8000 * math.sin(n * 0.3455))) for n in range(8000)))
    return out.getvalue()


def test_the_server_process_loads_no_torch_and_no_speech_engine(server: RunningServer, account: Account) -> None:
    account.add_document(account.new_space(), b"One sentence of text.", "a.txt")
    find(account, "sentence")
    assert server.process is not None
    mapped = Path(f"/proc/{server.process.pid}/maps").read_text()
    assert "qdrant_edge" in mapped, "the maps show what is loaded"
    for library in ("/torch/", "ctranslate2", "/av/", "pypdfium2"):
        assert library not in mapped


def test_importing_the_app_imports_no_heavy_library() -> None:
    heavy = ["torch", "litellm", "av", "faster_whisper", "pypdfium2"]
    code = f"import sys, api.app; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "[]"


def test_a_server_that_is_asked_to_stop_ends_with_status_0_and_leaves_no_process(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data")
    account = server.start().new_client("client")
    account.add_document(account.new_space(), b"One sentence of text.", "a.txt")
    assert server.process is not None
    children = server.child_ids()
    assert children
    assert server.stop() == 0
    assert [child for child in children if Path(f"/proc/{child}").exists()] == []
    server.close()


def test_the_server_may_open_as_many_files_as_the_system_lets_it(server: RunningServer) -> None:
    assert server.process is not None
    limits = Path(f"/proc/{server.process.pid}/limits").read_text().splitlines()
    (open_files,) = (line.split()[3:5] for line in limits if line.startswith("Max open files"))
    assert open_files[0] == open_files[1]


def test_metrics_count_requests_by_route_and_not_by_address(server: RunningServer, account: Account) -> None:
    account.get("/public/v1/kb/documents/0190a0a0-0000-7000-8000-000000000000")
    text = httpx2.get(server.url + "/metrics").text
    assert 'route="/public/v1/kb/documents/{document_id}",status="404"' in text
    assert "0190a0a0" not in text
    assert "parley_calls_unfinished" in text
    assert "parley_index_tenants" in text
