"""kill -9 at random moments, again and again, while calls and documents are in work: all of it ends once."""

from __future__ import annotations

import json
import random
import time

import pytest

from tests.soak.conftest import Size
from tests.support.audio import call_clip
from tests.support.server import RunningServer

pytestmark = pytest.mark.soak

CLIP_S = 25


@pytest.mark.models
def test_calls_and_documents_end_once_however_often_the_server_is_killed(
    own_server: RunningServer, size: Size, chance: random.Random
) -> None:
    account = own_server.new_client("client")
    space = account.new_space()
    tasks: list[tuple[str, str]] = []
    documents: list[tuple[str, str]] = []
    clips = [call_clip("01", start, start + CLIP_S) for start in (0, 30, 60)]
    for number in range(size.kills):
        accepted = account.upload_audio(chance.choice(clips), f"call-{number}.wav", language="ru").json()
        tasks.append((accepted["task_id"], accepted["communication_id"]))
        word = f"слово{number}слово"
        text = f"# Раздел {number}\n\n" + " ".join(f"Правило {each} называется {word}." for each in range(40))
        documents.append((account.upload_document(space, text.encode(), f"{number}.md").json()["id"], word))
        time.sleep(chance.uniform(0.05, 6.0))
        own_server.kill()
        own_server.start()
    for task_id, communication_id in tasks:
        record = account.finished_task(task_id)
        assert record["transcription_status"] == "success", record
        details = account.get(f"/public/v1/communications?id={communication_id}").json()
        said = [segment["text"] for segment in record["transcription_result_body"]["segments"]]
        assert [item["text"] for item in details["content"]] == said
    listed = json.loads(account.call_tool("search_communications", limit=50)["result"]["content"][0]["text"])
    assert sorted(item["id"] for item in listed["items"]) == sorted(communication for _, communication in tasks)
    for document_id, word in documents:
        record = account.finished_document(document_id)
        assert record["status"] == "success", record
        found = json.loads(account.call_tool("search_documents", query=word, limit=50)["result"]["content"][0]["text"])
        chunk_ids = [item["chunk_id"] for item in found["items"] if item["document_id"] == document_id]
        assert sorted(chunk_ids) == sorted(set(chunk_ids))
        assert len(chunk_ids) == record["chunk_count"]
