from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from ingest.documents.parse import DocumentError, ParsedDocument
from rag.chunking import join_sections
from tests.ingest.documents.workbooks import archive

Read = Callable[..., ParsedDocument]
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="{path}" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:e="http://www.w3.org/2001/04/xmlenc#">'
    '<e:EncryptedData><e:EncryptionMethod Algorithm="{method}"/>'
    '<e:CipherData><e:CipherReference URI="{part}"/></e:CipherData></e:EncryptedData></encryption>'
)


def page(body: str) -> str:
    return f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{body}</body></html>'


def book(
    chapters: Mapping[str, str],
    *,
    spine: Sequence[str] | None = None,
    items: str = "",
    toc: str = "",
    title: str = "Правила ухода",
    package: str = "OEBPS/content.opf",
    parts: Mapping[str, bytes | str] | None = None,
) -> bytes:
    """Chapters by their names beside the package file."""
    manifest = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in chapters)
    references = "".join(f'<itemref idref="{name}"/>' for name in (chapters if spine is None else spine))
    folder = package.rpartition("/")[0]
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER.format(path=package),
            package: '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
            f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
            f"<manifest>{manifest}{items}</manifest><spine{toc}>{references}</spine></package>",
            **{f"{folder}/{name}" if folder else name: content for name, content in chapters.items()},
            **(parts or {}),
        }
    )


def test_chapters_are_read_in_the_order_of_the_spine_under_their_headings(read: Read) -> None:
    chapters = {
        "b.xhtml": page("<h1>Полив</h1><p>Раз в неделю.</p>"),
        "a.xhtml": page("<h1>Свет</h1><p>Ставьте у окна.</p><h2>Зимой</h2><p>Досвечивайте.</p>"),
    }
    document = read(book(chapters, spine=["a.xhtml", "b.xhtml"]), "book.epub")
    assert document.title == "Правила ухода"
    assert document.mime == "application/epub+zip"
    assert [(section.title_path, section.text) for section in document.sections] == [
        (("Свет",), "Свет\nСтавьте у окна."),
        (("Свет", "Зимой"), "Зимой\nДосвечивайте."),
        (("Полив",), "Полив\nРаз в неделю."),
    ]


def test_chapters_without_a_heading_have_the_title_of_the_contents(read: Read) -> None:
    chapters = {"one.xhtml": page("<p>Первая.</p>"), "two.xhtml": page("<h2>Своя</h2><p>Вторая.</p>")}
    nav = page(
        '<nav xmlns:epub="http://www.idpf.org/2007/ops" epub:type="landmarks"><a href="one.xhtml">Обложка</a></nav>'
        '<nav xmlns:epub="http://www.idpf.org/2007/ops" epub:type="toc"><ol>'
        '<li><a href="one.xhtml#start">Глава <b>первая</b></a><ol><li><a href="two.xhtml">Чужая</a></li></ol></li>'
        "</ol></nav>"
    )
    items = '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
    content = book(chapters, spine=["nav", *chapters], items=items, parts={"OEBPS/nav.xhtml": nav})
    assert [section.title_path for section in read(content).sections] == [("Глава первая",), ("Глава первая", "Своя")]


def test_the_contents_of_older_books_are_read(read: Read) -> None:
    ncx = (
        '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Часть</text></navLabel>'
        '<content src="one.xhtml"/><navPoint><navLabel><text>Глава</text></navLabel><content src="two.xhtml"/>'
        "</navPoint></navPoint></navMap></ncx>"
    )
    content = book(
        {"one.xhtml": page("<p>Раз.</p>"), "two.xhtml": page("<p>Два.</p>")},
        items='<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
        toc=' toc="ncx"',
        parts={"OEBPS/toc.ncx": ncx},
    )
    assert [section.title_path for section in read(content).sections] == [("Часть",), ("Часть", "Глава")]


@pytest.mark.parametrize("ncx", ["<ncx><navMap>", '<!DOCTYPE x [<!ENTITY a "b">]><ncx/>', ""])
def test_a_broken_table_of_contents_costs_only_titles(read: Read, ncx: str) -> None:
    content = book(
        {"one.xhtml": page("<p>Раз.</p>")},
        items='<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
        toc=' toc="ncx"',
        parts={"OEBPS/toc.ncx": ncx},
    )
    assert join_sections(read(content).sections) == "Раз."


def test_chapters_in_another_encoding_and_with_elements_closed_at_once_are_read(read: Read) -> None:
    text = '<?xml version="1.0" encoding="windows-1251"?><html><head><title/><script src="x.js"/></head>'
    text += '<body><a id="start"/><p>Слова<br/>главы.</p></body></html>'
    content = book({"one.xhtml": ""}, parts={"OEBPS/one.xhtml": text.encode("cp1251")})
    assert join_sections(read(content).sections) == "Слова\nглавы."


def test_a_book_whose_package_lies_at_its_top_and_has_no_title_is_named_by_its_file(read: Read) -> None:
    content = book({"a b.xhtml": page("<p>Слова.</p>")}, package="content.opf", title="")
    assert read(content, "my_book.epub").title == "my book"


def test_chapters_that_are_missing_or_lie_outside_of_the_book_are_left_out(read: Read) -> None:
    items = '<item id="up" href="../../secret.xhtml" media-type="application/xhtml+xml"/>'
    items += '<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/>'
    items += '<item id="web" href="https://example.com/x.xhtml" media-type="application/xhtml+xml"/>'
    content = book(
        {"one.xhtml": page("<p>Слова.</p>")},
        spine=["up", "gone", "web", "nobody", "one.xhtml"],
        items=items,
        parts={"../secret.xhtml": page("<p>Чужое.</p>"), "secret.xhtml": page("<p>Чужое.</p>")},
    )
    assert join_sections(read(content).sections) == "Слова."


def test_a_chapter_that_the_spine_repeats_is_read_once(read: Read) -> None:
    content = book({"one.xhtml": page("<p>Слова.</p>")}, spine=["one.xhtml"] * 100_000)
    assert join_sections(read(content).sections) == "Слова."


def test_a_protected_book_is_encrypted_and_one_with_protected_fonts_is_not(read: Read) -> None:
    chapters = {"one.xhtml": page("<p>Слова.</p>")}
    aes = ENCRYPTION.format(method="http://www.w3.org/2001/04/xmlenc#aes128-cbc", part="OEBPS/one.xhtml")
    with pytest.raises(DocumentError) as caught:
        read(book(chapters, parts={"META-INF/encryption.xml": aes}))
    assert caught.value.code == "encrypted"
    font = ENCRYPTION.format(method="http://www.idpf.org/2008/embedding", part="OEBPS/font.otf")
    assert read(book(chapters, parts={"META-INF/encryption.xml": font})).characters


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"META-INF/container.xml": "<container/>"}, "unreadable"),
        ({"META-INF/container.xml": CONTAINER.format(path="../../etc/passwd")}, "unreadable"),
        ({"META-INF/container.xml": CONTAINER.format(path="gone.opf")}, "unreadable"),
        ({"OEBPS/content.opf": "<package"}, "unreadable"),
        ({"OEBPS/content.opf": '<package xmlns="http://www.idpf.org/2007/opf"/>'}, "unreadable"),
        (
            {"OEBPS/content.opf": '<!DOCTYPE p [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><package>&b;</package>'},
            "unreadable",
        ),
        ({"OEBPS/one.xhtml": page("")}, "empty"),
        ({"OEBPS/one.xhtml": page("<div>" * 20_000)}, "unreadable"),
        ({"OEBPS/one.xhtml": page("<p>слово слово</p>" * 1_000_000)}, "too_large"),
    ],
    ids=range(9),
)
def test_a_broken_or_hostile_book_ends_in_an_error_code(read: Read, parts: dict[str, str], code: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(book({"one.xhtml": page("<p>Слова.</p>")}, parts=parts), "book.epub")
    assert caught.value.code == code
