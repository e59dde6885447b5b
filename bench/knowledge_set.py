"""The committed set of `bench/knowledge`: documents, read and cut as Parley does it, and questions about them."""

from __future__ import annotations

import tomllib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.documents.document_job import stored_chunks
from ingest.documents.parse import parse
from ingest.documents.passages import document_passages
from ingest.evaluations import holds
from rag.chunking import chunk_sections
from rag.embedding import Embedder
from rag.evaluation import Judged
from rag.generation import Passage
from rag.index import Point, Value, VectorIndex
from store import kb_spaces, knowledge
from store.database import Database

FOLDER = Path(__file__).parent / "knowledge"


@dataclass(frozen=True)
class Asked:
    """A question with the ids of the passages that answer it."""

    text: str
    document: str
    right: frozenset[str]


def read_questions() -> dict[str, list[tuple[str, str]]]:
    """By document: questions, each with words of the passage that answers it."""
    content = tomllib.loads((FOLDER / "questions.toml").read_text(encoding="utf-8"))
    return {name: [(text, quote) for text, quote in about["asked"]] for name, about in content.items()}


def read_document(path: Path, document: knowledge.Document) -> tuple[list[knowledge.StoredChunk], list[Passage]]:
    parsed = parse(path, path.name)
    chunks = stored_chunks(document.id, chunk_sections(parsed.sections))
    return chunks, document_passages(document, chunks)


def build(
    database: Database, index: VectorIndex, embedder: Embedder, tenant_id: str, folder: Path = FOLDER / "documents"
) -> tuple[list[Asked], int]:
    """Stores and indexes the documents as one space's. The questions, and how many passages there are.

    Raises ValueError for a question that no passage answers.
    """
    questions = read_questions()
    asked: list[Asked] = []
    count = 0
    with database.write() as connection:
        space = kb_spaces.create_space(tenant_id, connection, name="bench", description="")
    for path in sorted(folder.iterdir()):
        with database.write() as connection:
            document, _ = knowledge.add_document(
                tenant_id,
                connection,
                document_id=str(uuid.uuid5(uuid.NAMESPACE_URL, path.name)),
                space_id=space.id,
                title=parse(path, path.name).title,
                file_name=path.name,
                size_bytes=path.stat().st_size,
                sha256=path.name,
                blob_key=path.name,
            )
            chunks, passages = read_document(path, document)
            knowledge.put_chunks(tenant_id, connection, document.id, document.run, chunks)
            assert knowledge.switch_version(tenant_id, connection, document.id, document.run, len(chunks))
        _index(index, embedder, tenant_id, passages)
        count += len(passages)
        for text, quote in questions.get(path.name, []):
            right = frozenset(chunk.id for chunk in chunks if holds(chunk.text, quote))
            if not right:
                raise ValueError(f"no passage of {path.name} says {quote!r}")
            asked.append(Asked(text, path.name, right))
    return asked, count


def _index(index: VectorIndex, embedder: Embedder, tenant_id: str, passages: Sequence[Passage]) -> None:
    texts = [f"{each.context}\n{each.text}" if each.context else each.text for each in passages]
    vectors = embedder.embed_for_index(texts)
    points = []
    for each, vector in zip(passages, vectors, strict=True):
        payload: dict[str, Value] = dict(each.payload)
        points.append(Point(each.id, vector, each.text, payload))
    index.upsert(tenant_id, points)


def judge(asked: Sequence[Asked], rank: Callable[[str], Sequence[str]], depth: int = 10) -> list[Judged]:
    judged = []
    for question in asked:
        found = list(rank(question.text))[:depth]
        ranks = tuple(place for place, identifier in enumerate(found, start=1) if identifier in question.right)
        judged.append(Judged(ranks, len(question.right)))
    return judged
