"""The committed set that retrieval is measured on: its questions can be answered by what the parsers and the chunker
make of its documents."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from bench.knowledge_set import FOLDER, Asked, judge, read_questions
from ingest.documents.parse import parse
from ingest.evaluations import holds
from rag.chunking import chunk_sections, join_sections

DOCUMENTS = sorted((FOLDER / "documents").iterdir())
QUESTIONS = read_questions()


def test_there_are_enough_documents_and_questions_and_each_document_is_asked_about() -> None:
    assert len(DOCUMENTS) >= 30
    assert {path.name for path in DOCUMENTS} == set(QUESTIONS)
    texts = [text for asked in QUESTIONS.values() for text, _ in asked]
    assert len(texts) == len(set(texts)) >= 150


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_each_question_is_answered_by_one_whole_passage_of_its_document(path: Path) -> None:
    sections = parse(path, path.name).sections
    chunks = chunk_sections(sections)
    full = join_sections(sections)
    assert all(full[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert all(before.start < after.start for before, after in itertools.pairwise(chunks))
    unanswered = [text for text, quote in QUESTIONS[path.name] if not any(holds(each.text, quote) for each in chunks)]
    assert not unanswered


def test_ranks_are_those_of_the_right_passages() -> None:
    asked = [Asked("first", "a.md", frozenset({"x", "z"})), Asked("none", "a.md", frozenset({"y"}))]
    judged = judge(asked, lambda text: ["x", "a", "z"] if text == "first" else ["x", "z", "a", "y"], depth=3)
    assert [(each.ranks, each.right) for each in judged] == [((1, 3), 2), ((), 1)]
