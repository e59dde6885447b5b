"""Hybrid search over both adapters: order, evidence, and what it gains over its halves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from rag.embedding import Embedder
from rag.evaluation import Question, evaluate, read_squad
from rag.index import Candidate, Filter, Point, VectorIndex
from rag.qdrant_edge_index import EdgeIndex
from rag.search import Searcher, _fused
from tests.rag.conftest import server_index

TENANT = str(UUID(int=1))
ALL = Filter()
XQUAD = Path(__file__).parents[3] / "shared" / "data" / "text"
# Some questions share no word with their passage, others differ from their neighbours in a name or number alone.
PASSAGES = [
    "Возврат средств за товар занимает десять дней. Заявление подаётся в личном кабинете.",
    "Чтобы восстановить доступ, сбросьте пароль по ссылке в письме. Ссылка действует сутки.",
    "Тариф «Старт» включает три рабочих места и стоит 900 рублей в месяц.",
    "Тариф «Бизнес» включает десять рабочих мест и стоит 2900 рублей в месяц.",
    "Ошибка E-1042 означает, что касса не видит фискальный накопитель.",
    "Ошибка E-1043 означает, что в принтере закончилась бумага.",
    "Офис открыт с девяти утра до шести вечера, в выходные дни закрыт.",
    "The warranty of the X200 router is two years. Keep the receipt.",
    "The warranty of the X300 router is three years. Keep the receipt.",
    "Delivery by courier costs three hundred roubles inside the city.",
    "Our engineers visit the customer within two working days after a complaint.",
    "Personal data are stored on servers inside the country and never sold.",
    "Склад в Туле: артикулы 48213, 51904, 77120, 30658, 91245, 16073, 82931, 45516, 60387, 29754.",
    "Склад в Твери: артикулы 48231, 51940, 77210, 30685, 91254, 16037, 82913, 45561, 60378, 29745.",
    "Склад в Томске: артикулы 48123, 51094, 71720, 36058, 92145, 10673, 89231, 45156, 63087, 27954.",
    "Склад в Тамбове: артикулы 42813, 59104, 77012, 35068, 91425, 17063, 83921, 41556, 60837, 29574.",
]
QUESTIONS = [
    ("Когда мне отдадут деньги обратно?", 0),
    ("Забыл, как войти в аккаунт", 1),
    ("Сколько стоит тариф Старт?", 2),
    ("Тариф Бизнес цена", 3),
    ("касса показывает E-1042", 4),
    ("что значит E-1043", 5),
    ("В котором часу вы закрываетесь вечером?", 6),
    ("X200 warranty", 7),
    ("warranty period of the X300", 8),
    ("How much is shipping?", 9),
    ("How soon will a technician come?", 10),
    ("Where do you keep my private information?", 11),
    ("How long is the router guaranteed, model X300?", 8),
    ("Do you sell personal data?", 11),
    ("где лежит 77210?", 13),
    ("на каком складе артикул 45156", 14),
    ("29574 в наличии", 15),
    ("60387", 12),
    ("есть ли 16037 и 82913", 13),
]


def uid(number: int) -> str:
    return str(UUID(int=1000 + number))


def space_of(number: int) -> str:
    return "ru" if number < 7 else "en" if number < 12 else "stock"


def fill(index: VectorIndex, embedder: Embedder) -> None:
    vectors = embedder.embed_for_index(PASSAGES)
    index.upsert(
        TENANT,
        [
            Point(
                uid(n),
                vector,
                text,
                {
                    "kind": "document",
                    "space_id": "ru" if n < 7 else "en" if n < 12 else "stock",
                    "document_id": f"d{n}",
                },
            )
            for n, (text, vector) in enumerate(zip(PASSAGES, vectors, strict=True))
        ],
    )


@pytest.fixture(scope="module", params=["edge", "server"])
def index(
    request: pytest.FixtureRequest, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VectorIndex]:
    folder = tmp_path_factory.mktemp("index")
    made: VectorIndex = (
        EdgeIndex(folder, embedder.dimension) if request.param == "edge" else server_index(embedder.dimension)
    )
    fill(made, embedder)
    yield made
    made.close()


@pytest.fixture
def searcher(index: VectorIndex, embedder: Embedder) -> Searcher:
    return Searcher(index, embedder)


@pytest.mark.models
def test_hybrid_search_beats_words_alone_and_meaning_alone(
    searcher: Searcher, index: VectorIndex, embedder: Embedder
) -> None:
    questions = [Question(text, uid(answer)) for text, answer in QUESTIONS]
    words = evaluate(questions, lambda text: [hit.id for hit in index.search_text(TENANT, text, ALL, 10)])
    meaning = evaluate(
        questions,
        lambda text: [hit.id for hit in index.search_dense(TENANT, embedder.embed_queries([text])[0], ALL, 10)],
    )
    hybrid = evaluate(questions, lambda text: [found.id for found in searcher.search(TENANT, text, ALL, 10)])
    assert hybrid.recall[1] > max(words.recall[1], meaning.recall[1])
    assert hybrid.mrr > max(words.mrr, meaning.mrr)
    assert hybrid.recall[5] == 1.0


@pytest.mark.models
def test_found_passages_carry_their_text_payload_and_falling_scores(searcher: Searcher) -> None:
    found = searcher.search(TENANT, "Сколько стоит тариф Старт?", ALL, 4)
    assert found[0].text == PASSAGES[2]
    assert found[0].payload == {"kind": "document", "space_id": "ru", "document_id": "d2"}
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)
    assert len(found) == 4


@pytest.mark.models
def test_evidence_tells_an_answer_from_the_best_of_nothing(searcher: Searcher) -> None:
    answered = searcher.search(TENANT, "Сколько стоит тариф Старт?", ALL, 1)[0]
    unanswered = searcher.search(TENANT, "Какая температура плавления вольфрама?", ALL, 1)[0]
    assert answered.coverage == pytest.approx(1.0)
    assert unanswered.coverage == 0.0
    assert unanswered.bm25 == 0.0
    assert answered.bm25 > 0
    assert answered.dense is not None
    assert unanswered.dense is not None
    assert answered.dense > unanswered.dense


@pytest.mark.models
def test_a_rare_word_of_the_query_weighs_more_in_coverage_than_a_common_one(searcher: Searcher) -> None:
    found = {passage.id: passage for passage in searcher.search(TENANT, "ошибка E-1042", ALL, 12)}
    assert found[uid(4)].coverage == pytest.approx(1.0)
    assert 0 < found[uid(5)].coverage < 0.7


@pytest.mark.models
def test_a_question_in_one_language_finds_a_passage_in_the_other(searcher: Searcher) -> None:
    found = searcher.search(TENANT, "Где хранятся персональные данные?", Filter(space_ids=("en",)), 1)
    assert found[0].id == uid(11)
    assert found[0].coverage == 0.0
    assert found[0].dense is not None
    assert found[0].dense > 0.3


@pytest.mark.models
def test_the_only_passage_with_a_word_of_the_query_is_first_however_alike_the_others_are() -> None:
    """Fifty that are equally near in meaning, and one that alone has the word and is a little further."""
    alike = [Candidate(f"{number:02}", 0.9 + number / 10_000, 0.0) for number in range(50)]
    ordered = _fused([*alike, Candidate("the word", 0.7, 9.0)])
    assert ordered[0][0].id == "the word"


def test_filters_hold_for_all_that_is_found(searcher: Searcher) -> None:
    assert len(searcher.search(TENANT, "router", Filter(space_ids=("ru",)), 50)) == 7
    assert [hit.id for hit in searcher.search(TENANT, "router", Filter(document_id="d7"), 50)] == [uid(7)]
    assert searcher.search(TENANT, "router", Filter(space_ids=()), 50) == []
    assert searcher.search(TENANT, "router", Filter(kinds=("communication",)), 50) == []


@pytest.mark.models
@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_finds_nothing(searcher: Searcher, query: str) -> None:
    assert searcher.search(TENANT, query, ALL, 10) == []


@pytest.mark.models
def test_a_tenant_without_points_finds_nothing(searcher: Searcher) -> None:
    assert searcher.search(str(UUID(int=2)), "router", ALL, 10) == []


@pytest.mark.models
def test_a_query_of_stop_words_or_endless_length_is_answered(searcher: Searcher) -> None:
    assert len(searcher.search(TENANT, "и что это?", ALL, 5)) == 5
    assert searcher.search(TENANT, "гарантия X300 warranty " + "очень " * 50_000, ALL, 1)[0].id == uid(8)


def test_without_an_embedding_model_words_alone_are_searched(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, 512)
    index.upsert(TENANT, [Point(uid(n), None, text) for n, text in enumerate(PASSAGES)])
    searcher = Searcher(index, None)
    found = searcher.search(TENANT, "тариф Бизнес", ALL, 10)
    assert [hit.id for hit in found] == [uid(3), uid(2)]
    assert found[0].dense is None
    assert found[0].coverage == pytest.approx(1.0)
    assert searcher.search(TENANT, "вольфрам", ALL, 10) == []
    index.close()


@pytest.mark.models
@pytest.mark.parametrize(("language", "least"), [("ru", 0.935), ("en", 0.95)])
def test_recall_on_xquad_stays_where_it_was_measured(
    tmp_path: Path, embedder: Embedder, language: str, least: float
) -> None:
    path = XQUAD / f"xquad.{language}.dev.json"
    if not path.exists():
        pytest.skip(f"{path.name} is not in the shared data folder")
    passages, questions = read_squad(path, uid)
    index = EdgeIndex(tmp_path, embedder.dimension)
    vectors = embedder.embed_for_index(list(passages.values()))
    points = [Point(key, vector, passages[key]) for key, vector in zip(passages, vectors, strict=True)]
    index.upsert(TENANT, points)
    searcher = Searcher(index, embedder)

    def words(text: str) -> list[str]:
        return [hit.id for hit in index.search_text(TENANT, text, ALL, 5)]

    def meaning(text: str) -> list[str]:
        return [hit.id for hit in index.search_dense(TENANT, embedder.embed_queries([text])[0], ALL, 5)]

    def hybrid(text: str) -> list[str]:
        return [found.id for found in searcher.search(TENANT, text, ALL, 5)]

    quality, of_words, of_meaning = (evaluate(questions, rank, ks=(1, 5)) for rank in (hybrid, words, meaning))
    index.close()
    assert quality.recall[1] >= least
    assert quality.recall[5] >= 0.99
    for alone in (of_words, of_meaning):
        assert quality.recall[1] > alone.recall[1]
        assert quality.recall[5] >= alone.recall[5]
        assert quality.mrr > alone.mrr
