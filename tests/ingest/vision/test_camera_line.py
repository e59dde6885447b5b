"""The line to a camera: hosts that answers of RTSP and HTTP lead to are never called."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import resource
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ingest.vision.camera_line import AnswerRefused, Answers, CameraLine, Requests
from ingest.vision.capture import Capture
from tests.support.camera_history import WAIT_S, History, wait_for_frame
from tests.support.hostile_camera import hostile_camera, trap
from tests.support.rtsp import read_stamp, running_server

QUICK: dict[str, Any] = {"open_timeout_s": 5.0, "read_timeout_s": 1.0, "backoff_s": (0.05,)}
ELSEWHERE = "127.0.0.2"


@pytest.mark.parametrize("method", ["OPTIONS", "DESCRIBE", "SETUP"])
@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "305 Use Proxy", "399 -"])
def test_a_redirect_is_followed_nowhere_and_said(method: str, status: str) -> None:
    history = History()
    with trap() as other:
        answer = f"{status}\r\nLocation: rtsp://127.0.0.1:{other.port}/admin"
        with hostile_camera(**{method: answer}) as camera, Capture(camera.url, on_change=history, **QUICK):
            message = history.state("error").message
        assert "another address" in message
        assert status[:3] in message
        assert not other.was_called


@pytest.mark.parametrize(
    "told",
    [
        "RTSP/1.0 302 Found\r\nCSeq: 9\r\nLocation: rtsp://127.0.0.1:{port}/\r\n\r\n",
        "REDIRECT rtsp://127.0.0.1/ RTSP/1.0\r\nCSeq: 9\r\nLocation: rtsp://127.0.0.1:{port}/\r\n\r\n",
    ],
)
@pytest.mark.parametrize("place", ["instead of PLAY's answer", "after it"])
def test_nor_is_one_that_comes_with_play_or_later(told: str, place: str) -> None:
    history = History()
    with trap() as other:
        hostile = told.format(port=other.port)
        answer = f"200 OK\r\nSession: 1\r\n\r\n{hostile}" if place == "after it" else hostile.partition(" ")[2]
        with hostile_camera(PLAY=answer) as camera, Capture(camera.url, on_change=history, **QUICK):
            history.wait(lambda status: status.message != "")
            assert "PLAY" in camera.asked
        assert not other.was_called


def test_over_udp_packets_go_to_the_camera_alone_whatever_source_it_names() -> None:
    with (
        socket.socket(type=socket.SOCK_DGRAM) as here,
        socket.socket(type=socket.SOCK_DGRAM) as elsewhere,
        contextlib.ExitStack() as opened,
    ):
        here.bind(("127.0.0.1", 0))
        port = here.getsockname()[1]
        elsewhere.bind((ELSEWHERE, port))
        here.settimeout(WAIT_S)
        transport = f"RTP/AVP/UDP;unicast;source={ELSEWHERE};destination={ELSEWHERE};server_port={port}-{port}"
        camera = opened.enter_context(hostile_camera(SETUP=f"200 OK\r\nSession: 1\r\nTransport: {transport}"))
        opened.enter_context(Capture(camera.url, transport="udp", **QUICK))
        assert here.recv(100), "what opens the way through a router goes to the camera"
        elsewhere.setblocking(False)
        with pytest.raises(BlockingIOError):
            elsewhere.recv(100)


def test_mjpeg_is_redirected_nowhere() -> None:
    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{other.port}/")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    history = History()
    with trap() as other, HTTPServer(("127.0.0.1", 0), Elsewhere) as serving:
        threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        with Capture(f"http://127.0.0.1:{serving.server_port}/", on_change=history, **QUICK):
            history.wait(lambda status: status.message != "")
        serving.shutdown()
        assert not other.was_called


@pytest.fixture
def secure_relay(tmp_path: Path) -> Iterator[tuple[int, list[int]]]:
    """A port of TLS before an RTSP server whose port goes into the list."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=camera", "-days", "2"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    target: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as plain:
        listening = context.wrap_socket(plain, server_side=True)

        def carry() -> None:
            near, _ = listening.accept()
            far = socket.create_connection(("127.0.0.1", target[0]))

            def back() -> None:
                with contextlib.suppress(OSError, ValueError):
                    while data := far.recv(65536):
                        near.sendall(data)

            threading.Thread(target=back, daemon=True).start()
            with contextlib.suppress(OSError, ValueError), near, far:
                while data := near.recv(65536):
                    far.sendall(data)

        threading.Thread(target=carry, daemon=True).start()
        yield listening.getsockname()[1], target
        listening.close()


def test_a_camera_behind_tls_is_read(secure_relay: tuple[int, list[int]]) -> None:
    port, target = secure_relay
    with running_server(user="viewer", password="word") as server:
        target.append(server.port)
        url = f"rtsps://viewer:word@127.0.0.1:{port}/camera"
        with Capture(url, transport="udp", **QUICK) as capture:
            assert read_stamp(wait_for_frame(capture, 10).image) is not None


def test_a_process_with_many_files_open_still_hears_the_camera() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 2048
    if hard not in (resource.RLIM_INFINITY,) and hard < most:
        pytest.skip("so many files may not be open here")
    with contextlib.ExitStack() as opened:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        first = os.open(os.devnull, os.O_RDONLY)
        opened.callback(os.close, first)
        while (number := os.dup(first)) <= 1024:
            opened.callback(os.close, number)
        opened.callback(os.close, number)
        camera = opened.enter_context(hostile_camera())
        line = opened.enter_context(CameraLine(camera.url, WAIT_S))
        near = opened.enter_context(socket.create_connection(("127.0.0.1", urlsplit(line.url).port or 0), WAIT_S))
        near.sendall(b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n")
        assert near.recv(1000).startswith(b"RTSP/1.0 200 OK")


@pytest.mark.parametrize("qop", ["", ', qop="auth", algorithm="MD5"', ', qop="auth", algorithm="MD5-sess"'])
def test_requests_name_the_camera_and_are_signed_for_it(qop: str) -> None:
    history = History()
    refusal = f'401 Unauthorized\r\nWWW-Authenticate: Digest realm="a, b", nonce="17"{qop}'
    with hostile_camera(DESCRIBE=refusal) as camera:
        url = camera.url.replace("//", "//viewer:w%40rd@") + "?channel=1"
        with Capture(url, on_change=history, **QUICK):
            assert "password" in history.state("error").message
        plain, signed = (head for head in camera.heads[:3] if head.startswith("DESCRIBE"))
        uri = camera.url + "?channel=1"
        assert {head.split(" ")[1] for head in camera.heads} == {uri}
    assert "Authorization" not in plain
    said = dict(re.findall(r'(\w+)="?([^",\s]*)', signed.partition("nonce=")[2]))
    assert said["uri"] == uri
    secret = md5("viewer:a, b:w@rd")
    if "sess" in qop:
        secret = md5(f"{secret}:17:{said['cnonce']}")
    among = f":{said['nc']}:{said['cnonce']}:auth" if "qop" in said else ""
    assert said["response"] == md5(f"{secret}:17{among}:{md5(f'DESCRIBE:{uri}')}")


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize(
    "asked",
    [
        b"OPTIONS rtsp://127.0.0.1:50000/a RTSP/1.0\r\nCSeq: 1\r\n",
        b"SETUP rtsp://10.0.0.7/a RTSP/1.0\r\n\r\n",
        b"SETUP rtsp://127.0.0.1:5000/a RTSP/1.0\r\n\r\n",
        b"$\x00\x00\x04OPTIONS rtsp://127.0.0.1:50000/a RTSP/1.0\r\n\r\n",
        b'PLAY rtsp://127.0.0.1:50000/a RTSP/1.0\r\nAuthorization: Digest username="u", realm="r", nonce="n", '
        b'uri="rtsp://127.0.0.1:50000/a", response="0", algorithm="SHA-256"\r\n\r\n',
    ],
)
def test_what_is_no_request_to_this_line_or_cannot_be_signed_stays_as_it_is(asked: bytes) -> None:
    assert Requests("rtsp://127.0.0.1:50000", "rtsp://10.0.0.7", "u:p").anew(asked) == asked


# Answers, made up

OK = b"RTSP/1.0 200 OK\r\ncseq: 1\r\n\r\n"
MOVED = b"RTSP/1.0 302 Found\r\nCSeq: 1\r\nLocation: rtsp://10.0.0.1/\r\n\r\n"


def test_answers_in_pieces_are_the_same_answers() -> None:
    body = b"v=0\r\n\r\nRTSP/1.0 302 Found\r\n\r\n"
    sent = OK + b"RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: %d\r\n\r\n" % len(body) + body + OK
    whole = Answers("10.0.0.7").feed(sent)
    assert whole.startswith(OK)
    assert whole.endswith(body + OK)
    for size in (1, 2, 3, 7, 50):
        answers = Answers("10.0.0.7")
        assert b"".join(answers.feed(sent[at : at + size]) for at in range(0, len(sent), size)) == whole


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"\r\n\n",
        b"$\x00\x00\x03abc",
        OK,
        b"OPTIONS * RTSP/1.0\r\nCSeq: 5\r\n\r\n",
        b"RTSP/1.0 200 OK\nCSeq: 2\nContent-Length: 2\n\nab",
    ],
)
def test_a_redirect_is_found_wherever_it_begins(before: bytes) -> None:
    answers = Answers("10.0.0.7")
    assert MOVED not in answers.feed(before)
    with pytest.raises(AnswerRefused, match="another address"):
        answers.feed(MOVED)


def test_what_leads_elsewhere_is_left_out_and_what_is_needed_stays() -> None:
    told = (
        b"RTSP/1.0 200 OK\r\nCSeq: 3\r\nLocation: rtsp://10.0.0.1/\r\nServer: WMServer/9\r\nRealChallenge1: x\r\n"
        b"Session: a\x00b;timeout=60\r\nWWW-Authenticate: Basic realm=x\r\nWWW-Authenticate: Digest nonce=y\r\n"
        b"Transport: RTP/AVP;unicast; Source=10.0.0.1 ;destination=10.0.0.2;client_port=4-5;server_port=6-7,RTP/AVP/TCP"
        b"\r\n\r\n"
    )
    assert Answers("10.0.0.7").feed(told).decode().splitlines() == [
        "RTSP/1.0 200 OK",
        "cseq: 3",
        "session: ab;timeout=60",
        "www-authenticate: Basic realm=x",
        "www-authenticate: Digest nonce=y",
        "transport: RTP/AVP;unicast;client_port=4-5;server_port=6-7;source=10.0.0.7",
        "",
    ]


@pytest.mark.parametrize(
    "told",
    [
        b"A" * 20_000,
        b"RTSP/1.0 200 OK\r\nContent-Length: 1000000\r\n\r\n",
        b"RTSP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"RTSP/1.0 200 OK\r\nContent-Length: \xb2\r\n\r\n",
    ],
)
def test_what_is_no_answer_is_refused(told: bytes) -> None:
    with pytest.raises(AnswerRefused, match="no RTSP"):
        Answers("10.0.0.7").feed(told)
