"""A Qdrant server that is too old is refused, wherever it is met, by a text that says which one is needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from api.doctor import examine
from rag.index import IndexTooOld
from rag.index_places import MadeFor, ServerPlace
from store.settings import Settings, load_settings
from tests.support.qdrant import Qdrant, running_qdrant
from tests.support.server import RunningServer

OLD, NEEDED = "1.18.3", "The Qdrant server has version 1.18.3; 1.19 or a newer one is needed."


@pytest.fixture
def qdrant() -> Iterator[Qdrant]:
    with running_qdrant() as running:
        if not running.is_ours:
            pytest.skip("a real server has one version")
        yield running


@pytest.fixture(autouse=True)
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own thread would warn of the version too, after the server is gone perhaps."""
    connect = ServerPlace._connect
    monkeypatch.setattr(ServerPlace, "_connect", lambda place, **_options: connect(place, check=False))


@pytest.fixture
def settings(qdrant: Qdrant, tmp_path: Path) -> Settings:
    return load_settings(data_dir=tmp_path, qdrant_url=qdrant.url)


def test_one_that_is_too_old_is_asked_nothing(qdrant: Qdrant, settings: Settings) -> None:
    place = ServerPlace(settings)
    qdrant.is_of(OLD)
    for ask in (
        place.names,
        lambda: place.made_for("one"),
        lambda: place.open("one", None, 4),
        lambda: place.open_made("one", MadeFor("words-only", 4)),
        lambda: place.drop("one"),
    ):
        with pytest.raises(IndexTooOld) as caught:
            ask()
        assert (caught.value.message, caught.value.code) == (NEEDED, "index_unavailable")
    assert qdrant.answered == 0


@pytest.mark.parametrize("version", ["1.19.0", "1.20.0", "v2.0", "1.18.4-dev", "dev", ""])
def test_a_newer_one_and_one_whose_version_cannot_be_read_are_let_through(
    qdrant: Qdrant, settings: Settings, version: str
) -> None:
    qdrant.is_of(version)
    assert ServerPlace(settings).names() == []


def test_the_index_is_ready_until_its_server_is_replaced_by_an_older_one(qdrant: Qdrant, settings: Settings) -> None:
    with closing(ServerPlace(settings).open("one", None, 4)) as index:
        assert index.ready()
        qdrant.is_of(OLD)
        with pytest.raises(IndexTooOld, match=r"1\.19 or a newer one"):
            index.ready()
        qdrant.stop()
        assert not index.ready()


def test_the_doctor_says_what_is_wrong_with_the_server(qdrant: Qdrant, settings: Settings) -> None:
    def finding() -> tuple[bool, str]:
        (found,) = [each for each in examine(settings) if each.part == "index"]
        return found.ok, found.finding

    assert finding()[0]
    qdrant.is_of(OLD)
    assert finding() == (False, NEEDED)
    qdrant.stop()
    assert finding() == (False, "The search index cannot be reached.")


def test_a_process_is_not_ready_while_the_server_is_too_old_and_does_not_start_on_it(
    qdrant: Qdrant, tmp_path: Path
) -> None:
    running = RunningServer(tmp_path, qdrant_url=qdrant.url)
    try:
        running.start()
        qdrant.is_of(OLD)
        told = httpx2.get(running.url + "/readyz")
        assert (told.status_code, told.json()["checks"]["index"]) == (503, "failed")
        assert NEEDED in told.json()["notes"]
        running.stop()
        with pytest.raises(AssertionError, match=NEEDED):
            running.start()
    finally:
        running.close()
