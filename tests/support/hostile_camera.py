"""An RTSP server on loopback that says what a test wants: redirects, and transports that lead elsewhere."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping

SDP = (
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=control:*\r\nm=video 0 RTP/AVP 96\r\n"
    "a=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1\r\na=control:trackID=0\r\n"
)
_ANSWERS: Mapping[str, str] = {
    "OPTIONS": "200 OK\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY",
    "DESCRIBE": f"200 OK\r\nContent-Type: application/sdp\r\nContent-Length: {len(SDP)}\r\n\r\n{SDP}",
    "SETUP": "200 OK\r\nSession: 1\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1",
    "PLAY": "200 OK\r\nSession: 1",
}


class HostileCamera:
    """`answers`: to a method, everything from the status on, without the blank line at the end of a head alone."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self.asked: list[str] = []
        self.heads: list[str] = []  # of the same requests, whole
        self._answers = {**_ANSWERS, **answers}
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"rtsp://127.0.0.1:{self._listening.getsockname()[1]}/camera"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as asked:
            while line := asked.readline().decode():
                method = line.split(" ")[0]
                number, whole = "", line
                while head := asked.readline().decode().strip():
                    whole += head + "\r\n"
                    number = head.split(":")[1].strip() if head.startswith("CSeq:") else number
                self.asked.append(method)
                self.heads.append(whole)
                status, _, rest = self._answers.get(method, "501 Not Implemented").partition("\r\n")
                told = f"RTSP/1.0 {status}\r\nCSeq: {number}\r\n{rest}"
                connection.sendall((told if "\r\n\r\n" in told else told.rstrip("\r\n") + "\r\n\r\n").encode())


@contextlib.contextmanager
def hostile_camera(**answers: str) -> Iterator[HostileCamera]:
    camera = HostileCamera(answers)
    try:
        yield camera
    finally:
        camera.close()


class Trap:
    """A port of TCP on loopback where nobody may come."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]

    @property
    def was_called(self) -> bool:
        self._listening.setblocking(False)
        try:
            self._listening.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        self._listening.close()


@contextlib.contextmanager
def trap() -> Iterator[Trap]:
    made = Trap()
    try:
        yield made
    finally:
        made.close()
