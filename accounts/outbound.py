"""The one HTTP client for addresses that a user gave us: webhooks, recordings to fetch, documents to fetch.

A host is resolved once for each connection, every address of it is judged, and the connection goes to the very
addresses that were judged; so a name server that changes its mind between the two changes nothing. No proxies of the
environment, no cookies, no kept connections. Each exchange has one deadline for all of it, name resolution included.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import Any

import httpcore2
import httpx2

from accounts.addresses import Network, may_call, parse_networks
from store.errors import InvalidRequest

MAX_URL_CHARACTERS = 4096
USER_AGENT = "Parley/1.0"
_MAX_HEAD_BYTES = 64 * 1024
_BODY_S = 2.0
_MAX_ADDRESSES = 4
_MAX_RESOLVING = 64
_ODD = re.compile(r"[\x00-\x20\x7f\\]")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)

Headers = Sequence[tuple[str, str]]
SocketAddress = tuple[socket.AddressFamily, Any]


class OutboundFailed(Exception):
    """An exchange that came to nothing. `message` may be shown to who gave the URL; `status_code` is set where the
    server answered with one that is of no use."""

    def __init__(self, message: str, *, status_code: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status_code = status_code


class AddressRefused(OutboundFailed):
    """The URL or the address it leads to may not be called."""


class TimedOut(OutboundFailed):
    """The deadline of the exchange passed."""


class TooMuch(OutboundFailed):
    """The answer is larger than asked for."""


def check_url(url: str, *, param: str) -> str:
    """The URL as given, if it is one that can be called: http or https, a host, at most 4096 characters.

    Looks at its form alone. Raises InvalidRequest naming `param`.
    """
    try:
        parse_url(url)
    except AddressRefused as error:
        raise InvalidRequest(f"{param}: {error.message}", param=param) from None
    return url


def parse_url(url: str) -> httpx2.URL:
    """The parts of a URL that can be called. Raises AddressRefused, whose message begins with a verb."""
    if len(url) > MAX_URL_CHARACTERS:
        raise AddressRefused(f"is longer than {MAX_URL_CHARACTERS} characters.")
    if _ODD.search(url):
        raise AddressRefused("holds a space, a control character or a backslash.")
    try:
        parsed = httpx2.URL(url)
        raw_host = parsed.raw_host.decode("ascii")
        len(parsed.raw_path)
    except (httpx2.InvalidURL, ValueError):
        raise AddressRefused("is no URL.") from None
    if parsed.scheme not in ("http", "https"):
        raise AddressRefused("is no http or https URL.")
    if not raw_host:
        raise AddressRefused("has no host.")
    if "@" in re.split(r"[/?#]", url.split("://", 1)[1], maxsplit=1)[0]:
        raise AddressRefused("holds a user name or a password.")
    if parsed.port is not None and not 1 <= parsed.port <= 65535:
        raise AddressRefused("has no port between 1 and 65535.")
    _check_host(raw_host)
    return parsed


def without_path(url: str) -> str:
    """What may be shown of a URL whose path and query may be a secret between the account and its receiver."""
    whose, *rest = re.split(r"(?<=[^:/])[/?#]", url, maxsplit=1)
    return f"{whose}/…" if any(rest) else url


def _check_host(host: str) -> None:
    """Names and plain addresses; the forms of IPv4 that only a resolver understands (2130706433, 0x7f.1) are none."""
    if ":" in host:
        try:
            zone = ipaddress.IPv6Address(host).scope_id
        except ValueError:
            raise AddressRefused("has no host.") from None
        if zone is not None:
            raise AddressRefused("has an address with a zone.")
        return
    labels = host.removesuffix(".").split(".")
    if len(host) > 254 or not all(map(_LABEL.fullmatch, labels)):
        raise AddressRefused("has a host name that cannot be.")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            raise AddressRefused("has an IPv4 address in an unusual form.") from None


def require_url(url: str) -> httpx2.URL:
    """`parse_url`, for a URL that is about to be called: what it raises is a whole sentence."""
    try:
        return parse_url(url)
    except AddressRefused as error:
        raise AddressRefused(f"The URL {error.message}") from None


@dataclass(frozen=True, slots=True)
class Answer:
    """The first bytes of an answer's body, as text that can be shown, and how long it took to come."""

    status_code: int
    latency_ms: int
    head: str


class Deadline:
    """The end of an exchange. Every wait inside it asks how much is left."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self, at_most_s: float | None = None) -> float:
        """Seconds, above 0. Raises TimedOut."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimedOut(f"No answer within {self.seconds:g} s.")
        return left if at_most_s is None else min(left, at_most_s)

    def bring_forward(self, seconds: float) -> None:
        """Ends `seconds` from now, if not before."""
        self._end = min(self._end, time.monotonic() + seconds)


class Outbound:
    """The guarded client. Safe to use from many threads."""

    def __init__(self, allowed_networks: Iterable[str] = (), *, ssl_context: ssl.SSLContext | None = None) -> None:
        self._allowed: tuple[Network, ...] = parse_networks(allowed_networks, param="PARLEY_ALLOWED_NETWORKS")
        self._given_context = ssl_context
        self._resolving = threading.BoundedSemaphore(_MAX_RESOLVING)

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext:
        return self._given_context or httpx2.create_ssl_context()

    def post(self, url: str, body: bytes, headers: Headers, *, timeout_s: float, head_bytes: int = 500) -> Answer:
        """One POST. A redirect is an answer like any other. Raises OutboundFailed where no answer came."""
        parsed = require_url(url)
        deadline = Deadline(timeout_s)
        begun = time.monotonic()
        all_headers = [*headers, ("Content-Length", str(len(body)))]
        with self.exchange("POST", parsed, all_headers, deadline, content=body) as response:
            latency_ms = round((time.monotonic() - begun) * 1000)
            # The status has been said: a body that breaks off or drips changes nothing about it.
            deadline.bring_forward(_BODY_S)
            head = _read_head(response, head_bytes)
        return Answer(response.status, latency_ms, shown(head))

    @contextmanager
    def exchange(
        self,
        method: str,
        url: httpx2.URL,
        headers: Headers,
        deadline: Deadline,
        *,
        content: bytes | None = None,
        idle_s: float | None = None,
    ) -> Iterator[httpcore2.Response]:
        """One request and its answer, whose body is not read yet. Raises OutboundFailed, while the body is read too."""
        host = url.raw_host.decode("ascii")
        target = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        backend = _GuardedBackend(self, deadline, idle_s)
        sent = [
            (b"Host", url.netloc),
            (b"User-Agent", USER_AGENT.encode()),
            (b"Accept", b"*/*"),
            (b"Accept-Encoding", b"identity"),
            (b"Connection", b"close"),
            *((name.encode("ascii"), value.encode("ascii")) for name, value in headers),
        ]
        extensions = {"sni_hostname": host.removesuffix(".")}
        with (
            _translated(),
            httpcore2.ConnectionPool(self._ssl_context, max_connections=1, network_backend=backend) as pool,
            pool.stream(method, target, headers=sent, content=content, extensions=extensions) as response,
        ):
            backend.head_is_read()
            yield response

    def judged_addresses(self, host: str, port: int, deadline: Deadline) -> list[SocketAddress]:
        """The addresses of a host, each of which may be called. Raises AddressRefused where one of them may not."""
        found = self._resolve(host, port, deadline)
        for _, address in found:
            try:
                ip = ipaddress.ip_address(address[0])
            except ValueError:
                raise AddressRefused("The host has an address of an unknown kind.") from None
            if not may_call(ip, self._allowed):
                raise AddressRefused("The host is not at a public address.")
        return found[:_MAX_ADDRESSES]

    def _resolve(self, host: str, port: int, deadline: Deadline) -> list[SocketAddress]:
        """The resolver knows no time limit, so it runs in a thread that may be left behind."""
        if not self._resolving.acquire(timeout=deadline.left()):
            raise TimedOut("The host's name could not be resolved in time.")
        answers: SimpleQueue[list[SocketAddress] | OSError | UnicodeError] = SimpleQueue()

        def ask() -> None:
            try:
                found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
                answers.put(list(dict.fromkeys((each[0], each[4]) for each in found)))
            except (OSError, UnicodeError) as error:
                answers.put(error)
            finally:
                self._resolving.release()

        threading.Thread(target=ask, name="resolve", daemon=True).start()
        try:
            answer = answers.get(timeout=deadline.left())
        except Empty:
            raise TimedOut("The host's name could not be resolved in time.") from None
        if isinstance(answer, list) and answer:
            return answer
        raise OutboundFailed("The host's name cannot be resolved.")


class _GuardedBackend(httpcore2.NetworkBackend):
    """Opens the connection of one exchange."""

    def __init__(self, outbound: Outbound, deadline: Deadline, idle_s: float | None) -> None:
        self._outbound = outbound
        self._deadline = deadline
        self._idle_s = idle_s
        self._streams: list[_Stream] = []

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        addresses = self._outbound.judged_addresses(host, port, self._deadline)
        for number, (family, address) in enumerate(addresses):
            sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            try:
                # A dead address must leave time for the others.
                sock.settimeout(self._deadline.left() / (len(addresses) - number))
                sock.connect(address)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError as error:
                sock.close()
                last = error
            # Nobody else knows of the socket yet, whatever ended the attempt.
            except BaseException:
                sock.close()
                raise
            else:
                self._streams.append(_Stream(sock, self._deadline, self._idle_s))
                return self._streams[-1]
        if isinstance(last, TimeoutError):
            raise TimedOut("No connection: the server does not answer.")
        raise OutboundFailed(f"No connection: {last.strerror or 'the server cannot be reached'}.")

    def head_is_read(self) -> None:
        for stream in self._streams:
            stream.bound = None


class _Stream(httpcore2.NetworkStream):
    """A socket whose every wait ends with the exchange's deadline. `bound`: bytes that may still be read."""

    def __init__(self, sock: socket.socket, deadline: Deadline, idle_s: float | None) -> None:
        self._sock = sock
        self._deadline = deadline
        self._idle_s = idle_s
        self.bound: int | None = _MAX_HEAD_BYTES

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._sock.settimeout(self._deadline.left(self._idle_s))
        try:
            data = self._sock.recv(max_bytes)
        except TimeoutError as error:
            self._deadline.left()
            raise httpcore2.ReadTimeout from error  # only idle: the deadline is not over
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from error
        if self.bound is not None:
            self.bound -= len(data)
            if self.bound < 0:
                raise TooMuch(f"The answer's head is larger than {_MAX_HEAD_BYTES} bytes.")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        view = memoryview(buffer)
        while view:
            self._sock.settimeout(self._deadline.left(self._idle_s))
            try:
                view = view[self._sock.send(view) :]
            except TimeoutError as error:
                self._deadline.left()
                raise httpcore2.WriteTimeout from error
            except OSError as error:
                raise httpcore2.WriteError(str(error)) from error

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        try:
            self._sock.settimeout(self._deadline.left(self._idle_s))
            self._sock = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname)
        except ssl.SSLCertVerificationError as error:
            self.close()
            raise OutboundFailed(f"The certificate does not hold: {error.verify_message}.") from None
        except TimeoutError:
            self.close()
            raise TimedOut("No TLS connection: the server does not answer.") from None
        except (OSError, ValueError):
            self.close()
            raise OutboundFailed("No TLS connection: the server speaks it wrongly or not at all.") from None
        return self

    def close(self) -> None:
        self._sock.close()

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object" and isinstance(self._sock, ssl.SSLSocket):
            return self._sock
        return False if info == "is_readable" else None


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except httpcore2.TimeoutException:
        raise TimedOut("The server did not answer in time.") from None
    except httpcore2.RemoteProtocolError as error:
        raise OutboundFailed(f"The answer is no proper HTTP: {str(error)[:150]}") from None
    except (httpcore2.NetworkError, httpcore2.ProtocolError):
        raise OutboundFailed("The connection broke.") from None


def _read_head(response: httpcore2.Response, head_bytes: int) -> bytes:
    head = bytearray()
    with suppress(OutboundFailed, httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException):
        for chunk in response.iter_stream():
            head += chunk
            if len(head) >= head_bytes:
                break
    return bytes(head[:head_bytes])


def shown(data: bytes) -> str:
    """Bytes of any kind as text that a database and a page can hold: no NUL, no control characters but line ends."""
    text = data.decode("utf-8", errors="replace")
    return "".join(character if character.isprintable() or character in "\n\t" else "\ufffd" for character in text)
