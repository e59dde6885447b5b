from __future__ import annotations

import errno
import hashlib
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from store import meters  # noqa: F401 - makes the counters
from store.blobs import STALE_UPLOAD_S, BlobMissing, Blobs, check_key
from store.errors import Unavailable
from store.settings import load_settings
from tests.support.bucket import running_bucket

MIB = 1024 * 1024
ROOT = Path(__file__).parents[2]
KEY = "0b7c5a52-1111-4222-8333-444455556666/audio/1"


@pytest.fixture(scope="module")
def bucket_url() -> Iterator[str]:
    with running_bucket() as bucket:
        yield bucket.url


@pytest.fixture
def folder_blobs(tmp_path: Path) -> Blobs:
    return Blobs(load_settings(data_dir=tmp_path, blob_url=""))


@pytest.fixture(params=["folder", "bucket"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blobs]:
    url = "" if request.param == "folder" else request.getfixturevalue("bucket_url")
    store = Blobs(load_settings(data_dir=tmp_path, blob_url=url))
    yield store
    store.delete_prefix(KEY.split("/")[0])


def leftovers(data_dir: Path) -> list[Path]:
    return [path for path in data_dir.rglob("*") if path.is_file()]


def test_what_is_put_is_read_back_with_its_size_and_digest(blobs: Blobs) -> None:
    pieces = [os.urandom(300_000) for _ in range(5)]
    info = blobs.put_stream(KEY, pieces)
    content = b"".join(pieces)
    assert (info.size, info.sha256) == (1_500_000, hashlib.sha256(content).hexdigest())
    assert blobs.read(KEY) == content
    assert blobs.size(KEY) == 1_500_000


def test_a_blob_of_several_parts_is_whole(blobs: Blobs, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(os.urandom(20 * MIB + 7))
    info = blobs.put_file(KEY, source)
    assert info.size == 20 * MIB + 7
    digest = hashlib.sha256()
    for piece in blobs.stream(KEY):
        digest.update(piece)
    assert digest.hexdigest() == info.sha256 == hashlib.sha256(source.read_bytes()).hexdigest()


def test_an_empty_blob_is_a_blob(blobs: Blobs) -> None:
    assert blobs.put(KEY, b"").size == 0
    assert blobs.exists(KEY)
    assert blobs.read(KEY) == b""


@pytest.mark.parametrize(("start", "end"), [(0, 1), (0, 10), (3, 7), (9, 10), (5, 5), (4, None)])
def test_a_range_gives_exactly_its_bytes(blobs: Blobs, start: int, end: int | None) -> None:
    blobs.put(KEY, b"0123456789")
    assert b"".join(blobs.stream(KEY, start, end)) == b"0123456789"[start:end]


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (4, 3), (0, 11), (11, None)])
def test_a_range_outside_of_the_blob_is_refused(blobs: Blobs, start: int, end: int | None) -> None:
    blobs.put(KEY, b"0123456789")
    with pytest.raises(ValueError, match="range"):
        blobs.stream(KEY, start, end)


def test_a_second_put_replaces_the_first(blobs: Blobs) -> None:
    blobs.put(KEY, b"first, and longer")
    blobs.put(KEY, b"second")
    assert blobs.read(KEY) == b"second"


def test_a_missing_blob_is_named_as_missing(blobs: Blobs, tmp_path: Path) -> None:
    assert not blobs.exists(KEY)
    for ask in (blobs.read, blobs.size, blobs.stream):
        with pytest.raises(BlobMissing):
            ask(KEY)
    with pytest.raises(BlobMissing):
        blobs.download_to(KEY, tmp_path / "target")
    assert not (tmp_path / "target").exists()
    with pytest.raises(BlobMissing), blobs.as_file(KEY):
        pass
    blobs.delete(KEY)


def test_nothing_is_seen_before_the_commit_or_after_an_abort(blobs: Blobs, tmp_path: Path) -> None:
    writer = blobs.writer(KEY)
    writer.write(b"half of it")
    assert not blobs.exists(KEY)
    writer.abort()
    assert not blobs.exists(KEY)
    assert leftovers(tmp_path) == []


def test_a_stream_that_breaks_leaves_nothing_behind(blobs: Blobs, tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"the first piece"
        raise ConnectionError("the client went away")

    with pytest.raises(ConnectionError):
        blobs.put_stream(KEY, broken())
    assert not blobs.exists(KEY)
    assert leftovers(tmp_path) == []


def test_a_writer_takes_bytes_from_several_threads_in_turn(blobs: Blobs) -> None:
    with blobs.writer(KEY) as writer:
        for piece in (b"one ", memoryview(b"two "), bytearray(b"three")):
            thread = threading.Thread(target=writer.write, args=(piece,))
            thread.start()
            thread.join()
        info = writer.commit()
    assert blobs.read(KEY) == b"one two three"
    assert info.size == writer.size == 13


def test_a_blob_as_a_file_has_its_content_and_goes_without_a_trace(blobs: Blobs, tmp_path: Path) -> None:
    blobs.put(KEY, b"content")
    with blobs.as_file(KEY) as path:
        assert path.read_bytes() == b"content"
    blobs.delete(KEY)
    assert leftovers(tmp_path) == []


def test_only_what_lies_below_a_prefix_is_listed_and_deleted(blobs: Blobs) -> None:
    tenant = KEY.split("/")[0]
    for key in ("audio/1", "audio/2", "audio2/3", "documents/a/4"):
        blobs.put(f"{tenant}/{key}", key.encode())
    listed = {entry.key: entry.size for entry in blobs.list(f"{tenant}/audio")}
    assert listed == {f"{tenant}/audio/1": 7, f"{tenant}/audio/2": 7}
    assert blobs.delete_prefix(f"{tenant}/audio/") == 2
    assert [entry.key for entry in blobs.list(f"{tenant}/audio")] == []
    assert {entry.key for entry in blobs.list(tenant)} == {f"{tenant}/audio2/3", f"{tenant}/documents/a/4"}
    assert blobs.delete_prefix(tenant) == 2


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/",
        "/etc/passwd",
        "a/../b",
        "..",
        "a//b",
        "a/",
        "a/.hidden",
        "a\\b",
        "a b",
        "a\0b",
        "a/\u0430",
        "~/x",
        "%2e%2e",
        "a" * 201,
        "/".join(["abc"] * 200),
        "a\n",
    ],
)
def test_a_key_that_could_lead_elsewhere_is_refused(folder_blobs: Blobs, key: str) -> None:
    for use in (folder_blobs.writer, folder_blobs.read, folder_blobs.local_path, folder_blobs.delete, check_key):
        with pytest.raises(ValueError, match="not a blob key"):
            use(key)
    if not key.endswith("/") or key == "/":
        with pytest.raises(ValueError, match="not a blob key"):
            folder_blobs.delete_prefix(key)


def test_a_local_blob_is_read_in_place(folder_blobs: Blobs) -> None:
    folder_blobs.put(KEY, b"content")
    path = folder_blobs.local_path(KEY)
    assert path is not None
    assert path.read_bytes() == b"content"
    with folder_blobs.as_file(KEY) as same:
        assert same == path
    assert path.exists()


def test_a_blob_in_a_bucket_has_no_local_path(tmp_path: Path, bucket_url: str) -> None:
    assert Blobs(load_settings(data_dir=tmp_path, blob_url=bucket_url)).local_path(KEY) is None


def test_a_bucket_that_does_not_answer_is_unavailable_and_the_commit_can_be_tried_again(
    tmp_path: Path, bucket_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    working = Blobs(load_settings(data_dir=tmp_path, blob_url=bucket_url))
    monkeypatch.setattr("store.blobs._RETRY_S", 0)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    broken = Blobs(load_settings(data_dir=tmp_path, blob_url=bucket_url))
    before = failed("away")
    with broken.writer(KEY) as writer:
        writer.write(b"content")
        with pytest.raises(Unavailable):
            writer.commit()
        assert failed("away") == before + 1
        monkeypatch.setattr(broken, "_store", working._store)
        assert writer.commit().size == 7
        assert failed("away") == before + 1
    assert working.read(KEY) == b"content"
    assert leftovers(tmp_path) == []


def failed(reason: str) -> float:
    value = REGISTRY.get_sample_value("parley_blobs_failed_total", {"reason": reason})
    assert value is not None
    return value


def test_a_disk_without_room_is_told_of_and_counted(folder_blobs: Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    before = failed("no_room")
    monkeypatch.setattr("store.blobs.os.fsync", full)
    with pytest.raises(Unavailable, match="no room"):
        folder_blobs.put(KEY, b"content")
    assert failed("no_room") == before + 1
    monkeypatch.undo()
    assert not folder_blobs.exists(KEY)


@pytest.mark.parametrize("fails", ["tempfile.TemporaryDirectory", "Path.open"])
def test_a_disk_without_room_for_the_copy_of_a_blob_is_told_of_and_counted(
    bucket_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    bucket_blobs = Blobs(load_settings(data_dir=tmp_path, blob_url=bucket_url))

    def full(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    bucket_blobs.put(KEY, b"content")
    before = failed("no_room")
    monkeypatch.setattr(f"store.blobs.{fails}", full)
    with pytest.raises(Unavailable, match="no room"), bucket_blobs.as_file(KEY):
        pass
    assert failed("no_room") == before + 1


def test_an_address_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="PARLEY_BLOB_URL"):
        Blobs(load_settings(data_dir=tmp_path, blob_url="ftp://host/folder"))


def test_blobs_on_a_volume_of_their_own_are_spooled_there(tmp_path: Path) -> None:
    volume = Path("/dev/shm")
    if not volume.is_dir() or volume.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("this machine has no second file system to test with")
    import tempfile

    with tempfile.TemporaryDirectory(dir=volume) as folder:
        (tmp_path / "blobs").symlink_to(folder, target_is_directory=True)
        blobs = Blobs(load_settings(data_dir=tmp_path, blob_url=""))
        blobs.put(KEY, b"content")
        assert blobs.read(KEY) == b"content"
        assert [path.name for path in Path(folder).rglob("*") if path.is_file()] == ["1"]


def test_only_uploads_older_than_a_day_are_swept(folder_blobs: Blobs, tmp_path: Path) -> None:
    running, old = folder_blobs.writer(KEY), folder_blobs.writer(f"{KEY}-old")
    running.write(b"x")
    spooled = old._path
    past_s = spooled.stat().st_mtime - STALE_UPLOAD_S - 60
    os.utime(spooled, (past_s, past_s))
    stale_folder = tmp_path / "uploads" / "download"
    stale_folder.mkdir()
    (stale_folder / "blob").write_bytes(b"x")
    os.utime(stale_folder, (past_s, past_s))
    assert folder_blobs.sweep_uploads() == 2
    assert running.commit().size == 1
    old.abort()
    assert [path.name for path in leftovers(tmp_path)] == ["1"]


def test_a_full_disk_is_an_error_and_leaves_nothing(folder_blobs: Blobs, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            folder_blobs.put_stream(KEY, [bytes(MIB)] * 4)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert not folder_blobs.exists(KEY)
    assert leftovers(tmp_path) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from store.blobs import Blobs
from store.settings import load_settings
blobs = Blobs(load_settings(data_dir=Path(sys.argv[1]), blob_url=""))
blobs.put("t/audio/whole", bytes(3_000_000))
writer = blobs.writer("t/audio/half")
writer.write(bytes(3_000_000))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_after_a_kill_the_committed_blob_is_whole_and_the_other_not_there(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT)
    assert ended.returncode == -signal.SIGKILL
    blobs = Blobs(load_settings(data_dir=tmp_path, blob_url=""))
    assert [(entry.key, entry.size) for entry in blobs.list("t")] == [("t/audio/whole", 3_000_000)]
    assert blobs.sweep_uploads(older_than_s=-60) == 1


def test_memory_does_not_grow_with_the_blob(tmp_path: Path) -> None:
    program = (
        "import resource, sys; from pathlib import Path; from store.blobs import Blobs\n"
        "from store.settings import load_settings\n"
        "blobs = Blobs(load_settings(data_dir=Path(sys.argv[1]), blob_url=''))\n"
        "blobs.put('t/small', bytes(1 << 20)); sum(map(len, blobs.stream('t/small')))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "blobs.put_stream('t/large', (bytes(1 << 20) for _ in range(200))); sum(map(len, blobs.stream('t/large')))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    grown_kib = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert int(grown_kib) < 40 * 1024
