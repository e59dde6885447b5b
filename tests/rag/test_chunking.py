from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.documents.parsed import Limits, Outline
from rag.borders import CODE, HEADING, LIST, MAX_CHARACTERS, OVERLAP_CHARACTERS, PROSE, TABLE, Block
from rag.chunking import Section, chunk_sections, join_sections
from rag.sentences import sentence_ends

SENTENCES = [
    "Мы доставляем по ул. Ленина, д. 5, т.е. почти в центр.",
    "The courier comes between 9.30 and 18.00.",
    "Сколько это стоит?",
    "Цена 1 200.50 руб. без скидки!",
    "Mr. Smith asked for it.",
]


def sections_of(*parts: tuple[str, tuple[str, ...]]) -> list[Section]:
    sections: list[Section] = []
    start = 0
    for text, path in parts:
        sections.append(Section(text, path, None, start))
        start += len(text) + 2
    return sections


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30)
texts = st.lists(
    st.one_of(words, st.sampled_from([*SENTENCES, "\n", "\n\n", " ", "? ", "x" * 1000, "- item\n", "a: b | c: d\n"])),
    max_size=80,
).map(" ".join)
paths = st.lists(st.sampled_from(["A", "B", "C"]), max_size=3).map(tuple)


@st.composite
def documents(draw: st.DrawFn) -> list[Section]:
    sections: list[Section] = []
    start = 0
    for _ in range(draw(st.integers(0, 6))):
        start += draw(st.integers(0, 3))
        text = draw(texts)
        sections.append(Section(text, draw(paths), draw(st.one_of(st.none(), st.integers(1, 9))), start))
        start += len(text)
    return sections


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_chunks_are_exact_bounded_stretches_and_lose_nothing(sections: list[Section]) -> None:
    full = join_sections(sections)
    chunks = chunk_sections(sections)
    covered = [False] * len(full)
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert full[chunk.start : chunk.end] == chunk.text == chunk.text.strip()
        assert 0 < len(chunk.text) <= MAX_CHARACTERS
        covered[chunk.start : chunk.end] = [True] * len(chunk.text)
    assert all(seen or character.isspace() for seen, character in zip(covered, full, strict=True))
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start
        assert before.end - after.start <= OVERLAP_CHARACTERS
    assert chunk_sections(sections) == chunks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Живу на ул. Ленина, д. 5, т.е. рядом. Приезжайте.", ["Живу на ул. Ленина, д. 5, т.е. рядом.", "Приезжайте."]),
        ("Цена 1 200.50 руб. Оплата картой.", ["Цена 1 200.50 руб.", "Оплата картой."]),
        ("А. С. Пушкин жил в г. Москва. Да!", ["А. С. Пушкин жил в г. Москва.", "Да!"]),
        ("Это было в 2024 г. Компания выросла.", ["Это было в 2024 г.", "Компания выросла."]),
        ("Чай, кофе и т.д. Далее обед.", ["Чай, кофе и т.д.", "Далее обед."]),
        ("Mr. Smith paid $3.50. Then he left…", ["Mr. Smith paid $3.50.", "Then he left…"]),
        ('He said "Go." She did. Really?! Yes', ['He said "Go."', "She did.", "Really?!", "Yes"]),
        ("U.S. Army units, e.g. tanks. End", ["U.S. Army units, e.g. tanks.", "End"]),
        ("1. Первое. Второе", ["1. Первое.", "Второе"]),
        ("Открыт сайт example.com и версия 3.11.7 вышла", ["Открыт сайт example.com и версия 3.11.7 вышла"]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    borders = [0, *sentence_ends(text), len(text)]
    assert [text[start:end].strip() for start, end in itertools.pairwise(borders)] == expected


def test_a_question_that_is_a_heading_stays_with_its_answer() -> None:
    path = ("Вопросы и ответы",)
    parts = []
    for number in range(12):
        question = f"Вопрос {number}: можно ли вернуть товар?"
        parts.append(
            (f"{question}\nДа, ответ номер {number}. " + "Подробности ответа. " * (number % 5 * 3), (*path, question))
        )
    chunks = chunk_sections(sections_of(*parts))
    for number in range(12):
        holding = [chunk for chunk in chunks if f"Вопрос {number}:" in chunk.text]
        assert len(holding) == 1
        assert f"ответ номер {number}." in holding[0].text
    assert all(chunk.title_path[:1] == path for chunk in chunks)


def test_a_question_of_plain_text_is_not_cut_from_its_answer() -> None:
    text = "\n\n".join(
        f"Можно ли сделать номер {n}?\n\nДа, номер {n} делается так. {'Подробно. ' * 12}" for n in range(30)
    )
    chunks = chunk_sections(sections_of((text, ())))
    assert len(chunks) > 3
    for number in range(30):
        assert any(f"сделать номер {number}?" in each.text and f"Да, номер {number} " in each.text for each in chunks)


def test_short_neighbours_join_under_their_common_heading_and_strangers_do_not() -> None:
    chunks = chunk_sections(
        sections_of(
            ("Цены\nОсмотр 500 рублей.", ("Клиника", "Услуги", "Цены")),
            ("Время\nС 9 до 18.", ("Клиника", "Услуги", "Время")),
            ("Контакты\nПозвоните нам.", ("Клиника", "Контакты")),
        )
    )
    assert [chunk.title_path for chunk in chunks] == [("Клиника", "Услуги"), ("Клиника", "Контакты")]
    assert chunks[0].text == "Цены\nОсмотр 500 рублей.\n\nВремя\nС 9 до 18."


def test_a_long_section_is_cut_between_sentences_with_a_little_overlap() -> None:
    text = " ".join(f"Это предложение номер {n} о правилах доставки по ул. Мира в городе." for n in range(60))
    chunks = chunk_sections(sections_of((text, ("Доставка",))))
    assert all(chunk.text.startswith("Это предложение") and chunk.text.endswith("городе.") for chunk in chunks)
    assert all(len(chunk.text) >= 450 for chunk in chunks[:-1])
    assert all(0 < before.end - after.start <= OVERLAP_CHARACTERS for before, after in itertools.pairwise(chunks))


def outline() -> Outline:
    return Outline(Limits())


rows = st.lists(
    st.lists(st.one_of(words, st.sampled_from(["цена. Скидка есть", "x" * 400, "a? B", "; "])), min_size=1, max_size=4),
    max_size=12,
)
pieces = st.one_of(
    st.tuples(st.just("block"), texts),
    st.tuples(
        st.just("bullets"), st.lists(texts, max_size=6).map(lambda items: "\n".join(f"- {item}" for item in items))
    ),
    st.tuples(st.just("code"), texts),
    st.tuples(st.just("heading"), st.integers(1, 4), words),
    st.tuples(st.just("table"), rows, st.booleans(), st.sampled_from(["", "Прайс", "Which one?"])),
    st.tuples(st.just("begin_page"), st.integers(1, 9)),
    st.tuples(st.just("heard"), st.integers(0, 9), st.integers(10, 20)),
)


def put(into: Outline, piece: tuple[Any, ...]) -> None:
    kind, *arguments = piece
    if kind == "table":
        into.table(arguments[0], has_header=arguments[1], caption=arguments[2])
    else:
        getattr(into, kind)(*arguments)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(pieces, max_size=12))
def test_whatever_a_document_is_made_of_offsets_are_exact_and_rows_whole(parts: list[tuple[Any, ...]]) -> None:
    made = outline()
    for part in parts:
        put(made, part)
    made.heading(1, "the end")
    sections = made.finish("text/plain", "x.txt").sections
    full = join_sections(sections)
    chunks = chunk_sections(sections)
    covered = [False] * len(full)
    for chunk in chunks:
        assert full[chunk.start : chunk.end] == chunk.text == chunk.text.strip()
        assert 0 < len(chunk.text) <= MAX_CHARACTERS
        covered[chunk.start : chunk.end] = [True] * len(chunk.text)
    assert all(seen or character.isspace() for seen, character in zip(covered, full, strict=True))
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    for section in sections:
        assert all(section.text[block.start : block.end].strip() for block in section.blocks)
        for table in (block for block in section.blocks if block.kind == TABLE):
            start = section.start + table.body
            for row in section.text[table.body : table.end].split("\n"):
                end = start + len(row)
                if 0 < len(row.strip()) <= MAX_CHARACTERS:
                    inner = (start + len(row) - len(row.lstrip()), start + len(row.rstrip()))
                    holding = [first <= inner[0] and inner[1] <= last for first, last in spans]
                    assert sum(holding) == 1
                    touching = [first < inner[1] and inner[0] < last for first, last in spans]
                    assert sum(touching) == 1
                start = end + 1


def test_parts_of_a_table_name_its_columns_and_its_caption_and_do_not_overlap() -> None:
    made = outline()
    made.heading(1, "Клиника")
    made.block("Мы работаем каждый день.")
    made.table(
        [
            ["Услуга", "Цена", "Срок"],
            *([f"Приём врача №{n}. Кабинет {n}", f"{n}00 руб", f"{n} дней"] for n in range(60)),
        ],
        has_header=True,
        caption="Прайс 2026",
    )
    chunks = chunk_sections(made.finish("text/plain", "x").sections)
    assert len(chunks) > 3
    assert chunks[0].text.startswith("Клиника\nМы работаем каждый день.\n\nПрайс 2026\nУслуга: Приём врача №0.")
    assert chunks[0].title_path == ("Клиника",)
    for before, after in itertools.pairwise(chunks):
        assert before.end < after.start
        assert after.title_path == ("Клиника", "Прайс 2026")
        assert all(row.startswith("Услуга: Приём врача №") and row.endswith(" дней") for row in after.text.split("\n"))


def test_a_row_over_the_bound_is_cut_between_its_cells_and_its_neighbours_are_whole() -> None:
    made = outline()
    cells = [f"значение {n} " + "и ещё слово " * 12 for n in range(12)]
    names = [f"Столбец {n}" for n in range(12)]
    made.table([names, ["коротко", ""], cells, ["тоже коротко", ""]], has_header=True)
    chunks = chunk_sections(made.finish("text/plain", "x").sections)
    assert chunks[0].text == "Столбец 0: коротко"
    assert all(chunk.text.startswith("Столбец ") for chunk in chunks)
    assert any("Столбец 0: тоже коротко" in chunk.text.split("\n") for chunk in chunks)


def test_a_long_row_is_not_cut_for_the_sake_of_the_short_ones_before_it() -> None:
    made = outline()
    made.table([["имя", "что"], ["a", "b"], ["c", "Слово. " * 126], ["d", "e"]], has_header=True)
    chunks = chunk_sections(made.finish("text/plain", "x").sections)
    assert [chunk.text.split("\n")[0][:6] for chunk in chunks] == ["имя: a", "имя: c", "имя: d"][: len(chunks)]
    assert any(chunk.text.startswith("имя: c; что: Слово.") and chunk.text.count("Слово.") == 126 for chunk in chunks)


def test_parts_of_a_row_over_the_bound_say_which_row_they_are_of() -> None:
    made = outline()
    about = " ".join(f"Насос номер {n} ставят у бака." for n in range(60))
    made.heading(1, "Каталог")
    made.table([["Код", "Описание", "Отвечает"], ["Z7", about, "Анна"], ["Z8", "мал", "Пётр"]], has_header=True)
    chunks = chunk_sections(made.finish("text/plain", "x").sections)
    first, *others = [chunk for chunk in chunks if "Насос" in chunk.text]
    assert first.text.startswith("Код: Z7; Описание: Насос номер 0")
    assert first.title_path == ("Каталог",)
    assert len(others) > 1
    assert [chunk.title_path for chunk in others] == [("Каталог", "Код: Z7")] * len(others)
    assert all(chunk.text.endswith("бака.") for chunk in (first, *others[:-1]))
    assert others[-1].text.endswith("; Отвечает: Анна\nКод: Z8; Описание: мал; Отвечает: Пётр")


def test_items_of_a_list_stay_whole_and_the_first_stays_with_the_line_that_introduces_it() -> None:
    made = outline()
    made.block("Вступление. " * 45)
    made.block("Чтобы вернуть товар, сделайте вот что")
    items = [f"{n}. Шаг номер {n}. {'Сделайте это. ' * 20}\n  - Подробность шага {n}." for n in range(1, 9)]
    made.bullets("\n".join(items))
    chunks = chunk_sections(made.finish("text/plain", "x").sections)
    assert any("вот что\n\n1. Шаг номер 1." in chunk.text for chunk in chunks)
    for number, item in enumerate(items, start=1):
        assert any(" ".join(item.split()) in " ".join(chunk.text.split()) for chunk in chunks), number


def test_an_item_too_long_for_a_chunk_is_cut_between_those_inside_it() -> None:
    made = outline()
    inner = [f"  - Вложенный пункт {n}. Он длинный. {'Слова. ' * 20}".rstrip() for n in range(12)]
    made.bullets("- Внешний пункт\n" + "\n".join(inner))
    chunks = chunk_sections(made.finish("text/plain", "x").sections)
    assert len(chunks) > 1
    assert all(any(line.strip() in chunk.text for chunk in chunks) for line in inner)


def test_code_is_cut_between_its_lines() -> None:
    made = outline()
    lines = [f"    result_{n} = compute(first={n}, second='A. B? C! D.')  # Do it. Now." for n in range(60)]
    made.code("\n".join(lines))
    chunks = chunk_sections(made.finish("text/plain", "x").sections)
    assert len(chunks) > 3
    whole = {line.strip() for line in lines}
    assert all(line.strip() in whole for chunk in chunks for line in chunk.text.split("\n"))


def test_a_chunk_of_a_recording_says_when_it_is_heard() -> None:
    made = outline()
    for minute in range(20):
        made.heard(minute * 60_000, minute * 60_000 + 59_000)
        made.block(f"Минута {minute}. " + "Мы говорим о доставке. " * 12)
    chunks = chunk_sections(made.finish("audio/wav", "x").sections)
    assert (chunks[0].start_ms, chunks[-1].end_ms) == (0, 19 * 60_000 + 59_000)
    for chunk in chunks:
        assert chunk.start_ms is not None
        assert f"Минута {chunk.start_ms // 60_000}." in chunk.text


def test_a_chunk_knows_the_page_that_it_begins_on() -> None:
    made = outline()
    made.heading(1, "Отчёт")
    for page in range(1, 6):
        made.begin_page(page)
        made.block(f"Страница {page}. " + "Слова и слова. " * (page * 30))
    for chunk in chunk_sections(made.finish("application/pdf", "x", 5).sections):
        if "Страница" in chunk.text:
            assert f"Страница {chunk.page}." in chunk.text
        assert chunk.title_path == ("Отчёт",)


def test_blocks_of_sections_that_are_joined_keep_their_places() -> None:
    made = outline()
    for number in range(3):
        made.heading(2, f"Часть {number}")
        made.heard(number * 10, number * 10 + 5)
        made.block("Коротко.")
    (chunk,) = chunk_sections(made.finish("text/plain", "x").sections)
    assert (chunk.start_ms, chunk.end_ms) == (0, 25)


def test_sections_without_blocks_are_read_as_prose() -> None:
    text = "Первый абзац.\n\nВторой абзац."
    bare = chunk_sections([Section(text, (), None, 0)])
    assert bare == chunk_sections([Section(text, (), None, 0, (Block(PROSE, 0, 13), Block(PROSE, 15, 28)))])
    kinds = {HEADING, LIST, CODE}
    assert all(chunk_sections([Section(text, (), None, 0, (Block(kind, 0, 28),))]) == bare for kind in kinds)


@pytest.mark.parametrize(
    "text", ["x" * 400_000, "x " * 200_000, "." * 400_000, "А. " * 130_000, "\n" * 400_000, "?\n" * 200_000]
)
def test_text_without_any_good_border_is_cut_all_the_same(text: str) -> None:
    chunks = chunk_sections(sections_of((text, ())))
    assert all(len(chunk.text) <= MAX_CHARACTERS for chunk in chunks)
    assert sum(map(len, (chunk.text for chunk in chunks))) >= len("".join(text.split()))


def test_nothing_but_white_space_gives_no_chunk() -> None:
    assert chunk_sections([]) == []
    assert chunk_sections(sections_of((" \n\t\n", ("A",)), ("", ()))) == []


def test_sections_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="starts at 3"):
        chunk_sections([Section("abcdef", (), None, 0), Section("x", (), None, 3)])


def test_short_pages_are_not_joined_so_that_a_chunk_stands_on_the_page_it_names() -> None:
    sections = [Section("Цены.", (), 1, 0), Section("Сроки.", (), 2, 7)]
    assert [(chunk.text, chunk.page) for chunk in chunk_sections(sections)] == [("Цены.", 1), ("Сроки.", 2)]
