"""The measures of retrieval, on rankings that can be counted by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from rag.evaluation import Judged, Question, evaluate, measure, ndcg, read_squad

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


def test_measures_over_several_right_passages_are_means_over_questions() -> None:
    found = measure([Judged((2, 4), 2), Judged((1,), 1), Judged((), 3), Judged((11,), 1)], depth=10)
    assert found["hit_rate"] == {"1": 0.25, "3": 0.5, "5": 0.5, "10": 0.5}
    assert found["mrr"] == pytest.approx((1 / 2 + 1) / 4)
    second = (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3))
    assert found["ndcg"] == pytest.approx((second + 1) / 4)


def test_ndcg_is_one_for_the_best_order_alone_and_falls_with_each_rank() -> None:
    assert ndcg((1, 2, 3), 3) == pytest.approx(1)
    assert ndcg((3, 2, 1), 3) == pytest.approx(1)  # their order among themselves is all the same
    values = [ndcg((rank,), 1) for rank in range(1, 11)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 10


def test_ndcg_expects_no_more_than_the_depth_can_hold() -> None:
    assert ndcg(range(1, 11), 50) == pytest.approx(1)
    assert ndcg((), 0) == 0
    assert ndcg((11,), 1) == 0


def test_more_found_than_was_counted_is_still_no_more_than_all() -> None:
    assert ndcg((1, 2), 1) == pytest.approx(1)
    assert ndcg((2, 2), 1) == ndcg((2,), 1)


def test_without_questions_every_measure_is_zero() -> None:
    assert measure([]) == {"hit_rate": {"1": 0, "3": 0, "5": 0, "10": 0}, "mrr": 0, "ndcg": 0}
    assert set(measure([], depth=3)["hit_rate"]) == {"1", "3"}
