"""No archive outlives its export, whenever the blob store is away or a kill comes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest import account_export, timelines
from store import account_exports
from store.account_exports import Export
from store.blobs import Blobs, BlobWriter
from store.errors import Unavailable
from tests.support.announced import noted, pass_a_day
from tests.support.server import RunningServer

TROUBLES = [Unavailable("The blob store does not answer."), KeyboardInterrupt("as a kill would be")]


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What a worker has, as far as an export needs it, and the account's id."""
    running = RunningServer(tmp_path)
    account = running.new_client("exported")
    found = SimpleNamespace(
        database=running.database,
        blobs=Blobs(running.settings),
        settings=running.settings,
        tenant_id=account.tenant_id,
    )
    for module in (account_export, timelines):
        monkeypatch.setattr(module, "workshop", lambda: found)
    yield found
    running.close()


def ordered(house: Any) -> Export:
    with house.database.write() as connection:
        return account_exports.create(house.tenant_id, connection, actor="test")


def found(house: Any, export: Export) -> Export | None:
    with house.database.read() as connection:
        return account_exports.get(export.tenant_id, connection, export.id)


def build(house: Any, export: Export) -> None:
    account_export._build.__wrapped__(export.tenant_id, export.id)  # type: ignore[attr-defined]


@pytest.mark.parametrize("trouble", TROUBLES)
def test_an_archive_that_could_not_be_deleted_goes_with_the_next_sweep(
    house: Any, trouble: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ordered(house)
    build(house, export)
    assert house.blobs.exists(export.blob_key)
    assert noted(house.database) == set()

    def fail(_key: str) -> None:
        raise trouble

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(house.blobs, "delete", fail)
        account_export.remove(house, export, actor="test")
    assert found(house, export) is None
    assert house.blobs.exists(export.blob_key)
    timelines.sweep()
    assert not house.blobs.exists(export.blob_key)
    assert noted(house.database) == set()


@pytest.mark.parametrize("trouble", TROUBLES)
def test_an_archive_whose_export_was_deleted_while_it_was_made_goes_too(
    house: Any, trouble: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = ordered(house)
    commit = BlobWriter.commit

    def deleted_meanwhile(writer: BlobWriter) -> Any:
        account_export.remove(house, export, actor="test")
        return commit(writer)

    def fail(key: str) -> None:
        if house.blobs.exists(key):
            raise trouble

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(BlobWriter, "commit", deleted_meanwhile)
        patch.setattr(house.blobs, "delete", fail)
        build(house, export)
    assert house.blobs.exists(export.blob_key)
    build(house, export)  # a step that was killed is done again
    pass_a_day(house.database)
    timelines.sweep()
    assert not house.blobs.exists(export.blob_key)
    assert noted(house.database) == set()


def test_what_is_swept_waits_for_no_archive_that_cannot_be_deleted(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    exports = [ordered(house) for _ in range(2)]
    for export in exports:
        build(house, export)
    with house.database.write() as connection:
        connection.exec_driver_sql("UPDATE account_exports SET expires_at = '2026-01-01 00:00:00.000000'")

    def fail(_key: str) -> None:
        raise Unavailable("The blob store does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(house.blobs, "delete", fail)
        account_export.sweep()
    assert [found(house, export) for export in exports] == [None, None]
    timelines.sweep()
    assert list(house.blobs.list(f"{house.tenant_id}/exports")) == []
