"""Reranking by a real cross-encoder, as small as one can be, in the child process that it always runs in."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from ingest.children import ChildPool
from rag.reranking import CATALOGUED, Reranker, RerankerSpec, choose_reranker, score_in_child
from store import weights
from store.settings import load_settings

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0
TEXTS = ["bad bad bad bad", "good bad bad bad", "good good good good", "good good bad bad"]
BEST_FIRST = [2, 3, 1, 0]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built in a process of its own: none of the tests' processes takes torch along."""
    if find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers is not installed")
    folder = tmp_path_factory.mktemp("cross-encoder")
    code = (
        "import sys; from pathlib import Path; from tests.rag.tiny_cross_encoder import build; "
        "build(Path(sys.argv[1], 'one')); build(Path(sys.argv[1], 'three'), labels=3)"
    )
    subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="module")
def pool() -> Iterator[ChildPool]:
    with ChildPool("reranking", 1, PATIENCE_S) as made:
        yield made


@pytest.fixture
def reranker(model: Path, pool: ChildPool) -> Iterator[Reranker]:
    made = Reranker(RerankerSpec("tiny", str(model / "one")), pool, PATIENCE_S)
    yield made
    made.close()


def test_the_passage_that_the_model_prefers_comes_first(reranker: Reranker) -> None:
    ordered, loaded = counted("success"), set(sys.modules)
    assert reranker.order("a question", TEXTS) == BEST_FIRST
    assert counted("success") == ordered + 1
    assert "torch" not in set(sys.modules) - loaded, "the model stays in its child"


def test_equal_passages_keep_their_order(reranker: Reranker) -> None:
    assert reranker.order("a question", ["good", "bad", "good", "bad"]) == [0, 2, 1, 3]


@pytest.mark.parametrize("texts", [[], ["alone"]])
def test_nothing_is_asked_where_there_is_nothing_to_order(texts: list[str]) -> None:
    class Refusing:
        def run(self, *_: object) -> Any:
            raise AssertionError("a child was asked")

    reranker = Reranker(RerankerSpec("tiny", "nowhere"), Refusing(), PATIENCE_S)
    assert reranker.order("a question", texts) == list(range(len(texts)))


def test_what_stands_behind_the_bound_of_the_model_is_not_read(reranker: Reranker) -> None:
    hidden = "bad " * 600 + "good " * 200
    assert reranker.order("a question", [hidden, "good bad bad bad bad", "\0"]) == [1, 0, 2]
    assert reranker.order("word " * 3000, ["bad", "good"]) is not None


class Slow:
    """A pool whose child does not answer before it is let."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.asked = 0

    def run(self, function: Callable[..., Any], *args: object) -> Any:
        self.asked += 1
        self.let_go.wait(PATIENCE_S)
        return None


def counted(outcome: str) -> float:
    return REGISTRY.get_sample_value("parley_reranked_total", {"outcome": outcome}) or 0.0


def test_a_late_reranker_leaves_the_order_and_keeps_nobody_waiting() -> None:
    pool = Slow()
    reranker = Reranker(RerankerSpec("slow", "nowhere"), pool, 0.05)
    late = counted("late")
    try:
        assert reranker.order("a question", TEXTS) is None
        assert reranker.order("another one", TEXTS) is None, "while the first is still at work"
        assert counted("late") == late + 2
        assert pool.asked == 1, "what nobody waits for any more is not begun"
    finally:
        pool.let_go.set()
        reranker.close()


def test_the_child_stops_where_nobody_waits_any_more(model: Path, pool: ChildPool) -> None:
    spec = RerankerSpec("tiny", str(model / "one"))
    assert pool.run(score_in_child, spec, "a question", TEXTS, time.monotonic() - 1) is None


@pytest.mark.parametrize("source", ["three", "missing"])
def test_a_model_that_is_no_reranker_or_not_there_leaves_the_order(model: Path, pool: ChildPool, source: str) -> None:
    reranker = Reranker(RerankerSpec(source, str(model / source)), pool, PATIENCE_S)
    failed = counted("error")
    assert reranker.order("a question", TEXTS) is None
    assert counted("error") == failed + 1
    reranker.close()


def test_a_child_that_dies_leaves_the_order_and_the_next_question_has_another(
    reranker: Reranker, pool: ChildPool
) -> None:
    reranker.order("a question", TEXTS)
    (pid,) = pool.child_pids
    subprocess.run(["kill", "-9", str(pid)], check=True)
    assert reranker.order("a question", TEXTS) in (None, BEST_FIRST)
    assert reranker.order("a question", TEXTS) == BEST_FIRST


def test_after_its_end_it_leaves_the_order(reranker: Reranker) -> None:
    reranker.close()
    assert reranker.order("a question", TEXTS) is None


class TestChoice:
    def test_without_an_installed_model_there_is_none(self, tmp_path: Path) -> None:
        settings = load_settings(cache_dir=tmp_path, models_dir=None, reranker_model="")
        assert choose_reranker(settings) is None

    @pytest.mark.parametrize("name", CATALOGUED)
    def test_one_of_the_list_is_taken_where_it_is_installed_and_not_where_none_is_wanted(
        self, tmp_path: Path, name: str
    ) -> None:
        model = next(each for each in weights.catalog() if each.name == name)
        for file in model.sources[0].files:
            path = tmp_path / name / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as made:
                made.truncate(file.size)
        settings = load_settings(cache_dir=tmp_path / "none", models_dir=tmp_path, reranker_model="")
        assert choose_reranker(settings) == RerankerSpec(name, str(tmp_path / name))
        assert choose_reranker(settings.model_copy(update={"reranker_model": "none"})) is None

    @pytest.mark.parametrize("name", CATALOGUED)
    def test_a_named_one_that_is_not_installed_says_how_to_get_it(self, tmp_path: Path, name: str) -> None:
        settings = load_settings(cache_dir=tmp_path, models_dir=None, reranker_model=name)
        with pytest.raises(weights.ModelMissing, match=f"parley models pull {name}"):
            choose_reranker(settings)

    def test_any_other_name_is_the_hubs_or_a_folder(self, tmp_path: Path) -> None:
        settings = load_settings(cache_dir=tmp_path, models_dir=None, reranker_model="org/model")
        assert choose_reranker(settings) == RerankerSpec("org/model", "org/model")
