"""The program behind `tests.support.rtsp`: serves generated pictures as RTSP. Runs by the system's own Python.

It prints "ready PORT" once it listens, and serves at /camera until its standard input ends. With --on-cue the clip
stands still at its first picture; a line "FIRST LAST" on standard input shows these pictures, and the last one stays.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import os
import sys
import threading
import time
from collections import deque
from typing import Any

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

# How a stamp is drawn; tests.support.rtsp reads it.
BLOCK = 16
COLUMNS = 20
BITS = 80  # 24 of the number, 40 of the clock in milliseconds, 16 of a checksum of both


def stamp_rows(number: int, clock_ms: int) -> list[bytes]:
    """The lines of grey values to write over the picture's upper left corner, one a row of blocks."""
    body = ((number & 0xFFFFFF) << 40 | (clock_ms & 0xFFFFFFFFFF)).to_bytes(8, "big")
    bits = int.from_bytes(body + binascii.crc_hqx(body, 0xFFFF).to_bytes(2, "big"), "big")
    shades = [b"\xeb" if bits >> place & 1 else b"\x10" for place in range(BITS - 1, -1, -1)]
    return [b"".join(shade * BLOCK for shade in shades[at : at + COLUMNS]) for at in range(0, BITS, COLUMNS)]


class Pictures:
    """I420 pictures: grey texture that moves a little, unless `still`; or a clip's, again and again or on cue."""

    def __init__(self, width: int, height: int, still: bool, clip: str, most: int, on_cue: bool) -> None:
        self._width, self._height = width, height
        self._still = still
        self._most = most
        self._on_cue = on_cue
        self._due: deque[int] = deque()
        self._shown = 0
        self._chroma = b"\x80" * (width * height // 2)
        line = bytes(40 + (x * 5 // 4) % 160 for x in range(width * 2))
        self._texture = b"".join(line[(y * 3) % width :][:width] for y in range(height * 2))
        self._clip = self._decoded(clip) if clip else []

    def _decoded(self, clip: str) -> list[bytes]:
        pipeline = Gst.parse_launch(
            f'filesrc location="{clip}" ! decodebin ! videoconvert ! videoscale ! '
            f"video/x-raw,format=I420,width={self._width},height={self._height} ! appsink name=out sync=false"
        )
        pipeline.set_state(Gst.State.PLAYING)
        sink = pipeline.get_by_name("out")
        pictures: list[bytes] = []
        while len(pictures) < self._most:
            sample = sink.emit("pull-sample")
            if sample is None:
                break
            buffer = sample.get_buffer()
            pictures.append(buffer.extract_dup(0, buffer.get_size()))
        pipeline.set_state(Gst.State.NULL)
        return pictures

    def show(self, first: int, last: int) -> None:
        self._due.extend(range(first, last + 1))

    def draw(self, number: int, clock_s: float) -> bytes:
        if self._on_cue:
            self._shown = self._due.popleft() if self._due else self._shown
            picture = bytearray(self._clip[self._shown])
        elif self._clip:
            picture = bytearray(self._clip[number % len(self._clip)])
        else:
            start = 0 if self._still else number * 2 % self._height * self._width + number * 3 % self._width
            picture = bytearray(self._texture[start : start + self._width * self._height] + self._chroma)
        for row, line in enumerate(stamp_rows(number, int(clock_s * 1000))):
            for y in range(row * BLOCK, (row + 1) * BLOCK):
                picture[y * self._width : y * self._width + len(line)] = line
        return bytes(picture)


def feed(source: Any, pictures: Pictures, fps: float, numbers: list[int]) -> None:
    """Pushes a picture each 1/fps seconds, until the pipeline is gone. Numbers go on from one pipeline to the next."""
    begin = time.monotonic()
    for count in range(1 << 30):
        while (due := begin + count / fps - time.monotonic()) > 0:
            time.sleep(due)
        numbers[0] += 1
        # As cameras do, the stamp says when the picture was taken, and not when it was due.
        clock_s = time.monotonic()
        buffer = Gst.Buffer.new_wrapped(pictures.draw(numbers[0], clock_s))
        buffer.pts = int((clock_s - begin) * Gst.SECOND)
        buffer.duration = int(Gst.SECOND / fps)
        if source.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
            return


def launch_line(given: argparse.Namespace) -> str:
    order = "bframes=2 b-adapt=false rc-lookahead=3" if given.reordered else "tune=zerolatency"
    encode = {
        "h264": (
            f"x264enc {order} speed-preset=veryfast bitrate={given.bitrate} key-int-max={given.key_every} "
            f"sliced-threads=false threads=1 option-string=slices={given.slices}:scenecut=0:ref=1 ! "
            "video/x-h264,profile=main,stream-format=byte-stream ! rtph264pay name=pay0 pt=96 config-interval=0"
        ),
        "h265": "x265enc tune=zerolatency speed-preset=ultrafast ! rtph265pay name=pay0 pt=96",
        "mjpeg": "jpegenc ! rtpjpegpay name=pay0 pt=26",
        "none": "fakesink audiotestsrc is-live=true ! alawenc ! rtppcmapay name=pay0 pt=8",
    }[given.codec]
    sound = " audiotestsrc is-live=true ! alawenc ! rtppcmapay name=pay1 pt=8" if given.sound else ""
    caps = f"video/x-raw,format=I420,width={given.width},height={given.height},framerate={int(given.fps)}/1"
    # A machine that cannot keep up shows fewer pictures, not old ones.
    source = "appsrc name=source is-live=true format=time max-buffers=2 max-bytes=0 leaky-type=downstream"
    return f"( {source} caps={caps} ! {encode}{sound} )"


def listen_to_parent(pictures: Pictures) -> None:
    """Ends with it."""
    for line in sys.stdin:
        first, last = line.split()
        pictures.show(int(first), int(last))
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=360)
    parser.add_argument("--fps", type=float, default=25)
    parser.add_argument("--codec", choices=("h264", "h265", "mjpeg", "none"), default="h264")
    parser.add_argument("--bitrate", type=int, default=1500)
    parser.add_argument("--slices", type=int, default=1)
    parser.add_argument("--key-every", type=int, default=25)
    parser.add_argument("--still", action="store_true")
    parser.add_argument("--reordered", action="store_true")
    parser.add_argument("--sound", action="store_true")
    parser.add_argument("--clip", default="")
    parser.add_argument("--most", type=int, default=200)  # pictures of the clip: all are held decoded
    parser.add_argument("--on-cue", action="store_true")
    parser.add_argument("--user", default="")
    parser.add_argument("--password", default="")
    parser.add_argument("--digest", action="store_true")
    given = parser.parse_args()

    Gst.init(None)
    pictures = Pictures(given.width, given.height, given.still, given.clip, given.most, given.on_cue)
    threading.Thread(target=listen_to_parent, args=(pictures,), daemon=True).start()
    numbers = [0]

    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(launch_line(given))
    factory.set_shared(True)
    factory.set_latency(0)

    def configured(_: Any, media: Any) -> None:
        source = media.get_element().get_child_by_name("source")
        threading.Thread(target=feed, args=(source, pictures, given.fps, numbers), daemon=True).start()

    factory.connect("media-configure", configured)
    server = GstRtspServer.RTSPServer()
    server.set_address(given.host)
    server.set_service(str(given.port))
    if given.user:
        auth = GstRtspServer.RTSPAuth()
        token = GstRtspServer.RTSPToken()
        token.set_string("media.factory.role", "viewer")
        if given.digest:
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
            auth.add_digest(given.user, given.password, token)
        else:
            auth.add_basic(base64.b64encode(f"{given.user}:{given.password}".encode()).decode(), token)
        server.set_auth(auth)
        factory.add_role_from_structure(
            Gst.Structure.from_string("viewer, media.factory.access=true, media.factory.construct=true")[0]
        )
    server.get_mount_points().add_factory("/camera", factory)
    server.attach(None)
    print("ready", server.get_bound_port(), flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
