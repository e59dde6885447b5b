"""`parley demo` as a process: what it leaves behind when it is asked to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.calls import wait_until
from tests.support.server import children_of


def test_a_demo_that_is_asked_to_end_leaves_no_server_behind(tmp_path: Path) -> None:
    own = {"PARLEY_DATA_DIR": str(tmp_path / "data"), "PARLEY_PORT": "9", "PARLEY_LLM_MODEL": "none"}
    environment = {**os.environ, **own}
    command = [sys.executable, "-m", "api.command_line"]
    subprocess.run([*command, "migrate", "--quiet"], env=environment, check=True)
    loading = subprocess.Popen([*command, "demo", "--quiet"], env=environment, stdin=subprocess.DEVNULL)
    try:
        wait_until(lambda: bool(children_of(loading.pid)))
        (server,) = children_of(loading.pid)
        time.sleep(1.0)  # it may be asked at any moment: here as its server starts
        loading.send_signal(signal.SIGTERM)
        assert loading.wait(timeout=90) != 0
        wait_until(lambda: not Path(f"/proc/{server}").exists())
    finally:
        loading.kill()
