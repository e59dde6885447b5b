"""Texts of one account, each with a word of its own in it, and whether each is there once."""

from __future__ import annotations

from tests.contract.mcp import found_by
from tests.contract.test_knowledge import SPACES
from tests.support.server import Account

STEPS = ("fetch_document", "parse_document", "index_chunks", "finish_document")
"""Of the job of each."""


class Documents:
    def __init__(self, account: Account) -> None:
        self._account = account
        self._space_id = account.new_space()
        self.words: dict[str, str] = {}

    def add(self) -> str:
        """The id of a document, sent again under its key until it is accepted."""
        word = f"галчонок{len(self.words)}галчонок"
        text = "\n\n".join([*(f"# Полка {number}\n\n{'Коробки с кофе. ' * 20}" for number in range(20)), f"# {word}"])
        body = {"title": f"Text {len(self.words)}", "text": f"{text}\n\nПароль от сейфа: {word}."}
        answer = self._account.post_at_last(f"{SPACES}/{self._space_id}/documents", json=body)
        assert answer.status_code == 202, answer.text
        document_id = str(answer.json()["id"])
        self.words[document_id] = word
        return document_id

    def assert_each_is_there_once(self) -> None:
        for document_id, word in self.words.items():
            record = self._account.finished_document(document_id)
            assert record["status"] == "success", record
            items = found_by(self._account, "search_documents", query=f"пароль от сейфа {word}", limit=10)["items"]
            assert [item["document_id"] for item in items if f": {word}" in item["snippet"]] == [document_id]
        listed = self._account.get(f"{SPACES}/{self._space_id}/documents", params={"limit": 100}).json()
        assert sorted(item["id"] for item in listed["items"]) == sorted(self.words)
