"""The proxy of `deploy/`, run: who gets where."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.support.receiver import receiving
from tests.support.server import free_port

CADDY = Path(sys.prefix) / "linters" / "bin" / "caddy"
CONFIG = Path(__file__).parents[2] / "deploy" / "Caddyfile"
WAIT_S = 60.0


@contextmanager
def running_proxy(folder: Path, upstreams: Sequence[str]) -> Iterator[str]:
    """The proxy of `deploy/`, over HTTP and before these processes; its address."""
    port = free_port()
    environment = {
        **os.environ,
        "DOMAIN": f"http://127.0.0.1:{port}",
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
    }
    adapt = [CADDY, "adapt", "--adapter", "caddyfile", "--config", CONFIG]
    config = json.loads(subprocess.run(adapt, env=environment, capture_output=True, check=True).stdout)
    config["admin"] = {"disabled": True}
    for handler in _handlers(config):
        if handler.get("handler") == "reverse_proxy":
            del handler["dynamic_upstreams"]
            handler["upstreams"] = [{"dial": each} for each in upstreams]
    (folder / "caddy.json").write_text(json.dumps(config), encoding="utf-8")
    with subprocess.Popen([CADDY, "run", "--config", folder / "caddy.json"], env=environment) as proxy:
        try:
            deadline = time.monotonic() + WAIT_S
            while not _listens(port):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            proxy.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _handlers(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _handlers(each)


def test_who_asks_again_with_a_key_gets_to_the_same_process(tmp_path: Path) -> None:
    if not CADDY.exists():
        pytest.skip("the linters are not installed (scripts/install-linters)")
    with receiving() as one, receiving() as other:
        addresses = [urlsplit(each.url("/")).netloc for each in (one, other)]
        with running_proxy(tmp_path, addresses) as proxy:
            for key in range(20):
                for _ in range(2):
                    answer = httpx2.post(proxy + "/chats", headers={"Idempotency-Key": f"key {key}"})
                    assert answer.status_code == 200
            for _ in range(20):
                assert httpx2.get(proxy + "/page").status_code == 200
    keys = [{each.headers["idempotency-key"] for each in by.requests if each.path == "/chats"} for by in (one, other)]
    assert not keys[0] & keys[1]
    assert sum(map(len, keys)) == 20
    assert all(keys), "each has some"
    assert all(any(each.path == "/page" for each in by.requests) for by in (one, other))
