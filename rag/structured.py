"""Structured answers of a language model for background work: typed, validated, asked for again, from any thread.

`BackgroundModel` has an event loop of its own, since a model belongs to one loop. On the local model it gives way to
chats: what was being generated is thrown away and asked for again when no chat is in work.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from rag.language_model import (
    LitellmModel,
    ProviderFailure,
    RepeatsItself,
    RequestRefused,
    TokenUsage,
    estimate_message_tokens,
    open_language_model,
)
from rag.local_model import LocalModel
from rag.precedence import Interrupted
from rag.prompt_data import without_controls
from rag.response_formats import FORMATS, only_json, response_format, speaks_of_format, what_is_wrong
from store import meters
from store.errors import Unavailable
from store.settings import Settings

PLACES = 4  # requests to a provider at the same time
MOST_INTERRUPTIONS = 20
LONGEST_WAIT_S = 1800.0  # for a chance to use the local model, interruptions and other work included
STOP_TIMEOUT_S = 10.0
_CHARS_A_TOKEN = 12  # no answer is read further than this
_REPEATED_CHARS = 400  # of an unusable answer, shown to the model that gave it

Messages = Sequence[Mapping[str, Any]]
T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")

log = structlog.get_logger(__name__)


class StrictAnswer(BaseModel):
    """Base of schemas: nothing is converted, nothing may be missing or added. No answer has control characters in its
    texts, whatever the model says."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class ModelClosed(Unavailable):
    """The model was closed while it was asked: the server is stopping."""


@dataclass(slots=True)
class Meter:
    """What its calls have used so far: every answer counts when it has come, though the call fails later."""

    usage: TokenUsage = field(default_factory=TokenUsage)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """`value` is None where every attempt was unusable; `problem` then says why, for people."""

    value: T | None
    usage: TokenUsage
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    usage: TokenUsage
    finish_reason: str | None


def open_background_model(settings: Settings, local: LocalModel | None = None) -> BackgroundModel | None:
    """The settings' model for background work, or None. `local` is the child that chats use too."""
    model = open_language_model(settings, local=local, in_background=True)
    return BackgroundModel(model) if model is not None and (model.local is not None or not model.is_local) else None


class BackgroundModel:
    """A language model for job steps. Every call blocks its thread; any number of threads may call.

    Calls raise UpstreamFailed and Unavailable as `LitellmModel.stream` does, Unavailable also where chats left no time
    for too long, and ModelClosed after `close`. The model must be used by nobody else.
    """

    def __init__(self, model: LitellmModel, *, places: int = PLACES) -> None:
        self.name = model.name
        self.is_local = model.is_local
        self.max_prompt_tokens = model.max_prompt_tokens
        self.places = 1 if model.is_local else places
        self._model = model
        self._format = 0  # of FORMATS: the best that the provider takes
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._free: asyncio.Semaphore | None = None
        self._closed = False

    def ask(
        self, messages: Messages, schema: type[T], *, max_tokens: int, attempts: int = 3, meter: Meter | None = None
    ) -> Answer[T]:
        """One answer of this schema. An unusable one is asked for again, with what is wrong with it."""
        return self._finish(self._ask(messages, schema, max_tokens, attempts, meter))

    def ask_each(
        self,
        prompts: Iterable[Messages],
        schema: type[T],
        *,
        max_tokens: int,
        attempts: int = 3,
        meter: Meter | None = None,
    ) -> Iterator[Answer[T]]:
        """The answers in the order of the prompts, which are taken as places become free."""
        return self._each(self._ask(messages, schema, max_tokens, attempts, meter) for messages in prompts)

    def text(
        self, messages: Messages, *, max_tokens: int, attempts: int = 3, meter: Meter | None = None
    ) -> tuple[str | None, TokenUsage]:
        """Free text; None where every attempt was empty or refused."""
        return self._finish(self._text(messages, max_tokens, attempts, meter))

    def text_each(
        self, prompts: Iterable[Messages], *, max_tokens: int, attempts: int = 3, meter: Meter | None = None
    ) -> Iterator[tuple[str | None, TokenUsage]]:
        return self._each(self._text(messages, max_tokens, attempts, meter) for messages in prompts)

    def close(self) -> None:
        """Ends what is in work, the HTTP clients and the loop; waits for them. The shared child stays."""
        with self._starting:
            self._closed = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None or not thread.is_alive():
            return
        with contextlib.suppress(Exception):  # the loop ends in any case
            asyncio.run_coroutine_threadsafe(self._shut_down(), loop).result(STOP_TIMEOUT_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(STOP_TIMEOUT_S)

    async def _shut_down(self) -> None:
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        await self._model.aclose()

    def _start(self, work: Coroutine[Any, Any, R]) -> Future[R]:
        with self._starting:
            if self._closed:
                work.close()
                raise ModelClosed("The server is stopping.", retry_after_s=5)
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="background-model", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _result(self, future: Future[R]) -> R:
        try:
            return future.result()
        except (CancelledError, asyncio.CancelledError):
            raise ModelClosed("The server is stopping.", retry_after_s=5) from None

    def _finish(self, work: Coroutine[Any, Any, R]) -> R:
        return self._result(self._start(work))

    def _each(self, works: Iterable[Coroutine[Any, Any, R]]) -> Iterator[R]:
        started: deque[Future[R]] = deque()
        try:
            for work in works:
                started.append(self._start(work))
                if len(started) >= self.places:
                    yield self._result(started.popleft())
            while started:
                yield self._result(started.popleft())
        finally:
            for future in started:
                future.cancel()

    async def _ask(
        self, messages: Messages, schema: type[T], max_tokens: int, attempts: int, meter: Meter | None
    ) -> Answer[T]:
        usage, problem, asked = TokenUsage(), "", list(messages)
        for attempt in range(attempts):
            try:
                said = await self._say_json(asked, schema, max_tokens, meter)
            except RequestRefused as error:
                if not error.of_content:
                    raise
                return Answer(None, usage, "The provider refused the request for its content.")
            usage += said.usage
            problem = "The answer was refused." if said.finish_reason == "content_filter" else ""
            if not problem and not said.text.strip():
                problem = "The answer was empty."
            if not problem:
                try:
                    return Answer(schema.model_validate_json(only_json(said.text)), usage)
                except ValidationError as error:
                    problem = what_is_wrong(error)
                if said.finish_reason == "length":
                    problem = f"The answer was longer than {max_tokens} tokens. {problem}"
            log.info("model_answer_unusable", model=self.name, schema=schema.__name__, problem=problem, attempt=attempt)
            asked = [*messages, *_told(said.text, problem)]
        return Answer(None, usage, problem)

    async def _text(
        self, messages: Messages, max_tokens: int, attempts: int, meter: Meter | None
    ) -> tuple[str | None, TokenUsage]:
        usage = TokenUsage()
        for _ in range(attempts):
            try:
                said = await self._say(messages, max_tokens, None, meter)
            except RequestRefused as error:
                if not error.of_content:
                    raise
                break
            usage += said.usage
            if said.text.strip() and said.finish_reason != "content_filter":
                return said.text.strip(), usage
        return None, usage

    async def _say_json(
        self, messages: Messages, schema: type[BaseModel], max_tokens: int, meter: Meter | None
    ) -> _Said:
        """One answer in the best format that the provider takes; it is remembered where the provider said so."""
        first = chosen = self._format
        spoke_of_it = False
        while True:
            try:
                said = await self._say(messages, max_tokens, response_format(FORMATS[chosen], schema), meter)
            except RequestRefused as error:
                if error.of_content or chosen + 1 == len(FORMATS):
                    raise
                cause = error.__cause__
                spoke_of_it |= isinstance(cause, ProviderFailure) and speaks_of_format(cause.detail)
                chosen += 1
                continue
            if chosen != first and spoke_of_it:
                self._format = max(self._format, chosen)
                log.info("language_model_format", model=self.name, format=FORMATS[chosen])
            return said

    async def _say(
        self, messages: Messages, max_tokens: int, form: Mapping[str, Any] | None, meter: Meter | None
    ) -> _Said:
        said = await self._said(messages, max_tokens, form)
        used = said.usage
        meters.tokens(self.name, "analysis", prompt=used.prompt_tokens, completion=used.completion_tokens)
        if meter is not None:
            meter.usage += used  # on this loop alone
        return said

    async def _said(self, messages: Messages, max_tokens: int, form: Mapping[str, Any] | None) -> _Said:
        if self._free is None:
            self._free = asyncio.Semaphore(self.places)
        local = self._model.local
        try:
            async with asyncio.timeout(LONGEST_WAIT_S if local is not None else None), self._free:
                for _ in range(MOST_INTERRUPTIONS):
                    if local is None:
                        return await self._read(messages, max_tokens, form)
                    with contextlib.suppress(Interrupted):
                        return await local.precedence.run(lambda: self._read(messages, max_tokens, form))
        except TimeoutError:
            pass  # the model's own time-outs are UpstreamFailed already
        raise Unavailable("Chats keep the language model busy.", retry_after_s=60)

    async def _read(self, messages: Messages, max_tokens: int, form: Mapping[str, Any] | None) -> _Said:
        pieces: list[str] = []
        left = max_tokens * _CHARS_A_TOKEN
        stream = self._model.stream(messages, max_tokens=max_tokens, temperature=0.0, response_format=form)
        async with aclosing(stream) as deltas:
            with contextlib.suppress(RepeatsItself):
                async for delta in deltas:
                    pieces.append(delta.text)
                    left -= len(delta.text)
                    if delta.finish_reason is not None:
                        return _Said(_joined(pieces), delta.usage or TokenUsage(), delta.finish_reason)
                    if left < 0:
                        break
        usage = TokenUsage(estimate_message_tokens(messages), max_tokens, estimated=True)
        return _Said(_joined(pieces), usage, "length")


def _joined(pieces: Iterable[str]) -> str:
    return without_controls("".join(pieces))


def _told(answer: str, problem: str) -> list[dict[str, str]]:
    """What is added to the prompt: the unusable answer's beginning, and what is wrong with it."""
    said = [{"role": "assistant", "content": answer.strip()[:_REPEATED_CHARS]}] if answer.strip() else []
    return [*said, {"role": "user", "content": f"{problem} Answer again, with the JSON object alone."}]


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
