"""Answers in work, apart from the requests that wait for them: a connection that drops loses nothing, and whoever comes
back goes on from the event that was seen last.

An answer is a task of this process. Its events are numbered from 1 and kept until some time after its end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
import structlog

from chat.contract import Done, Event, Text
from store.errors import InternalError, ParleyError, Unavailable

KEPT_S = 120.0
TOUCH_S = 2.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Cited:
    """The sources of the answer that ends with `done`."""

    done: Done


@dataclass(frozen=True, slots=True)
class Failed:
    error: ParleyError


@dataclass(frozen=True, slots=True)
class HandedOver:
    """A person has the conversation: there is no answer."""


State = Literal["wanted", "cancelled", "handed_over"]
"""What has become of an answer in work: those who asked want it, or want none, or a person answers instead."""
Told = Event | Cited | Failed | HandedOver


@dataclass(frozen=True, slots=True)
class Numbered:
    """`offset`: how much of the answer came before a text, in UTF-16 code units, as browsers count."""

    number: int
    event: Told
    offset: int = 0


class Withdrawn(Exception):
    """An answer may be neither kept nor charged: it was wanted no more."""


class Cancelled(ParleyError):
    """Whoever asked wants no answer any more."""

    status = 409
    type = "invalid_request_error"
    default_code = "cancelled"


@dataclass
class Answer:
    """One answer in work, or lately ended. Followed by any number. `about` is what its starter notes for them."""

    about: dict[str, Any] = field(default_factory=dict)
    events: list[Numbered] = field(default_factory=list)
    ended: bool = False
    _offset: int = 0
    _followers: int = 0
    _left_at: float = field(default_factory=time.monotonic)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, event: Told) -> None:
        """What comes after the end is left out."""
        if self.ended:
            return
        if isinstance(event, Done):
            self._append(Cited(event))
        self._append(event)
        if isinstance(event, Text):
            self._offset += len(event.delta.encode("utf-16-le")) // 2
        self.ended = isinstance(event, Done | Failed | HandedOver)
        self._changed.set()
        self._changed = asyncio.Event()

    def _append(self, event: Told) -> None:
        self.events.append(Numbered(len(self.events) + 1, event, self._offset))

    @property
    def unfollowed_s(self) -> float:
        """For how long nobody has followed it."""
        return 0.0 if self._followers else time.monotonic() - self._left_at

    async def follow(self, after: int = 0) -> AsyncGenerator[Numbered, None]:
        """The events from number `after` + 1 on, as they come; all of them where there are not that many: the number
        is that of another try."""
        seen = after if 0 <= after <= len(self.events) else 0
        self._followers += 1
        try:
            while True:
                changed = self._changed
                while seen < len(self.events):
                    seen += 1
                    yield self.events[seen - 1]
                if self.ended and seen >= len(self.events):
                    return
                await changed.wait()
        finally:
            self._followers -= 1
            self._left_at = time.monotonic()


@dataclass(eq=False)
class _Run:
    """One try at an answer. What is in work is cancelled by the scope: unlike a task's own cancellation it leaves alone
    what is shielded, as money that is being charged, and comes once however often it is called for."""

    key: str
    answer: Answer
    events: AsyncGenerator[Event, None]
    state: Callable[[], Awaitable[State]]
    on_failure: Callable[[State], Awaitable[None]]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    stopped_as: State = "wanted"
    """Why it was stopped; where nobody wanted that, the server itself stops, and the message can be sent again."""

    def stop(self, state: State) -> None:
        if not self.scope.cancel_called:
            self.stopped_as = state
            self.scope.cancel()

    async def work(self) -> None:
        """Tells the followers of an end, whatever happens."""
        ended_as: State = "wanted"
        told: Told | None = Failed(InternalError(""))
        done = False
        watching = asyncio.create_task(self._watch())
        try:
            with self.scope:
                async with aclosing(self.events):
                    async for event in self.events:
                        self.answer.tell(event)
                        done = done or isinstance(event, Done)
            if done:
                told = None
            elif self.scope.cancelled_caught:
                ended_as = self.stopped_as
                told = _told(ended_as)
        except Withdrawn:
            ended_as = await self._what_became_of_it()
            told = _told(ended_as)
        except ParleyError as error:
            log.warning("an answer failed", error=str(error), cause=type(error.__cause__).__name__)
            told = Failed(error)
        # Nobody waits for this task: what went wrong is told to those who follow, and logged.
        except Exception:
            log.exception("an answer failed")
        finally:
            watching.cancel()
            if told is not None:
                await self._fail(ended_as, told)

    async def _fail(self, ended_as: State, told: Told) -> None:
        try:
            await self.on_failure(ended_as)
        # It goes stale then, and can be asked again.
        except Exception:
            log.exception("a failed answer was not noted", answer=self.key)
        finally:
            self.answer.tell(told)

    async def _what_became_of_it(self) -> State:
        try:
            return await self.state()
        # Its end matters more to those who follow than why.
        except Exception:
            log.exception("an answer's end has no known reason", answer=self.key)
            return "wanted"

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(TOUCH_S)
            # A database that is away for a moment ends no answer.
            with suppress(ParleyError):
                found = await self.state()
                if found != "wanted":
                    self.stop(found)
                    return


class Answers:
    """All answers in work in this process, by what they answer."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}  # in work, or ended with an answer some time ago
        self._tasks: dict[_Run, asyncio.Task[None]] = {}

    def get(self, key: str) -> Answer | None:
        run = self._runs.get(key)
        return run.answer if run is not None else None

    def start(
        self,
        key: str,
        events: AsyncGenerator[Event, None],
        *,
        state: Callable[[], Awaitable[State]],
        on_failure: Callable[[State], Awaitable[None]],
        about: dict[str, Any],
    ) -> Answer:
        """Has `events` go on by themselves. `state` is asked now and then; `on_failure` is told of an end without an
        answer."""
        run = _Run(key, Answer(about), events, state, on_failure)
        self._runs[key] = run
        task = asyncio.create_task(run.work(), name=f"answer {key}")
        self._tasks[run] = task
        task.add_done_callback(lambda _: self._ended(run))
        return run.answer

    async def wait(self, key: str) -> None:
        """Returns when the answer has ended."""
        run = self._runs.get(key)
        task = self._tasks.get(run) if run is not None else None
        if task is not None:
            await asyncio.wait([task])

    def stop(self, key: str, state: State) -> None:
        """Ends an answer that is wanted no more; does nothing where none is in work here."""
        run = self._runs.get(key)
        if run in self._tasks:
            run.stop(state)

    async def aclose(self) -> None:
        """Ends all that is in work: the server stops. Those who follow are told at once, as their connections may not
        last until a model's stream is closed and the end is noted."""
        runs = dict(self._tasks)
        for run in runs:
            run.stop("wanted")
            run.answer.tell(_told("wanted"))
        await asyncio.gather(*runs.values(), return_exceptions=True)

    def _ended(self, run: _Run) -> None:
        self._tasks.pop(run, None)
        last = run.answer.events[-1].event if run.answer.events else None
        if isinstance(last, Done):
            asyncio.get_running_loop().call_later(KEPT_S, self._forget, run)
        else:
            # Those who follow have it still; who comes now learns from the store what became of it.
            self._forget(run)

    def _forget(self, run: _Run) -> None:
        if self._runs.get(run.key) is run:
            del self._runs[run.key]


def _told(state: State) -> Told:
    if state == "handed_over":
        return HandedOver()
    if state == "cancelled":
        return Failed(Cancelled("The answer was stopped."))
    return Failed(Unavailable("The server is stopping: send the message again.", retry_after_s=5))
