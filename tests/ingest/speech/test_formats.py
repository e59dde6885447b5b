"""Every format that calls come in: heard, told apart by content, and never opened where it names other files."""

from __future__ import annotations

import gzip
import io
import random
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from ingest.speech.containers import is_raw_gsm
from ingest.speech.decode import Undecodable, decode, media_type, probe, samples_of
from tests.ingest.speech.sounds import ROOT, by_ffmpeg, tone, write_wav

SECONDS = 3

# ending, FFmpeg's options, media type
ENCODED = [
    ("wav", "-c:a pcm_u8", "audio/wav"),
    ("wav", "-c:a pcm_s24le", "audio/wav"),
    ("wav", "-c:a pcm_s32le", "audio/wav"),
    ("wav", "-c:a pcm_f32le", "audio/wav"),
    ("wav", "-c:a pcm_alaw -ar 8000", "audio/wav"),
    ("wav", "-c:a pcm_mulaw -ar 8000", "audio/wav"),
    ("wav", "-c:a adpcm_ms -ar 8000", "audio/wav"),
    ("wav", "-c:a adpcm_ima_wav -ar 8000", "audio/wav"),
    ("wav", "-c:a libgsm_ms -ar 8000", "audio/wav"),
    ("wav", "-c:a g722", "audio/wav"),
    ("wav", "-c:a g726 -ar 8000", "audio/wav"),
    ("wav", "-c:a g723_1 -ar 8000 -b:a 6300", "audio/wav"),
    ("wav", "-rf64 always", "audio/wav"),
    ("wav", "-ar 96000", "audio/wav"),
    ("w64", "", "audio/x-w64"),
    ("mp3", "-c:a libmp3lame -b:a 32k", "audio/mpeg"),
    ("aac", "-c:a aac", "audio/aac"),
    ("m4a", "-c:a aac", "audio/mp4"),
    ("m4a", "-c:a aac -movflags faststart", "audio/mp4"),
    ("mp4", "-c:a aac -movflags frag_keyframe+empty_moov", "audio/mp4"),
    ("m4a", "-c:a alac", "audio/mp4"),
    ("3gp", "-c:a aac -ar 8000", "audio/3gpp"),
    ("ogg", "-c:a libopus", "audio/ogg"),
    ("ogg", "-c:a libvorbis", "audio/ogg"),
    ("ogg", "-c:a libspeex", "audio/ogg"),
    ("ogg", "-c:a flac", "audio/ogg"),
    ("flac", "-ar 192000", "audio/flac"),
    ("webm", "-c:a libopus", "audio/webm"),
    ("mka", "-c:a libopus", "audio/x-matroska"),
    ("gsm", "-c:a libgsm -ar 8000", "audio/x-gsm"),
    ("au", "-c:a pcm_mulaw -ar 8000", "audio/basic"),
    ("aiff", "", "audio/aiff"),
    ("caf", "", "audio/x-caf"),
    ("wma", "-c:a wmav2", "audio/x-ms-wma"),
    ("wv", "-c:a wavpack", "audio/x-wavpack"),
    ("ac3", "-c:a ac3 -ar 32000", "audio/ac3"),
    ("ts", "-c:a aac", "video/mp2t"),
]
PICTURE = "-f lavfi -i testsrc=size=64x64:rate=10:duration=3 -shortest"
FILMED = [
    ("mp4", "-c:v mpeg4 -c:a aac", "video/mp4"),
    ("mov", "-c:v mpeg4 -c:a aac", "video/quicktime"),
    ("mkv", "-c:v mpeg4 -c:a aac", "video/x-matroska"),
    ("webm", "-c:v libvpx -c:a libvorbis", "video/webm"),
    ("avi", "-c:v mpeg4 -c:a libmp3lame", "video/x-msvideo"),
    ("wmv", "-c:v wmv2 -c:a wmav2", "video/x-ms-wmv"),
    ("flv", "-c:v flv -c:a aac -ar 22050", "video/x-flv"),
    ("ts", "-c:v mpeg2video -c:a mp2", "video/mp2t"),
    ("mpg", "-c:v mpeg1video -r 25 -c:a mp2", "video/mpeg"),
]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_wav(tmp_path_factory.mktemp("source") / "a.wav", tone(SECONDS, 440))


def assert_heard(path: Path, folder: Path, expected_type: str, tolerance_ms: int = 130) -> None:
    info = probe(path)
    assert media_type(info) == expected_type
    assert info.video == expected_type.startswith("video/") or expected_type == "video/mp2t"
    decoded = decode(path, folder)
    assert abs(decoded.duration_ms - SECONDS * 1000) <= tolerance_ms
    assert (decoded.truncated, decoded.damaged_packets) == (False, 0)
    samples = samples_of(decoded.files[0])[8000:40_000].astype(np.float64)
    assert abs(np.argmax(np.abs(np.fft.rfft(samples))) / 2 - 440) <= 2


@pytest.mark.parametrize(("ending", "options", "expected"), ENCODED, ids=[f"{e}{o}" for e, o, _ in ENCODED])
def test_a_recording_is_heard_whatever_it_is_encoded_with(
    tmp_path: Path, source: Path, ending: str, options: str, expected: str
) -> None:
    assert_heard(by_ffmpeg(source, tmp_path / f"a.{ending}", options), tmp_path / "work", expected)


@pytest.mark.parametrize(("ending", "options", "expected"), FILMED, ids=[e for e, *_ in FILMED])
def test_the_sound_of_a_film_is_heard(tmp_path: Path, source: Path, ending: str, options: str, expected: str) -> None:
    path = by_ffmpeg(source, tmp_path / f"a.{ending}", f"{PICTURE} {options}")
    assert_heard(path, tmp_path / "work", expected, tolerance_ms=250)


def test_a_cover_picture_makes_no_film_of_a_song(tmp_path: Path, source: Path) -> None:
    cover = tmp_path / "cover.png"
    by_ffmpeg(source, tmp_path / "b.png", "-f lavfi -i testsrc=size=600x600 -map 1:v -frames:v 1").rename(cover)
    options = f"-i {cover} -map 0:a -map 1:v -c:v copy -disposition:v attached_pic"
    assert_heard(by_ffmpeg(source, tmp_path / "a.mp3", options), tmp_path / "work", "audio/mpeg")


def test_amr_narrow_band_is_heard(tmp_path: Path, source: Path) -> None:
    import av

    path = tmp_path / "a"
    with av.open(str(path), "w", format="amr") as container, av.open(str(source)) as given:
        stream = container.add_stream("libopencore_amrnb", rate=8000, layout="mono", bit_rate=12200)
        resampler = av.AudioResampler(format="s16", layout="mono", rate=8000, frame_size=160)
        for frame in (*given.decode(audio=0), None):
            for resampled in resampler.resample(frame):
                container.mux(stream.encode(resampled))
        container.mux(stream.encode(None))
    assert_heard(path, tmp_path / "work", "audio/amr")


def test_amr_wide_band_is_decoded(tmp_path: Path) -> None:
    """No encoder is at hand: frames of 23.85 kbit/s with any bits are valid ones (RFC 4867, section 5)."""
    path = tmp_path / "a"
    chance = random.Random(1)
    path.write_bytes(b"#!AMR-WB\n" + b"".join(b"\x44" + chance.randbytes(60) for _ in range(100)))
    decoded = decode(path, tmp_path / "work")
    assert media_type(decoded.info) == "audio/amr-wb"
    assert (decoded.duration_ms, decoded.damaged_packets) == (2000, 0)


@pytest.mark.parametrize("frames", [10, 40, 400])
def test_bare_gsm_frames_are_heard_however_few(tmp_path: Path, source: Path, frames: int) -> None:
    whole = by_ffmpeg(source, tmp_path / "a.gsm", "-c:a libgsm -ar 8000").read_bytes()
    path = tmp_path / "b"
    path.write_bytes(whole[: 33 * frames])
    assert decode(path, tmp_path / "work").duration_ms == min(frames, len(whole) // 33) * 20


def test_russian_text_is_not_taken_for_gsm_frames() -> None:
    words = (ROOT / "demo" / "documents" / "grafik-dezhurstv.txt").read_text(encoding="utf-8").split()
    chance = random.Random(5)
    for encoding in ("utf-8", "cp1251", "koi8-r"):
        for _ in range(200):
            text = " ".join(chance.choices(words, k=chance.randrange(40, 400)))
            assert not is_raw_gsm(text.upper().encode(encoding, "replace")[:4096])


def archive(kind: str) -> bytes:
    """Something that is no recording, in the form that its kind has."""
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("call.wav", bytes(1_000_000))
    elif kind == "tar":
        with tarfile.open(fileobj=out, mode="w") as tape:
            tape.add(ROOT / "demo" / "documents", "documents")
    elif kind == "gzip bomb":
        with gzip.open(out, "wb", compresslevel=9) as bomb:
            for _ in range(100):
                bomb.write(bytes(1_000_000))
    elif kind == "pdf":
        return next((ROOT / "demo" / "documents").glob("*.pdf")).read_bytes()
    elif kind == "noise":
        return random.Random(3).randbytes(1_000_000)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar", "gzip bomb", "pdf", "noise"])
def test_what_is_no_recording_is_refused_under_any_name(tmp_path: Path, kind: str) -> None:
    for name in ("a.wav", "a.mp3", "a.gsm"):
        path = tmp_path / name
        path.write_bytes(archive(kind))
        with pytest.raises(Undecodable, match="not a known audio or video format"):
            probe(path)


def test_a_playlist_opens_nothing_of_what_it_names(tmp_path: Path, source: Path) -> None:
    lists = {
        "a.m3u8": f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:3,\nfile://{source}\n#EXT-X-ENDLIST\n",
        "b.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:3,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n",
        "a.ffconcat": f"ffconcat version 1.0\nfile '{source}'\n",
        "a.sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n",
        "a.mpd": '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period/></MPD>',
        "a.asx": f'<asx version="3.0"><entry><ref href="file://{source}"/></entry></asx>',
    }
    for name, text in lists.items():
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(Undecodable):
            probe(path)
        with pytest.raises(Undecodable):
            decode(path, tmp_path / "work")


def test_a_film_that_refers_to_another_file_for_its_sound_does_not_get_it(tmp_path: Path, source: Path) -> None:
    path = by_ffmpeg(source, tmp_path / "a.mov", "-c:a pcm_s16le")
    data = path.read_bytes()
    own = b"\x00\x00\x00\x0curl \x00\x00\x00\x01"  # "the sound is in this very file"
    assert data.count(own) == 1
    name = f"file://{source}".encode() + b"\0"
    other = struct.pack(">I", 12 + len(name)) + b"url \x00\x00\x00\x00" + name
    grown = bytearray(data.replace(own, other))
    more = len(other) - len(own)
    for box in (b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref"):
        at = grown.rindex(box) - 4
        struct.pack_into(">I", grown, at, struct.unpack_from(">I", grown, at)[0] + more)
    kept = bytes(grown)
    mdat = kept.index(b"mdat") + 4
    moov = kept.index(b"moov")
    path.write_bytes(kept[:mdat] + bytes(moov - 4 - mdat) + kept[moov - 4 :])  # silence in its own place
    try:
        decoded = decode(path, tmp_path / "work")
    except Undecodable:
        return
    assert not samples_of(decoded.files[0])[:].any()


@pytest.mark.parametrize("claim", [0xFFFFFFFF, 0xFFFFFF00, 0x7FFFFFFF])
def test_a_header_that_claims_gigabytes_is_not_believed(tmp_path: Path, source: Path, claim: int) -> None:
    data = bytearray(source.read_bytes())
    struct.pack_into("<I", data, 4, claim)
    struct.pack_into("<I", data, 40, claim)
    path = tmp_path / "a.wav"
    path.write_bytes(bytes(data))
    assert probe(path).duration_ms == SECONDS * 1000
    assert decode(path, tmp_path / "work").duration_ms == SECONDS * 1000


def test_an_mp3_behind_many_megabytes_of_tags_is_heard(tmp_path: Path, source: Path) -> None:
    song = by_ffmpeg(source, tmp_path / "a.mp3", "-c:a libmp3lame -id3v2_version 0").read_bytes()
    size = 20 * 1024 * 1024
    length = bytes((size >> shift) & 127 for shift in (21, 14, 7, 0))
    path = tmp_path / "b"
    path.write_bytes(b"ID3\x03\x00\x00" + length + bytes(size) + song)
    assert abs(decode(path, tmp_path / "work").duration_ms - SECONDS * 1000) < 130
