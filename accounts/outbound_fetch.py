"""Fetching what a user's URL holds, as a stream: bounded in bytes and time, over checked redirects, and going on where
a connection broke."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import PurePosixPath
from urllib.parse import unquote

import httpcore2
import httpx2

from accounts.outbound import (
    AddressRefused,
    Deadline,
    Headers,
    Outbound,
    OutboundFailed,
    TimedOut,
    TooMuch,
    parse_url,
    require_url,
)

_IDLE_S = 30.0
_MAX_RESUMES = 5
_PAUSE_S = 0.5
_REDIRECTS = (301, 302, 303, 307, 308)
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,19})-[0-9]{1,19}/([0-9]{1,19})")


class _Broken(OutboundFailed):
    """The body ended before it was whole: what can be gone on with."""


@dataclass(frozen=True, slots=True)
class Head:
    """What an answer says of its body. `size` in bytes, None where it is not told; `validator` names this version."""

    url: httpx2.URL
    content_type: str | None
    size: int | None
    file_name: str | None
    validator: str | None
    takes_ranges: bool


class Fetched:
    """What is at a URL: iterate over it, once, for its bytes. Raises OutboundFailed on the way."""

    def __init__(self, head: Head, pieces: Iterator[bytes]) -> None:
        self.url = str(head.url)
        self.content_type = head.content_type
        self.size = head.size
        self.file_name = head.file_name
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces


@contextmanager
def fetch(
    outbound: Outbound, url: str, *, max_bytes: int, timeout_s: float, max_redirects: int = 5, resumes: bool = True
) -> Iterator[Fetched]:
    """A GET of a URL that a user gave us. `timeout_s` bounds all of it; 30 s without a byte end it too.

    Raises AddressRefused for the URL or a redirect's target, TooMuch beyond `max_bytes`, TimedOut, and OutboundFailed
    for an answer other than 200; those of the body are raised while it is read.
    """
    deadline = Deadline(timeout_s)
    target = require_url(url)
    with ExitStack() as stack:
        for _ in range(max_redirects + 1):
            response = stack.enter_context(outbound.exchange("GET", target, (), deadline, idle_s=_IDLE_S))
            location = _header(response, "location")
            if response.status not in _REDIRECTS or location is None:
                break
            stack.pop_all().close()
            target = _redirected(target, location)
        else:
            raise OutboundFailed(f"More than {max_redirects} redirects.")
        if response.status != 200:
            raise OutboundFailed(f"The server answered {response.status}.", status_code=response.status)
        head = _head(target, response)
        if head.size is not None and head.size > max_bytes:
            raise _too_much(max_bytes)
        yield Fetched(head, _pieces(outbound, stack, head, response, deadline, max_bytes, resumes))


def _pieces(
    outbound: Outbound,
    stack: ExitStack,
    head: Head,
    response: httpcore2.Response,
    deadline: Deadline,
    max_bytes: int,
    resumes: bool,
) -> Iterator[bytes]:
    received = 0
    left = _MAX_RESUMES if resumes and head.takes_ranges and head.validator else 0
    while True:
        try:
            for piece in _whole(response, None if head.size is None else head.size - received):
                received += len(piece)
                if received > max_bytes:
                    raise _too_much(max_bytes)
                yield piece
            return
        except _Broken:
            if left <= 0 or head.size is None:
                raise
            left -= 1
        stack.pop_all().close()
        response = _resumed(outbound, stack, head, received, deadline, left)


def _whole(response: httpcore2.Response, size: int | None) -> Iterator[bytes]:
    """The body's pieces. Raises _Broken where it ends early."""
    received = 0
    try:
        for piece in response.iter_stream():
            received += len(piece)
            yield piece
    except (httpcore2.NetworkError, httpcore2.RemoteProtocolError, httpcore2.ReadTimeout):
        raise _Broken("The connection broke in the middle.") from None
    if size is not None and received != size:
        raise _Broken("The answer has another length than it says.")


def _resumed(
    outbound: Outbound, stack: ExitStack, head: Head, received: int, deadline: Deadline, left: int
) -> httpcore2.Response:
    """The rest of the body, of the very version that was begun. Raises OutboundFailed where it cannot be had."""
    headers: Headers = (("Range", f"bytes={received}-"), ("If-Range", head.validator or ""))
    while True:
        time.sleep(deadline.left(_PAUSE_S))
        try:
            response = stack.enter_context(outbound.exchange("GET", head.url, headers, deadline, idle_s=_IDLE_S))
            break
        except (AddressRefused, TimedOut, TooMuch):
            raise
        except OutboundFailed:
            if left <= 0:
                raise
            left -= 1
    found = _CONTENT_RANGE.fullmatch(_header(response, "content-range") or "")
    if response.status != 206 or found is None or (int(found[1]), int(found[2])) != (received, head.size):
        raise OutboundFailed("The connection broke in the middle, and the server does not give the rest.")
    return response


def _redirected(url: httpx2.URL, location: str) -> httpx2.URL:
    try:
        target = str(url.join(location))
    except (httpx2.InvalidURL, ValueError):
        raise OutboundFailed("The server redirects to what is no URL.") from None
    try:
        return parse_url(target)
    except AddressRefused as error:
        raise AddressRefused(f"The server redirects to a URL that {error.message}") from None


def _head(url: httpx2.URL, response: httpcore2.Response) -> Head:
    length = _header(response, "content-length")
    encoding = _header(response, "content-encoding")
    if encoding not in (None, "identity"):
        raise OutboundFailed("The server packs its answer, which was not asked for.")
    validator = _header(response, "etag")
    if validator is None or validator.startswith("W/"):
        validator = _header(response, "last-modified")
    return Head(
        url=url,
        content_type=_header(response, "content-type"),
        size=int(length) if length and length.isdigit() else None,
        file_name=_file_name(url, _header(response, "content-disposition")),
        validator=validator,
        takes_ranges=_header(response, "accept-ranges") == "bytes",
    )


def _header(response: httpcore2.Response, name: str) -> str | None:
    for found, value in response.headers:
        if found.lower() == name.encode():
            return value.decode("latin-1").strip()
    return None


def _file_name(url: httpx2.URL, disposition: str | None) -> str | None:
    """The last part of a path, whoever says it."""
    name = None
    if disposition:
        message = Message()
        message["Content-Disposition"] = disposition
        name = message.get_filename()
    name = PurePosixPath((name or unquote(url.path)).replace("\\", "/")).name
    return "".join(character for character in name if character.isprintable())[:200] or None


def _too_much(max_bytes: int) -> TooMuch:
    return TooMuch(f"The file is larger than {max_bytes} bytes.")
