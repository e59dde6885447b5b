from __future__ import annotations

import io
import random
import struct
import zipfile
from pathlib import Path

import pytest

from ingest.documents import xml
from ingest.documents.archives import Archive, ArchiveLimits, open_archive
from ingest.documents.parsed import DocumentError
from tests.ingest.documents.office_files import zip_of

SMALL = ArchiveLimits(
    max_entries=10, max_directory_bytes=200_000, max_declared_bytes=3_000_000, max_part_bytes=1_000_000,
    max_unpacked_bytes=2_000_000, max_ratio=250, small_part_bytes=1000,
)  # fmt: skip


def refusal(path: Path, content: bytes, limits: ArchiveLimits = SMALL) -> str:
    """The code with which the archive is refused when it is opened, or when all of it is read."""
    path.write_bytes(content)
    with pytest.raises(DocumentError) as caught, open_archive(path, limits) as archive:
        archive.verify()
    return caught.value.code


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "blob"


def noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


def test_parts_are_found_whatever_the_case_and_slashes_of_their_names(path: Path) -> None:
    path.write_bytes(zip_of({"Word\\Document.xml": b"a", "../../etc/passwd": b"b", "folder/": b""}))
    with open_archive(path) as archive:
        assert archive.read("/word/document.XML") == b"a"
        assert len(archive.names) == 2
        with pytest.raises(DocumentError, match="missing") as caught:
            archive.read("none.xml")
    assert caught.value.code == "unreadable"


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({f"f{number}": b"x" for number in range(11)}, "too_large"),
        ({"long" + "n" * 25_000 + str(number): b"x" for number in range(10)}, "too_large"),
        ({"bomb": bytes(900_000)}, "too_large"),
        ({"large": noise(1_000_001)}, "too_large"),
        ({f"f{number}": noise(999_000) for number in range(3)}, "too_large"),  # unpacked
        ({f"f{number}": noise(999_000) for number in range(4)}, "too_large"),  # declared
    ],
)
def test_an_archive_over_its_limits_is_too_large(path: Path, parts: dict[str, bytes], code: str) -> None:
    assert refusal(path, zip_of(parts)) == code


def test_an_archive_within_its_limits_is_read_as_a_whole(path: Path) -> None:
    path.write_bytes(zip_of({f"f{number}": noise(990_000) for number in range(2)}))
    with open_archive(path, SMALL) as archive:
        archive.verify()
        with pytest.raises(DocumentError, match="2,000,000") as caught:
            archive.verify("f0")
    assert caught.value.code == "too_large"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_the_compression_that_documents_use_is_read(path: Path, method: int) -> None:
    assert refusal(path, zip_of({"a": b"words"}, method)) == "unreadable"


def test_a_part_that_lies_about_its_size_is_cut_off(path: Path) -> None:
    content = zip_of({"a": noise(50_000) + bytes(900_000)})
    directory = content.index(b"PK\x01\x02")
    for claimed in (10, 60_000):
        lying = bytearray(content)
        struct.pack_into("<I", lying, directory + 24, claimed)
        assert refusal(path, bytes(lying)) == "unreadable"


def test_overlapping_parts_are_refused(path: Path) -> None:
    """The way of a bomb that needs no recursion: many entries of the directory share one stream."""
    content = zip_of({"a": noise(3000), "b": b"x"})
    second = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 4)
    lying = bytearray(content)
    struct.pack_into("<I", lying, second + 42, 0)
    path.write_bytes(lying)
    with pytest.raises(DocumentError, match="upon each other") as caught, open_archive(path):
        pass
    assert caught.value.code == "unreadable"


def test_archives_within_archives_are_not_opened(path: Path) -> None:
    inner = zip_of({"bomb": bytes(900_000)})
    for _ in range(5):
        inner = zip_of({f"{number}.zip": inner for number in range(5)})
    path.write_bytes(inner)
    with open_archive(path, SMALL) as archive:
        archive.verify()
        assert archive.read("0.zip").startswith(b"PK")


def test_an_encrypted_part_makes_the_archive_encrypted(path: Path) -> None:
    content = bytearray(zip_of({"a": b"words"}))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + at] |= 1
    assert refusal(path, bytes(content)) == "encrypted"


def test_a_damaged_archive_is_unreadable_wherever_it_is_cut_or_changed(path: Path) -> None:
    content = zip_of({"a.xml": noise(2000), "b.xml": b"x" * 500})
    for cut in range(1, len(content), 61):
        assert refusal(path, content[:cut]) == "unreadable"
    chance = random.Random(5)
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(3):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            with open_archive(path, SMALL) as archive:
                archive.verify()
        except DocumentError as error:
            assert error.code in {"unreadable", "too_large", "encrypted"}  # noqa: PT017


def laughs(entities: str, words: str) -> bytes:
    return f'<?xml version="1.0"?><!DOCTYPE r [{entities}]><r>{words}</r>'.encode()


@pytest.mark.parametrize(
    "content",
    [
        laughs('<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">', "&b;"),
        laughs('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;"),
        laughs('<!ENTITY a SYSTEM "http://127.0.0.1:9/x">', "&a;"),
        laughs('<!ENTITY % a SYSTEM "http://127.0.0.1:9/x.dtd"> %a;', "x"),
        laughs(f'<!ENTITY a "{"x" * 50_000}">', "&a;" * 50_000),
        laughs('<!ENTITY a "&a;">', "&a;"),
    ],
)
def test_xml_that_declares_entities_is_refused(content: bytes) -> None:
    with pytest.raises(DocumentError, match="entities") as caught:
        xml.parse(io.BytesIO(content))
    assert caught.value.code == "unreadable"


def test_an_outside_definition_is_not_fetched() -> None:
    content = b'<!DOCTYPE r PUBLIC "x" "http://127.0.0.1:9/x.dtd"><r>words&nbsp;here</r>'
    assert (xml.parse(io.BytesIO(content)).text or "").startswith("words")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"<a>" * 100_000, "unreadable"),
        (b"<a>" * 201 + b"</a>" * 201, "unreadable"),
        (b"<r>" + b"<a/>" * 600_000 + b"</r>", "too_large"),
        (b"<r>" + b"".join(b"<a%d/>" % number for number in range(30_000)) + b"</r>", "unreadable"),
        (b"<r " + b" ".join(b'a%d=""' % number for number in range(2_000)) + b"/>", "too_large"),
        (b'<r a="' + b"x" * 40_000_000, "too_large"),
        (b"<r><a></r>", "unreadable"),
        (b"", "unreadable"),
        (b"\0\1\2", "unreadable"),
        (b'<?xml version="1.0" encoding="nonsense"?><r/>', "unreadable"),
        (b'<?xml version="1.0" encoding="utf-7"?><r/>', "unreadable"),
        (b"<r>\xff\xff</r>", "unreadable"),
    ],
)
def test_xml_over_its_bounds_or_broken_is_refused(content: bytes, code: str) -> None:
    with pytest.raises(DocumentError) as caught:
        xml.parse(io.BytesIO(content))
    assert caught.value.code == code


def test_elements_are_given_one_by_one_and_what_is_skipped_is_not() -> None:
    content = b"<r><s><w>SECRET</w></s><m k='1'><w>a<w>b</w><s>SECRET</s>c</w></m><w/></r>"
    found = [
        (event, element.tag, "".join(element.itertext()))
        for event, element in xml.walk(io.BytesIO(content), whole={"w"}, marks={"m"}, skip={"s"})
    ]
    assert found == [("start", "m", ""), ("whole", "w", "abc"), ("end", "m", ""), ("whole", "w", "")]


def test_the_stream_of_a_part_is_read_in_pieces(path: Path) -> None:
    path.write_bytes(zip_of({"a": noise(300_000)}))
    with open_archive(path) as archive, archive.open("a") as part:
        assert isinstance(archive, Archive)
        assert part.read(10) + part.read() == noise(300_000)
