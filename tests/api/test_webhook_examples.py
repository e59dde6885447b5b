"""The programs in docs/examples that check a webhook's signature, on a webhook that a real server sent."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.support.receiver import Received, receiving
from tests.support.server import Account, RunningServer, free_port

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Account, Received]]:
    """A test event as its receiver got it."""
    running = RunningServer(tmp_path_factory.mktemp("hooks"), allowed_networks="127.0.0.0/8")
    with receiving() as receiver:
        try:
            account = running.start().new_client("client")
            account.post("/public/v1/settings/webhook-test", json={"webhook_url": receiver.url()})
            yield account, receiver.wait("/hook")[0]
        finally:
            running.close()


def test_the_shell_example_tells_a_genuine_event_from_a_forged_one(sent: tuple[Account, Received]) -> None:
    account, received = sent

    def verify(body: bytes, key: str) -> tuple[int, bytes]:
        run = subprocess.run(
            [str(EXAMPLES / "verify_webhook.sh"), received.headers["x-webhook-signature"]],
            env={**os.environ, "PARLEY_KEY": key},
            input=body,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return run.returncode, run.stdout.strip()

    key = account.made.api_key
    assert verify(received.body, key) == (0, b"genuine")
    assert verify(received.body + b" ", key) == (1, b"forged")
    assert verify(received.body, key + "x") == (1, b"forged")


def test_the_python_example_takes_genuine_events_once_and_refuses_others(sent: tuple[Account, Received]) -> None:
    account, received = sent
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLES / "verify_webhook.py"), str(port)],
        env={**os.environ, "PARLEY_KEY": account.made.api_key},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_for(port)
        url = f"http://127.0.0.1:{port}/"
        headers = {name: value for name, value in received.headers.items() if name != "content-length"}
        for body, status in ((received.body, 200), (received.body, 200), (b'{"event":"forged"}', 401)):
            assert httpx2.post(url, content=body, headers=headers).status_code == status
    finally:
        process.kill()
        printed, _ = process.communicate()
    assert printed.splitlines() == [f"{received.id} {{'event': 'webhook.test'}}"]


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=10).close()
            return
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "the example does not listen"
            time.sleep(0.02)


def test_the_documented_secret_for_libraries_is_the_one_that_signs(sent: tuple[Account, Received]) -> None:
    account, received = sent
    page = (EXAMPLES.parent / "webhooks.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith("echo whsec_")]
    environment = {**os.environ, "PARLEY_KEY": account.made.api_key}
    said = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, timeout=60, check=True)
    secret = base64.b64decode(said.stdout.strip().removeprefix("whsec_"))
    assert secret.decode() == hashlib.sha256(account.made.api_key.encode()).hexdigest()
    content = f"{received.id}.{received.headers['webhook-timestamp']}.".encode() + received.body
    signature = base64.b64encode(hmac.digest(secret, content, "sha256")).decode()
    assert received.headers["webhook-signature"] == f"v1,{signature}"
