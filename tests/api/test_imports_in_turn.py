"""Exports of one account are taken in one after another, and keep nobody else from theirs."""

from __future__ import annotations

import threading

import anyio

from api.imports import in_turn

WAIT_S = 120.0


def test_an_accounts_exports_wait_for_each_other_and_another_passes() -> None:
    began, released, order = threading.Event(), threading.Event(), []

    def take_in(name: str) -> str:
        order.append(name)
        if name == "first":
            began.set()
            assert released.wait(WAIT_S)
        return name

    async def send() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(in_turn, "busy", take_in, "first")
            assert await anyio.to_thread.run_sync(began.wait, WAIT_S)
            for name in ("second", "third", "fourth"):
                group.start_soon(in_turn, "busy", take_in, name)
            await anyio.wait_all_tasks_blocked()
            with anyio.fail_after(WAIT_S):
                assert await in_turn("other", take_in, "another's") == "another's"
            assert order == ["first", "another's"]
            released.set()
        assert order == ["first", "another's", "second", "third", "fourth"]

    anyio.run(send)


def test_an_import_that_fails_lets_the_next_one_in() -> None:
    def fail() -> None:
        raise RuntimeError("no")

    async def send() -> list[object]:
        found: list[object] = []
        for work in (fail, lambda: "next"):
            try:
                found.append(await in_turn("busy", work))
            except RuntimeError as error:
                found.append(str(error))
        return found

    assert anyio.run(send) == ["no", "next"]
