"""How well search finds the passage that answers a question: `python -m bench.retrieval`.

Measured on XQuAD's development half (Artetxe et al. 2020, arXiv:1910.11856), which lies beside the repository: 120
paragraphs and 632 questions in each language, a chunk a paragraph; and on the committed set of `bench/knowledge`,
through the parsers, the chunker and the retriever of the product. Also printed: how fast passages are embedded, how
long a search takes, and how the evidence of a search tells answered questions from unanswerable ones.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

from bench import knowledge_set
from chat.evidence import RelevanceRule
from rag.embedding import Embedder, choose_embedder
from rag.evaluation import Quality, Question, evaluate, measure, read_squad
from rag.index import Filter, Point, VectorIndex
from rag.qdrant_edge_index import EdgeIndex
from rag.retrieval import Retriever
from rag.search import Searcher
from store import accounts
from store.database import Database
from store.migrate import migrate
from store.settings import load_settings

DATA = Path(__file__).parents[2] / "shared" / "data" / "text"
LANGUAGES = ("ru", "en")
_EVERYTHING = Filter()
_CANDIDATES = 50
_RRF_K = 10
# What must hold on XQuAD, by language: recall@1; and recall@5 in both.
BOUNDS_AT_1 = {"ru": 0.935, "en": 0.95}
BOUND_AT_5 = 0.99


@dataclass(frozen=True)
class Corpus:
    """An indexed set of passages, and the questions about them."""

    index: VectorIndex
    embedder: Embedder
    tenant_id: str
    questions: list[Question]

    def words(self, query: str) -> list[str]:
        return [hit.id for hit in self.index.search_text(self.tenant_id, query, _EVERYTHING, _CANDIDATES)]

    def meaning(self, query: str) -> list[str]:
        vector = self.embedder.embed_queries([query])[0]
        return [hit.id for hit in self.index.search_dense(self.tenant_id, vector, _EVERYTHING, _CANDIDATES)]

    def reciprocal_rank(self, query: str) -> list[str]:
        """Reciprocal rank fusion (Cormack et al. 2009), to compare with."""
        scores: dict[str, float] = {}
        for ranked in (self.words(query), self.meaning(query)):
            for place, found in enumerate(ranked):
                scores[found] = scores.get(found, 0.0) + 1 / (_RRF_K + 1 + place)
        return sorted(scores, key=lambda found: -scores[found])

    def hybrid(self, query: str) -> list[str]:
        found = Searcher(self.index, self.embedder).search(self.tenant_id, query, _EVERYTHING, 10)
        return [passage.id for passage in found]


def passage_ids(prefix: int, number: int) -> Callable[[int], str]:
    return lambda place: str(UUID(int=(prefix << 16) + (number << 12) + place))


def build(
    index: VectorIndex, embedder: Embedder, paths: Sequence[Path], prefix: int, share: float = 1.0
) -> tuple[Corpus, float]:
    """Indexes the first `share` of the passages of each path as one tenant, keeping the questions about them.

    Also returns how many passages were embedded in a second of processor time.
    """
    tenant_id = str(uuid4())
    passages: dict[str, str] = {}
    questions: list[Question] = []
    for number, path in enumerate(paths):
        texts, asked = read_squad(path, passage_ids(prefix, number))
        kept = dict(list(texts.items())[: round(len(texts) * share)])
        passages |= kept
        questions += [question for question in asked if question.answer_id in kept]
    started = time.process_time()
    vectors = embedder.embed_for_index(list(passages.values()))
    passages_a_s = len(passages) / (time.process_time() - started)
    points = [
        Point(identifier, vector, text, {"kind": "document"})
        for (identifier, text), vector in zip(passages.items(), vectors, strict=True)
    ]
    index.upsert(tenant_id, points)
    return Corpus(index, embedder, tenant_id, questions), passages_a_s


def print_ranking(name: str, corpus: Corpus) -> dict[str, Quality]:
    methods: dict[str, Callable[[str], list[str]]] = {
        "BM25": corpus.words,
        "dense": corpus.meaning,
        "RRF": corpus.reciprocal_rank,
        "hybrid": corpus.hybrid,
    }
    qualities: dict[str, Quality] = {}
    for method, rank in methods.items():
        started = time.perf_counter()
        quality = qualities[method] = evaluate(corpus.questions, rank)
        query_ms = (time.perf_counter() - started) / quality.questions * 1000
        shares = "  ".join(f"recall@{k} {share:.3f}" for k, share in quality.recall.items())
        print(f"{name:6} {method:7} {shares}  MRR@10 {quality.mrr:.3f}  {query_ms:.1f} ms a query")
    return qualities


def shortfalls(language: str, qualities: dict[str, Quality]) -> list[str]:
    """Which bounds do not hold, in words."""
    hybrid = qualities["hybrid"]
    missed = []
    for k, bound in ((1, BOUNDS_AT_1[language]), (5, BOUND_AT_5)):
        if hybrid.recall[k] < bound:
            missed.append(f"recall@{k} {hybrid.recall[k]:.3f} is below {bound}")
    worse = [other for other in ("BM25", "dense") if hybrid.recall[1] <= qualities[other].recall[1]]
    return [*missed, *(f"hybrid is not better than {other}" for other in worse)]


def print_knowledge(embedder: Embedder) -> None:
    """The committed set: documents as they are, through parsers, chunker, index and retriever."""
    with tempfile.TemporaryDirectory() as folder:
        index = EdgeIndex(Path(folder) / "index", embedder.dimension)
        database = Database(load_settings().model_copy(update={"data_dir": Path(folder), "database_url": ""}))
        migrate(database)
        with database.write() as connection:
            tenant = accounts.create_tenant(connection, name="bench")
        assert tenant is not None
        tenant_id = tenant.id
        asked, passages = knowledge_set.build(database, index, embedder, tenant_id)
        documents = len({question.document for question in asked})
        print(f"committed set: {documents} documents, {passages} passages, {len(asked)} questions")
        corpus = Corpus(index, embedder, tenant_id, [])
        retriever = Retriever(Searcher(index, embedder), database)
        methods: dict[str, Callable[[str], list[str]]] = {
            "BM25": corpus.words,
            "dense": corpus.meaning,
            "hybrid": corpus.hybrid,
            "product": lambda query: [found.id for found in retriever.find(tenant_id, query, _EVERYTHING, 10)],
        }
        for method, rank in methods.items():
            found = measure(knowledge_set.judge(asked, rank))
            rates = "  ".join(f"hit rate@{k} {found['hit_rate'][k]:.3f}" for k in ("1", "5"))
            print(f"own    {method:7} {rates}  MRR@10 {found['mrr']:.3f}  nDCG@10 {found['ndcg']:.3f}")
        index.close()
        database.close()


def print_relevance(index: VectorIndex, embedder: Embedder, paths: dict[str, Path]) -> None:
    """Indexes the first half of the passages of a language: the questions about the other half have no answer there."""
    rule = RelevanceRule()
    for prefix, (language, path) in enumerate(paths.items(), start=20):
        corpus, _ = build(index, embedder, [path], prefix, share=0.5)
        searcher = Searcher(index, embedder)
        known = {question.answer_id for question in corpus.questions}
        for asked_in, asked_path in paths.items():
            _, questions = read_squad(asked_path, passage_ids(prefix, 0))
            for kind, wanted in (("answerable", True), ("unanswerable", False)):
                asked = [question.text for question in questions if (question.answer_id in known) is wanted]
                found = [searcher.search(corpus.tenant_id, text, _EVERYTHING, 1) for text in asked]
                right = [bool(each and rule.holds(each[0].coverage, each[0].dense)) for each in found]
                share = sum(right) / len(asked)
                print(f"{language:6} asked in {asked_in}, {kind:12} first passage called relevant: {share:.2f}")


def print_xquad(embedder: Embedder, paths: dict[str, Path]) -> bool:
    """Whether all bounds hold."""
    missed: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        index = EdgeIndex(Path(folder), embedder.dimension)
        for prefix, (language, path) in enumerate(paths.items()):
            corpus, passages_a_s = build(index, embedder, [path], prefix)
            print(f"{language:6} {passages_a_s:.0f} passages embedded in a second of one core")
            missed[language] = shortfalls(language, print_ranking(language, corpus))
            print(f"{language:6} bounds: {'; '.join(missed[language]) or 'hold'}")
        both, _ = build(index, embedder, list(paths.values()), prefix=9)
        print_ranking("ru+en", both)
        print_relevance(index, embedder, paths)
        index.close()
    return not any(missed.values())


def main() -> int:
    spec = choose_embedder(load_settings())
    if spec is None:
        print("skipped: no embedding model is installed; `parley models pull` fetches one")
        return 0
    embedder = spec.load()
    print(f"embedding model {embedder.name}, {embedder.dimension} numbers, 1 thread")
    print_knowledge(embedder)
    paths = {language: DATA / f"xquad.{language}.dev.json" for language in LANGUAGES}
    if missing := [path.name for path in paths.values() if not path.exists()]:
        print(f"XQuAD skipped: {', '.join(missing)} not found in the shared data folder beside the repository")
        return 0
    return 0 if print_xquad(embedder, paths) else 1


if __name__ == "__main__":
    sys.exit(main())
