"""Recordings as documents: heard in real child processes, with real audio, and paid for."""

from __future__ import annotations

import io
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from accounts import ledger
from ingest.children import ChildPool
from ingest.documents import recording_charges, recordings
from ingest.documents.parsed import DocumentError, Limits
from ingest.documents.reading import Read, ReadingStopped, unpack
from ingest.documents.recording_charges import Heard
from ingest.documents.recordings import Recording, hear_document
from ingest.documents.spoken import assemble
from store import accounts, billing, weights
from store.database import Database
from store.ids import new_id
from store.migrate import migrate
from store.settings import Settings
from tests.contract.mcp import found_by
from tests.contract.recordings import RATE, Samples, encoded, silent_video, spoken, tone, wav
from tests.ingest.office import Office
from tests.store.conftest import database as database
from tests.support.server import Account

MP3 = ("mp3", "mp3")


def require_model() -> None:
    if weights.find(Settings(_env_file=None), "whisper-base") is None:  # type: ignore[call-arg]
        pytest.skip("whisper-base is not installed (parley models pull)")


@cache
def order_call() -> bytes:
    """A quarter of a minute of a call in English, one speaker a channel, as MP3."""
    return encoded(spoken("04", 0, 16), *MP3)


def film(samples: Samples) -> bytes:
    """The sound with a picture that stands still."""
    import av

    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as made:
        picture: Any = made.add_stream("mpeg4", rate=1)
        picture.width, picture.height, picture.pix_fmt = 64, 64, "yuv420p"
        sound: Any = made.add_stream("aac", rate=RATE, layout="mono")
        for _ in range(len(samples) // RATE):
            made.mux(picture.encode(av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")))
        made.mux(picture.encode(None))
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[:, :1].T), format="s16", layout="mono")
        frame.sample_rate = RATE
        for ready in av.AudioResampler(format=sound.format, layout="mono", rate=RATE).resample(frame):
            made.mux(sound.encode(ready))
        made.mux(sound.encode(None))
    return out.getvalue()


@pytest.fixture(scope="module")
def pools() -> Iterator[SimpleNamespace]:
    with (
        ChildPool("documents", 1, 120.0) as documents,
        ChildPool("decoding", 1, 120.0) as decoding,
        ChildPool("speech", 1, 120.0) as speech,
    ):
        yield SimpleNamespace(documents=documents, decoding=decoding, speech=speech)


class Listener:
    """An account with one recording of its knowledge base, and the runs on it."""

    def __init__(self, office: Office, pools: SimpleNamespace, folder: Path) -> None:
        self.office = office
        self.pools = pools
        self.folder = folder
        self.document_id = new_id()
        self.settings = office.settings.model_copy(update={"asr_model": "whisper-base", "asr_threads": 2})
        self.told: list[float] = []

    def hear(
        self, content: bytes, name: str = "call.mp3", *, run: int = 1, go_on: Callable[[], bool] = lambda: True
    ) -> Read:
        path = self.folder / "blob"
        path.write_bytes(content)
        house: Any = SimpleNamespace(settings=self.settings, database=self.office.database, pools=self.pools)
        recording = Recording(self.office.tenant_id, self.document_id, run, path, name, self.folder / f"work-{run}")
        return hear_document(house, recording, go_on=go_on, progress=self.told.append)

    def ends_in(self, content: bytes, code: str, words: str) -> None:
        with pytest.raises(DocumentError, match=words) as caught:
            self.hear(content)
        assert caught.value.code == code

    def held_rub(self) -> float:
        return self.office.balance().held_micro / ledger.MICRO

    def hold(self, run: int, heard: Heard) -> bool:
        with self.office.database.write() as connection:
            return recording_charges.hold(self.office.tenant_id, connection, self.document_id, run, heard)

    def charge(self, run: int, heard: Heard) -> None:
        with self.office.database.write() as connection:
            recording_charges.charge(self.office.tenant_id, connection, self.document_id, run, heard)

    def release(self, run: int) -> None:
        with self.office.database.write() as connection:
            recording_charges.release(self.office.tenant_id, connection, self.document_id, run)

    def usage(self) -> list[tuple[str, int, str | None]]:
        with self.office.database.read() as connection:
            found = billing.list_usage(self.office.tenant_id, connection)
        assert all((each.source, each.source_ref) == ("document", self.document_id) for each in found)
        return [(each.product, each.quantity, each.transaction_id) for each in found]

    def is_active(self) -> bool:
        with self.office.database.read() as connection:
            tenant = accounts.get_tenant(self.office.tenant_id, connection)
        assert tenant is not None
        return tenant.is_active


@pytest.fixture
def new_listener(pools: SimpleNamespace, tmp_path: Path) -> Iterator[Callable[[str], Listener]]:
    opened = Database(Settings(data_dir=tmp_path, _env_file=None))  # type: ignore[call-arg]
    migrate(opened)
    yield lambda balance_rub: Listener(Office(opened, tmp_path, balance_rub=balance_rub), pools, tmp_path)
    opened.close()


@pytest.fixture
def listener(new_listener: Callable[[str], Listener]) -> Listener:
    return new_listener("1000")


@pytest.fixture
def payer(database: Database, pools: SimpleNamespace, tmp_path: Path) -> Listener:
    """The same on each database."""
    return Listener(Office(database, tmp_path), pools, tmp_path)


@pytest.mark.models
def test_a_recording_is_heard_part_by_part_and_goes_on_where_it_was(listener: Listener) -> None:
    require_model()
    answers = iter([True, True, True, False])
    with pytest.raises(ReadingStopped):
        listener.hear(order_call(), go_on=lambda: next(answers))
    work = listener.folder / "work-1"
    kept = {path: path.stat().st_mtime_ns for path in work.rglob("*") if path.is_file()}
    assert work / "prepared.json" in kept
    assert [path.name for path in (work / "parts").iterdir()] == ["0.json"]
    assert listener.held_rub() == pytest.approx(16 * 0.02, abs=0.03)

    os.kill(listener.pools.speech.child_pids[0], signal.SIGKILL)
    read = listener.hear(order_call(), "Order change.mp3")
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert listener.held_rub() == pytest.approx(16 * 0.02, abs=0.03), "held once"
    assert (read.mime, read.title) == ("audio/mpeg", "Order change")
    text = " ".join(chunk.text for chunk in read.chunks)
    assert "My name is Daniel" in text
    assert "Silver Lane" in text, "the other speaker"
    for chunk in read.chunks:
        assert (chunk.page, chunk.title_path) == (None, ())
        assert chunk.start_ms is not None
        assert chunk.end_ms is not None
        assert 0 <= chunk.start_ms < chunk.end_ms <= 17_000
    assert read.heard is not None
    assert 15_500 <= read.heard["audio_ms"] <= 16_500
    assert listener.told[-1] == 1.0
    assert all(0 <= share <= 1 for share in listener.told)


@pytest.mark.models
def test_a_film_is_heard_and_samples_that_are_gone_are_decoded_again(listener: Listener) -> None:
    require_model()
    content = film(spoken("04", 0, 9))
    answers = iter([True, True, False])
    with pytest.raises(ReadingStopped):
        listener.hear(content, "film.mp4", go_on=lambda: next(answers))
    for samples in (listener.folder / "work-1" / "sound").iterdir():
        samples.unlink()
    read = listener.hear(content, "film.mp4")
    assert (read.mime, read.title) == ("video/mp4", "film")
    assert "Daniel" in read.chunks[0].text


@pytest.mark.models
def test_without_speech_it_is_empty_and_costs_nothing(listener: Listener) -> None:
    require_model()
    listener.ends_in(wav(tone(3)), "empty", "no speech")
    listener.ends_in(wav(np.zeros((RATE, 2), np.int16)), "empty", "no speech")
    assert listener.held_rub() == 0


@pytest.mark.models
def test_what_cannot_be_decoded_is_unreadable(listener: Listener) -> None:
    require_model()
    listener.ends_in(b"ID3\x04\0\0" + bytes(range(256)) * 40, "unreadable", "cannot be decoded")
    listener.ends_in(b"RIFF\x24\x08\0\0WAVEfmt " + bytes(100), "unreadable", "cannot be decoded")
    listener.ends_in(silent_video(), "unreadable", "holds no sound")


@pytest.mark.models
def test_one_that_is_too_long_is_too_large(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    require_model()
    monkeypatch.setattr(recordings, "MAX_DURATION_MS", 3000)
    listener.ends_in(wav(tone(3)), "too_large", "longer than")


def test_without_a_speech_model_it_says_what_to_do(listener: Listener, tmp_path: Path) -> None:
    update = {"asr_model": "", "cache_dir": tmp_path / "none", "models_dir": None}
    listener.settings = listener.settings.model_copy(update=update)
    listener.ends_in(wav(tone(1)), "internal_error", "parley models pull")


@pytest.mark.models
def test_one_that_the_balance_does_not_cover_is_not_recognised_and_pauses_the_client(
    new_listener: Callable[[str], Listener],
) -> None:
    require_model()
    listener = new_listener("0.1")
    listener.ends_in(order_call(), "internal_error", "client_inactive: the balance does not cover")
    assert not (listener.folder / "work-1" / "parts").exists()
    assert not listener.is_active()
    assert listener.held_rub() == 0


def test_the_same_bytes_are_charged_once_and_other_bytes_anew(payer: Listener) -> None:
    first = Heard(audio_ms=60_001, sha256="a" * 64)
    assert payer.hold(1, first)
    assert payer.hold(1, first)
    assert payer.held_rub() == pytest.approx(61 * 0.02)
    payer.charge(1, first)
    payer.charge(1, first)
    assert payer.hold(2, first)
    assert payer.held_rub() == 0
    payer.charge(2, first)
    assert [(product, seconds) for product, seconds, _ in payer.usage()] == [("transcription", 61)]
    changed = Heard(audio_ms=1000, sha256="b" * 64)
    assert payer.hold(3, changed)
    payer.charge(3, changed)
    usage = payer.usage()
    assert [seconds for _, seconds, _ in usage] == [61, 1]
    assert len({transaction for _, _, transaction in usage} - {None}) == 2
    assert ledger.verify(payer.office.database) == []


def test_a_run_that_ends_otherwise_costs_nothing_and_the_next_one_is_charged(payer: Listener) -> None:
    heard = Heard(audio_ms=5000, sha256="a" * 64)
    payer.release(1)
    assert payer.hold(1, heard)
    payer.release(1)
    assert (payer.held_rub(), payer.usage()) == (0, [])
    assert payer.hold(2, heard)
    payer.charge(2, heard)
    assert [seconds for _, seconds, _ in payer.usage()] == [5]
    assert ledger.verify(payer.office.database) == []


def assembled(folder: Path, segments: list[tuple[float, float, str, str]], duration_ms: int) -> Read:
    """A document of (start, end, text, speaker), without any engine."""
    part = folder / "0.json"
    part.write_text(json.dumps([{"start": s, "end": e, "text": text, "speaker": who} for s, e, text, who in segments]))
    source = {"duration_ms": None, "channels": 1, "sample_rate": 16000, "codec": "opus", "container": "ogg"}
    prepared: Any = {"duration_ms": duration_ms, "parts": [{}], "source": source}
    return unpack(assemble([part], prepared, Limits(), "talk.ogg"))


def test_long_recordings_have_a_heading_with_the_time_about_every_ten_minutes(tmp_path: Path) -> None:
    sentence = "The roasting plant burns its gas in two stages, and the second one is the hotter of the two."
    spoken_for_hours = [(7.0 * n, 7.0 * n + 6, f"{sentence} Number {n}.", "A") for n in range(700)]
    read = assembled(tmp_path, spoken_for_hours, 4_900_000)
    titles = list(dict.fromkeys(path for chunk in read.chunks for path in chunk.title_path))
    assert titles[0] == "00:00:00"
    assert [title[:4] for title in titles] == ["00:0", "00:1", "00:2", "00:3", "00:4", "00:5", "01:0", "01:1", "01:2"]
    for chunk in read.chunks:
        numbers = [int(word.strip(".")) for word in chunk.text.split() if word.strip(".").isdecimal()]
        assert chunk.start_ms is not None
        assert chunk.end_ms is not None
        assert chunk.start_ms <= 7000 * numbers[0]
        assert 7000 * numbers[-1] < chunk.end_ms
        assert chunk.end_ms - chunk.start_ms <= 110_000


def test_who_speaks_in_turn_stands_on_lines_and_a_pause_begins_a_paragraph(tmp_path: Path) -> None:
    segments = [
        (0.0, 3.0, "Good afternoon, this is the service desk of Polar Owl, my name is Daniel.", "A"),
        (3.5, 5.0, "Hello, the grinder is broken.", "B"),
        (5.0, 6.0, "It smokes.", "B"),
        (20.0, 21.0, "I found your order.", "A"),
    ]
    (chunk,) = assembled(tmp_path, segments, 21_000).chunks
    desk, grinder = segments[0][2], "Hello, the grinder is broken. It smokes."
    assert chunk.text == f"{desk}\n{grinder}\n\nI found your order."
    assert (chunk.start_ms, chunk.end_ms, chunk.title_path) == (0, 21_000, ())


def test_sounds_without_words_are_empty(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="No words") as caught:
        assembled(tmp_path, [(0.0, 1.0, "...", "A"), (2.0, 3.0, " ", "A")], 5000)
    assert caught.value.code == "empty"


@pytest.mark.models
def test_an_uploaded_recording_is_found_by_what_is_said_and_paid_once(account: Account) -> None:
    require_model()
    record = account.add_document(account.new_space(), encoded(spoken("04", 0, 9)[:, :1], *MP3), "order.mp3")
    assert (record["status"], record["mime"], record["title"]) == ("success", "audio/mpeg", "order"), record
    best = found_by(account, "search_documents", query="what is the name on the English line")["items"][0]
    assert (best["document_id"], best["page"]) == (record["id"], None)
    chunks = account.get(f"/public/v1/kb/documents/{record['id']}/chunks").json()["items"]
    assert len(chunks) == record["chunk_count"] > 0
    assert all(0 <= chunk["start_ms"] < chunk["end_ms"] <= 9_500 for chunk in chunks)
    (debit,) = account.debits()
    assert (debit["source"], debit["source_ref"], debit["product"]) == ("document", record["id"], "transcription")
    assert debit["lines"][0]["quantity"] in (9, 10)

    assert account.post(f"/public/v1/kb/documents/{record['id']}/reindex").status_code == 202
    assert account.finished_document(record["id"])["status"] == "success"
    assert len(account.debits()) == 1, "the same bytes are charged once"
    deadline = time.monotonic() + 60  # the job sweeps its folder when all else of it is done
    while left := list((account.server.data_dir / "document-work").glob(f"{record['id']}*")):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
    with account.server.database.read() as connection:
        assert ledger.balance(account.tenant_id, connection).held_micro == 0
