"""Reads one connection to a camera, or one file, picture by picture, and says in plain words why it ended.

RTSP with H.264 is what cameras speak. Files and MJPEG over HTTP are there for trying things. FFmpeg is told which
protocols and containers it may use, so that an address cannot name files, and a playlist cannot name addresses; and it
follows no redirects.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import av
import av.error

from ingest.vision.access_units import AccessUnit, AccessUnits
from ingest.vision.backlog import Backlog
from ingest.vision.camera_line import CameraLine
from ingest.vision.frame_numbers import FrameNumbers

Transport = Literal["tcp", "udp"]

_FILES = "mov,mp4,matroska,webm,avi,mpegts,flv,h264,mjpeg,mpjpeg"
_UDP_BUFFER_BYTES = 1024 * 1024  # holds a large key frame while this process is busy
_MOST_REORDERED = 32
_DAMAGES = (av.error.FFmpegError, MemoryError, ValueError, IndexError, ArithmeticError)


class Broken(Exception):
    """A connection that ended or never came to be. `lasting`: trying again soon mends nothing."""

    def __init__(self, message: str, lasting: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class Picture:
    """A decoded av.VideoFrame, and the monotonic time at which its last packet arrived, as far as that can be told."""

    decoded: Any
    arrived_s: float
    is_key: bool


@dataclass(frozen=True, slots=True)
class Source:
    """What to read and how long to wait: for the connection, for a packet, for a whole picture.

    The address is never shown: cameras take passwords in every part of it.
    """

    url: str = field(repr=False)
    transport: Transport = "tcp"
    open_timeout_s: float = 10.0
    read_timeout_s: float = 5.0
    picture_timeout_s: float = 20.0

    @property
    def kind(self) -> str:
        """rtsp, http or file."""
        scheme, separator, _ = self.url.partition("://")
        return {"rtsps": "rtsp", "https": "http"}.get(scheme.lower(), scheme.lower()) if separator else "file"


class Pulse:
    """When the reading thread last did something; others see by it that it hangs. `stop` ends it at its next packet."""

    GRACE_S = 5.0
    """The time-outs of FFmpeg come first; what is later than this hangs."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.at_s = time.monotonic()
        self.limit_s = 0.0
        self.waited_s = 0.0  # for packets
        self.damaged = 0
        self.undecoded = 0
        self.codec = ""

    def beat(self, limit_s: float) -> float:
        self.at_s = time.monotonic()
        self.limit_s = limit_s + self.GRACE_S
        return self.at_s

    @property
    def is_lost(self) -> bool:
        return time.monotonic() - self.at_s > self.limit_s


def pictures(source: Source, pulse: Pulse) -> Generator[Picture]:
    """The pictures as they come, until `pulse.stop` or Broken. Files begin again at their end."""
    readers: dict[str, Callable[[Source, Pulse], Iterator[Picture]]] = {
        "rtsp": _rtsp,
        "http": _multipart,
        "file": _file,
    }
    if source.kind not in readers:
        raise Broken(f"addresses that begin with {source.kind}:// cannot be read", lasting=True)
    yield from readers[source.kind](source, pulse)


def _rtsp(source: Source, pulse: Pulse) -> Iterator[Picture]:
    options = {
        "allowed_media_types": "video",
        "timeout": str(int(source.read_timeout_s * 1e6)),
        "buffer_size": str(_UDP_BUFFER_BYTES),
        "protocol_whitelist": "rtsp,rtp,srtp,tcp,udp",
        # Packet by packet, see access_units; and nothing is read ahead to guess what the stream's description says.
        "fflags": "noparse+nofillin",
        "analyzeduration": "1",
        "fpsprobesize": "0",
    }
    with _line_opened(source, pulse, options) as container:
        stream = _video(container)
        if stream.codec_context is None or stream.codec_context.name != "h264":
            name = "an unknown codec" if stream.codec_context is None else stream.codec_context.name
            raise Broken(f"the camera sends {name}, and only H.264 can be read: change its settings", lasting=True)
        pulse.codec = "h264"
        decoder = H264Decoder(stream.codec_context.extradata, pulse)
        units, backlog = AccessUnits(), Backlog(float(stream.time_base))
        last_picture_s = time.monotonic()
        for packet, read_s in _packets(source, pulse, container, stream):
            for unit in units.feed(bytes(packet), packet.pts, backlog.arrived_s(packet.pts, read_s)):
                if backlog.passes_over(unit.is_key, read_s, pulse.waited_s):
                    decoder.pass_over()
                    continue
                for picture in decoder.decode(unit):
                    last_picture_s = read_s
                    yield picture
            if read_s - last_picture_s > source.picture_timeout_s:
                if backlog.is_passing:
                    raise Broken("pictures come faster than they can be decoded, and key frames too seldom")
                raise Broken(f"no whole picture came for {source.picture_timeout_s:g} s, though data does")
        raise Broken("the camera ended the stream")


class H264Decoder:
    """Decodes access units. After a damaged one nothing comes out until a picture that needs none before it."""

    def __init__(self, extradata: bytes | None, pulse: Pulse) -> None:
        self._pulse = pulse
        self._sent = 0
        self._arrived_s: dict[int, float] = {}
        self._numbers = FrameNumbers(extradata)
        self._context = _one_thread(av.CodecContext.create("h264", "r"))
        if extradata:
            self._context.extradata = extradata

    def decode(self, unit: AccessUnit) -> list[Picture]:
        if self._numbers.misses(unit.data) or unit.is_damaged:
            self._damaged()
            return []
        packet = av.Packet(unit.data)
        # Where a camera sends pictures out of their order, another one than this comes out.
        packet.pts = self._sent = self._sent + 1
        self._arrived_s[self._sent] = unit.arrived_s
        self._arrived_s.pop(self._sent - _MOST_REORDERED, None)
        try:
            frames = self._context.decode(packet)
        except _DAMAGES:
            self._damaged()
            return []
        if any(frame.is_corrupt for frame in frames):
            self._damaged()
            return []
        return [
            Picture(frame, self._arrived_s.get(frame.pts, unit.arrived_s), bool(frame.key_frame)) for frame in frames
        ]

    def pass_over(self) -> None:
        """Leaves a unit out, and with it what leans on it."""
        self._pulse.undecoded += 1
        self._context.flush_buffers()

    def _damaged(self) -> None:
        self._pulse.damaged += 1
        # What follows leans on what is lost. Emptied, the decoder holds it back up to the next key frame by itself.
        self._context.flush_buffers()


def _multipart(source: Source, pulse: Pulse) -> Iterator[Picture]:
    options = {
        "protocol_whitelist": "http,https,tcp,tls",
        "max_redirects": "0",
        "analyzeduration": "1",
        "fpsprobesize": "0",
    }
    with _opened(source, pulse, source.url, "mpjpeg", options) as container:
        stream = _video(container)
        pulse.codec = stream.codec_context.name
        _one_thread(stream.codec_context)
        last_picture_s = time.monotonic()
        for packet, arrived_s in _packets(source, pulse, container, stream):
            for frame in _decoded(packet, pulse):
                last_picture_s = arrived_s
                yield Picture(frame, arrived_s, bool(frame.key_frame))
            if arrived_s - last_picture_s > source.picture_timeout_s:
                raise Broken(f"no whole picture came for {source.picture_timeout_s:g} s, though data does")
        raise Broken("the camera ended the stream")


def _file(source: Source, pulse: Pulse) -> Iterator[Picture]:
    path = Path(source.url.removeprefix("file://"))
    if not path.is_file():
        raise Broken("there is no such file", lasting=True)
    options = {"protocol_whitelist": "file", "format_whitelist": _FILES}
    begins_s = time.monotonic()
    while not pulse.stop.is_set():
        count = 0
        with _opened(source, pulse, f"file:{path}", None, options) as container:
            stream = _video(container)
            pulse.codec = stream.codec_context.name if stream.codec_context else ""
            if not pulse.codec:
                raise Broken("no decoder knows the file's pictures", lasting=True)
            _one_thread(stream.codec_context)
            interval_s = 1 / float(stream.average_rate or stream.guessed_rate or 25)
            first_s: float | None = None
            due_s = begins_s
            for packet, _ in _packets(source, pulse, container, stream):
                stamp = packet.dts if packet.dts is not None else packet.pts
                if stamp is None:
                    due_s += interval_s if packet.size else 0.0
                else:
                    at_s = float(stamp * packet.time_base)
                    first_s = at_s if first_s is None else first_s
                    due_s = begins_s + at_s - first_s
                _wait_until(due_s, source, pulse)
                arrived_s = time.monotonic()
                for frame in _decoded(packet, pulse):
                    count += 1
                    yield Picture(frame, arrived_s, bool(frame.key_frame))
        if not count and not pulse.stop.is_set():
            raise Broken("no picture of the file can be decoded", lasting=True)
        # A machine too slow for the file does not run after it.
        begins_s = max(due_s + interval_s, time.monotonic() - 1.0)


def require_picture(address: str) -> None:
    """Takes one picture of a file or camera. Raises Broken, with the reason in words, where there is none."""
    with closing(pictures(Source(address), Pulse())) as found:
        next(found)


def pictures_of(path: Path, fps: int) -> Iterator[Any]:
    """A file's pictures (height x width x 3, RGB, sides even) again and again, thinned out or repeated to `fps` a
    second. Raises Broken where it has none."""
    while True:
        shown = 0
        with av.open(f"file:{path}", options={"protocol_whitelist": "file", "format_whitelist": _FILES}) as container:
            stream = _video(container)
            for frame in container.decode(stream):
                due = round(float(frame.time or 0.0) * fps)
                image = frame.to_ndarray(format="rgb24")
                image = image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]
                while shown <= due:
                    shown += 1
                    yield image
        if not shown:
            raise Broken("no picture of the file can be decoded", lasting=True)


def _wait_until(due_s: float, source: Source, pulse: Pulse) -> None:
    while (left_s := due_s - time.monotonic()) > 0 and not pulse.stop.is_set():
        pulse.stop.wait(min(left_s, 1.0))
        pulse.beat(source.read_timeout_s)


def _decoded(packet: Any, pulse: Pulse) -> list[Any]:
    try:
        frames: list[Any] = [frame for frame in packet.decode() if not frame.is_corrupt]
    except _DAMAGES:
        pulse.damaged += 1
        return []
    return frames


def _one_thread(context: Any) -> Any:
    # Frame threads hold pictures back, and one core decodes 25 pictures of 1280 x 720 in a few hundredths of a second.
    context.thread_count = 1
    return context


def _video(container: Any) -> Any:
    if not container.streams.video:
        raise Broken("no video is sent from this address", lasting=True)
    return container.streams.video[0]


def _packets(source: Source, pulse: Pulse, container: Any, stream: Any) -> Iterator[tuple[Any, float]]:
    """Each packet with the monotonic time at which it was read, until the end or `pulse.stop`."""
    with closing(container.demux(stream)) as packets:
        while not pulse.stop.is_set():
            asked_s = pulse.beat(source.read_timeout_s)
            try:
                packet = next(packets)
            except StopIteration:
                return
            except _DAMAGES as error:
                raise _broken(error, source.read_timeout_s, time.monotonic() - pulse.at_s) from None
            read_s = pulse.beat(source.read_timeout_s)
            pulse.waited_s += read_s - asked_s
            yield packet, read_s


@contextmanager
def _opened(source: Source, pulse: Pulse, url: str, kind: str | None, options: dict[str, str]) -> Iterator[Any]:
    # Opening and looking into what was opened have the time-out each.
    pulse.beat(2 * source.open_timeout_s)
    try:
        container = av.open(url, format=kind, options=options, timeout=(source.open_timeout_s, source.read_timeout_s))
    except _DAMAGES as error:
        # FFmpeg's own text has the address in it, and so the password.
        raise _broken(error, source.open_timeout_s, time.monotonic() - pulse.at_s) from None
    with container:
        yield container


@contextmanager
def _line_opened(source: Source, pulse: Pulse, options: dict[str, str]) -> Iterator[Any]:
    pulse.beat(source.open_timeout_s)
    try:
        line = CameraLine(source.url, source.open_timeout_s)
    except (OSError, ValueError) as error:
        raise _broken(error, source.open_timeout_s, time.monotonic() - pulse.at_s) from None
    with line:
        transport = "tcp" if line.is_secure else source.transport
        try:
            with _opened(source, pulse, line.url, "rtsp", {**options, "rtsp_transport": transport}) as container:
                yield container
        except Broken as broken:
            if line.refusal:
                raise Broken(line.refusal, lasting=True) from None
            raise broken from None


def _broken(error: Exception, timeout_s: float, took_s: float) -> Broken:
    known: list[tuple[tuple[type[Exception], ...], str, bool]] = [
        ((av.error.HTTPUnauthorizedError, av.error.HTTPForbiddenError), "user name or password are refused", True),
        ((av.error.HTTPNotFoundError,), "the camera knows no such path (404)", True),
        ((av.error.HTTPClientError,), "the camera refuses the request, or has no video", False),
        ((av.error.HTTPServerError,), "the camera reports an error of its own", False),
        ((ConnectionRefusedError,), "the connection is refused", False),
        ((ConnectionResetError, BrokenPipeError), "the connection was cut", False),
        ((av.error.EOFError,), "the connection was closed", False),
        ((av.error.InvalidDataError,), "what is sent cannot be read as video", False),
        ((av.error.LookupError,), "this kind of address cannot be read here", True),
    ]
    # What FFmpeg was at when its time was up is all that its error says.
    is_late = took_s >= timeout_s and not isinstance(error, av.error.HTTPError | av.error.HTTPClientError)
    if is_late or isinstance(error, av.error.ExitError | TimeoutError):
        return Broken(f"no answer within {timeout_s:g} s")
    for kinds, message, lasting in known:
        if isinstance(error, kinds):
            return Broken(message, lasting)
    return Broken("the address cannot be reached")
