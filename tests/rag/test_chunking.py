from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.chunking import (
    MAX_CHARACTERS,
    OVERLAP_CHARACTERS,
    TIMELINE_MAX_CHARACTERS,
    Line,
    Section,
    chunk_sections,
    chunk_timeline,
    join_sections,
)
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


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.builds(Line, st.sampled_from(["ANNA", "IVAN", ""]), texts, st.none(), st.none()), max_size=40))
def test_windows_are_bounded_and_hold_every_word_in_order(lines: list[Line]) -> None:
    chunks = chunk_timeline(lines)
    said = [(at, word) for at, line in enumerate(lines) for word in line.text.split()]
    found = {at for chunk in chunks for at in range(chunk.first_idx, chunk.last_idx + 1)}
    assert {at for at, _ in said} <= found
    together = "".join("".join(chunk.text.split()) for chunk in chunks)
    for _, word in said:
        if len(word) < 100:
            assert word in together
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert 0 < len(chunk.text) <= TIMELINE_MAX_CHARACTERS
    for before, after in itertools.pairwise(chunks):
        assert before.first_idx <= after.first_idx <= before.last_idx + 1 or not "".join(
            line.text.strip() for line in lines[before.last_idx + 1 : after.first_idx]
        )
    assert chunk_timeline(lines) == chunks


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


def test_rows_of_a_table_stay_whole() -> None:
    rows = [f"Услуга: Приём врача №{n}; Цена: {n}00 руб. Скидка есть; Срок: {n} дней" for n in range(60)]
    chunks = chunk_sections(sections_of(("\n".join(rows), ("Прайс",))))
    assert len(chunks) > 3
    for chunk in chunks:
        assert set(chunk.text.split("\n")) <= set(rows)


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
    assert chunk_timeline([]) == []
    assert chunk_timeline([Line("ANNA", " ", 0, 10)]) == []


def test_sections_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="starts at 3"):
        chunk_sections([Section("abcdef", (), None, 0), Section("x", (), None, 3)])


def conversation(turns: int) -> list[Line]:
    lines = []
    for turn in range(turns):
        asking = turn % 2 == 0
        words = (
            f"Скажите, вопрос номер {turn} как решается?"
            if asking
            else f"Вопрос {turn - 1} решается так: " + "шаг, " * 30
        )
        lines.append(Line("CLIENT" if asking else "AGENT", words, turn * 1000, turn * 1000 + 900))
    return lines


def test_a_question_and_its_answer_share_a_window_and_windows_share_a_line() -> None:
    lines = conversation(41)
    chunks = chunk_timeline(lines)
    for turn in range(0, 40, 2):
        assert any(chunk.first_idx <= turn and turn + 1 <= chunk.last_idx for chunk in chunks)
    assert chunks[0].first_idx == 0
    assert chunks[-1].last_idx == 40
    for before, after in itertools.pairwise(chunks):
        assert after.first_idx in (before.last_idx, before.last_idx + 1)
    for chunk in chunks:
        assert chunk.text.split("\n") == [
            f"{line.label}: {line.text.strip()}" for line in lines[chunk.first_idx : chunk.last_idx + 1]
        ]
        assert (chunk.start_ms, chunk.end_ms) == (lines[chunk.first_idx].start_ms, lines[chunk.last_idx].end_ms)


def test_a_monologue_is_cut_at_its_sentences_under_its_name() -> None:
    speech = " ".join(f"Это предложение номер {n} длинной речи директора." for n in range(100))
    chunks = chunk_timeline([Line("BOSS", speech, 5000, 90000), Line("ANNA", "Спасибо.", 90500, 91000)])
    assert len(chunks) > 5
    assert all(chunk.text.startswith("BOSS: Это предложение") for chunk in chunks)
    assert all((chunk.first_idx, chunk.start_ms) == (0, 5000) for chunk in chunks)
    assert (chunks[-1].last_idx, chunks[-1].end_ms) == (1, 91000)
    assert chunks[-1].text.endswith("директора.\nANNA: Спасибо.")


def test_messages_without_times_have_windows_without_times() -> None:
    (chunk,) = chunk_timeline(
        [Line("anna@example.com", "Добрый день,\nгде заказ?", None, None), Line("", "В пути.", None, None)]
    )
    assert chunk.text == "anna@example.com: Добрый день, где заказ?\nВ пути."
    assert (chunk.start_ms, chunk.end_ms) == (None, None)


def test_short_pages_are_not_joined_so_that_a_chunk_stands_on_the_page_it_names() -> None:
    sections = [Section("Цены.", (), 1, 0), Section("Сроки.", (), 2, 7)]
    assert [(chunk.text, chunk.page) for chunk in chunk_sections(sections)] == [("Цены.", 1), ("Сроки.", 2)]
