"""Broken, hostile and odd files through the whole server: each ends well or in a listed error, and it goes on."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from tests.contract.mcp import found_by
from tests.contract.test_knowledge import DOCUMENTS
from tests.soak.conftest import SMALL, Size
from tests.soak.odd_documents import odd_files
from tests.support.document_state import document_jobs, kept
from tests.support.server import RunningServer

pytestmark = pytest.mark.soak

CODES = {"unsupported_type", "encrypted", "empty", "too_large", "unreadable", "fetch_failed"}
"""Without `internal_error`: a file is not what the server fails by."""
HEALTHY_S, HEALTHY_SOON_S = 5.0, 60.0
"""As it must be, and where the machine is busy with other tests."""
WAIT_S = 1800.0


def test_odd_files_end_well_or_in_a_listed_error_and_the_server_does_not_notice(
    own_server: RunningServer, size: Size, chance: random.Random, capsys: pytest.CaptureFixture[str]
) -> None:
    account = own_server.new_client("client")
    space_id = account.new_space()
    process = own_server.process
    over, answers = threading.Event(), Counter[int]()
    longest_s = 0.0
    timeout_s = HEALTHY_SOON_S if size is SMALL else HEALTHY_S

    def look_after() -> None:
        nonlocal longest_s
        with httpx2.Client() as client:
            while not over.wait(0.05):
                began = time.monotonic()
                answers[client.get(own_server.url + "/healthz", timeout=timeout_s).status_code] += 1
                longest_s = max(longest_s, time.monotonic() - began)

    ended: Counter[str] = Counter()
    with ThreadPoolExecutor(1) as pool, document_jobs(own_server) as jobs:
        looking = pool.submit(look_after)
        try:
            accepted: dict[str, str] = {}
            for name, content in odd_files(size.odd_documents, chance):
                answer = account.upload_document(space_id, content, name)
                assert answer.status_code == 202, (name, answer.text)
                accepted[answer.json()["id"]] = name
            jobs.wait(WAIT_S)
            for document_id, name in accepted.items():
                record = account.finished_document(document_id)
                code = record["error_code"]
                assert code in CODES if record["status"] == "error" else code is None, (name, record)
                assert record["status"] == "success" or record["error_message"], (name, record)
                assert (record["chunk_count"] > 0) == (record["status"] == "success"), (name, record)
                assert str(own_server.data_dir) not in str(record)
                ended[code or "success"] += 1
        finally:
            over.set()
        looking.result()
    assert own_server.process is process
    assert process is not None
    assert process.poll() is None
    assert set(answers) == {200}
    # And it works as before.
    record = account.add_document(space_id, "Пароль от сейфа: гагара.".encode(), "гагара.txt")
    assert record["status"] == "success"
    assert any("гагара" in item["snippet"] for item in found_by(account, "search_documents", query="гагара")["items"])
    assert account.get(f"{DOCUMENTS}/{record['id']}").status_code == 200
    own_server.stop()
    kept(account).assert_whole()
    with capsys.disabled():
        print(f"\n{sum(ended.values())} files: {dict(ended)}; /healthz at most {longest_s * 1000:.0f} ms")
