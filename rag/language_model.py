"""The language model behind chat and analysis: any provider through litellm, or the local model's child process.

Streams deltas, retries what is worth it before the first of them, and turns every failure into one of two errors. Use
an instance from one event loop only: HTTP clients belong to the loop that made them. Chats and background work have an
instance each, over one child.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Literal, Protocol

import structlog

from rag import litellm_calls
from rag.local_model import LocalModel, find_model
from rag.model_choice import resolve_model
from rag.token_estimate import estimate_tokens as estimate_tokens
from store import meters, traces
from store.errors import ParleyError, Unavailable, UpstreamFailed
from store.settings import Settings

LOCAL_PROMPT_TOKENS = 1400  # about 15 s of reading on 2 cores; repeated beginnings are cached
LOCAL_BACKGROUND_PROMPT_TOKENS = 2600  # nobody waits, and a call in one piece is understood better; see CONTEXT_TOKENS
PROVIDER_PROMPT_TOKENS = 12_000
BACKGROUND_PATIENCE = 5  # times the setting's bound: on a busy machine the local model reads at a fifth of its speed
ATTEMPTS = 3
_SPEAKS_OF_TOOLS = re.compile(r"\b(?:tool|function)(?:s|\b|[_ -]?(?:choice|call|use))", re.IGNORECASE)

log = structlog.get_logger(__name__)


class ProviderFailure(Exception):
    """What a provider's client reported, with the keys masked: the cause of the errors that `stream` raises. `detail`
    are its words, which may repeat what was asked, and so are for no log."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason)
        self.detail = detail


class RequestRefused(UpstreamFailed):
    """The provider takes no such request (400, 422). `of_content`: for what it says, not for how it asks."""

    of_content = False


class ProviderAway(UpstreamFailed):
    """The provider was not reached, took too long, or had too much to do (429) or a fault of its own (5xx): the same
    request may be answered later."""


class RepeatsItself(UpstreamFailed):
    """The model says the same piece over and over: an answer that is none, from a provider that works."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A finished wish of the model. `arguments` is its JSON text, unchecked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class TokenUsage:
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of an answer. The last one has a `finish_reason`, the complete `tool_calls` and the `usage`."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: TokenUsage | None = None


class LanguageModel(Protocol):
    """What chat and analysis need of a model."""

    name: str
    is_local: bool
    max_prompt_tokens: int

    async def supports_tools(self) -> bool: ...

    def stream(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        tool_choice: Literal["auto", "none"] = "auto",
        max_tokens: int = 700,
        temperature: float = 0.1,
        response_format: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Delta, None]: ...

    async def aclose(self) -> None: ...


def open_local_model(settings: Settings, wanted: str | None = None) -> LocalModel | None:
    """The local model that `resolve_model` chose, for all who ask it in this process. Starts nothing yet."""
    found = find_model(settings) if resolve_model(settings, wanted).kind == "local" else None
    if found is None:
        return None
    return LocalModel(found[0], found[1], threads=settings.llm_threads, idle_s=settings.llm_idle_s)


def open_language_model(
    settings: Settings,
    *,
    wanted: str | None = None,
    local: LocalModel | None = None,
    in_background: bool = False,
) -> LitellmModel | None:
    """The model that `resolve_model` chose, or None. Starts and imports nothing yet.

    `local` is the child to share, which stays its owner's to close; without it the model has one of its own.
    """
    choice = resolve_model(settings, wanted)
    if choice.kind == "none":
        return None
    if choice.kind == "provider":
        return LitellmModel(settings, choice.name, in_background=in_background)
    owned = open_local_model(settings, wanted) if local is None else None
    return LitellmModel(
        settings,
        f"openai/{choice.name or 'local'}",
        local=local or owned,
        is_local=True,
        owns_local=owned is not None,
        in_background=in_background,
    )


def _is_for(settings: Settings, name: str) -> bool:
    """Whether the settings' key and address are for this model too: another provider must not be sent them, and has
    its own in the environment, as litellm names it."""
    own = settings.llm_model.strip()
    return own in ("", "none", "local", name) or ("/" in name and name.split("/")[0] == own.split("/")[0])


@dataclass
class _CallParts:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class _Gathered:
    """What has to wait for the end of a stream."""

    calls: dict[int, _CallParts] = field(default_factory=dict)
    finish_reason: str | None = None
    usage: TokenUsage | None = None
    characters: int = 0

    def add(self, chunk: Any) -> str:
        """Takes one litellm chunk in; returns its text."""
        usage = getattr(chunk, "usage", None)
        if usage is not None and usage.prompt_tokens:
            self.usage = TokenUsage(usage.prompt_tokens, usage.completion_tokens or 0)
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self.finish_reason = choice.finish_reason or self.finish_reason
        for part in choice.delta.tool_calls or ():
            call = self.calls.setdefault(part.index if part.index is not None else len(self.calls), _CallParts())
            call.id = part.id or call.id
            call.name += part.function.name or ""
            call.arguments += part.function.arguments or ""
        text = choice.delta.content or ""
        self.characters += len(text)
        return str(text)

    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(
            ToolCall(call.id or f"call_{index}", call.name, call.arguments or "{}")
            for index, call in sorted(self.calls.items())
            if call.name
        )


@contextlib.contextmanager
def _timed(model: str, gathered: _Gathered) -> Iterator[None]:
    """Measures an answer. One that its reader left is none that failed."""
    begun_s, outcome = time.monotonic(), "error"
    asked = {"gen_ai.operation.name": "chat", "gen_ai.request.model": model}
    # Not the current span: that would be its reader's too, between two pieces of the answer.
    span = traces.begin(f"chat {model}", traces.CLIENT, asked)
    try:
        yield
        outcome = "success"
    except (GeneratorExit, asyncio.CancelledError):
        outcome = "left"
        raise
    except Exception as error:
        traces.fail(span, type(error).__name__)
        raise
    finally:
        if gathered.usage is not None:
            span.set_attribute("gen_ai.usage.input_tokens", gathered.usage.prompt_tokens)
            span.set_attribute("gen_ai.usage.output_tokens", gathered.usage.completion_tokens)
        span.end()
        meters.MODEL_SECONDS.labels(model, outcome).observe(time.monotonic() - begun_s)


class LitellmModel:
    """A `LanguageModel` over litellm; with `local`, over the child process that serves the local model."""

    def __init__(
        self,
        settings: Settings,
        name: str,
        *,
        local: LocalModel | None = None,
        is_local: bool = False,
        owns_local: bool = True,
        in_background: bool = False,
    ) -> None:
        self.name = name
        self.is_local = is_local
        self.local = local
        self.in_background = in_background
        local_tokens = LOCAL_BACKGROUND_PROMPT_TOKENS if in_background else LOCAL_PROMPT_TOKENS
        self.max_prompt_tokens = settings.llm_max_prompt_tokens or (
            local_tokens if is_local else PROVIDER_PROMPT_TOKENS
        )
        self._owns_local = owns_local
        self._timeout_s = settings.llm_timeout_s * (BACKGROUND_PATIENCE if is_local and in_background else 1)
        ours = _is_for(settings, name)
        self._api_base = (settings.llm_api_base or None) if ours else None
        self._api_key = (settings.llm_api_key.get_secret_value() or None) if ours else None
        self._takes_tools: bool | None = False if is_local else None
        self._tools_known = False
        self._used = False

    async def supports_tools(self) -> bool:
        """No for the local model; else as litellm knows it, and yes where it does not know the model."""
        if self._takes_tools is None:
            litellm = await litellm_calls.load_litellm()
            known = self.name in litellm.model_cost or self.name.partition("/")[2] in litellm.model_cost
            self._tools_known = known
            self._takes_tools = not known or bool(litellm.supports_function_calling(self.name))
        return self._takes_tools

    async def stream(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        tool_choice: Literal["auto", "none"] = "auto",
        max_tokens: int = 700,
        temperature: float = 0.1,
        response_format: Mapping[str, Any] | None = None,
    ) -> AsyncGenerator[Delta, None]:
        """Deltas of one answer to OpenAI-shaped `messages`. Closing the iterator ends the provider's stream.

        Raises UpstreamFailed (provider refused, broke off or took longer than the setting) and Unavailable (nothing
        to ask is configured or installed). Only what failed before the first delta is tried again. Background work
        gives way to chats in `rag.structured` alone.
        """
        if self.is_local and self.local is None:
            raise Unavailable("The local model's file is missing: run `parley models pull`.", retry_after_s=60)
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        request: dict[str, Any] = {
            "model": self.name,
            "messages": [dict(message) for message in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "stream": True,
            "stream_options": {"include_usage": True},
            "num_retries": 0,
            "max_retries": 0,
            "timeout": self._timeout_s,
            "drop_params": True,
        }
        if response_format is not None:
            request["response_format"] = dict(response_format)
        if tools:
            request |= {"tools": [dict(tool) for tool in tools], "tool_choice": tool_choice}
        litellm = await litellm_calls.load_litellm()
        self._used = True
        gathered = _Gathered()
        with self._use(), _timed(self.name, gathered):
            request |= await self._address(deadline)
            response = await self._open(litellm, request, deadline)
            failure: ParleyError | None = None
            try:
                while True:
                    try:
                        async with asyncio.timeout_at(deadline):
                            chunk = await anext(response)
                    except StopAsyncIteration:
                        break
                    text = gathered.add(chunk)
                    if text:
                        yield Delta(text=text)
            except litellm_calls.provider_errors() as error:
                failure = await self._failed(error)
            finally:
                await litellm_calls.close_stream(response)
            if failure is not None:
                raise failure
        if gathered.finish_reason is None:
            raise await self._failed(ConnectionError("the stream ended without a finish reason"))
        usage = gathered.usage or TokenUsage(estimate_message_tokens(messages), gathered.characters // 3, True)
        yield Delta(tool_calls=gathered.tool_calls(), finish_reason=gathered.finish_reason, usage=usage)

    async def aclose(self) -> None:
        """Ends the local model's process, where it is this one's, and the HTTP clients of this loop."""
        if self.local is not None and self._owns_local:
            await asyncio.to_thread(self.local.close)
        if self._used:
            await litellm_calls.close_clients(await litellm_calls.load_litellm())

    @contextlib.contextmanager
    def _use(self) -> Iterator[None]:
        if self.local is None:
            yield
            return
        with self.local.in_use(), contextlib.nullcontext() if self.in_background else self.local.precedence.chat():
            yield

    async def _address(self, deadline: float) -> dict[str, Any]:
        if self.local is None:
            return {"api_base": self._api_base, "api_key": self._api_key}
        try:
            async with asyncio.timeout_at(deadline):
                endpoint = await self.local.endpoint()
        except TimeoutError as error:
            raise UpstreamFailed("The local model did not start in time.") from error
        return {"api_base": endpoint.api_base, "api_key": endpoint.api_key}

    async def _open(self, litellm: ModuleType, request: dict[str, Any], deadline: float) -> Any:
        """The provider's open stream, after at most `ATTEMPTS` tries and one without the tools that it refused.

        That the model takes no tools is remembered where the provider said so and answers without them: a request is
        refused for other reasons too, such as a content filter.
        """
        attempt, refused_tools = 0, False
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    response = await litellm.acompletion(**request)
            except litellm_calls.provider_errors() as error:
                now = asyncio.get_running_loop().time()
                if "tools" in request and getattr(error, "status_code", None) == 400 and not self._tools_known:
                    refused_tools = _SPEAKS_OF_TOOLS.search(str(error)) is not None
                    request = {key: value for key, value in request.items() if key not in ("tools", "tool_choice")}
                    continue
                attempt += 1
                pause_s = litellm_calls.retry_pause_s(error, attempt - 1)
                if attempt < ATTEMPTS and pause_s is not None and now + pause_s < deadline:
                    log.info("language_model_retry", model=self.name, reason=type(error).__name__, attempt=attempt)
                    await asyncio.sleep(pause_s)
                    continue
                failure = await self._failed(error)
            else:
                if refused_tools:
                    log.info("language_model_without_tools", model=self.name)
                    self._takes_tools = False
                return response
            raise failure

    async def _failed(self, error: BaseException) -> ParleyError:
        """Logs what happened and gives the error for the caller, neither of them with the key.

        Raise it outside of the `except` block: there the provider's own error would become its context.
        """
        detail = self._masked(str(error))[:500]
        log.warning("language_model_failed", model=self.name, **litellm_calls.loggable(error, detail))
        if self.local is not None and (endpoint := self.local.current()) is not None:
            await asyncio.to_thread(self.local.drop_if_unhealthy, endpoint)
        failure: ParleyError
        if "LLM Provider NOT provided" in detail:
            failure = Unavailable("PARLEY_LLM_MODEL names no model that litellm knows.", retry_after_s=60)
        elif litellm_calls.is_timeout(error):
            failure = ProviderAway("The language model took too long to answer.")
        elif "repeating the same chunk" in detail:
            failure = RepeatsItself("The language model failed to answer.")
        elif getattr(error, "status_code", None) in (400, 422):
            failure = RequestRefused("The language model failed to answer.")
            failure.of_content = "ContentPolicy" in type(error).__name__ or "content_filter" in detail
        else:
            status = getattr(error, "status_code", None)
            is_away = status is None or status == 429 or status >= 500
            failure = (ProviderAway if is_away else UpstreamFailed)("The language model failed to answer.")
        failure.__cause__ = ProviderFailure(type(error).__name__, detail)
        return failure

    def _masked(self, text: str) -> str:
        endpoint = self.local.current() if self.local is not None else None
        return litellm_calls.mask_keys(text, self._api_key, endpoint.api_key if endpoint is not None else None)


def estimate_message_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """Tokens of OpenAI-shaped messages, about, with what a chat template adds to each."""
    return sum(6 + estimate_tokens(str(message.get("content") or "")) for message in messages)
