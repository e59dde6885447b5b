"""The embedding models: what is chosen, and whether texts that mean the same lie close."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from rag.embedding import (
    BUILT_IN_MODEL,
    Embedder,
    EmbedderSpec,
    choose_embedder,
    dimension_of,
    embed_passages_of,
    embed_queries_of,
)
from store import weights
from store.settings import Settings, load_settings

ROOT = Path(__file__).parents[2]
RUSSIAN = [
    ("Как вернуть деньги за покупку?", "Возврат средств за товар занимает десять дней."),
    ("Когда вы работаете?", "Офис открыт с девяти утра до шести вечера."),
    ("Сколько стоит доставка?", "Цена доставки курьером составляет триста рублей."),
    ("Я забыл пароль", "Чтобы восстановить доступ, сбросьте пароль по ссылке в письме."),
    ("Мне нужен счёт для бухгалтерии", "Закрывающие документы для бухгалтерии высылаются по почте."),
]
ENGLISH = [
    ("How do I get my money back?", "A refund is paid within ten days after the return."),
    ("When are you open?", "The office works from nine in the morning until six in the evening."),
    ("How much is shipping?", "The price of delivery by courier is three hundred roubles."),
    ("I forgot my password", "To restore access, reset the password by the link in the letter."),
    ("I need an invoice for accounting", "Closing documents for the accountants are sent by mail."),
]


def share_right(embedder: Embedder, pairs: list[tuple[str, str]]) -> float:
    queries = embedder.embed_queries([query for query, _ in pairs])
    passages = embedder.embed_passages([passage for _, passage in pairs])
    return float(np.mean((queries @ passages.T).argmax(axis=1) == np.arange(len(pairs))))


@pytest.fixture
def empty_settings(tmp_path: Path) -> Settings:
    return load_settings(cache_dir=tmp_path, models_dir=None, embedding_model="")


def test_without_a_model_none_is_chosen(empty_settings: Settings) -> None:
    assert choose_embedder(empty_settings) is None


@pytest.mark.parametrize("name", [BUILT_IN_MODEL, "all-minilm-l6-v2"])
def test_a_named_model_that_is_not_installed_is_an_error_that_says_how_to_get_it(
    empty_settings: Settings, name: str
) -> None:
    with pytest.raises(weights.ModelMissing, match=f"parley models pull {name}"):
        choose_embedder(empty_settings.model_copy(update={"embedding_model": name}))


def test_any_other_name_goes_to_sentence_transformers_and_out_of_the_servers_process(empty_settings: Settings) -> None:
    spec = choose_embedder(empty_settings.model_copy(update={"embedding_model": "org/some-model"}))
    assert spec == EmbedderSpec("sentence-transformers", "org/some-model", "org/some-model", None, in_process=False)
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_a_folders_dimension_is_read_without_loading_it(empty_settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "modules.json").write_text('[{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Normalize"}]')
    (tmp_path / "1_Pooling" / "config.json").write_text('{"word_embedding_dimension": 384}')
    spec = choose_embedder(empty_settings.model_copy(update={"embedding_model": str(tmp_path)}))
    assert spec is not None
    assert dimension_of(spec) == 384


@pytest.mark.models
class TestBuiltInModel:
    def test_vectors_have_the_dimension_and_length_one(self, embedder: Embedder) -> None:
        vectors = embedder.embed_queries(["один", "two words", "", "x" * 20_000, "👋 \0 \n"])
        assert vectors.shape == (5, embedder.dimension)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-5)
        assert embedder.embed_queries([]).shape == (0, embedder.dimension)

    def test_a_texts_vector_does_not_depend_on_the_texts_beside_it(self, embedder: Embedder) -> None:
        texts = [passage for _, passage in RUSSIAN + ENGLISH] * 8
        together = embedder.embed_passages(texts)
        alone = np.vstack([embedder.embed_passages([text]) for text in texts[:10]])
        assert np.abs(together[:10] - alone).max() < 1e-5
        assert np.abs(together[:10] - together[-10:]).max() < 1e-5

    @pytest.mark.parametrize(
        ("pairs", "least"),
        [
            (RUSSIAN, 0.8),
            (ENGLISH, 1.0),
            ([(russian, english) for (russian, _), (_, english) in zip(RUSSIAN, ENGLISH, strict=True)], 0.8),
            ([(english, russian) for (english, _), (_, russian) in zip(ENGLISH, RUSSIAN, strict=True)], 0.8),
        ],
        ids=["russian", "english", "russian to english", "english to russian"],
    )
    def test_the_passage_that_answers_lies_closest(
        self, embedder: Embedder, pairs: list[tuple[str, str]], least: float
    ) -> None:
        assert share_right(embedder, pairs) >= least

    def test_a_translation_lies_closer_than_anything_else(self, embedder: Embedder) -> None:
        russian = embedder.embed_passages([passage for _, passage in RUSSIAN])
        english = embedder.embed_passages([passage for _, passage in ENGLISH])
        assert ((russian @ english.T).argmax(axis=1) == np.arange(5)).all()

    def test_a_long_passage_is_indexed_by_its_whole_and_by_windows_of_two_sentences(self, embedder: Embedder) -> None:
        text = " ".join(passage for _, passage in RUSSIAN)
        long_text = "Новое предложение. " * 200
        whole, short, long = embedder.embed_for_index([text, "Одно предложение.", long_text])
        assert whole.shape == (1 + 3, embedder.dimension)
        assert short.shape == (1, embedder.dimension)
        assert 2 < len(long) <= 1 + 16
        assert np.abs(whole[0] - embedder.embed_passages([text])[0]).max() < 1e-5
        query = embedder.embed_queries([RUSSIAN[2][0]])[0]
        assert (whole @ query).argmax() == 2  # the third and fourth sentences
        assert embedder.embed_for_index([]) == []

    def test_several_threads_give_the_vectors_that_one_gives(self) -> None:
        spec = choose_embedder(load_settings(embedding_model=""))
        if spec is None:
            pytest.skip("the built-in model is not installed")
        texts = [
            f"{passage} {n} {' '.join(other for _, other in ENGLISH[: n % 5])}"
            for n in range(9)
            for _, passage in RUSSIAN
        ]
        alone, shared = (embed_passages_of(spec, texts, threads) for threads in (1, 2))
        assert [len(rows) for rows in alone] == [len(rows) for rows in shared]
        assert max(np.abs(one - other).max() for one, other in zip(alone, shared, strict=True)) < 1e-5

    def test_it_runs_without_torch(self, embedder: Embedder) -> None:
        code = (
            "import sys; from rag.embedding import choose_embedder; from store.settings import load_settings; "
            "choose_embedder(load_settings(embedding_model='')).load().embed_queries(['x']); "
            "sys.exit('torch' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.fixture(scope="module")
def small_model() -> EmbedderSpec:
    settings = load_settings(embedding_model="")
    if find_spec("sentence_transformers") is None:  # not imported here: that takes torch along
        pytest.skip("sentence-transformers is not installed")
    if weights.find(settings, "all-minilm-l6-v2") is None:
        pytest.skip("the model all-minilm-l6-v2 is not installed (parley models pull all-minilm-l6-v2)")
    spec = choose_embedder(settings.model_copy(update={"embedding_model": "all-minilm-l6-v2"}))
    assert spec is not None
    return spec


@pytest.fixture(scope="module")
def child() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.mark.models
class TestSentenceTransformers:
    """Run in a child process, as in the server."""

    def test_the_passage_that_answers_lies_closest(self, small_model: EmbedderSpec, child: ProcessPoolExecutor) -> None:
        queries = child.submit(embed_queries_of, small_model, [query for query, _ in ENGLISH]).result()
        passages = child.submit(embed_passages_of, small_model, [passage for _, passage in ENGLISH]).result()
        assert queries.shape == (5, small_model.dimension)
        assert [len(vectors) for vectors in passages] == [1] * 5
        assert ((queries @ np.vstack(passages).T).argmax(axis=1) == np.arange(5)).all()

    def test_the_spec_knows_the_dimension_that_the_model_has(
        self, small_model: EmbedderSpec, child: ProcessPoolExecutor
    ) -> None:
        unknown = replace(small_model, dimension=None)
        assert child.submit(dimension_of, unknown).result() == small_model.dimension == 384
