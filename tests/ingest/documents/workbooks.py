"""Workbooks for the tests, written part by part, so that odd and hostile ones can be made too."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
FORMATS = ("General", "0.0%", "dd.mm.yyyy", "dd.mm.yyyy hh:mm", "00000", '#,##0.00\\ "₽"', "hh:mm", "[h]:mm")

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Styled:
    """A number in one of FORMATS."""

    number: float
    code: str


@dataclass(frozen=True, slots=True)
class Raw:
    """A cell's attributes and what is in it."""

    attributes: str
    content: str


@dataclass(slots=True)
class Sheet:
    rows: Sequence[Sequence[Value | Styled | Raw]]
    merged: Sequence[str] = ()
    state: str = "visible"
    hidden_columns: Sequence[int] = ()
    hidden_rows: Sequence[int] = ()  # from 1
    is_filtered: bool = False
    dimension: str = ""
    extra: str = field(default="")


def letters(column: int) -> str:
    name = ""
    while True:
        column, rest = divmod(column, 26)
        name = chr(65 + rest) + name
        if not column:
            return name
        column -= 1


def xlsx(sheets: Mapping[str, Sheet], *, title: str = "", parts: Mapping[str, bytes] | None = None) -> bytes:
    """`parts` are added, or take the place of those that would be written."""
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{_SHEET_TYPE}.worksheet+xml"/>'
        for number in range(1, len(sheets) + 1)
    )
    names = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{number}" state="{sheet.state}" r:id="rId{number}"/>'
        for number, (name, sheet) in enumerate(sheets.items(), start=1)
    )
    relations = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number in range(1, len(sheets) + 1)
    )
    formats = "".join(
        f'<numFmt numFmtId="{164 + number}" formatCode={quoteattr(code)}/>' for number, code in enumerate(FORMATS)
    )
    styles = "".join(f'<xf numFmtId="{164 + number}" applyNumberFormat="1"/>' for number in range(len(FORMATS)))
    files: dict[str, bytes | str] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEET_TYPE}.sheet.main+xml"/>{overrides}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        f'<Relationship Id="rId2" Type="{_PACKAGE}/relationships/metadata/core-properties" Target="core.xml"/>'
        "</Relationships>",
        "core.xml": f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title></cp:coreProperties>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{_OFFICE}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{relations}'
        f'<Relationship Id="rIdS" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><numFmts>{formats}</numFmts>'
        f"<cellXfs>{styles}</cellXfs></styleSheet>",
    }
    for number, sheet in enumerate(sheets.values(), start=1):
        files[f"xl/worksheets/sheet{number}.xml"] = _sheet(sheet)
    return archive({**files, **(parts or {})})


def ods(rows: str, extra: Mapping[str, bytes | str] | None = None) -> bytes:
    """`rows` are table:table-row elements."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f"<office:document-content {spaces}><office:body><office:spreadsheet>"
        f'<table:table table:name="Лист">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    mime = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{mime}"/></manifest:manifest>'
    )
    return archive({"mimetype": mime, "content.xml": content, "META-INF/manifest.xml": manifest, **(extra or {})})


def archive(files: Mapping[str, bytes | str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return buffer.getvalue()


def _sheet(sheet: Sheet) -> str:
    hidden = "".join(f'<col min="{number + 1}" max="{number + 1}" hidden="1"/>' for number in sheet.hidden_columns)
    merged = "".join(f'<mergeCell ref="{ref}"/>' for ref in sheet.merged)
    return "".join(
        [
            f'<worksheet xmlns="{MAIN}">',
            '<sheetPr filterMode="1"/>' if sheet.is_filtered else "",
            f'<dimension ref="{sheet.dimension}"/>' if sheet.dimension else "",
            f"<cols>{hidden}</cols>" if hidden else "",
            "<sheetData>",
            *(_row(number, row, number in sheet.hidden_rows) for number, row in enumerate(sheet.rows, start=1)),
            sheet.extra,
            "</sheetData>",
            f"<mergeCells>{merged}</mergeCells>" if merged else "",
            "</worksheet>",
        ]
    )


def _row(number: int, row: Sequence[Value | Styled | Raw], is_hidden: bool) -> str:
    cells = "".join(_cell(f"{letters(column)}{number}", value) for column, value in enumerate(row))
    hidden = ' hidden="1"' if is_hidden else ""
    return f'<row r="{number}"{hidden}>{cells}</row>'


def _cell(place: str, value: Value | Styled | Raw) -> str:
    match value:
        case None:
            return ""
        case Raw():
            return f'<c r="{place}" {value.attributes}>{value.content}</c>'
        case Styled():
            return f'<c r="{place}" s="{FORMATS.index(value.code)}"><v>{value.number}</v></c>'
        case bool():
            return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
        case str():
            return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'
