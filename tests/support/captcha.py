"""A captcha provider's verification on loopback, as Turnstile, hCaptcha and reCAPTCHA have it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

SECRET = "captcha-secret-0123456789"


@dataclass
class Captcha:
    """`asked` are the forms it got; only the response "right" is right, and only with the secret."""

    url: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)
    is_down: bool = False


@contextmanager
def serve_captcha() -> Iterator[Captcha]:
    captcha = Captcha()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            captcha.asked.append(form)
            is_right = form.get("secret") == SECRET and form.get("response") == "right"
            body = b"<html>" if captcha.is_down else json.dumps({"success": is_right}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    captcha.url = f"http://127.0.0.1:{server.server_port}/siteverify"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield captcha
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
