"""Exports are taken apart by a child; what goes wrong there is told of the file alone."""

from __future__ import annotations

import errno
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from ingest import import_files
from ingest.import_files import import_file
from ingest.imports import Wishes
from ingest.messages import detect
from ingest.messages.imported import ImportedConversation
from ingest.messages.reading import Unreadable
from ingest.messages.taking_apart import take_apart
from tests.ingest.office import Office, chat
from tests.ingest.office import office as office
from tests.store.conftest import database as database

SECRET = "anna's number is 8900"


def reader(*conversations: ImportedConversation, error: BaseException) -> Callable[..., Iterator[ImportedConversation]]:
    """Of exports, that gives these and then stumbles."""

    def read(*_: object, **__: object) -> Iterator[ImportedConversation]:
        yield from conversations
        raise error

    return read


def apart(folder: Path) -> int:
    return take_apart(folder / "box.mbox", folder, (), "UTC", "box.mbox", None)


@pytest.mark.parametrize("error", [KeyError(SECRET), RecursionError(SECRET), OSError(errno.ENAMETOOLONG, SECRET)])
def test_a_reader_that_fails_makes_the_file_unreadable_and_says_where_but_not_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(detect, "read_export", reader(chat("One"), error=error))
    with pytest.raises(Unreadable) as found:
        apart(tmp_path)
    sent = pickle.loads(pickle.dumps(found.value))
    assert sent.message == "It cannot be read."
    assert sent.fault.startswith(f"{type(error).__name__} at test_import_files.py:")
    assert SECRET not in sent.fault + sent.message


@pytest.mark.parametrize(
    "error", [MemoryError(), OSError(errno.ENOSPC, "No space left"), OSError(errno.ENOMEM, "No memory")]
)
def test_what_the_machine_lacks_is_not_the_files_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(detect, "read_export", reader(error=error))
    with pytest.raises(type(error)):
        apart(tmp_path)


def test_a_reader_that_fails_is_logged_and_nothing_is_stored(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "read_export", reader(chat("One"), error=ValueError(SECRET)))
    monkeypatch.setattr(import_files, "log", import_files.structlog.get_logger())

    def run(function: Callable[..., int], *arguments: object) -> int:
        return function(*arguments)

    with capture_logs() as lines, pytest.raises(Unreadable):
        import_file(
            office.database,
            office.blobs,
            office.settings,
            office.tenant_id,
            run,
            tmp_path / "box.mbox",
            file_name="box.mbox",
            wishes=Wishes(),
        )
    (line,) = lines
    assert line["log_level"] == "error"
    assert line["fault"].startswith("ValueError at ")
    assert SECRET not in str(line)
    assert office.count() == 0


def test_a_file_that_breaks_the_look_at_it_is_no_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_bytes(b"text")

    def fail(*_: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr(detect, "_kind", fail)
    assert not detect.is_export(tmp_path / "a.txt")
