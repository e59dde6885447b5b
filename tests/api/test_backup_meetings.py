"""Backups that meet another one, or what one that was killed left behind."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.backup import make_backup, restore_backup
from store import backups
from store.backups import clear_scratch
from store.blobs import Blobs
from store.errors import Conflict, InvalidRequest
from store.settings import Settings
from tests.support.backups import into, made_of
from tests.support.calls import wait_until
from tests.support.server import RunningServer

TARGETS = ["backup.tar", "backup"]
_KILLED_WITH_A_COPY = """
import os, signal, sys
from pathlib import Path
from api.backup import make_backup
from store import backups
from store.settings import Settings

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

backups._add_file = killed
make_backup(Settings(data_dir=Path(sys.argv[1]), _env_file=None), Path(sys.argv[2]))
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of an installation with a row in every table and a blob."""
    made = into(tmp_path / "there")
    made_of(made, "head", tmp_path / "first.tar").close()
    (tmp_path / "first.tar").unlink()
    return made


def killed_backup(settings: Settings, path: Path) -> set[str]:
    """What one leaves in the data folder that is killed with a copy of the database in it."""
    command = [sys.executable, "-c", _KILLED_WITH_A_COPY, str(settings.data_dir), str(path)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert list(path.parent.glob(f"{path.name}.partial*"))
    left = {name for name in names(settings.data_dir) if "back" in name}
    assert left
    return left


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def in_the_middle(monkeypatch: pytest.MonkeyPatch, does: Any) -> None:
    """Has the next backup do that, once, while it has its copy of the database."""
    add_named = backups._Copied.add_named

    def does_it(*arguments: Any) -> Any:
        monkeypatch.undo()
        does()
        return add_named(*arguments)

    monkeypatch.setattr(backups._Copied, "add_named", does_it)


@pytest.mark.parametrize("name", TARGETS)
def test_a_second_one_to_the_same_path_is_refused_and_leaves_the_first_alone(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / "backups" / name

    def again() -> None:
        for _ in range(2):
            with pytest.raises(Conflict, match=r"Another backup to .* runs") as refused:
                make_backup(settings, path)
            assert refused.value.code == "backup_runs"

    in_the_middle(monkeypatch, again)
    make_backup(settings, path)
    assert names(path.parent) == {name}
    restore_backup(into(tmp_path / "restored"), path, force=False)
    assert Blobs(into(tmp_path / "restored")).read("kept/audio/1") == b"sound"
    with pytest.raises(InvalidRequest, match="not overwritten"):
        make_backup(settings, path)
    assert names(path.parent) == {name}


def test_a_second_one_of_the_same_data_folder_is_refused(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another() -> None:
        clear_scratch(settings.data_dir)  # as a server does meanwhile
        with pytest.raises(Conflict) as refused:
            make_backup(settings, tmp_path / "backups" / "second.tar")
        assert refused.value.code == "backup_runs"

    before = names(settings.data_dir)
    in_the_middle(monkeypatch, another)
    make_backup(settings, tmp_path / "backups" / "first.tar")
    assert names(tmp_path / "backups") == {"first.tar"}
    assert names(settings.data_dir) == before
    restore_backup(into(tmp_path / "restored"), tmp_path / "backups" / "first.tar", force=False)


@pytest.mark.parametrize("name", TARGETS)
def test_after_one_that_was_killed_the_next_to_its_path_is_whole(settings: Settings, tmp_path: Path, name: str) -> None:
    path = tmp_path / "backups" / name
    left = killed_backup(settings, path)
    make_backup(settings, path)
    assert names(path.parent) == {name}
    assert not left & names(settings.data_dir)
    restore_backup(into(tmp_path / "restored"), path, force=False)
    assert Blobs(into(tmp_path / "restored")).read("kept/audio/1") == b"sound"


def test_a_server_removes_the_copy_of_the_database_that_a_killed_one_left(tmp_path: Path) -> None:
    server = RunningServer(tmp_path / "server", sweep_s="0.5")
    try:
        left = killed_backup(server.settings, tmp_path / "backup.tar")
        of_before = [server.data_dir / f"backup-77777.partial{suffix}" for suffix in ("", "-journal")]
        for path in of_before:
            path.write_bytes(b"of a release that gave each a name of its own")
            os.utime(path, (0, 0))
        may_be_in_work = server.data_dir / "backup-77778.partial"
        may_be_in_work.touch()
        server.start()
        wait_until(lambda: not (left | {path.name for path in of_before}) & names(server.data_dir))
        assert may_be_in_work.exists()
    finally:
        server.close()


def test_a_restore_removes_it_too(settings: Settings, tmp_path: Path) -> None:
    make_backup(settings, tmp_path / "backup.tar")
    left = killed_backup(settings, tmp_path / "killed.tar")
    restore_backup(settings, tmp_path / "backup.tar", force=True)
    assert not left & names(settings.data_dir)


def test_where_the_disk_knows_no_locks_one_runs_at_a_time_all_the_same(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    path = tmp_path / "backups" / "backup"

    def again() -> None:
        monkeypatch.setattr(fcntl, "flock", no_locks)
        with pytest.raises(Conflict, match=r"remove .*backup\.partial\.lock") as refused:
            make_backup(settings, path)
        assert refused.value.code == "backup_runs"

    in_the_middle(monkeypatch, again)
    monkeypatch.setattr(fcntl, "flock", no_locks)
    make_backup(settings, path)
    monkeypatch.undo()
    assert names(path.parent) == {"backup"}
    restore_backup(into(tmp_path / "restored"), path, force=False)
