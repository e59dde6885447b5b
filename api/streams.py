"""Answers as server-sent events: each with a number as its id, so that who lost the connection goes on where it was."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import structlog
from anyio.to_thread import run_sync
from pydantic import BaseModel
from pydantic_core import to_json
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response

from api.errors import error_of
from chat.answers import Answer, Cited, Failed, HandedOver, Numbered
from chat.contract import Done, Event, Status, Text
from store.errors import InternalError, ParleyError

PING_S = 15
LAST_WORDS_S = 3.0
"""So long a stream has for its last event when the server stops."""
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

Addresses = Mapping[str, str]
"""Where documents are loaded from, by their ids."""
FindAddresses = Callable[[Sequence[str]], Addresses]

log = structlog.get_logger(__name__)


class Context(BaseModel):
    communications: list[dict[str, Any]]
    documents: list[dict[str, Any]]
    memory: list[dict[str, Any]]


class MessageResponse(BaseModel):
    request_id: str
    markdown: str
    context: Context


def response_of(request_id: str, done: Done) -> MessageResponse:
    return MessageResponse(request_id=request_id, markdown=done.markdown, context=context_of(done))


def context_of(done: Done) -> Context:
    """The sources by kind; `citation` is the number in square brackets that the text has for it."""
    by_kind: dict[str, list[dict[str, Any]]] = {"communication": [], "document": [], "memory": []}
    for number, passage in enumerate(done.used_passages, 1):
        by_kind[passage.kind].append({**passage.context_item, "citation": number})
    return Context(communications=by_kind["communication"], documents=by_kind["document"], memory=by_kind["memory"])


def citations_of(context: dict[str, Any], addresses: Addresses | None = None) -> list[dict[str, Any]]:
    """The sources of an answer in the order of their numbers, as much of each as is shown beside it; with `addresses`
    each has its `source_url`, which visitors may open, unlike `url`."""
    found: list[dict[str, Any]] = []
    for kind, items in (("document", "documents"), ("communication", "communications"), ("memory", "memory")):
        for item in context[items]:
            title = item.get("title") or item.get("speaker_name") or ""
            snippet = item.get("snippet") or item.get("content") or ""
            found.append(
                {
                    "citation": item["citation"],
                    "kind": kind,
                    "title": title,
                    "url": item.get("url"),
                    "page": item.get("page"),
                    "snippet": snippet,
                }
            )
            if addresses is not None:
                found[-1]["source_url"] = addresses.get(item.get("document_id", ""))
    return sorted(found, key=lambda item: int(item["citation"]))


def cited_documents(context: dict[str, Any]) -> list[str]:
    """Their ids."""
    return [str(item["document_id"]) for item in context["documents"]]


def last_event_id(request: Request) -> int:
    """The number of the event that the caller saw last; 0 where it saw none."""
    text = request.headers.get("last-event-id", "")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def event_stream(events: AsyncGenerator[ServerSentEvent, None]) -> EventSourceResponse:
    return EventSourceResponse(
        events,
        ping=PING_S,
        ping_message_factory=lambda: ServerSentEvent(comment="ping"),
        headers=HEADERS,
        shutdown_grace_period=LAST_WORDS_S,
    )


async def live(events: AsyncGenerator[Event, None], request_id: str) -> AsyncGenerator[ServerSentEvent, None]:
    """An answer that ends with the request: closing the stream closes `events`."""
    answer = Answer()
    async with aclosing(events):
        try:
            async for event in events:
                for numbered in _tell(answer, event):
                    yield sse(numbered, request_id)
        except ParleyError as error:
            for numbered in _tell(answer, Failed(error)):
                yield sse(numbered, request_id)
        # The headers are sent, so whatever else goes wrong ends in an event too, not in a stream that breaks off.
        except Exception:
            log.exception("a streamed answer failed")
            for numbered in _tell(answer, Failed(InternalError(""))):
                yield sse(numbered, request_id)


async def followed(
    answer: Answer, *, after: int = 0, find: FindAddresses | None = None
) -> AsyncGenerator[ServerSentEvent, None]:
    """An answer that goes on by itself, from event number `after` + 1 on; `about` has its `request_id`, and what its
    end tells besides. `find` gives the documents' addresses."""
    about = dict(answer.about)
    request_id = str(about.pop("request_id"))
    async with aclosing(answer.follow(after)) as events:
        async for numbered in events:
            if find is not None and isinstance(numbered.event, Cited):
                context = context_of(numbered.event.done).model_dump(mode="json")
                yield await _cited(numbered.number, context, find)
            else:
                yield sse(numbered, request_id, **about)


def whole(answer: Answer, request_id: str, done: Done) -> Response:
    """The stream of an answer that ends with `done`, for those who ask for it again."""
    ending = Answer(events=list(answer.events))
    ending.tell(done)
    body = b"".join(sse(numbered, request_id).encode() for numbered in ending.events)
    return Response(body, media_type="text/event-stream", headers=HEADERS)


async def replayed(
    stored: dict[str, Any], find: FindAddresses, *, after: int = 0, **extra: Any
) -> AsyncGenerator[ServerSentEvent, None]:
    """An answer that was kept: its whole text at once, then its end."""
    yield _event(after + 1, "text", {"delta": stored["markdown"], "offset": 0})
    yield await _cited(after + 2, stored["context"], find)
    yield _event(after + 3, "done", {**stored, **extra})


async def _cited(number: int, context: dict[str, Any], find: FindAddresses) -> ServerSentEvent:
    addresses = await run_sync(find, cited_documents(context))
    return _event(number, "citations", {"items": citations_of(context, addresses)})


def sse(numbered: Numbered, request_id: str, **extra: Any) -> ServerSentEvent:
    """`extra` is added to the data of the event that ends an answer well."""
    match numbered.event:
        case Status() as status:
            return _event(numbered.number, "status", {"step": status.step, "tool": status.tool or None})
        case Text() as text:
            return _event(numbered.number, "text", {"delta": text.delta, "offset": numbered.offset})
        case Cited() as cited:
            context = context_of(cited.done).model_dump(mode="json")
            return _event(numbered.number, "citations", {"items": citations_of(context)})
        case Done() as done:
            return _event(numbered.number, "done", {**stored_answer(request_id, done), **extra})
        case HandedOver():
            return handed_over(numbered.number, request_id)
        case Failed() as ended:
            return failed(numbered.number, ended.error)


def stored_answer(request_id: str, done: Done) -> dict[str, Any]:
    """The data of the event that ends an answer, as it is kept too."""
    return {**response_of(request_id, done).model_dump(mode="json"), "found": done.found}


def handed_over(number: int, request_id: str) -> ServerSentEvent:
    """A person has the conversation: no answer follows here."""
    nothing: dict[str, list[Any]] = {"communications": [], "documents": [], "memory": []}
    data = {"request_id": request_id, "markdown": "", "context": nothing, "found": False}
    return _event(number, "done", {**data, "reply_id": None, "handed_over": True})


def failed(number: int, error: ParleyError) -> ServerSentEvent:
    """The event that ends an answer badly: the body that such an error has everywhere."""
    return _event(number, "error", {"error": error_of(error).model_dump()})


def _tell(answer: Answer, event: Event | Failed) -> list[Numbered]:
    before = len(answer.events)
    answer.tell(event)
    return answer.events[before:]


def _event(number: int, name: str, data: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(id=str(number), event=name, data=to_json(data).decode())
