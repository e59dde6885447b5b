from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.children import ChildDied, ChildPool
from ingest.documents.parse import DocumentError, Limits, ParsedDocument, parse
from rag.chunking import join_sections
from tests.ingest.documents.workbooks import Raw, Sheet, Styled, Value, ods, xlsx

Read = Callable[..., ParsedDocument]
SAMPLES = Path(__file__).parent / "samples"


def text_of(read: Read, sheet: Sheet) -> str:
    """A workbook of one sheet as text, without the sheet's name."""
    return join_sections(read(xlsx({"Лист": sheet}), "book.xlsx").sections).removeprefix("Лист\n")


def test_each_row_names_its_columns_under_the_name_of_its_sheet(read: Read) -> None:
    document = read(
        xlsx(
            {
                "Цены": Sheet([["Услуга", "Цена"], ["Осмотр", 500], ["УЗИ", 1200.5]]),
                "Врачи": Sheet([["ФИО", "Кабинет"], ["Иванов И. И.", 12]]),
            },
            title="Прайс-лист",
        ),
        "price.xlsx",
    )
    assert document.title == "Прайс-лист"
    assert document.mime == "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    assert [(section.title_path, section.text) for section in document.sections] == [
        (("Цены",), "Цены\nУслуга: Осмотр; Цена: 500\nУслуга: УЗИ; Цена: 1200.5"),
        (("Врачи",), "Врачи\nФИО: Иванов И. И.; Кабинет: 12"),
    ]


def test_values_are_written_as_people_read_them(read: Read) -> None:
    row: list[Value | Styled | Raw] = [
        1.0,
        0.1 + 0.2,
        Styled(0.155, "0.0%"),
        Styled(46085, "dd.mm.yyyy"),
        Styled(46085.5, "dd.mm.yyyy hh:mm"),
        Styled(0.375, "hh:mm"),
        Styled(1.5, "[h]:mm"),
        Styled(77, "00000"),
        Styled(1990, '#,##0.00\\ "₽"'),
        True,
        12345678901234,
        0.000001,
    ]
    names = ["целое", "дробь", "доля", "дата", "миг", "час", "длительность", "артикул", "цена", "есть", "много", "мало"]
    assert text_of(read, Sheet([names, row])) == (
        "целое: 1; дробь: 0.3; доля: 15.5%; дата: 2026-03-04; миг: 2026-03-04 12:00; час: 09:00; длительность: 36:00; "
        "артикул: 00077; цена: 1990 ₽; есть: да; много: 12345678901234; мало: 0.000001"
    )
    assert text_of(read, Sheet([["name", "in stock"], ["bolt", False], ["nut", True]])) == (
        "name: bolt; in stock: no\nname: nut; in stock: yes"
    )


def test_formulas_are_their_values_and_errors_are_empty(read: Read) -> None:
    rows: list[list[Value | Styled | Raw]] = [
        ["Товар", "Сумма", "Наценка"],
        ["Болт", Raw("", "<f>A1*2</f><v>42</v>"), Raw('t="e"', "<f>1/0</f><v>#DIV/0!</v>")],
        ["Гайка", Raw('t="str"', "<f>A1</f><v>нет цены</v>"), 7],
    ]
    assert text_of(read, Sheet(rows)) == "Товар: Болт; Сумма: 42\nТовар: Гайка; Сумма: нет цены; Наценка: 7"


def test_lines_above_a_table_are_its_caption_and_empty_rows_divide_tables(read: Read) -> None:
    rows: list[list[Value]] = [
        ["Прайс-лист"],
        ["на 2026 год"],
        [],
        ["Услуга", "Цена"],
        ["Осмотр", 500],
        [],
        [None, None, "Адрес", "Телефон"],
        [None, None, "ул. Мира, 1", "+7 495 000-00-00"],
        [],
        ["Цены действуют до конца года."],
    ]
    assert text_of(read, Sheet(rows)) == (
        "Прайс-лист на 2026 год\nУслуга: Осмотр; Цена: 500\n\n"
        "Адрес: ул. Мира, 1; Телефон: +7 495 000-00-00\n\nЦены действуют до конца года."
    )


def test_rows_after_a_gap_keep_the_names_of_the_columns(read: Read) -> None:
    rows: list[list[Value]] = [["Услуга", "Цена"], ["Осмотр", 500], [], ["УЗИ", 1200], ["Рентген", 900]]
    assert text_of(read, Sheet(rows)).split("\n\n") == [
        "Услуга: Осмотр; Цена: 500",
        "Услуга: УЗИ; Цена: 1200\nУслуга: Рентген; Цена: 900",
    ]


def test_merged_cells_speak_for_all_that_they_cover(read: Read) -> None:
    rows: list[list[Value]] = [
        ["Город", "Цена", None],
        [None, "розница", "опт"],
        ["Москва", 100, 80],
        ["Казань", 90, None],
        [None, 95, 70],
    ]
    sheet = Sheet(rows, merged=["A1:A2", "B1:C1", "A4:A5"])
    assert text_of(read, sheet) == (
        "Город: Москва; Цена розница: 100; Цена опт: 80\nГород: Казань; Цена розница: 90\n"
        "Город: Казань; Цена розница: 95; Цена опт: 70"
    )


def test_a_header_of_two_rows_is_found_without_merged_cells(read: Read) -> None:
    rows: list[list[Value]] = [["Город", "Цена", None], [None, "розница", "опт"], ["Москва", 100, 80]]
    assert text_of(read, Sheet(rows)) == "Город: Москва; Цена розница: 100; Цена опт: 80"


def test_lines_of_one_cell_in_a_table_are_headings_of_the_rows_below(read: Read) -> None:
    rows: list[list[Value]] = [
        ["Услуга", "Код", "Цена"],
        ["Терапия"],
        ["Осмотр", "A1", 500],
        ["Повторный осмотр", "A2", 300],
        ["Хирургия"],
        ["Осмотр", "B1", 700],
        ["Перевязка", "B2", 400],
    ]
    document = read(xlsx({"Цены": Sheet(rows)}), "book.xlsx")
    assert [(section.title_path, section.text.split("\n")[-1]) for section in document.sections] == [
        (("Цены", "Терапия"), "Услуга: Повторный осмотр; Код: A2; Цена: 300"),
        (("Цены", "Хирургия"), "Услуга: Перевязка; Код: B2; Цена: 400"),
    ]


def test_years_can_be_names_of_columns(read: Read) -> None:
    rows: list[list[Value]] = [["Показатель", 2024, 2025], ["Выручка", 100, 120]]
    assert text_of(read, Sheet(rows)) == "Показатель: Выручка; 2024: 100; 2025: 120"


@pytest.mark.parametrize(
    "rows",
    [
        [["Осмотр", 500, "да"], ["УЗИ", 1200, "нет"]],
        [["Москва", "Казань"], ["Тула", "Москва"], ["Тула", "Казань"]],
    ],
)
def test_rows_without_a_header_stay_rows(read: Read, rows: list[list[Value]]) -> None:
    assert text_of(read, Sheet(rows)) == "\n".join(" | ".join(str(cell) for cell in row) for row in rows)


@pytest.mark.parametrize(
    "rows", [[["Осмотр", 500], ["УЗИ", 1200]], [["Телефон", "+7 495 000-00-00"], ["Режим работы", "с 9 до 18"]]]
)
def test_rows_of_a_name_and_what_it_stands_for_are_read_so(read: Read, rows: list[list[Value]]) -> None:
    assert text_of(read, Sheet(rows)) == "\n".join(f"{name}: {value}" for name, value in rows)


def test_a_header_over_nothing_but_text_is_found(read: Read) -> None:
    assert text_of(read, Sheet([["Вопрос", "Ответ"], ["Где вы?", "На улице Мира."]])) == (
        "Вопрос: Где вы?; Ответ: На улице Мира."
    )
    rows: list[list[Value]] = [["Sender", "Carrier", "Route"], ["Ann", "Post", "north"], ["Bob", "Courier", "south"]]
    assert text_of(read, Sheet(rows)).startswith("Sender: Ann; Carrier: Post; Route: north\n")


def test_what_is_hidden_is_left_out(read: Read) -> None:
    document = read(
        xlsx(
            {
                "Цены": Sheet(
                    [["Товар", "Закупка", "Цена"], ["Болт", 1, 5], ["Старый", 2, 6], ["Гайка", 3, 7]],
                    hidden_columns=[1],
                    hidden_rows=[3],
                ),
                "Расчёт": Sheet([["Наценка", "секретно"]], state="hidden"),
                "Ещё": Sheet([["Наценка", "секретно"]], state="veryHidden"),
            }
        ),
        "book.xlsx",
    )
    assert join_sections(document.sections) == "Цены\nТовар: Болт; Цена: 5\nТовар: Гайка; Цена: 7"


def test_rows_that_a_filter_hides_for_the_moment_are_read(read: Read) -> None:
    rows: list[list[Value]] = [["Товар", "Цена"], ["Болт", 5], ["Гайка", 7]]
    assert "Товар: Болт; Цена: 5" in text_of(read, Sheet(rows, hidden_rows=[2], is_filtered=True))


def test_open_document_sheets_are_read(read: Read) -> None:
    def cell(attributes: str, text: str) -> str:
        return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"

    text = 'office:value-type="string"'
    percentage = 'office:value-type="percentage" office:value="0.2"'
    date = 'office:value-type="date" office:date-value="2026-03-04"'
    rows = (
        f"<table:table-row>{cell(text, 'Услуга')}{cell(text, 'Скидка')}{cell(text, 'С какого дня')}</table:table-row>"
        f"<table:table-row>{cell(text, 'Осмотр')}"
        f"{cell(percentage, '20%')}"
        f"{cell(date, '04.03.2026')}"
        '<table:table-cell table:number-columns-repeated="16381"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1048574">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    document = read(ods(rows), "book.ods")
    assert document.mime == "application/vnd.oasis.opendocument.spreadsheet"
    assert join_sections(document.sections) == "Лист\nУслуга: Осмотр; Скидка: 20%; С какого дня: 2026-03-04"


def test_workbooks_of_older_programs_are_read(read: Read) -> None:
    document = read((SAMPLES / "prices.xls").read_bytes(), "prices.xls")
    assert document.mime == "application/vnd.ms-excel"
    assert join_sections(document.sections) == (
        "Цены\nПрайс-лист\nУслуга: Осмотр; Цена: 500; С какого дня: 2026-03-04\nУслуга: УЗИ; Цена: 1200.5"
    )


def test_a_damaged_workbook_of_an_older_program_is_unreadable(read: Read) -> None:
    content = bytearray((SAMPLES / "prices.xls").read_bytes())
    content[512:1024] = b"\xff" * 512
    with pytest.raises(DocumentError) as caught:
        read(bytes(content), "prices.xls")
    assert caught.value.code == "unreadable"


def test_a_sheet_of_500_columns_is_read_and_empty_columns_are_left_out(read: Read) -> None:
    names: list[Value] = [f"К{number}" for number in range(500)]
    row: list[Value] = [number if number % 2 else None for number in range(500)]
    text = text_of(read, Sheet([names, row]))
    assert text.startswith("К1: 1; К3: 3;")
    assert text.count(";") == 249


def test_a_sheet_that_says_it_is_as_large_as_can_be_is_read_by_what_it_holds(read: Read) -> None:
    assert text_of(read, Sheet([["одна ячейка"]], dimension="A1:XFD1048576")) == "одна ячейка"


@pytest.mark.parametrize(
    "last",
    ['<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', '<row r="1048576"><c r="ZZZ9999999"><v>1</v></c></row>'],
)
def test_cells_too_far_apart_are_too_large(read: Read, last: str) -> None:
    with pytest.raises(DocumentError) as caught:
        text_of(read, Sheet([["первая"]], extra=last))
    assert caught.value.code == "too_large"


def test_an_open_document_cell_repeated_over_a_whole_sheet_is_too_large(read: Read) -> None:
    cell = '<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="16384"/>'
    with pytest.raises(DocumentError) as caught:
        read(ods(f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'), "book.ods")
    assert caught.value.code == "too_large"


@pytest.mark.parametrize("rows", ["<table:table-row></tAble:table-row>", "<table:table-row>", "</table:table>"])
def test_an_open_document_sheet_that_is_not_well_formed_is_unreadable(read: Read, rows: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(ods(rows), "book.ods")
    assert caught.value.code == "unreadable"


def test_more_text_than_allowed_is_too_large(read: Read) -> None:
    rows: list[list[Value]] = [["слово " * 100, 1]] * 20
    with pytest.raises(DocumentError) as caught:
        read(xlsx({"Лист": Sheet(rows)}), "book.xlsx", Limits(max_characters=5000))
    assert caught.value.code == "too_large"


@pytest.mark.parametrize(
    "part",
    [
        b"<worksheet><sheetData><row><c><v>1</v>",
        b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><worksheet><sheetData>&b;</sheetData></worksheet>',
        b"\0\1\2",
        b"",
    ],
)
def test_a_broken_sheet_does_not_keep_the_others_from_being_read(read: Read, part: bytes) -> None:
    sheets = {"Первый": Sheet([["нет"]]), "Второй": Sheet([["Товар", "Цена"], ["Болт", 5]])}
    document = read(xlsx(sheets, parts={"xl/worksheets/sheet1.xml": part}), "book.xlsx")
    assert "Товар: Болт; Цена: 5" in join_sections(document.sections)


def test_a_workbook_of_nothing_but_numbers_styles_and_empty_cells_is_read_or_empty(read: Read) -> None:
    with pytest.raises(DocumentError) as caught:
        read(xlsx({"": Sheet([[Raw('s="1"', ""), None], [], [""]])}), "book.xlsx")
    assert caught.value.code == "empty"


def test_strings_that_unpack_to_more_than_the_memory_end_the_child_and_nothing_else(tmp_path: Path) -> None:
    shared = "<sst><si><t>" + "x" * 1_000_000 + "</t></si></sst>"
    rows: list[list[Raw]] = [[Raw('t="s"', "<v>0</v>")] * 20] * 200
    path = tmp_path / "book.xlsx"
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Target="worksheets/sheet1.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"/>'
        '<Relationship Id="rId2" Target="sharedStrings.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"/></Relationships>'
    )
    parts = {"xl/sharedStrings.xml": shared.encode(), "xl/_rels/workbook.xml.rels": relations.encode()}
    path.write_bytes(xlsx({"Лист": Sheet(rows)}, parts=parts))
    with ChildPool("documents", places=1, timeout_s=60, memory_bytes=1024**3) as pool:
        with pytest.raises((ChildDied, DocumentError)):
            pool.run(parse, path, "book.xlsx")
        path.write_bytes(xlsx({"Лист": Sheet([["Товар", "Цена"], ["Болт", 5]])}))
        assert pool.run(parse, path, "book.xlsx").characters


BOOK = xlsx({"Лист": Sheet([["Товар", "Цена"], ["Болт", Styled(5, "0.0%")], ["Гайка", 7]], merged=["A1:A2"])})


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, len(BOOK) - 1), st.binary(min_size=1, max_size=6)), min_size=1, max_size=8))
def test_a_damaged_workbook_gives_a_document_or_a_document_error(damages: list[tuple[int, bytes]]) -> None:
    content = bytearray(BOOK)
    for at, damage in damages:
        content[at : at + len(damage)] = damage
    with tempfile.NamedTemporaryFile() as file, contextlib.suppress(DocumentError):
        file.write(content)
        file.flush()
        assert parse(Path(file.name), "x.xlsx").sections
