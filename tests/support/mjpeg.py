"""A camera that sends JPEG pictures over HTTP, one after the other, on loopback."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from PIL import Image


class _Jpegs(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/mjpeg":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=part")
        self.end_headers()
        picture = io.BytesIO()
        Image.new("RGB", (160, 120), (10, 200, 30)).save(picture, "JPEG")
        head = f"--part\r\nContent-Type: image/jpeg\r\nContent-Length: {picture.tell()}\r\n\r\n".encode()
        paced = threading.Event()
        while not paced.wait(0.04):
            try:
                self.wfile.write(head + picture.getvalue() + b"\r\n")
            except OSError:
                return

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def mjpeg_camera() -> Iterator[str]:
    """Its address; the pictures, green ones of 160 x 120, are at /mjpeg."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Jpegs) as serving:
        serving.daemon_threads = True
        threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{serving.server_address[1]}"
        finally:
            serving.shutdown()
