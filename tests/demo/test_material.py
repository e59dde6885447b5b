"""The demo company's material is whole: what its files name exists, and its questions have the sources they claim."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import pytest

DEMO = Path(__file__).resolve().parent.parent.parent / "demo"
CALLS_LIMIT_BYTES = 6 * 1024 * 1024
ROLES = {"client", "sales", "support", "employee", "unknown"}


@cache
def tables(file: str, name: str) -> list[dict[str, Any]]:
    return list(tomllib.loads((DEMO / file).read_text(encoding="utf-8"))[name])


def documents() -> list[dict[str, Any]]:
    return tables("company.toml", "document")


def calls() -> list[dict[str, Any]]:
    return tables("company.toml", "call")


def questions() -> list[dict[str, Any]]:
    return tables("questions.toml", "question")


def truth_of(call: dict[str, Any]) -> dict[str, Any]:
    path = (DEMO / "calls" / call["file"]).with_suffix(".truth.json")
    truth: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return truth


def text_of_document(file: str) -> str:
    """The text as written: of a PDF, the Markdown it is printed from."""
    path = DEMO / "documents" / file
    if path.suffix == ".pdf":
        path = DEMO / "sources" / f"{path.stem}.md"
    return path.read_text(encoding="utf-8")


def text_of_source(source: dict[str, str]) -> str:
    if "document" in source:
        return text_of_document(source["document"])
    [call] = [call for call in calls() if call["record_id"] == source["call"]]
    return " ".join(turn["text"] for turn in truth_of(call)["turns"])


def call_name(call: dict[str, Any]) -> str:
    return str(call["file"])


def test_the_company_has_enough_spaces_documents_and_calls() -> None:
    assert len(tables("company.toml", "space")) >= 2
    assert len(documents()) >= 14
    assert Counter(call["language"] for call in calls())["ru"] >= 3
    assert Counter(call["language"] for call in calls())["en"] >= 1
    assert {Path(document["file"]).suffix for document in documents()} == {".md", ".txt", ".html", ".pdf"}
    assert {document["language"] for document in documents()} == {"ru", "en"}


def test_documents_exist_and_share_neither_file_nor_title() -> None:
    files = [document["file"] for document in documents()]
    assert sorted(files) == sorted(path.name for path in (DEMO / "documents").iterdir())
    assert len(set(files)) == len(files)
    assert len({document["title"] for document in documents()}) == len(files)
    spaces = {space["key"] for space in tables("company.toml", "space")}
    assert {document["space"] for document in documents()} == spaces


@pytest.mark.parametrize("document", documents(), ids=lambda document: str(document["file"]))
def test_a_document_is_one_to_three_pages_of_text(document: dict[str, Any]) -> None:
    assert 1_200 <= len(text_of_document(document["file"])) <= 9_000


def test_pdf_documents_begin_as_pdf_and_have_their_source() -> None:
    printed = sorted((DEMO / "documents").glob("*.pdf"))
    assert [path.stem for path in printed] == sorted(path.stem for path in (DEMO / "sources").glob("*.md"))
    assert all(path.read_bytes().startswith(b"%PDF-") for path in printed)


@pytest.mark.parametrize("call", calls(), ids=call_name)
def test_a_call_is_dated_within_thirty_days_and_names_both_channels(call: dict[str, Any]) -> None:
    assert 0 < call["days_ago"] < 30
    assert call["direction"] in {"in", "out"}
    assert len(call["record_id"]) <= 30
    assert [speaker["label"] for speaker in call["speaker"]] == ["SPEAKER_00", "SPEAKER_01"]
    assert {speaker["role"] for speaker in call["speaker"]} <= ROLES
    assert sum(speaker["role"] == "client" for speaker in call["speaker"]) == 1


def test_the_client_is_on_the_left_in_some_calls_and_on_the_right_in_others() -> None:
    assert {call["speaker"][0]["role"] == "client" for call in calls()} == {True, False}


def test_record_ids_are_unique() -> None:
    assert len({call["record_id"] for call in calls()}) == len(calls())


@pytest.mark.parametrize("call", calls(), ids=call_name)
def test_the_truth_says_what_the_script_says_in_order(call: dict[str, Any]) -> None:
    script = tomllib.loads((DEMO / "calls" / call["file"]).with_suffix(".toml").read_text(encoding="utf-8"))
    truth = truth_of(call)
    turns = [(turn["label"], turn["text"]) for turn in script["turn"]]
    assert [(turn["label"], turn["text"]) for turn in truth["turns"]] == turns
    starts = [turn["start_ms"] for turn in truth["turns"]]
    assert starts == sorted(starts)
    assert all(0 <= turn["start_ms"] < turn["end_ms"] <= truth["duration_ms"] for turn in truth["turns"])
    for label in ("SPEAKER_00", "SPEAKER_01"):
        own = [turn for turn in truth["turns"] if turn["label"] == label]
        assert all(one["end_ms"] <= following["start_ms"] for one, following in pairwise(own))


@pytest.mark.parametrize("call", calls(), ids=call_name)
def test_a_recording_is_stereo_of_the_stated_length_and_minutes_long(call: dict[str, Any]) -> None:
    stated_ms = truth_of(call)["duration_ms"]
    with av.open(str(DEMO / "calls" / call["file"])) as container:
        [stream] = container.streams.audio
        assert stream.channels == 2
        duration_ms = sum(frame.samples / frame.sample_rate for frame in container.decode(stream)) * 1000
    assert stated_ms >= 150_000
    assert abs(duration_ms - stated_ms) < 50


def test_the_calls_stay_small() -> None:
    assert sum(path.stat().st_size for path in (DEMO / "calls").iterdir()) < CALLS_LIMIT_BYTES


def test_questions_are_many_in_both_languages_and_some_have_no_answer() -> None:
    assert len({question["id"] for question in questions()}) == len(questions()) >= 40
    assert {question["language"] for question in questions()} == {"ru", "en"}
    assert sum(not question["answerable"] for question in questions()) >= 10
    assert sum("call" in question.get("source", {}) for question in questions()) >= 8


@pytest.mark.parametrize("question", questions(), ids=lambda question: str(question["id"]))
def test_a_question_finds_its_answer_in_the_source_it_names(question: dict[str, Any]) -> None:
    if not question["answerable"]:
        assert "source" not in question
        assert question["expects"] == []
        return
    text = text_of_source(question["source"]).casefold()
    assert any(answer.casefold() in text for answer in question["expects"])


def test_what_only_a_call_answers_stands_in_no_document() -> None:
    names = re.compile(r"Пенк|Роман|Светлан|Белый парус|Lighthouse|George|Helen Porter|5093|48-27", re.IGNORECASE)
    assert not [document["file"] for document in documents() if names.search(text_of_document(document["file"]))]
