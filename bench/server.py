"""The server's own figures: import, start and restart, memory, answers of /healthz while a call is recognised."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx2

from tests.support.audio import call_clip
from tests.support.server import RunningServer

PAUSE_S = 0.01


def main() -> int:
    rows: list[tuple[str, str]] = [("import of the app", f"{import_s():.2f} s")]
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(Path(folder))
        rows.append(("first start to ready", f"{timed(server.start):.2f} s"))
        try:
            rows.append(("idle server, RSS", f"{rss_mb(server):.0f} MB"))
            rows.append(("torch loaded in the server", "yes" if loads_torch(server) else "no"))
            rows += healthz_rows(server)
            rows.append(("server after a call, RSS", f"{rss_mb(server):.0f} MB"))
            server.stop()
            rows.append(("restart to ready", f"{timed(server.start):.2f} s"))
        finally:
            server.close()
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    return 0


def import_s() -> float:
    """Seconds that `import api.app` takes in a fresh process, interpreter start taken off."""

    def best(code: str) -> float:
        return min(timed(lambda: subprocess.run([sys.executable, "-c", code], check=True)) for _ in range(3))

    return best("import api.app") - best("pass")


def timed(function: object) -> float:
    assert callable(function)
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def rss_mb(server: RunningServer) -> float:
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1000


def loads_torch(server: RunningServer) -> bool:
    assert server.process is not None
    return "torch" in Path(f"/proc/{server.process.pid}/maps").read_text()


def healthz_rows(server: RunningServer) -> list[tuple[str, str]]:
    """Asks /healthz again and again over one connection from the upload of a call until its end."""
    account = server.new_client("bench")
    times: list[float] = []
    done = threading.Event()

    def ask() -> None:
        with httpx2.Client(base_url=server.url) as http:
            while not done.is_set():
                times.append(timed(lambda: http.get("/healthz")))
                time.sleep(PAUSE_S)

    asking = threading.Thread(target=ask)
    asking.start()
    began = time.perf_counter()
    accepted = account.upload_audio(call_clip("01"), "call.wav", language="ru").json()
    record = account.finished_task(accepted["task_id"])
    took_s = time.perf_counter() - began
    done.set()
    asking.join()
    assert record["transcription_status"] == "success", record
    audio_s = record["transcription_result_body"]["audio_duration_ms"] / 1000
    times.sort()
    at = {share: times[int(len(times) * share)] * 1000 for share in (0.5, 0.99)}
    return [
        ("a demo call, two channels, by the server", f"{took_s:.1f} s for {audio_s:.0f} s ({took_s / audio_s:.2f})"),
        (
            f"/healthz meanwhile ({len(times)} requests)",
            f"p50 {at[0.5]:.1f}, p99 {at[0.99]:.1f}, most {times[-1] * 1000:.1f} ms",
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())
