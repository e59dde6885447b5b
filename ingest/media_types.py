"""What a message's file is, told by its first bytes; its name only says which kind of Office document a container is.

Nothing that a browser would run is ever named: what is not known is `application/octet-stream`.
"""

from __future__ import annotations

import mimetypes

from ingest.messages.imported import MediaType

HEAD_BYTES = 64 * 1024
UNKNOWN = "application/octet-stream"

_MAGIC: tuple[tuple[bytes, MediaType, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image", "image/png"),
    (b"\xff\xd8\xff", "image", "image/jpeg"),
    (b"GIF87a", "image", "image/gif"),
    (b"GIF89a", "image", "image/gif"),
    (b"II*\0", "image", "image/tiff"),
    (b"MM\0*", "image", "image/tiff"),
    (b"fLaC", "audio", "audio/flac"),
    (b"ID3", "audio", "audio/mpeg"),
    (b"#!AMR-WB\n", "audio", "audio/amr-wb"),
    (b"#!AMR\n", "audio", "audio/amr"),
    (b"caff\0\1", "audio", "audio/x-caf"),
    (b"MThd", "audio", "audio/midi"),
    (b"\0\0\1\xba", "video", "video/mpeg"),
    (b"\0\0\1\xb3", "video", "video/mpeg"),
    (b"FLV\1", "video", "video/x-flv"),
    (b"%PDF-", "file", "application/pdf"),
)
_RIFF: dict[bytes, tuple[MediaType, str]] = {
    b"WAVE": ("audio", "audio/wav"),
    b"AVI ": ("video", "video/x-msvideo"),
    b"WEBP": ("image", "image/webp"),
}
# ISO base media files, by their major brand.
_BRANDS: dict[bytes, tuple[MediaType, str]] = {
    b"M4A ": ("audio", "audio/mp4"),
    b"M4B ": ("audio", "audio/mp4"),
    b"qt  ": ("video", "video/quicktime"),
    b"avif": ("image", "image/avif"),
    b"avis": ("image", "image/avif"),
    b"heic": ("image", "image/heic"),
    b"heix": ("image", "image/heic"),
    b"mif1": ("image", "image/heif"),
    b"msf1": ("image", "image/heif"),
}
_CONTAINERS = {b"PK\x03\x04": "application/zip", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": UNKNOWN}
_OFFICE = ("application/vnd.", "application/msword")
# Layers III and II in an MPEG audio frame's header. Layer I would take the mark that UTF-16 begins with.
_MPEG_LAYERS = (0x02, 0x04)


def media_type(head: bytes, name: str) -> tuple[MediaType, str]:
    """(type, media type) of a file by its first HEAD_BYTES."""
    for magic, kind, mime in _MAGIC:
        if head.startswith(magic):
            return kind, mime
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12], ("file", UNKNOWN))
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return _BRANDS.get(brand, ("video", "video/3gpp" if brand.startswith(b"3g") else "video/mp4"))
    if head.startswith(b"OggS"):
        return ("video", "video/ogg") if b"\x80theora" in head[:4096] else ("audio", "audio/ogg")
    if head.startswith(b"\x1aE\xdf\xa3"):
        return "video", "video/webm" if b"webm" in head[:64] else "video/x-matroska"
    if head.startswith(b"FORM") and head[8:12] in (b"AIFF", b"AIFC"):
        return "audio", "audio/aiff"
    if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0":
        return "image", "image/bmp"
    if _is_mpeg_audio(head):
        return "audio", "audio/aac" if head[1] & 0x06 == 0 else "audio/mpeg"
    return "file", _document(head, name)


def _is_mpeg_audio(head: bytes) -> bool:
    """A frame of MP3 (or layer II), or of AAC in ADTS, whose layer is 0."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return False
    if head[1] & 0xF6 == 0xF0:
        return head[2] >> 2 & 0x0F < 13  # ADTS
    version, layer = head[1] >> 3 & 3, head[1] & 0x06
    bit_rate, sampling_rate = head[2] >> 4, head[2] >> 2 & 3
    return version != 1 and layer in _MPEG_LAYERS and bit_rate not in (0, 15) and sampling_rate != 3


def _document(head: bytes, name: str) -> str:
    container = next((mime for magic, mime in _CONTAINERS.items() if head.startswith(magic)), None)
    if container is not None:
        guessed = mimetypes.guess_type(name)[0] or ""
        return guessed if guessed.startswith(_OFFICE) and len(guessed) <= 100 else container
    return "text/plain" if _is_text(head) else UNKNOWN


def _is_text(head: bytes) -> bool:
    if not head or b"\0" in head:
        return False
    try:
        # The sample may end within a character.
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3 and len(head) >= HEAD_BYTES
    return True
