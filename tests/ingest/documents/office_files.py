"""Office and OpenDocument files for the tests, put together part by part."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PREFIXES = (
    f'xmlns:w="{W}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODF_NAMES = ("office", "text", "table", "draw", "style", "presentation", "manifest")
_ODF_PREFIXES = " ".join(
    ['xmlns:xlink="http://www.w3.org/1999/xlink"', f'xmlns:svg="{_ODF}:svg-compatible:1.0"']
    + [f'xmlns:fo="{_ODF}:xsl-fo-compatible:1.0"', 'xmlns:dc="http://purl.org/dc/elements/1.1/"']
    + [f'xmlns:{name}="{_ODF}:{"drawing" if name == "draw" else name}:1.0"' for name in _ODF_NAMES]
)
DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
PPTX_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"

_OUTSIDE = ' TargetMode="External"'
Part = str | bytes


def zip_of(parts: Mapping[str, Part], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def relations(*targets: tuple[str, str, str]) -> str:
    """Of (id, kind, target); a target with a colon is outside."""
    lines = (
        f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}"{_OUTSIDE if ":" in target else ""}/>'
        for key, kind, target in targets
    )
    return f'<Relationships xmlns="{_RELATIONS}">{"".join(lines)}</Relationships>'


def package_of(main: str, content_type: str, parts: Mapping[str, Part]) -> bytes:
    """An Office document whose main part has the name and type."""
    types = f'<Types xmlns="{_TYPES}"><Override PartName="/{main}" ContentType="{content_type}"/></Types>'
    return zip_of({"[Content_Types].xml": types, "_rels/.rels": relations(("r", "officeDocument", main)), **parts})


def element(name: str, content: str) -> str:
    return f"<{name} {_PREFIXES}>{content}</{name}>"


def docx_of(
    body: str,
    links: Sequence[tuple[str, str, str]] = (),
    content_type: str = DOCX_TYPE,
    parts: Mapping[str, Part] | None = None,
) -> bytes:
    """A document of Word with this body; `parts` are the others, by their place in word/, or below a slash."""
    more = {(name[1:] if name[0] == "/" else f"word/{name}"): content for name, content in (parts or {}).items()}
    main = element("w:document", f"<w:body>{body}</w:body>")
    rels = {"word/_rels/document.xml.rels": relations(*links)} if links else {}
    return package_of("word/document.xml", content_type, {"word/document.xml": main, **rels, **more})


def p(*runs: str, look: str = "") -> str:
    """A paragraph of Word; a run that is not markup is text."""
    content = "".join(run if run.startswith("<") else f"<w:r><w:t>{run}</w:t></w:r>" for run in runs)
    return f"<w:p><w:pPr>{look}</w:pPr>{content}</w:p>"


def tbl(*rows: Sequence[str], look: str = "") -> str:
    """A table of Word; a cell that is not markup is text."""
    cells = ("".join(f"<w:tc>{cell if cell.startswith('<') else p(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl><w:tblPr>{look}</w:tblPr>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def open_document_of(body: str, kind: str = "text", styles: str = "", parts: Mapping[str, Part] | None = None) -> bytes:
    content = (
        f"<office:document-content {_ODF_PREFIXES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    mime = f"application/vnd.oasis.opendocument.{kind}"
    return zip_of({"mimetype": mime, "content.xml": content, **(parts or {})})


def odf_element(name: str, content: str) -> str:
    return f"<{name} {_ODF_PREFIXES}>{content}</{name}>"


def ole_of(*names: str, inner: Sequence[str] = ()) -> bytes:
    """A compound file with streams of these names; `inner` ones lie in a storage of their own."""
    none = 0xFFFFFFFF

    def entry(name: str, kind: int, left: int = none, right: int = none, child: int = none) -> bytes:
        raw = (name.encode("utf-16-le") + b"\0\0")[:64]
        head = raw.ljust(64, b"\0") + struct.pack("<HBB3I", len(raw), kind, 1, left, right, child)
        return head.ljust(128, b"\0")

    listed = [*names, *(["Storage"] if inner else [])]
    entries = [entry("Root Entry", 5, child=1)]
    for at, name in enumerate(listed, start=1):
        is_storage = bool(inner) and at == len(listed)
        right = at + 1 if at < len(listed) else none
        entries.append(entry(name, 1 if is_storage else 2, right=right, child=len(listed) + 1 if is_storage else none))
    for at, name in enumerate(inner):
        entries.append(entry(name, 2, right=len(listed) + 2 + at if at + 1 < len(inner) else none))
    directory = b"".join(entries)
    sectors = -(-len(directory) // 512)
    fat = [0xFFFFFFFD, *(at + 1 for at in range(1, sectors)), 0xFFFFFFFE]
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<9I", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0) + struct.pack(
        "<109I", 0, *[none] * 108
    )
    fat_bytes = struct.pack("<128I", *(fat + [none] * (128 - len(fat))))
    return header + fat_bytes + directory.ljust(sectors * 512, b"\0")
