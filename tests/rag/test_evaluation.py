"""The measures of retrieval, on rankings that can be counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag.evaluation import Question, evaluate, read_squad

RANKINGS = {"first": ["a", "b", "c"], "third": ["b", "c", "a"], "absent": ["b", "c"]}


def test_recall_and_reciprocal_rank_are_counted_over_all_questions() -> None:
    quality = evaluate([Question(text, "a") for text in RANKINGS], RANKINGS.__getitem__, ks=(1, 2, 3))
    assert quality.questions == 3
    assert quality.recall == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 2 / 3})
    assert quality.mrr == pytest.approx((1 + 1 / 3) / 3)


def test_what_comes_after_the_largest_k_does_not_count() -> None:
    quality = evaluate([Question("third", "a")], RANKINGS.__getitem__, ks=(1, 2))
    assert (quality.recall, quality.mrr) == ({1: 0.0, 2: 0.0}, 0.0)


def test_nothing_cannot_be_evaluated() -> None:
    with pytest.raises(ValueError, match="nothing"):
        evaluate([], RANKINGS.__getitem__)


def test_a_squad_file_is_read_as_one_passage_a_paragraph(tmp_path: Path) -> None:
    paragraphs = [
        {"context": "один", "qas": [{"question": "первый?"}, {"question": "второй?"}]},
        {"context": "два", "qas": [{"question": "третий?"}]},
    ]
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs[:1]}, {"paragraphs": paragraphs[1:]}]}))
    passages, questions = read_squad(path, lambda place: f"p{place}")
    assert passages == {"p0": "один", "p1": "два"}
    assert questions == [Question("первый?", "p0"), Question("второй?", "p0"), Question("третий?", "p1")]
