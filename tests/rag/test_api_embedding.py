"""Embedding by a provider: over real HTTP, against a server that fails as it is told to."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from rag import api_embedding
from rag.api_embedding import ApiEmbedder, names_provider
from rag.embedding import choose_embedder, open_api
from store.errors import Unavailable, UpstreamFailed
from tests.support.scripted_model import API_KEY, ScriptedModel, serve_scripted_model

NAME = "openai/text-embedding-3-small"


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedModel]:
    with serve_scripted_model() as running:
        yield running


@pytest.fixture
def provider(server: ScriptedModel) -> ScriptedModel:
    server.forget()
    return server


def embedder(provider: ScriptedModel, name: str = NAME, dimension: int | None = 3) -> ApiEmbedder:
    return ApiEmbedder(name, f"{provider.base_url}/v1", API_KEY, dimension)


def test_a_model_with_a_providers_prefix_is_asked_for_there_and_any_other_is_loaded_here() -> None:
    assert names_provider("openai/text-embedding-3-small")
    assert names_provider("hosted_vllm/intfloat/multilingual-e5-large")
    for name in ("intfloat/multilingual-e5-small", "BAAI/bge-m3", "openai", "openai/", "/models/openai", ""):
        assert not names_provider(name)


def test_the_settings_name_the_model_the_address_and_the_key_and_the_dimension_is_asked_for(
    provider: ScriptedModel,
) -> None:
    settings = provider.settings(
        embedding_model=NAME, embedding_api_base=f"{provider.base_url}/v1", embedding_api_key=API_KEY
    )
    spec = choose_embedder(settings)
    assert spec is not None
    assert spec.is_remote
    assert spec.in_process, "it waits for answers and is no work for a child"
    assert API_KEY not in repr(spec), "a spec is kept beside its index"
    opened = open_api(spec, settings)
    assert (opened.name, opened.dimension) == (NAME, 3)
    opened.embed_queries(["a"])
    assert len(provider.requests) == 2, "the dimension is asked for once"
    assert set(provider.keys) == {f"Bearer {API_KEY}"}


def test_vectors_have_the_order_of_the_texts_and_length_one(provider: ScriptedModel) -> None:
    vectors = embedder(provider).embed_queries(["aaa", "bbb", "ab"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)
    assert vectors.argmax(axis=1)[:2].tolist() == [0, 1]
    assert embedder(provider).embed_queries([]).shape == (0, 3)


def test_passages_go_in_batches_bounded_in_number_and_length(provider: ScriptedModel) -> None:
    vectors = embedder(provider).embed_for_index(["a"] * 65 + ["b" * 50_000] * 9 + ["", " \n"])
    assert [rows.shape for rows in vectors] == [(1, 3)] * 76
    sizes = [len(request["input"]) for request in provider.requests]
    assert sizes[0] == 64
    assert sum(sizes) == 76
    assert all(sum(map(len, request["input"])) <= 100_000 for request in provider.requests)
    assert all(text.strip() for request in provider.requests for text in request["input"]), (
        "providers refuse empty ones"
    )


def test_a_provider_that_is_busy_is_asked_again_when_it_says(provider: ScriptedModel) -> None:
    provider.fails(429, Retry_After="0")
    provider.fails(503, retry_after="0")
    assert embedder(provider).embed_passages(["a"]).shape == (1, 3)
    assert len(provider.requests) == 3


def test_one_that_is_busy_for_longer_than_a_question_may_take_is_unavailable_and_rests(
    provider: ScriptedModel,
) -> None:
    provider.fails(429, retry_after="600", error=f"slow down, {API_KEY}")
    asked = embedder(provider)
    with pytest.raises(Unavailable) as failure:
        asked.embed_queries(["a"])
    assert failure.value.retry_after_s
    assert API_KEY not in str(failure.value)
    with pytest.raises(Unavailable):
        asked.embed_queries(["a"])
    assert len(provider.requests) == 1, "the next question does not wait for it"
    assert asked.embed_passages(["a"]).shape == (1, 3), "passages are embedded by jobs, which may wait"


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, {"model": NAME, **labels}) or 0.0


def test_what_a_provider_takes_is_counted(provider: ScriptedModel) -> None:
    """Each request once, tried again or not; what it was paid for, and what it was not."""

    def counts() -> dict[str, float]:
        seconds = {each: counted("parley_embedding_seconds_count", outcome=each) for each in ("success", "error")}
        return seconds | {"tokens": counted("parley_model_tokens_total", kind="prompt", purpose="embedding")}

    before = counts()
    provider.fails(503, retry_after="0")
    embedder(provider).embed_passages(["a"])
    provider.fails(400)
    with pytest.raises(UpstreamFailed):
        embedder(provider).embed_passages(["a"])
    assert {name: count - before[name] for name, count in counts().items()} == {"success": 1, "error": 1, "tokens": 1}


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_not_asked_again(provider: ScriptedModel, status: int) -> None:
    provider.fails(status)
    with pytest.raises(UpstreamFailed):
        embedder(provider).embed_passages(["a"])
    assert len(provider.requests) == 1


@pytest.mark.parametrize(("status", "is_told"), [(400, False), (401, True)])
def test_the_log_has_no_words_of_a_provider_that_may_repeat_a_passage(
    provider: ScriptedModel, status: int, is_told: bool
) -> None:
    provider.fails(status, error="Anna's debts are too long")
    with capture_logs() as lines, pytest.raises(UpstreamFailed):
        embedder(provider).embed_passages(["Anna's debts"])
    (line,) = [line for line in lines if line["event"] == "embedding_failed"]
    assert line["status"] == status
    assert ("Anna" in str(line)) == is_told


def test_a_provider_that_hangs_is_unavailable_after_the_bound(
    provider: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_embedding, "_QUERY_TIMEOUT_S", 0.3)
    provider.says("", hang=lambda _: True)
    with pytest.raises(Unavailable):
        embedder(provider).embed_queries(["a"])
    assert len(provider.requests) == 1, "no client tries again behind our back"


def test_nobody_listening_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_embedding, "_QUERY_TIMEOUT_S", 0.3)
    with pytest.raises(Unavailable):
        ApiEmbedder(NAME, "http://127.0.0.1:9/v1", API_KEY)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": [1.0, 2.0, 3.0, 4.0]}],
        [{"index": 0, "embedding": [1.0, 1e39, 0.0]}],
        [{"index": place, "embedding": [1.0, 2.0, 3.0]} for place in range(2)],
    ],
)
def test_an_answer_of_another_shape_is_a_failure(provider: ScriptedModel, data: list[object]) -> None:
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    provider.says(json.dumps({"object": "list", "model": "m", "data": data, "usage": usage}))
    with pytest.raises(UpstreamFailed):
        embedder(provider).embed_passages(["a"])


def test_e5_models_are_told_what_a_text_is_by_its_first_word(provider: ScriptedModel) -> None:
    asked = embedder(provider, "hosted_vllm/intfloat/multilingual-e5-large")
    asked.embed_queries(["a"])
    asked.embed_passages(["b"])
    assert [request["input"] for request in provider.requests] == [["query: a"], ["passage: b"]]


def test_providers_that_ask_for_it_are_told_by_a_field(provider: ScriptedModel) -> None:
    asked = embedder(provider, "nvidia_nim/nv-embed")
    asked.embed_queries(["a"])
    asked.embed_passages(["b"])
    assert [request["input_type"] for request in provider.requests] == ["query", "passage"]


def test_litellm_is_imported_where_a_provider_is_asked_and_not_before() -> None:
    code = "import sys; import rag.embedding, rag.retrieval; sys.exit('litellm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
