from __future__ import annotations

from collections.abc import Callable

import pytest

from ingest.documents.parse import DocumentError, ParsedDocument
from rag.chunking import join_sections

Read = Callable[..., ParsedDocument]


def text_of(document: ParsedDocument) -> str:
    return join_sections(document.sections)


def test_headings_make_sections_with_their_paths(read: Read) -> None:
    document = read(
        "<!doctype html><title> Наша\nклиника </title><h1>Услуги</h1><p>Обо всём.<h2>Цены</h2><p>От <b>500</b> рублей."
        "<h2>Вопросы</h2><h3>Как <i>платить</i>?</h3><div>Картой.<br>Или так.</div><h1>Контакты</h1>Звоните"
    )
    assert document.title == "Наша клиника"
    assert [(section.title_path, section.text) for section in document.sections] == [
        (("Услуги",), "Услуги\nОбо всём."),
        (("Услуги", "Цены"), "Цены\nОт 500 рублей."),
        (("Услуги", "Вопросы", "Как платить?"), "Вопросы\nКак платить?\nКартой.\nИли так."),
        (("Контакты",), "Контакты\nЗвоните"),
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>SECRET</script>",
        "<style>SECRET{}</style>",
        "<nav>SECRET</nav>",
        "<div hidden>SECRET</div>",
        "<div style='color:red; Display : None'><p>SECRET</div>",
        "<span style='visibility:hidden'>SECRET</span>",
        "<span style='font-size:0px'>SECRET</span>",
        "<span style='opacity:0'>SECRET</span>",
        "<span style='position:absolute;left:-9999px'>SECRET</span>",
        "<p aria-hidden=true>SECRET</p>",
        "<template>SECRET</template>",
        "<noscript>SECRET</noscript>",
        "<!-- SECRET -->",
        "<select><option>SECRET</select>",
        "<textarea>SECRET</textarea>",
        "<svg><text>SECRET</text></svg>",
        "<iframe>SECRET</iframe>",
        "<button>SECRET</button>",
        "<div role=navigation>SECRET</div>",
    ],
)
def test_what_a_reader_of_the_page_does_not_see_is_not_read(read: Read, hidden: str) -> None:
    text = text_of(read(f"<html><body><p>before{hidden}</p><p>after, with opacity:0.5</p>"))
    assert "SECRET" not in text
    assert "before" in text
    assert "after" in text


def test_a_question_in_a_button_that_unfolds_its_answer_is_read(read: Read) -> None:
    text = text_of(
        read("<html><h2><button>Как вернуть товар?</button></h2><div>За 14 дней.</div><button>А обмен?</button>Да.")
    )
    assert "Как вернуть товар?\nЗа 14 дней." in text
    assert "А обмен?" in text


def test_rows_of_a_table_name_their_columns(read: Read) -> None:
    text = text_of(
        read(
            "<html><table><caption>Прайс</caption><thead><tr><th>Услуга<th>Цена<th>Срок</thead>"
            "<tr><td>Осмотр<td><p>500</p><p>руб</p><td><ul><li>1 день</ul><tr><td>УЗИ<td>1200<td></table>"
            "<table><tr><th>Телефон<td>123<tr><th>Адрес<td>Мира 5</table>"
        )
    )
    assert text.split("\n\n") == [
        "Прайс\nУслуга: Осмотр; Цена: 500 руб; Срок: 1 день\nУслуга: УЗИ; Цена: 1200",
        "Телефон: 123\nАдрес: Мира 5",
    ]


def test_cells_over_several_rows_and_columns_count_for_each_of_them(read: Read) -> None:
    text = text_of(
        read(
            "<html><table><tr><th rowspan=2>Груз<th colspan=2>Москва<tr><th>цена<th>срок"
            "<tr><td rowspan=2>до 5 кг<td>300<td>1 день<tr><td>250<td>3 дня<tr><td colspan=3>Хрупкое"
            "<tr><td>ваза<td colspan=2>по договору"
            "<tr><td rowspan=2>ковёр<td rowspan=2>90<td>2 дня<tr><td>9 дней</table>"
        )
    )
    assert text.split("\n") == [
        "Груз: до 5 кг; Москва, цена: 300; Москва, срок: 1 день",
        "Груз: до 5 кг; Москва, цена: 250; Москва, срок: 3 дня",
        "Хрупкое",
        "Груз: ваза; Москва, цена: по договору; Москва, срок: по договору",
        "Груз: ковёр; Москва, цена: 90; Москва, срок: 2 дня",
        "Груз: ковёр; Москва, цена: 90; Москва, срок: 9 дней",
    ]


def test_a_head_without_header_cells_names_the_columns_and_a_first_row_over_all_of_them_the_table(read: Read) -> None:
    text = text_of(
        read(
            "<html><table><thead><tr><td>Размер<td>Цена</thead><tr><th>S<td>10<tr><th>M<td>12</table>"
            "<table><tr><th colspan=2>Тарифы<tr><th>План<th>Цена<tr><td>А<td>1</table>"
        )
    )
    assert text == "Размер: S; Цена: 10\nРазмер: M; Цена: 12\n\nТарифы\nПлан: А; Цена: 1"


def test_spans_over_more_than_there_is_are_read_as_far_as_there_is(read: Read) -> None:
    text = text_of(
        read(
            "<html><table><td rowspan=-1 colspan=²>слово<tr><td>b<td rowspan=99999999999>c</table>"
            "<table><tr><tr><tr><td>один<td rowspan=2>два<tr></table>"
        )
    )
    assert text == "слово\nb | c\n\nодин | два"


def test_spans_that_would_fill_the_memory_are_bounded(read: Read) -> None:
    wide = text_of(read("<html><table><tr><td colspan=999999 rowspan=0>слово" + "<tr><td>x" * 5000 + "</table>"))
    assert wide.count("слово") <= 201_001
    deep = "<html><table><tr>" + f"<td rowspan=65534>{'a' * 150}" * 900 + "<td>слово" + "<tr><td>x" * 30_000
    with pytest.raises(DocumentError) as caught:
        read(deep + "</table>")
    assert caught.value.code == "too_large"


def test_a_table_in_a_list_comes_where_it_stands(read: Read) -> None:
    text = text_of(read("<html><ul><li>раз<table><tr><th>A<th>B<tr><td>1<td>2</table><li>два</ul>"))
    assert text == "- раз\n\nA: 1; B: 2\n\n- два"


def test_terms_stand_with_what_they_mean_and_lists_begin_where_the_page_says(read: Read) -> None:
    text = text_of(
        read(
            "<html><dl><dt>Возврат<dd>14 дней<dt>Обмен<dt>Замена<dd>30 дней<dd>с чеком</dl>"
            "<ol start=5><li>пять<li>шесть"
        )
    )
    assert text == "Возврат\n14 дней\n\nОбмен\nЗамена\n30 дней\nс чеком\n\n5. пять\n6. шесть"


def test_the_kinds_of_blocks_are_known_for_the_cutting(read: Read) -> None:
    (section,) = read(
        "<html><h1>A</h1><p>b<ul><li>c</ul><pre>d\ne</pre><table><caption>F<tr><th>g<th>h<tr><td>1<td>2</table>"
    ).sections
    assert [(block.kind, section.text[block.start : block.end]) for block in section.blocks] == [
        ("heading", "A"),
        ("prose", "b"),
        ("list", "- c"),
        ("code", "d\ne"),
        ("table", "F\ng: 1; h: 2"),
    ]


def test_a_table_that_arranges_the_page_is_read_as_text(read: Read) -> None:
    document = read("<html><table><tr><td><h1>Меню</h1><td><table><tr><td>a<td>b</table><p>Текст</table>")
    assert text_of(document) == "Меню\na | b\n\nТекст"
    assert document.sections[0].title_path == ("Меню",)


def test_lists_keep_their_numbers_and_depth_and_code_its_lines(read: Read) -> None:
    text = text_of(
        read("<html><ol><li>раз<ul><li>внутри</ul><li>два</ol><pre>if x:\n    y = 1</pre><dl><dt>Срок?<dd>День.</dl>")
    )
    assert text == "1. раз\n  - внутри\n2. два\n\nif x:\n    y = 1\n\nСрок?\nДень."


@pytest.mark.parametrize(
    "content",
    [
        '<html><head><meta charset="windows-1251"></head><p>Цена ёлки</p>'.encode("cp1251"),
        '<html><meta http-equiv="Content-Type" content="text/html; charset=koi8-r"><p>Цена ёлки</p>'.encode("koi8_r"),
        "<html><meta charset=nonsense><p>Цена ёлки</p>".encode(),
        "<html><meta charset='idna'><p>Цена ёлки на праздник</p>".encode("cp1251"),
        "<html><p>Цена ёлки</p>".encode("utf-16"),
    ],
)
def test_the_encoding_is_the_one_that_the_page_has(read: Read, content: bytes) -> None:
    assert "Цена ёлки" in text_of(read(content, name="page.html"))


def test_depth_without_reason_is_refused_and_unclosed_paragraphs_are_not_depth(read: Read) -> None:
    with pytest.raises(DocumentError, match="deep") as caught:
        read("<html>" + "<div>" * 1_000_000 + "x")
    assert caught.value.code == "unreadable"
    assert read("<html>" + "<div>" * 4000 + "x").sections[0].text == "x"
    assert text_of(read("<html>" + "<p>x<li>y" * 8000)).count("x") == 8000


def test_more_tags_than_allowed_are_too_large(read: Read) -> None:
    with pytest.raises(DocumentError, match="tags") as caught:
        read("<html>" + "<p>x" * 2_000_001)
    assert caught.value.code == "too_large"


@pytest.mark.parametrize(
    "content",
    [
        "<html><p>слово" + "<b>" * 20_000,
        "<html>слово" + "<a href=x><table>" * 2000,
        "<html><p " + " ".join(f"a{number}=1" for number in range(5000)) + ">слово",
        "<html>слово" + "<td><tr>" * 5000,
        "<html>много разных слов и ещё слово\0<p>" + "и так далее " * 20,
        "<html>" + "</div></table></ul></li>" * 1000 + "слово",
        "<html>слово<ul><table><li><tr><td></ul></table><h1><td>",
        "<html><body>слово" + "&lt;" * 100_000,
    ],
)
def test_broken_and_hostile_markup_still_gives_its_words(read: Read, content: str) -> None:
    assert "слово" in text_of(read(content))
