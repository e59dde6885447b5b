from __future__ import annotations

import itertools

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag.timeline_chunks import TIMELINE_MAX_CHARACTERS, Line, chunk_timeline

words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30)
parts = ["Сколько это стоит?", "Mr. Smith asked for it.", "Цена 1 200.50 руб. без скидки!", "\n\n", "? ", "x" * 1000]
texts = st.lists(st.one_of(words, st.sampled_from(parts)), max_size=80).map(" ".join)


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


def test_lines_without_words_give_no_window() -> None:
    assert chunk_timeline([]) == []
    assert chunk_timeline([Line("ANNA", " ", 0, 10)]) == []
