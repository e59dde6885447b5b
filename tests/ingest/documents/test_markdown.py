from __future__ import annotations

from collections.abc import Callable

import pytest

from ingest.documents.parse import ParsedDocument
from rag.chunking import join_sections

Read = Callable[..., ParsedDocument]

DOCUMENT = """---
title: "Правила магазина"
tags: [a, b]
---
# Возврат

Товар **можно** вернуть за `14` дней, см. [правила](https://shop.example/rules) и [раздел](#x).
Строка продолжается.

## Как вернуть?

1. Напишите нам
   - почтой
   - в чат
2. Отправьте

| Способ | Срок | Цена |
|--------|:----:|-----:|
| Почта  | 5 дней | 300 |
| Курьер |  | *500* |

```python
def total(a):
    return a  # два
```

> Важно: сохраните чек.

<details><summary>Ещё?</summary>Да, <b>ещё</b>.</details>

Setext
------
Текст.
"""


def test_a_document_is_read_with_its_structure(read: Read) -> None:
    document = read(DOCUMENT, name="rules.md")
    assert document.title == "Правила магазина"
    assert document.mime == "text/markdown"
    first, second, third = document.sections
    assert first.title_path == ("Возврат",)
    assert first.text == (
        "Возврат\nТовар можно вернуть за 14 дней, см. правила (https://shop.example/rules) и раздел. "
        "Строка продолжается."
    )
    assert second.title_path == ("Возврат", "Как вернуть?")
    assert second.text == (
        "Как вернуть?\n1. Напишите нам\n  - почтой\n  - в чат\n2. Отправьте\n\n"
        "Способ: Почта; Срок: 5 дней; Цена: 300\nСпособ: Курьер; Цена: 500\n\n"
        "def total(a):\n    return a  # два\n\nВажно: сохраните чек.\n\nЕщё?\n\nДа, ещё."
    )
    assert (third.title_path, third.text) == (("Возврат", "Setext"), "Setext\nТекст.")


def test_the_first_heading_is_the_title_where_no_other_is_given(read: Read) -> None:
    assert read("Вступление\n\n# Главное *слово*\n\nТекст", name="x.md").title == "Главное слово"
    assert read("Просто текст", name="план работ.md").title == "план работ"


def test_a_table_whose_head_has_no_words_names_each_row_by_its_first_cell(read: Read) -> None:
    (section,) = read("| | |\n|---|---|\n| Запросы | 120 в минуту |\n| Тело | 1 МиБ |\n", name="x.md").sections
    assert section.text == "Запросы: 120 в минуту\nТело: 1 МиБ"


def test_offsets_of_sections_are_those_of_the_full_text(read: Read) -> None:
    document = read(DOCUMENT, name="rules.md")
    full = join_sections(document.sections)
    assert len(full) == document.characters
    assert all(full[each.start : each.start + len(each.text)] == each.text for each in document.sections)


def test_links_by_name_and_images_are_read(read: Read) -> None:
    text = read("![Схема зала](a.png) и [сайт][s].\n\n[s]: https://a.example\n", name="x.md").sections[0].text
    assert text == "Схема зала и сайт (https://a.example)."


def test_scripts_and_hidden_parts_of_raw_html_are_not_read(read: Read) -> None:
    text = read(
        "Видно\n\n<script>alert('SECRET')</script>\n\n<!-- SECRET -->\n\n<div hidden>SECRET</div>\n", name="x.md"
    )
    assert text.sections[0].text == "Видно"


@pytest.mark.parametrize(
    "content",
    [
        "слово " + "[" * 15_000,
        "слово " + "![" * 60_000,
        "слово " + "**a" * 6_000,
        "слово " + "`" * 30_000,
        "слово\n\n" + "> " * 3_000 + "x",
        "слово\n\n" + "- " * 2_000 + "x",
        "---\n" + "- :x\n" * 5_000 + "слово",
        "слово\n\n|" + "a|" * 3_000 + "\n|" + "-|" * 3_000 + "\n" + "|b" * 3_000,
        "слово\n\n" + "<div>" * 3_000,
    ],
    ids=["brackets", "images", "emphasis", "ticks", "quotes", "lists", "front", "table", "html"],
)
def test_hostile_marks_still_give_the_words_in_bounded_time(read: Read, content: str) -> None:
    assert "слово" in join_sections(read(content, name="x.md").sections)


def test_the_kinds_of_blocks_are_known_and_a_table_in_a_list_comes_where_it_stands(read: Read) -> None:
    (section,) = read(
        "# A\n\n- b\n  - c\n\n  | d | e |\n  |---|---|\n  | 1 | 2 |\n\n- f\n\n```\ng\n\nh\n```\n", name="x.md"
    ).sections
    assert [(block.kind, section.text[block.start : block.end]) for block in section.blocks] == [
        ("heading", "A"),
        ("list", "- b\n  - c"),
        ("table", "d: 1; e: 2"),
        ("list", "- f"),
        ("code", "g\n\nh"),
    ]
