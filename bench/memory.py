"""Peak memory: a call of three hours against one of ten minutes, and the server during a 1 GB upload.

    python -m bench.memory [--whole]

Without --whole: what comes before recognition (decoding, channels, voice activity), each length in a process of its
own. With it, besides: both calls through a real server, recognition included, every process of its tree watched; that
takes as long as recognising three hours does.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.support.server import Account, RunningServer

ROOT = Path(__file__).parents[1]
LENGTHS_S = (600, 3 * 3600)
UPLOAD_BYTES = 1_000_000_000
_PIECE = 1024 * 1024
_PREPARE = """
import sys
from pathlib import Path
from bench.memory import peak_mb
from ingest.speech.transcribe import prepare
found = prepare(Path(sys.argv[1]), Path(sys.argv[2]))
print(found["duration_ms"], len(found["parts"]), peak_mb())
"""


def peak_mb(process: int | str = "self") -> int:
    """The largest resident size that a process had so far, MB; 0 where it is gone."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0)


def repeated_call(target: Path, seconds: int) -> Path:
    """A demo call, stereo Opus, again and again without encoding it anew."""
    import av

    source = next(iter(sorted((ROOT / "demo" / "calls").glob("*.opus"))))
    with av.open(str(source)) as given:
        stream = given.streams.audio[0]
        packets = [packet for packet in given.demux(stream) if packet.size]
        with av.open(str(target), "w", format="matroska") as made:
            copy = made.add_stream_from_template(stream)
            at = 0
            while True:
                for packet in packets:
                    assert packet.duration is not None
                    if at * packet.time_base >= seconds:
                        return target
                    fresh = av.Packet(bytes(packet))
                    fresh.stream, fresh.time_base, fresh.pts, fresh.dts = copy, packet.time_base, at, at
                    at += packet.duration
                    made.mux(fresh)


def prepared(folder: Path) -> None:
    print(f"{'before recognition':22} {'audio s':>8} {'parts':>6} {'took s':>7} {'peak MB':>8}")
    for seconds in LENGTHS_S:
        call = repeated_call(folder / f"{seconds}.mka", seconds)
        began = time.monotonic()
        command = [sys.executable, "-c", _PREPARE, str(call), str(folder / "work")]
        output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
        length_ms, parts, peak = map(int, output.split())
        took_s = time.monotonic() - began
        print(f"{f'{seconds // 60} minutes':22} {length_ms / 1000:8.0f} {parts:6} {took_s:7.1f} {peak:8}")


def silence(size: int) -> Iterator[bytes]:
    """A WAV file of silence, piece by piece."""
    header = bytearray(b"RIFF....WAVEfmt \x10\0\0\0\x01\0\x02\0\x80\xbb\0\0\x00\xee\x02\0\x04\0\x10\0data....")
    header[4:8] = (size - 8).to_bytes(4, "little")
    header[40:44] = (size - 44).to_bytes(4, "little")
    yield bytes(header)
    for start in range(44, size, _PIECE):
        yield bytes(min(_PIECE, size - start))


def upload(account: Account, size: int) -> None:
    """Streams a recording of silence to the server."""
    import httpx2

    boundary = "b0undary"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'.encode()

    def body() -> Iterator[bytes]:
        yield head
        yield from silence(size)
        yield f"\r\n--{boundary}--\r\n".encode()

    answer = httpx2.post(
        account.server.url + "/v1/audio/transcriptions",
        content=body(),
        headers={**account.headers, "Content-Type": f"multipart/form-data; boundary={boundary}"},
        timeout=600,
    )
    assert answer.status_code == 202, answer.text


def uploaded(folder: Path) -> None:
    server = RunningServer(folder / "upload", sweep_s="3600")
    try:
        account = server.start().new_client("client", balance_rub="1000000")
        upload(account, 10_000_000)  # what a first upload brings in
        assert server.process is not None
        before = peak_mb(server.process.pid)
        began = time.monotonic()
        upload(account, UPLOAD_BYTES)
        after = peak_mb(server.process.pid)
        print(
            f"\n1 GB uploaded in {time.monotonic() - began:.1f} s: server's peak {before} MB before, {after} MB after"
        )
    finally:
        server.close()


class Watch:
    """The peaks of a server and all of its children, looked at again and again until closed."""

    def __init__(self, server: RunningServer) -> None:
        self.peaks: dict[int, int] = {}
        self._server = server
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        assert self._server.process is not None
        while not self._ended.wait(0.2):
            for process in (self._server.process.pid, *self._server.child_ids()):
                self.peaks[process] = max(self.peaks.get(process, 0), peak_mb(process))

    def close(self) -> tuple[int, int]:
        """MB: the server's peak, and the sum of the peaks of all its processes."""
        self._ended.set()
        self._thread.join()
        assert self._server.process is not None
        return self.peaks[self._server.process.pid], sum(self.peaks.values())


def transcribed(folder: Path) -> None:
    from tests.support import server as support

    support.JOB_S = 6 * 3600.0
    print(f"\n{'through the server':22} {'took s':>7} {'server MB':>10} {'all MB':>7}")
    for seconds in LENGTHS_S:
        server = RunningServer(folder / f"whole-{seconds}")
        try:
            account = server.start().new_client("client", balance_rub="1000000")
            watch = Watch(server)
            began = time.monotonic()
            accepted = account.upload_audio((folder / f"{seconds}.mka").read_bytes(), language="ru").json()
            status = account.finished_task(accepted["task_id"])["transcription_status"]
            own, everything = watch.close()
            print(f"{f'{seconds // 60} minutes':22} {time.monotonic() - began:7.0f} {own:10} {everything:7} {status}")
        finally:
            server.close()


def main(arguments: Sequence[str]) -> int:
    if not Path("/proc/self/status").exists():
        print("memory: skipped, there is no /proc here")
        return 0
    with tempfile.TemporaryDirectory() as name:
        prepared(Path(name))
        uploaded(Path(name))
        if "--whole" in arguments:
            transcribed(Path(name))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
