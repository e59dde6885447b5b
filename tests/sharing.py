"""pytest plugin: what tests share is made once where several processes run them, and stands still while nobody asks.

A plugin and no part of conftest.py, since pytest asks that for no fixture of the whole run.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling

from tests.support.server import RunningServer

ROOT = Path(__file__).parent.parent
SHARED = {
    "heard": ("heard",),
    "model_server": ("model_server",),
    "safety_server": ("safety_server", "ground"),
    "small_server": ("small_server", "new_small_account", "small_account"),
    "telling_server": ("telling_server",),
}
"""What is costly to make or to keep, and the fixtures that ask for it. Files that ask for several go with the first."""
_SERVERS: dict[str, RunningServer] = {}
"""Those of the whole run, by the names of their fixtures."""
ASKED = pytest.StashKey[set[str]]()
"""The fixtures that tests of an item's file ask for."""
OTHERS_BESIDE = 3  # files that follow each one that needs models


@functools.cache
def shared_by(path: str) -> str | None:
    """What of the costly a test file shares with others."""
    words = set(re.findall(r"\w+", (ROOT / path).read_text(encoding="utf-8")))
    return next((name for name, fixtures in SHARED.items() if not words.isdisjoint(fixtures)), None)


class FilesThatShare(LoadScopeScheduling):
    """Hands tests to processes by file, and files that share what is costly to the same one: so it is made once, and
    stands idle in one process."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        return shared_by(path) or path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FilesThatShare | None:
    return FilesThatShare(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that share come first. What needs models keeps a processor busy and most of the rest waits for servers and
    browsers, so the one is spread among the other, from the beginning on, for it takes longest."""
    together: dict[str, list[list[pytest.Item]]] = {name: [] for name in SHARED}
    busy, others = [], []
    for path, group in itertools.groupby(items, key=lambda item: item.location[0]):
        file = list(group)
        asked = {name for item in file if isinstance(item, pytest.Function) for name in item.fixturenames}
        for item in file:
            item.stash[ASKED] = asked
        if shared := shared_by(path):
            together[shared].append(file)
        elif any(item.get_closest_marker("models") for item in file):
            busy.append(file)
        else:
            others.append(file)
    rest = iter(others)
    mixed = [file for each in busy for file in (each, *itertools.islice(rest, OTHERS_BESIDE))]
    items[:] = itertools.chain.from_iterable([*itertools.chain(*together.values()), *mixed, *rest])


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Notes which servers the whole run shares."""
    made = yield
    if isinstance(made, RunningServer) and fixturedef.scope == "session":
        _SERVERS[fixturedef.argname] = made
    return made


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Servers that no test of the file asks for stand still meanwhile."""
    for name, server in _SERVERS.items():
        if name in item.stash[ASKED]:
            server.wake()
        else:
            server.rest()
