"""What is refused of a posted conversation, by the name of its place, and the bounds of a body."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.imports import MOST_ITEMS, MOST_MEDIA, MOST_MS, MOST_REFS, TEXT_CHARACTERS
from store.ids import new_id
from tests.contract.test_imports import CHAT, PATH, accepted, count, details, post, refused
from tests.contract.test_imports import import_server as import_server
from tests.contract.test_imports import refusing as refusing
from tests.contract.test_imports import sender as sender
from tests.support.ids import UNKNOWN_ID
from tests.support.server import Account


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"content": []}, "content"),
        ({"content": None}, "content"),
        ({"content": "Hello"}, "content"),
        ({"content": [{"text": ""}, {}]}, "content"),
        ({"content": [{"text": 7}]}, "content.0.text"),
        ({"content": [{"text": "a"}, "b"]}, "content.1"),
        ({"content": [{"text": "a" * (TEXT_CHARACTERS + 1)}]}, "content.0.text"),
        ({"content": [{"text": "a", "label": "x" * 65}]}, "content.0.label"),
        ({"content": [{"text": "a", "label": ""}]}, "content.0.label"),
        ({"content": [{"text": "a", "at": "yesterday"}]}, "content.0.at"),
        ({"content": [{"text": "a", "at": 1772614800}]}, "content.0.at"),
        ({"content": [{"text": "a", "at": "1000-01-01T00:00:00Z"}]}, "content.0.at"),
        ({"content": [{"text": "a", "start_ms": -1}]}, "content.0.start_ms"),
        ({"content": [{"text": "a", "start_ms": 1.5}]}, "content.0.start_ms"),
        ({"content": [{"text": "a", "start_ms": True}]}, "content.0.start_ms"),
        ({"content": [{"text": "a", "end_ms": MOST_MS + 1}]}, "content.0.end_ms"),
        ({"content": [{"text": "a"}, {"text": "b", "start_ms": 9, "end_ms": 8}]}, "content.1.end_ms"),
        ({"content": [{"text": "a", "media": {}}]}, "content.0.media"),
        ({"content": [{"text": "a", "media": [{}]}]}, "content.0.media.0.ref"),
        ({"content": [{"text": "a", "media": [{"ref": "1"}]}]}, "content.0.media.0.ref"),
        ({"content": [{"text": "a", "media": [{"ref": UNKNOWN_ID, "type": "page"}]}]}, "content.0.media.0.type"),
        ({"content": [{"text": "a", "media": [{"ref": UNKNOWN_ID}] * (MOST_MEDIA + 1)}]}, "content.0.media"),
        ({"direction": "inward"}, "direction"),
        ({"language": "de"}, "language"),
        ({"occured_at": "4.3.2026"}, "occured_at"),
        ({"request_record_id": ""}, "request_record_id"),
        ({"request_record_id": "x" * 65}, "request_record_id"),
        ({"request_record_id": 7}, "request_record_id"),
        ({"summary": "true"}, "summary"),
        ({"user_summary": "x" * 64_001}, "user_summary"),
        ({"webhook_url": "ftp://shop.example/"}, "webhook_url"),
        ({"webhook_url": "x" * 4097}, "webhook_url"),
        ({"webhook_url": "https://shop.example/" + "x" * 4096}, "webhook_url"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_field_out_of_its_bounds_is_refused_by_its_name(
    refusing: Account, fields: dict[str, Any], param: str
) -> None:
    assert refused(post(refusing, **fields)) == (400, "invalid_request_error", param)
    assert count(refusing) == 0


def test_ten_thousand_items_are_taken_and_not_one_more(sender: Account) -> None:
    turns = [{"text": f"Turn {number}", "label": f"S{number % 3}"} for number in range(MOST_ITEMS + 1)]
    assert refused(post(sender, content=turns))[2] == "content"
    found = details(sender, post(sender, content=turns[:-1]))
    assert (len(found["content"]), found["content"][-1]["text"]) == (MOST_ITEMS, f"Turn {MOST_ITEMS - 1}")


def test_a_thousand_files_are_looked_for_and_not_one_more(refusing: Account) -> None:
    of_one = [{"text": "a", "media": [{"ref": new_id()}] * MOST_MEDIA} for _ in range(MOST_REFS // MOST_MEDIA)]
    more = [*of_one, {"text": "b"}, {"text": "c", "media": [{"ref": new_id()}]}]
    assert refused(post(refusing, content=more)) == (400, "invalid_request_error", f"content.{len(of_one) + 1}.media")
    assert refused(post(refusing, content=of_one)) == (400, "invalid_request_error", "content.0.media.0.ref")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"no JSON",
        b"[]",
        b"null",
        b'{"kind": "chat"',
        json.dumps({**CHAT, "content": [{"text": "a\x00b"}]}).encode(),
        b'{"kind": "chat", "channel_type": "telegram", "content": [{"text": "\\ud800"}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=lambda raw: str(raw)[:30],
)
def test_a_body_that_is_no_conversation_is_refused(refusing: Account, raw: bytes) -> None:
    answer = refusing.post(PATH, content=raw, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error"), answer.text


def test_a_body_over_the_bound_is_413(sender: Account) -> None:
    turns = [{"text": "a" * 900_000} for _ in range(5)]
    answer = post(sender, content=turns)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")
    assert accepted(post(sender, content=turns[:4]))


@pytest.mark.proves("imports.post.speakers-with-label")
@pytest.mark.parametrize(
    ("people", "param"),
    [
        ([{"label": "a"}, {"name": "x"}, {"label": "a"}], "speakers.2.label"),
        ([{"label": ""}], "speakers.0.label"),
        ([{"label": "x" * 65}], "speakers.0.label"),
        ([{"label": 7}], "speakers.0.label"),
        ([{"id": "x" * 51}], "speakers.0.id"),
        ([{"name": "x" * 201}], "speakers.0.name"),
        ([{}] * 101, "speakers"),
        ({"id": "7"}, "speakers"),
        (["Anna"], "speakers.0"),
    ],
)
def test_speakers_out_of_their_bounds_are_refused(refusing: Account, people: Any, param: str) -> None:
    assert refused(post(refusing, speakers=people)) == (400, "invalid_request_error", param)
