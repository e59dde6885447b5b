"""The line between FFmpeg and a camera: FFmpeg speaks to this process over loopback, and this process to the camera.

FFmpeg goes wherever RTSP answers send it: to the `Location` of a redirect, and over UDP to the `source` of a transport.
A camera, or who poses as one, could lead it so to hosts that nobody judged (accounts.camera_addresses). Hence answers
are read here and written anew, with headers that lead nowhere, up to PLAY: after that FFmpeg heeds neither of the two,
and bytes pass as they come.

The other way, requests name the camera in place of this line, since proxies of RTSP look for whom a request is.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import select
import socket
import ssl
import struct
import threading
from typing import Self
from urllib.parse import unquote_to_bytes, urlsplit

_PORTS = {"rtsp": 554, "rtsps": 322}
_CHUNK = 64 * 1024
_MOST_HEAD, _MOST_BODY = 16 * 1024, 256 * 1024
_ACCEPT_S = 10.0
_SEND_BUFFER_BYTES = 256 * 1024  # what waits in between is old pictures
_LAST_WORD_S, _END_S = 0.2, 1.0  # FFmpeg's TEARDOWN is still handed on

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(r"RTSP/1\.[0-9]\s+([0-9]{3})\b(.*)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PASSED = frozenset(
    (
        "authentication-info",
        "content-base",
        "content-type",
        "cseq",
        "date",
        "public",
        "range",
        "rtp-info",
        "session",
        "www-authenticate",
    )
)
_LEADING = frozenset(("source", "destination"))


_REQUEST = re.compile(rb"([A-Z_]+) (rtsp://[^/? ]+)([^ ]*) RTSP/")
_DIGEST = re.compile(rb"\r\nAuthorization: Digest ([^\r]*)")
_PARAMETER = re.compile(rb'(\w+)=(?:"([^"]*)"|([^", ]+))')


class AnswerRefused(Exception):
    """The camera's answer is not handed on. `message` may be shown."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Answers:
    """Reads what a camera sends before PLAY. `address`: the camera's, where it gets what is sent over UDP."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._held = bytearray()

    def feed(self, data: bytes) -> bytes:
        """What of it, and of what was held back, may go to FFmpeg. Raises AnswerRefused."""
        self._held += data
        passed = bytearray()
        while (message := self._next()) is not None:
            passed += message
        return bytes(passed)

    def rest(self) -> bytes:
        """What is held back still."""
        rest, self._held = bytes(self._held), bytearray()
        return rest

    def _next(self) -> bytes | None:
        """The next message as it is handed on, empty where it is not; None while it is not whole."""
        held = self._held
        if held.startswith(b"$"):  # RTP inside the connection, before it was asked for
            return None if len(held) < 4 else self._cut(4 + int.from_bytes(held[2:4], "big"), b"")
        if held.startswith((b"\r", b"\n")):
            return self._cut(1, b"")
        end = _HEAD_END.search(held)
        if end is None or end.start() > _MOST_HEAD:
            if len(held) > _MOST_HEAD:
                raise AnswerRefused("what is sent is no RTSP")
            return None
        first, *lines = re.split(r"\r?\n", held[: end.start()].decode("latin-1"))
        headers = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        length = next((value for name, value in headers if name == "content-length"), "0")
        if not (length.isascii() and length.isdigit()) or len(length) > 9 or int(length) > _MOST_BODY:
            raise AnswerRefused("what is sent is no RTSP")
        if len(held) < end.end() + int(length):
            return None
        body = bytes(held[end.end() : end.end() + int(length)])
        return self._cut(end.end() + len(body), self._anew(first, headers, body))

    def _cut(self, size: int, message: bytes) -> bytes | None:
        if len(self._held) < size:
            return None
        del self._held[:size]
        return message

    def _anew(self, first: str, headers: list[tuple[str, str]], body: bytes) -> bytes:
        status = _STATUS.fullmatch(first)
        if status is None:
            return b""  # a request of the camera's own: FFmpeg answers none but OPTIONS, which nobody needs
        if status[1].startswith("3"):
            raise AnswerRefused(
                f"the camera sends its viewers on to another address ({status[1]}), which is not followed: "
                "register that address"
            )
        lines = [f"RTSP/1.0 {status[1]} {status[2].strip()}"]
        lines += [f"{name}: {value}" for name, value in headers if name in _PASSED]
        lines += [f"transport: {self._transport(value)}" for name, value in headers if name == "transport"]
        if body:
            lines.append(f"content-length: {len(body)}")
        plain = (_CONTROL.sub("", line).encode("latin-1") for line in lines)
        return b"\r\n".join(plain) + b"\r\n\r\n" + body

    def _transport(self, value: str) -> str:
        """The first that is named, with the camera itself as the other end."""
        parts = [part.strip() for part in value.split(",")[0].split(";")]
        kept = [part for part in parts if part.partition("=")[0].strip().lower() not in _LEADING]
        return ";".join([*kept, f"source={self._address}"])


class Requests:
    """Writes FFmpeg's requests to `near` (rtsp://host:port, this line) as such to `far` (the camera).

    Digest signs the address, as FFmpeg knows it, with the password: it is signed anew. `credentials`: user:password as
    in a URL.
    """

    def __init__(self, near: str, far: str, credentials: str) -> None:
        self._near, self._far = near.encode(), far.encode()
        self._user, _, self._password = unquote_to_bytes(credentials).partition(b":")

    def anew(self, asked: bytes) -> bytes:
        """Only what begins with a whole request; all else, such as RTCP, stays as it is."""
        request = _REQUEST.match(asked)
        if request is None or request[2] != self._near or b"\r\n\r\n" not in asked:
            return asked
        method, uri = request[1], self._far + request[3]
        changed = asked[: request.start(2)] + uri + asked[request.end(3) :]
        if (signed := _DIGEST.search(asked)) is None:
            return changed
        named = {name.lower(): quoted or plain for name, quoted, plain in _PARAMETER.findall(signed[1])}
        known_uri, response = self._near + request[3], named.get(b"response", b"")
        # What is not signed as here cannot be signed anew, and cameras compare: better the wrong address than two.
        if named.get(b"uri") != known_uri or response != self._response(method, known_uri, named):
            return asked
        anew = signed[1].replace(known_uri, uri).replace(response, self._response(method, uri, named))
        return changed.replace(signed[1], anew)

    def _response(self, method: bytes, uri: bytes, named: dict[bytes, bytes]) -> bytes:
        """RFC 2617, 3.2.2: MD5 and MD5-sess, with `qop` and without."""
        nonce, more = named.get(b"nonce", b""), (named.get(b"nc", b""), named.get(b"cnonce", b""))
        secret = _md5(self._user, named.get(b"realm", b""), self._password)
        if named.get(b"algorithm", b"").lower() == b"md5-sess":
            secret = _md5(secret, nonce, more[1])
        qop = named.get(b"qop")
        return _md5(secret, nonce, *((*more, qop) if qop else ()), _md5(method, uri))


def _md5(*parts: bytes) -> bytes:
    return hashlib.md5(b":".join(parts), usedforsecurity=False).hexdigest().encode()


class CameraLine:
    """One connection to a camera at an rtsp(s):// URL; `url` is what FFmpeg opens, once, in its place. Of rtsps no
    certificate is asked for, since cameras have none that anybody could check. Raises OSError.

    `refusal` says in words why the line was ended, where it was.
    """

    def __init__(self, url: str, timeout_s: float) -> None:
        parts = urlsplit(url)
        self.is_secure = parts.scheme == "rtsps"
        self.refusal = ""
        self._far = socket.create_connection((parts.hostname or "", parts.port or _PORTS[parts.scheme]), timeout_s)
        try:
            address = str(self._far.getpeername()[0])
            if self.is_secure:
                self._far = _unchecked_tls().wrap_socket(self._far, server_hostname=parts.hostname)
            self._far.settimeout(None)
            # Of the camera's family: over UDP, FFmpeg hears in the family of the address that it opened.
            loopback = "::1" if self._far.family == socket.AF_INET6 else "127.0.0.1"
            self._listening = socket.create_server((loopback, 0), family=self._far.family, backlog=1)
        except BaseException:
            self._far.close()
            raise
        user, at, there = parts.netloc.rpartition("@")
        here = f"[{loopback}]" if ":" in loopback else loopback
        here = f"{here}:{self._listening.getsockname()[1]}"
        self.url = parts._replace(scheme="rtsp", netloc=f"{user}{at}{here}").geturl()
        self._requests = Requests(f"rtsp://{here}", f"{parts.scheme}://{there}", user)
        self._answers: Answers | None = Answers(address)
        self._thread = threading.Thread(target=self._carry, name="camera line", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """FFmpeg's end is closed by now, or never came to be."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join(_LAST_WORD_S)
        if self._thread.is_alive():
            with contextlib.suppress(OSError):
                # Of the socket below TLS: that wakes who waits for it, and touches nothing that another thread uses.
                socket.socket.shutdown(self._far, socket.SHUT_RDWR)
            self._thread.join(_END_S)

    def _carry(self) -> None:
        with self._far, self._listening, contextlib.suppress(OSError):
            self._listening.settimeout(_ACCEPT_S)
            near, _ = self._listening.accept()
            self._listening.close()
            with near:
                near.settimeout(None)
                near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
                for end in (near, self._far):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                # Not select(), which ends at descriptor 1023: a worker of many streams has more.
                poll = select.poll()
                for end in (near, self._far):
                    poll.register(end, select.POLLIN)
                try:
                    while self._passes(near, poll):
                        pass
                except AnswerRefused as refused:
                    self.refusal = refused.message
                except OSError:
                    # As the camera's end was cut, so is FFmpeg's.
                    near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _passes(self, near: socket.socket, poll: select.poll) -> bool:
        """Hands on what either end has said; False once one of them has ended. Raises AnswerRefused, OSError."""
        far = self._far
        waiting = isinstance(far, ssl.SSLSocket) and far.pending() > 0
        ready = {far.fileno()} if waiting else {number for number, _ in poll.poll()}
        if near.fileno() in ready:
            asked = near.recv(_CHUNK)
            if self._answers is not None and asked.startswith(b"PLAY "):
                near.sendall(self._answers.rest())
                self._answers = None
            far.sendall(self._requests.anew(asked))
            if not asked:
                return False
        if far.fileno() in ready and (told := _received(far)) is not None:
            near.sendall(told if self._answers is None else self._answers.feed(told))
            return bool(told)
        return True


def _received(far: socket.socket) -> bytes | None:
    """None for what of TLS is not for us, or not whole yet."""
    if not isinstance(far, ssl.SSLSocket):
        return far.recv(_CHUNK)
    far.settimeout(0.0)
    try:
        return far.recv(_CHUNK)
    except ssl.SSLWantReadError:
        return None
    finally:
        far.settimeout(None)


def _unchecked_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
