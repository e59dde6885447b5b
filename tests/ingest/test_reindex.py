"""A lost index is made again from the store."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

from tests.support.server import RunningServer

WAIT_S = 60.0


def test_an_index_that_was_lost_is_made_again_at_the_next_start(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "data")
    try:
        account = server.start().new_client("client")
        space = account.new_space()
        account.add_document(space, "Пароль от склада меняют по пятницам.".encode(), "склад.txt")
        server.stop()
        shutil.rmtree(server.data_dir / "index")
        server.start()
        deadline = time.monotonic() + WAIT_S
        while True:
            answer = account.call_tool("search_documents", query="пароль от склада")
            items = json.loads(answer["result"]["content"][0]["text"])["items"]
            if items or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        assert [item["title"] for item in items] == ["склад"]
    finally:
        server.close()
