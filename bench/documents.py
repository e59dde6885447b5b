"""Documents through the whole server, over HTTP: many small ones at once, how quickly chunks are indexed, and a PDF of
500 pages while somebody else asks `/healthz`.

    python -m bench.documents [small] [chunks] [pdf]
"""

from __future__ import annotations

import io
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2

from bench.memory import Watch
from tests.support.server import JOB_S, Account, RunningServer

TEXTS = 120
TEXTS_S = 30.0
CHUNKS_PER_S = 60.0
PAGES = 500
HEALTHY_MS = 50.0
POLL_S = 0.02
_WORDS = Path(__file__).parent / "knowledge" / "documents"


def main() -> int:
    parts = {"small": many_small_texts, "chunks": indexing_speed, "pdf": large_pdf}
    missed = 0
    for name in sys.argv[1:] or parts:
        with tempfile.TemporaryDirectory() as folder:
            server = RunningServer(Path(folder) / "data", mcp_requests_per_minute="1000000")
            try:
                account = server.start().new_client("bench")
                warm_up(account)
                missed += not parts[name](account)
            finally:
                server.close()
    return 1 if missed else 0


def sentences() -> list[str]:
    """Of the bench's own documents, Russian and English."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(_WORDS.glob("*.txt"))]
    return [line.strip() for text in texts for line in text.splitlines() if len(line.strip()) > 40]


def warm_up(account: Account) -> None:
    """Has the children started and their model loaded."""
    record = account.add_document(account.new_space(), b"The first document.", "first.txt")
    assert record["status"] == "success", record


def many_small_texts(account: Account) -> bool:
    space_id = account.new_space()
    said = sentences()
    raws = [f"Документ {number}.\n{' '.join(said[number % 9 :: 9][:6])}".encode() for number in range(TEXTS)]
    began = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        uploads = pool.map(lambda each: account.upload_document(space_id, *each), ((raw, "a.txt") for raw in raws))
        assert all(answer.status_code == 202 for answer in uploads)
    uploaded_s = time.monotonic() - began
    took_s = ended(account, space_id, TEXTS, began)
    print(f"{TEXTS} small texts at once: accepted in {uploaded_s:.1f} s, searchable in {took_s:.1f} s")
    return _told(took_s <= TEXTS_S, f"at most {TEXTS_S:.0f} s")


def ended(account: Account, space_id: str, count: int, began: float) -> float:
    """Seconds until all documents of the space can be found."""
    while True:
        pages = [
            account.get(f"/public/v1/kb/spaces/{space_id}/documents", params={"limit": 100, "offset": first}).json()
            for first in range(0, count, 100)
        ]
        statuses = [item["status"] for page in pages for item in page["items"]]
        if set(statuses) <= {"success", "error"}:
            assert statuses == ["success"] * count, statuses
            return time.monotonic() - began
        time.sleep(0.1)


def indexing_speed(account: Account) -> bool:
    said, chance = sentences(), random.Random(1)
    space_id = account.new_space()
    raws = [
        "\n\n".join(
            f"# Раздел {part}\n\n{' '.join(chance.choices(said, k=6))}" for part in range(number, number + 400)
        ).encode()
        for number in range(2)
    ]
    began = time.monotonic()
    for raw in raws:
        assert account.upload_document(space_id, raw, "a.md").status_code == 202
    took_s = ended(account, space_id, len(raws), began)
    items = account.get(f"/public/v1/kb/spaces/{space_id}/documents").json()["items"]
    chunks = sum(item["chunk_count"] for item in items)
    kilobytes = sum(map(len, raws)) // 1000
    print(f"\n{chunks} chunks of {kilobytes} kB indexed in {took_s:.1f} s: {chunks / took_s:.0f} a second")
    return _told(chunks / took_s >= CHUNKS_PER_S, f"at least {CHUNKS_PER_S:.0f} a second")


def pdf_of_pages(count: int) -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    said = [text for text in sentences() if text.isascii()]
    chance = random.Random(2)
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for number in range(1, count + 1):
        canvas.setFont("Helvetica", 16)
        canvas.drawString(50, 790, f"Chapter {number}")
        canvas.setFont("Helvetica", 10)
        for line in range(45):
            canvas.drawString(50, 760 - line * 15, chance.choice(said)[:100])
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


class Poll(threading.Thread):
    """Asks for /healthz every 20 ms; `ms` are the answers' times."""

    def __init__(self, url: str) -> None:
        super().__init__(name="poll", daemon=True)
        self.ms: list[float] = []
        self.over = threading.Event()
        self._url = url

    def run(self) -> None:
        with httpx2.Client() as client:
            while not self.over.wait(POLL_S):
                began = time.perf_counter()
                assert client.get(self._url, timeout=30).status_code == 200
                self.ms.append((time.perf_counter() - began) * 1000)

    def close(self) -> None:
        self.over.set()
        self.join()


def summary(ms: Sequence[float]) -> str:
    p99 = statistics.quantiles(ms, n=100)[98]
    return f"p50 {statistics.median(ms):.1f} ms, p99 {p99:.1f} ms, worst {max(ms):.1f} ms of {len(ms)}"


def large_pdf(account: Account) -> bool:
    raw = pdf_of_pages(PAGES)
    url = account.server.url + "/healthz"
    idle = Poll(url)
    idle.start()
    time.sleep(3)
    idle.close()
    print(f"\n/healthz while nothing is in work: {summary(idle.ms)}")
    busy, watch = Poll(url), Watch(account.server)
    busy.start()
    began = time.monotonic()
    try:
        record: dict[str, Any] = account.upload_document(account.new_space(), raw, "large.pdf").json()
        while record["status"] in ("pending", "processing"):
            assert time.monotonic() < began + 4 * JOB_S
            time.sleep(0.2)
            record = account.get(f"/public/v1/kb/documents/{record['id']}").json()
    finally:
        busy.close()
        own_mb, all_mb = watch.close()
    assert record["status"] == "success", record
    took_s = time.monotonic() - began
    print(f"a PDF of {PAGES} pages, {len(raw) // 1000} kB: {record['chunk_count']} chunks in {took_s:.1f} s")
    print(f"/healthz meanwhile: {summary(busy.ms)}")
    print(f"peak memory: server {own_mb} MB, all of its processes together {all_mb} MB")
    p99 = statistics.quantiles(busy.ms, n=100)[98]
    return _told(p99 <= HEALTHY_MS, f"99 of 100 within {HEALTHY_MS:.0f} ms")


def _told(is_met: bool, bound: str) -> bool:
    print(f"  {'as it must be' if is_met else 'MISSED'}: {bound}")
    return is_met


if __name__ == "__main__":
    sys.exit(main())
