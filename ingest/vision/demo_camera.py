"""An RTSP camera for trying things: serves pictures as H.264 on this machine, to any number of viewers.

As much of RTSP 1.0 (RFC 2326) as viewers need, RTP inside the TCP connection alone, H.264 by RFC 6184. No camera for
production: it has no passwords and listens on loopback.
"""

from __future__ import annotations

import base64
import contextlib
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Self

from ingest.vision.yolo import Pixels

_CLOCK = 90_000
_PAYLOAD = 1400
_TYPE = 96
_MOST_HEAD = 8192
_MOST_BEHIND = 50  # access units; who reads slower than this is let go
Pictures = Callable[[], Iterator[Pixels]]


class DemoCamera:
    """Serves `pictures` (all of one even size, RGB) `fps` times a second at rtsp://127.0.0.1:`port`/camera."""

    def __init__(self, pictures: Pictures, fps: int, port: int = 0) -> None:
        self._pictures = pictures
        self._fps = fps
        self._listening = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listening.getsockname()[1]
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._units: list[tuple[int, bytes, bool]] = []  # the newest: number, Annex B, whether it is a key frame
        self._head = b""  # parameter sets, Annex B

    def __enter__(self) -> Self:
        for work in (self._encode, self._accept):
            threading.Thread(target=work, name="demo camera", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._changed:
            self._changed.notify_all()

    @property
    def url(self) -> str:
        return f"rtsp://127.0.0.1:{self.port}/camera"

    def _encode(self) -> None:
        import av

        codec: Any = None
        began_s = time.monotonic()
        for number, picture in enumerate(self._pictures()):
            if codec is None:
                codec = av.CodecContext.create("libx264", "w")
                codec.height, codec.width = picture.shape[:2]
                codec.pix_fmt, codec.time_base, codec.framerate = "yuv420p", Fraction(1, self._fps), self._fps
                codec.gop_size = self._fps
                codec.options = {"preset": "veryfast", "tune": "zerolatency", "x264-params": "repeat-headers=1"}
            if self._stop.wait(max(0.0, began_s + number / self._fps - time.monotonic())):
                return
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts = number
            for packet in codec.encode(frame):
                self._publish(number, bytes(packet), bool(packet.is_keyframe))

    def _publish(self, number: int, data: bytes, is_key: bool) -> None:
        with self._changed:
            if is_key and not self._head:
                self._head = b"".join(b"\0\0\0\1" + unit for unit in units(data) if unit[0] & 31 in (7, 8))
            self._units = [*self._units[-_MOST_BEHIND:], (number, data, is_key)]
            self._changed.notify_all()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while not self._stop.is_set():
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), name="demo viewer", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        session, sending = secrets.token_hex(8), threading.Lock()
        playing = threading.Event()
        with connection, contextlib.suppress(OSError, ValueError), connection.makefile("rb") as asked:
            connection.settimeout(60)
            while request := _request(asked):
                method, headers = request
                status, extra, body = self._answer(method, headers, session)
                lines = [f"RTSP/1.0 {status}", f"CSeq: {headers.get('cseq', '0')}", *extra]
                if body:
                    lines.append(f"Content-Length: {len(body)}")
                with sending:
                    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
                if method == "PLAY" and not playing.is_set():
                    playing.set()
                    arguments = (connection, sending)
                    threading.Thread(target=self._play, args=arguments, name="demo stream", daemon=True).start()
                if method == "TEARDOWN":
                    return

    def _answer(self, method: str, headers: dict[str, str], session: str) -> tuple[str, list[str], bytes]:
        named = [f"Session: {session};timeout=60"]
        if method == "OPTIONS":
            return "200 OK", ["Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER"], b""
        if method == "DESCRIBE":
            return "200 OK", ["Content-Type: application/sdp", f"Content-Base: {self.url}/"], self._description()
        if method == "SETUP":
            if "interleaved" not in headers.get("transport", ""):
                return "461 Unsupported Transport", [], b""
            return "200 OK", [*named, "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"], b""
        if method in ("PLAY", "TEARDOWN", "GET_PARAMETER"):
            return "200 OK", [*named, *(["Range: npt=0.000-"] if method == "PLAY" else [])], b""
        return "405 Method Not Allowed", [], b""

    def _description(self) -> bytes:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._head) or self._stop.is_set(), 10)
            sets = ",".join(base64.b64encode(unit).decode() for unit in units(self._head))
        lines = [
            "v=0",
            "o=- 1 1 IN IP4 127.0.0.1",
            "s=Parley demo camera",
            "c=IN IP4 127.0.0.1",
            "t=0 0",
            "a=control:*",
            f"m=video 0 RTP/AVP {_TYPE}",
            f"a=rtpmap:{_TYPE} H264/{_CLOCK}",
            f"a=fmtp:{_TYPE} packetization-mode=1;sprop-parameter-sets={sets}",
            f"a=framerate:{self._fps}",
            "a=control:trackID=0",
        ]
        return ("\r\n".join(lines) + "\r\n").encode()

    def _play(self, connection: socket.socket, sending: threading.Lock) -> None:
        """From the next key frame on, until the viewer is gone or too slow."""
        source, sequence, last, began = secrets.randbits(32), secrets.randbits(16), -1, False
        with contextlib.suppress(OSError):
            while not self._stop.is_set():
                fresh = self._newer(last)
                if began and fresh and fresh[0][0] > last + 1:
                    break
                for number, data, is_key in fresh:
                    last = number
                    began = began or is_key
                    if not began:
                        continue
                    stamp = number * _CLOCK // self._fps & 0xFFFFFFFF
                    for payload, is_last in payloads(units(data)):
                        head = struct.pack("!BBHII", 0x80, _TYPE | is_last << 7, sequence, stamp, source)
                        sequence = (sequence + 1) & 0xFFFF
                        packet = head + payload
                        with sending:
                            connection.sendall(b"$\0" + struct.pack("!H", len(packet)) + packet)
            connection.shutdown(socket.SHUT_RDWR)

    def _newer(self, last: int) -> list[tuple[int, bytes, bool]]:
        """Access units after that number, as soon as there are any."""

        def found() -> list[tuple[int, bytes, bool]]:
            return [unit for unit in self._units if unit[0] > last]

        with self._changed:
            self._changed.wait_for(lambda: self._stop.is_set() or bool(found()), 5)
            return found()


def units(data: bytes) -> list[bytes]:
    """The NAL units of an Annex B stream, without their start codes."""
    parts = data.replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1")
    return [part for part in parts if part]


def payloads(found: list[bytes]) -> Iterator[tuple[bytes, bool]]:
    """RTP payloads of one access unit: a NAL unit each, or in fragments (FU-A); and which one is the last."""
    for place, unit in enumerate(found):
        is_last = place == len(found) - 1
        if len(unit) <= _PAYLOAD:
            yield unit, is_last
            continue
        indicator, kind, body = unit[0] & 0xE0 | 28, unit[0] & 31, unit[1:]
        for start in range(0, len(body), _PAYLOAD):
            ends = start + _PAYLOAD >= len(body)
            mark = (0x80 if start == 0 else 0) | (0x40 if ends else 0)
            yield bytes([indicator, mark | kind]) + body[start : start + _PAYLOAD], is_last and ends


def _request(asked: Any) -> tuple[str, dict[str, str]] | None:
    """Method and headers of the next request; what a viewer sends of RTCP is passed over. None at the end."""
    while (begin := asked.read(1)) == b"$":
        head = asked.read(3)
        asked.read(int.from_bytes(head[1:], "big"))
    if not begin:
        return None
    lines = [(begin + asked.readline(_MOST_HEAD)).decode("latin-1").strip()]
    while line := asked.readline(_MOST_HEAD).decode("latin-1").strip():
        lines.append(line)
        if len(lines) > 100:
            raise ValueError("too many headers")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    if length := int(headers.get("content-length", "0")):
        asked.read(min(length, _MOST_HEAD))
    return lines[0].split(" ", 1)[0].upper(), headers
