"""How well the chat answers over the demo company's documents and calls: `python -m bench.chat [extractive] [model]`.

Asks each question of `demo/questions.toml` and of `bench/questions`: the engine is tuned on `demo` and the
`development` sets, and `held_out` says how it does on others. `--set=demo` (or another) asks one set alone. Right
source: the first passage cited stands where the question says. Right: the answer contains one of the expected words,
and no number, name or day that neither the question nor the passages that were found have (`chat.claims`, whatever the
engine checks itself). Refused: an unanswerable question was answered "not found". The calls are indexed from their
scripts, so recognition errors are not in these figures. For the model also: seconds to the first text and tokens a
second, which mean something on an idle machine only. `--list` prints each answer.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from chat.claims import Support, without_source
from chat.engines import Done, Engine, Passage, Text, choose_engine
from chat.language import PHRASES
from chat.numbers import numbers_in
from ingest.documents.parse import parse
from rag.chunking import chunk_sections
from rag.embedding import Embedder, choose_embedder
from rag.index import Filter, Point
from rag.language_model import open_language_model
from rag.qdrant_edge_index import EdgeIndex
from rag.search import Found, Searcher
from rag.timeline_chunks import Line, chunk_timeline
from store.settings import load_settings

DEMO = Path(__file__).parents[1] / "demo"
SETS = {
    "demo": DEMO / "questions.toml",
    "development": Path(__file__).parent / "questions" / "development.toml",
    "development_far": Path(__file__).parent / "questions" / "development_far.toml",
    "held_out": Path(__file__).parent / "questions" / "held_out.toml",
}
PASSAGES = 8


@dataclass(frozen=True)
class Knowledge:
    """The demo company, indexed."""

    searcher: Searcher
    embedder: Embedder
    tenant_id: str

    def search(self, query: str, limit: int = PASSAGES) -> list[Passage]:
        return [passage_of(found) for found in self.searcher.search(self.tenant_id, query, Filter(), limit)]

    async def retrieve(self, query: str) -> list[Passage]:
        return await asyncio.to_thread(self.search, query)

    async def score(self, queries: Sequence[str], texts: Sequence[str]) -> Sequence[Sequence[float]]:
        def cosines() -> list[list[float]]:
            similar = self.embedder.embed_queries(list(queries)) @ self.embedder.embed_passages(list(texts)).T
            rows: list[list[float]] = similar.tolist()
            return rows

        return await asyncio.to_thread(cosines)


@dataclass(frozen=True)
class Result:
    """One question's answer and what is right about it."""

    question: dict[str, Any]
    passages: list[Passage]
    done: Done
    first_text_s: float
    total_s: float

    @property
    def answerable(self) -> bool:
        return bool(self.question["answerable"])

    @property
    def right_source(self) -> bool:
        wanted = self.question.get("source", {})
        used = self.done.used_passages[0].context_item if self.done.used_passages else {}
        return self.done.found and used.get("source") in wanted.values()

    @property
    def is_right(self) -> bool:
        said = _plain(self.done.markdown)
        has_words = any(_plain(expected) in said for expected in self.question.get("expects", []))
        return self.done.found and has_words and not self.unsupported

    @property
    def unsupported(self) -> str:
        """What the answer states and nothing that was found says."""
        sources = [text for passage in self.passages for text in (passage.title, passage.text)]
        asked = self.question["question"]
        support = Support.of(sources, [asked, *_OWN_WORDS])
        return without_source(self.done.markdown, numbers_in([asked, *sources]), support)


_OWN_WORDS = [text for phrases in PHRASES.values() for text in astuple(phrases)]
"""What the engines say themselves around what was found."""


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("ё", "е").split())


def passage_of(found: Found) -> Passage:
    payload = found.payload
    return Passage(
        "communication" if payload["kind"] == "communication" else "document",
        found.id,
        str(payload.get("title")),
        found.text,
        score=found.score,
        coverage=found.coverage,
        cosine=found.dense,
        term_weights=found.idf,
        context_item={"source": payload.get("source")},
    )


def _points(embedder: Embedder) -> list[Point]:
    company = tomllib.loads((DEMO / "company.toml").read_text(encoding="utf-8"))
    passages: list[tuple[str, str, dict[str, Any]]] = []  # what is embedded, the text, the payload
    for document in company["document"]:
        parsed = parse(DEMO / "documents" / document["file"], document["file"])
        for chunk in chunk_sections(parsed.sections):
            title = " › ".join(dict.fromkeys([document["title"], *chunk.title_path]))
            payload = {"kind": "document", "title": title, "source": document["file"]}
            passages.append(("\n".join([*chunk.title_path, chunk.text]), chunk.text, payload))
    for call in company["call"]:
        turns = json.loads((DEMO / "calls" / call["file"]).with_suffix(".truth.json").read_text(encoding="utf-8"))[
            "turns"
        ]
        names = {speaker["label"]: speaker["name"] for speaker in call["speaker"]}
        lines = [
            Line(names.get(turn["label"], turn["label"]), turn["text"], turn["start_ms"], turn["end_ms"])
            for turn in turns
        ]
        payload = {"kind": "communication", "title": call["title"], "source": call["record_id"]}
        passages += [(part.text, part.text, payload) for part in chunk_timeline(lines)]
    vectors = embedder.embed_for_index([embedded for embedded, _, _ in passages])
    return [
        Point(str(uuid4()), vector, text, payload) for (_, text, payload), vector in zip(passages, vectors, strict=True)
    ]


def read_questions(name: str) -> list[dict[str, Any]]:
    """A set's questions. A call's file is as good a name of it as its record."""
    company = tomllib.loads((DEMO / "company.toml").read_text(encoding="utf-8"))
    records = {call["file"]: call["record_id"] for call in company["call"]}
    questions: list[dict[str, Any]] = tomllib.loads(SETS[name].read_text(encoding="utf-8"))["question"]
    for question in questions:
        source = question.get("source", {})
        question["source"] = {kind: records.get(named, named) for kind, named in source.items()}
    return questions


@contextmanager
def open_demo(embedder: Embedder) -> Iterator[Knowledge]:
    with tempfile.TemporaryDirectory() as folder:
        index = EdgeIndex(Path(folder), embedder.dimension)
        tenant_id = str(uuid4())
        index.upsert(tenant_id, _points(embedder))
        try:
            yield Knowledge(Searcher(index, embedder), embedder, tenant_id)
        finally:
            index.close()


async def ask(engine: Engine, knowledge: Knowledge, question: dict[str, Any]) -> Result:
    started_s = time.perf_counter()
    first_text_s = 0.0
    done: Done | None = None
    passages: list[Passage] = []

    async def retrieve(query: str) -> list[Passage]:
        found = await knowledge.retrieve(query)
        passages.extend(found)
        return found

    async for event in engine.answer(question["question"], [], retrieve):
        if isinstance(event, Text) and not first_text_s:
            first_text_s = time.perf_counter() - started_s
        if isinstance(event, Done):
            done = event
    assert done is not None
    return Result(question, passages, done, first_text_s, time.perf_counter() - started_s)


def report(name: str, results: Sequence[Result]) -> None:
    answerable = [result for result in results if result.answerable]
    others = [result for result in results if not result.answerable]
    print(f"\n{name}: {len(results)} questions")
    for language in ("ru", "en"):
        mine = [result for result in answerable if result.question["language"] == language]
        refused = [not result.done.found for result in others if result.question["language"] == language]
        print(
            f"  {language}: right source first {_share([result.right_source for result in mine])}, "
            f"right {_share([result.is_right for result in mine])}, refused {_share(refused)}"
        )
    print(
        f"  all: right source first {_share([result.right_source for result in answerable])}, "
        f"right {_share([result.is_right for result in answerable])}, "
        f"refused {_share([not result.done.found for result in others])}"
    )
    asked = [result for result in results if result.done.usage.model_calls]
    print(f"  first text s: median {statistics.median(result.first_text_s for result in asked or results):.2f}")
    if asked:
        tokens = sum(result.done.usage.tokens.completion_tokens for result in asked)
        prompt = statistics.median(result.done.usage.tokens.prompt_tokens for result in asked)
        seconds = sum(result.total_s for result in asked)
        print(f"  prompt tokens: median {prompt:.0f}; tokens a second, reading included: {tokens / seconds:.1f}")


def _share(holds: Sequence[bool]) -> str:
    return f"{sum(holds) / len(holds):.2f} ({sum(holds)}/{len(holds)})" if holds else "-"


def listing(results: Sequence[Result]) -> None:
    for result in results:
        marks = f"source={result.right_source:d} right={result.is_right:d} found={result.done.found:d}"
        print(f"\n{result.question['id']} answerable={result.answerable:d} {marks}: {result.question['question']}")
        print(f"  expects {result.question.get('expects', [])} in {result.question.get('source')}")
        print(f"  unsupported: {result.unsupported}")
        print("  | " + result.done.markdown.replace("\n", "\n  | "))


async def measure(names: Sequence[str], sets: Sequence[str], only: Sequence[str], *, list_all: bool) -> None:
    settings = load_settings()
    spec = choose_embedder(settings)
    if spec is None:
        print("no embedding model is installed: parley models pull")
        return
    with open_demo(spec.load(2)) as knowledge:
        for name in names:
            model = open_language_model(settings) if name == "model" else None
            if name == "model" and model is None:
                print("\nmodel: none is installed or configured (parley models pull)")
                continue
            engine = choose_engine(settings, model, knowledge.score)
            for set_name in sets:
                questions = [each for each in read_questions(set_name) if not only or each["id"] in only]
                results = [await ask(engine, knowledge, question) for question in questions]
                if list_all:
                    listing(results)
                if results:
                    report(f"{name if model is None else model.name}, {set_name}", results)
            if model is not None:
                await model.aclose()


def main() -> None:
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    arguments = [argument for argument in sys.argv[1:] if argument not in options]
    names = [name for name in ("extractive", "model") if name in arguments] or ["extractive", "model"]
    only = [argument for argument in arguments if argument not in ("extractive", "model")]
    sets = [name for name in SETS if f"--set={name}" in options] or list(SETS)
    asyncio.run(measure(names, sets, only, list_all="--list" in options))


if __name__ == "__main__":
    main()
