"""What is deleted is written over in SQLite's file, by a build of SQLite that would not do so unasked too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import Pool

from store.database import Database
from store.engines import make_engine
from store.settings import Settings

SECRET = "copperwhistle"


@pytest.fixture(autouse=True)
def careless_sqlite() -> Iterator[None]:
    """Connections open as they do where SQLite was built without SQLITE_SECURE_DELETE."""

    def be_careless(connection: Any, _entry: object) -> None:
        connection.execute("PRAGMA secure_delete=OFF").close()

    event.listen(Pool, "connect", be_careless)  # a class's listeners come before those of one engine
    yield
    event.remove(Pool, "connect", be_careless)


def says(path: Path) -> bool:
    return any(SECRET.encode() in each.read_bytes() for each in path.parent.glob(f"{path.name}*"))


@pytest.mark.parametrize("of_jobs", [False, True], ids=["the database's", "the jobs'"])
@pytest.mark.parametrize("length", [10, 5000], ids=["within a page", "over many pages"])
def test_a_deleted_text_is_in_no_page_of_the_file(tmp_path: Path, length: int, of_jobs: bool) -> None:
    path = tmp_path / "texts.sqlite3"
    engine = make_engine(f"sqlite:///{path}", synchronous="NORMAL", of_jobs=of_jobs)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)"))
        for number in range(20):
            text = f"{number} {SECRET} " * length if number % 2 else "stays"
            connection.execute(sa.text("INSERT INTO texts (text) VALUES (:text)"), {"text": text})
    assert says(path)
    with engine.begin() as connection:
        connection.execute(sa.text("DELETE FROM texts WHERE text != 'stays'"))
    with engine.connect() as connection:
        connection.connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
    assert not says(path)
    engine.dispose()


def test_every_connection_of_the_database_goes_on_writing_over(tmp_path: Path) -> None:
    database = Database(Settings(data_dir=tmp_path, _env_file=None))  # type: ignore[call-arg]
    for durable in (True, False, True):
        with database.write(durable=durable) as connection:
            assert connection.exec_driver_sql("PRAGMA secure_delete").scalar_one() == 1
    database.close()
