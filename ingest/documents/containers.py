"""What kind of document a container holds: a ZIP archive, or an OLE compound file of older Office programs."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from ingest.documents import detect, xml
from ingest.documents.archives import Archive, open_archive
from ingest.documents.ooxml import Package
from ingest.documents.parsed import DocumentError

# Main parts' content types, by what their names hold; with macros, templates and shows, all in lower case.
_OFFICE = (
    ("spreadsheetml.", detect.XLSX),
    ("ms-excel.sheet.binary", detect.XLSB),
    ("ms-excel.", detect.XLSX),
    ("wordprocessingml.", detect.DOCX),
    ("ms-word.", detect.DOCX),
    ("presentationml.", detect.PPTX),
    ("ms-powerpoint.", detect.PPTX),
)
# Where a document does not say its type in the usual way.
_MAIN_PARTS = (
    ("word/document.xml", detect.DOCX),
    ("ppt/presentation.xml", detect.PPTX),
    ("xl/workbook.xml", detect.XLSX),
    ("xl/workbook.bin", detect.XLSB),
)
_OPEN_DOCUMENT = (detect.ODT, detect.ODP, detect.ODS)
_PASSWORD = DocumentError("encrypted", "It is protected by a password.")
_MANIFEST = "META-INF/manifest.xml"
_OTHER_ARCHIVES = (
    ("index/document.iwa", "It is an Apple iWork document. Export it to Word, PowerPoint, Excel or PDF."),
    ("androidmanifest.xml", "It is a program."),
    ("meta-inf/manifest.mf", "It is a program."),
)


def zip_kind(path: Path) -> str:
    """The media type of a document that is a ZIP archive. Raises DocumentError."""
    with open_archive(path) as archive:
        kind = _office_kind(archive) or _open_document_kind(archive)
        if kind is None and "META-INF/container.xml" in archive:
            kind = detect.EPUB
        if kind is not None:
            return kind
        if not archive.names:
            raise DocumentError("empty", "It is an empty ZIP archive.")
        for name, message in _OTHER_ARCHIVES:
            if name in archive:
                raise DocumentError("unsupported_type", message)
    raise DocumentError("unsupported_type", "It is a ZIP archive. Unpack it, and upload the files in it.")


def _office_kind(archive: Archive) -> str | None:
    if "[Content_Types].xml" not in archive:
        return None
    package = Package(archive)
    main_type = package.main_type()
    for part, kind in _OFFICE:
        if part in main_type:
            return kind
    for name, kind in _MAIN_PARTS:
        if name in archive:
            return kind
    if main_type:
        raise detect.unsupported("It is an Office document of another program.")
    return None


def _open_document_kind(archive: Archive) -> str | None:
    declared = ""
    if "mimetype" in archive:
        declared = archive.read("mimetype", max_bytes=1000).decode("ascii", errors="replace").strip()
    if declared == detect.EPUB:
        return detect.EPUB
    if not declared.startswith("application/vnd.oasis.opendocument.") and "content.xml" not in archive:
        return None
    if _MANIFEST in archive:
        with archive.open(_MANIFEST) as part:
            names = {"manifest:file-entry", "manifest:encryption-data"}
            for _, element in xml.walk(part, whole=(), marks=names):
                if element.tag == "manifest:encryption-data":
                    raise _PASSWORD
                if not declared and element.get("manifest:full-path") == "/":
                    declared = element.get("manifest:media-type", "")
    for kind in _OPEN_DOCUMENT:
        if declared.startswith(kind):  # templates and master documents too
            return kind
    if declared.startswith("application/vnd.oasis."):
        raise detect.unsupported("It is an OpenDocument file that is no text, presentation or spreadsheet.")
    return None


_OLE_KINDS = (
    ("WordDocument", "It is a document of an old Word. Save it as .docx."),
    ("PowerPoint Document", "It is a presentation of an old PowerPoint. Save it as .pptx."),
    ("__properties_version1.0", "It is an Outlook message. Save it as .eml."),
    ("VisioDocument", "It is a Visio drawing. Save it as PDF."),
)
_OLE_UNKNOWN = "It is a document of an old program. Save it in a current format, such as .docx, .xlsx or PDF."


def ole_kind(path: Path) -> str:
    """The media type of a document that is an OLE compound file. Raises DocumentError."""
    with path.open("rb") as file:
        try:
            names = set(_root_names(file))
        except (struct.error, ValueError, IndexError, OverflowError, OSError):
            raise DocumentError("unreadable", "It is a damaged document of an old program.") from None
    if names & {"EncryptedPackage", "EncryptionInfo"}:
        raise _PASSWORD
    if names & {"Workbook", "Book"}:
        return detect.XLS
    message = next((message for name, message in _OLE_KINDS if name in names), _OLE_UNKNOWN)
    raise DocumentError("unsupported_type", message)


# [MS-CFB]: a FAT of sectors, whose directory is a chain of entries of 128 bytes in red-black trees.
_ENTRY_BYTES = 128
_HEADER_DIFAT = 109
_MAX_SECTOR = 0xFFFFFFFA
_MAX_DIRECTORY_SECTORS = 2_000
_MAX_DIFAT_SECTORS = 2_000
_MAX_ENTRIES = 4_096


def _root_names(file: IO[bytes]) -> Iterator[str]:
    """The names of the streams and storages at the top of a compound file; those within storages are others' parts."""
    header = file.read(512)
    shift = struct.unpack_from("<H", header, 30)[0]
    if shift not in (9, 12):
        raise ValueError("no such sector size")
    size = 1 << shift

    def sector(number: int) -> bytes:
        file.seek((number + 1) << shift)
        return file.read(size)

    directory = _chain(header, sector, struct.unpack_from("<I", header, 48)[0], size)
    entries = b"".join(directory)
    waiting, seen = [_links(entries, 0)[2]], {0}
    while waiting and len(seen) <= _MAX_ENTRIES:
        number = waiting.pop()
        if number in seen or (number + 1) * _ENTRY_BYTES > len(entries):
            continue
        seen.add(number)
        left, right, _ = _links(entries, number)
        waiting += [left, right]
        at = number * _ENTRY_BYTES
        length = min(struct.unpack_from("<H", entries, at + 64)[0], 64)
        yield entries[at : at + max(length - 2, 0)].decode("utf-16-le", errors="replace")


def _chain(header: bytes, sector: Callable[[int], bytes], number: int, size: int) -> Iterator[bytes]:
    """The sectors of the directory, one after the other as the FAT links them."""
    places = size // 4
    difat = list(struct.unpack_from(f"<{_HEADER_DIFAT}I", header, 76))
    more, sectors = struct.unpack_from("<I", header, 68)[0], 0
    for _ in range(_MAX_DIRECTORY_SECTORS):
        if number > _MAX_SECTOR:
            return
        yield sector(number)
        while number // places >= len(difat) and more < _MAX_SECTOR and sectors < _MAX_DIFAT_SECTORS:
            *listed, more = struct.unpack(f"<{places}I", sector(more))
            difat += listed
            sectors += 1
        number = struct.unpack_from("<I", sector(difat[number // places]), number % places * 4)[0]


def _links(entries: bytes, number: int) -> tuple[int, int, int]:
    """(left sibling, right sibling, child) of a directory entry."""
    left, right, child = struct.unpack_from("<3I", entries, number * _ENTRY_BYTES + 68)
    return left, right, child
