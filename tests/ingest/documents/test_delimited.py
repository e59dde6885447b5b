from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.documents.delimited import find_separator, rows_of
from ingest.documents.parse import DocumentError, ParsedDocument, parse
from rag.chunking import join_sections

Read = Callable[..., ParsedDocument]
PRICES = "Услуга;Цена\nОсмотр;500\nУЗИ;1200\n"
READ = "Услуга: Осмотр; Цена: 500\nУслуга: УЗИ; Цена: 1200"


def text_of(read: Read, content: bytes | str, name: str = "table.csv") -> str:
    return join_sections(read(content, name).sections)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1251"])
def test_a_table_is_read_in_every_usual_encoding(read: Read, encoding: str) -> None:
    document = read(PRICES.encode(encoding), "price_list.csv")
    assert join_sections(document.sections) == READ
    assert (document.title, document.mime) == ("price list", "text/csv")


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
def test_the_separator_is_found(read: Read, separator: str) -> None:
    assert text_of(read, PRICES.replace(";", separator)) == READ


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_lines_of_other_systems_are_read(read: Read, ending: str) -> None:
    assert text_of(read, PRICES.replace("\n", ending)) == READ


def test_tabs_make_a_tsv(read: Read) -> None:
    assert read(PRICES.replace(";", "\t"), "x.tsv").mime == "text/tab-separated-values"


@pytest.mark.parametrize(
    ("lines", "separator"),
    [
        (["a;1,5;2,5", "b;2,5;3,5", "c;1,0;2,0"], ";"),
        (["Заголовок, без разделителей", "a;b;c", "d;e, f;g", "h;i;j"], ";"),
        (["name,note", 'x,"a; b; c"', 'y,"d; e; f"'], ","),
        (["one", "two", "three"], None),
        ([], None),
        (["a,b,c"], ","),
    ],
)
def test_the_separator_is_the_one_that_divides_rows_evenly(lines: list[str], separator: str | None) -> None:
    assert find_separator(lines) == separator


def test_the_separator_that_excel_names_is_taken(read: Read) -> None:
    assert text_of(read, "sep=;\nName;Note\nA;x, y\n") == "Name: A; Note: x, y"


def test_quoted_fields_hold_separators_quotes_and_line_breaks() -> None:
    lines = ['a,"b, c","say ""hi"""', 'd,"first', 'second, ""third""', 'fourth",e', "f,g,h"]
    assert list(rows_of(lines, ",")) == [
        ["a", "b, c", 'say "hi"'],
        ["d", 'first\nsecond, "third"\nfourth', "e"],
        ["f", "g", "h"],
    ]


def test_a_quotation_mark_that_is_never_closed_swallows_no_rows() -> None:
    lines = ["a;b", '"open;1', 'pipe 12" long;2', 'x"y"z;"3"', "last;4"]
    assert list(rows_of(lines, ";")) == [
        ["a", "b"],
        ['"open', "1"],
        ['pipe 12" long', "2"],
        ['x"y"z', "3"],
        ["last", "4"],
    ]


def test_titles_above_and_notes_below_the_table_are_kept(read: Read) -> None:
    text = text_of(read, f"Прайс-лист\n\n{PRICES}\nЦены без НДС\n")
    assert text == f"Прайс-лист\n{READ}\n\nЦены без НДС"


def test_rows_without_a_header_stay_rows(read: Read) -> None:
    assert text_of(read, "Осмотр;500;да\nУЗИ;1200;нет\n") == "Осмотр | 500 | да\nУЗИ | 1200 | нет"


def test_rows_longer_than_the_header_lose_nothing(read: Read) -> None:
    text = text_of(read, "Имя,Цена\nБолт,5\nГайка,7,лишнее\nШайба,3\n")
    assert all(word in text for word in ("Болт", "Гайка", "лишнее", "Шайба"))


def test_a_text_that_only_has_the_name_of_a_table_is_read_as_text(read: Read) -> None:
    document = read("Правила доставки. Мы привозим заказы.\n\nВозврат возможен, если товар цел.\n", "rules.csv")
    assert document.mime == "text/plain"
    assert join_sections(document.sections).startswith("Правила доставки.")


def test_a_field_of_many_megabytes_is_read_or_refused(read: Read) -> None:
    assert read("Name,Note\nA," + '"' + "слово " * 200_000 + '"\nB,x\n', "x.csv").characters > 1_000_000
    with pytest.raises(DocumentError) as caught:
        read(b'Name,Note\nA,"' + b"x" * 50_000_000, "x.csv")
    assert caught.value.code == "too_large"


@pytest.mark.parametrize("line", ['"open,1', 'a,"b', '"', '""",'])
def test_very_many_broken_quotes_take_linear_time(read: Read, line: str) -> None:
    text = text_of(read, "name,note\n" + f"{line}\n" * 100_000 + "last,row\n")
    assert "row" in text


def test_a_line_of_a_million_columns_and_nulls_are_read(read: Read) -> None:
    assert text_of(read, "a,b\n" + "x," * 1_000_000 + "end\n").endswith("end")
    assert text_of(read, "Имя;Цена\nБо\0лт;5\n" + "Гайка;7\n" * 20).startswith("Имя: Болт; Цена: 5\n")


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(["a", "слово", '"', ",", ";", "\t", "\n", "\r\n", " ", "1", "|", "\0"]), max_size=60))
def test_every_word_of_any_text_is_kept(pieces: list[str]) -> None:
    content = "".join(pieces)
    with tempfile.NamedTemporaryFile() as file, contextlib.suppress(DocumentError):
        file.write(content.encode())
        file.flush()
        document = parse(Path(file.name), "x.csv")
        text = join_sections(document.sections)
        assert ("слово" in text) == ("слово" in content)
