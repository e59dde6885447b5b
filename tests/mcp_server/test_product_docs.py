"""The index over the project's own documentation: what it finds, where its vectors lie, and what happens without."""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from mcp_server.product_docs import CONTENTS, DOCS_FOLDER, ProductDocs, anchor_of, page_files, passages
from rag.embedding import BUILT_IN_MODEL, Embedder, choose_embedder
from rag.index import Filter, Vector
from rag.search import Searcher
from store.settings import Settings
from tests.support.embedders import NEW, OLD, HashEmbedder

# What people and agents ask, and the pages that answer it.
QUESTIONS = [
    ("How do I connect Claude Desktop or Cursor?", "mcp.md"),
    ("Как подключить Claude к Parley?", "mcp.md"),
    ("Сколько запросов в минуту можно делать по MCP?", "mcp.md"),
    ("Which protocol versions does the MCP server speak?", "mcp.md"),
    ("langchain mcp adapters example", "mcp.md"),
    ("How do I send a recording for transcription?", "calls.md"),
    ("Как отправить запись звонка на распознавание?", "calls.md"),
    ("stereo channels and who speaks", "calls.md"),
    ("как отличить голоса на записи с одним каналом", "calls.md"),
    ("import a Telegram export", "imports.md"),
    ("Как загрузить переписку из WhatsApp?", "imports.md"),
    ("mbox files of mails", "imports.md"),
    ("How is quality control scored?", "analysis.md quality.md"),
    ("настроить критерии контроля качества", "quality.md"),
    ("Which scenarios and criteria can I choose?", "quality.md"),
    ("Как делается краткое содержание разговора?", "analysis.md"),
    ("обещания и сроки из разговора", "analysis.md"),
    ("Какие форматы документов можно загружать в базу знаний?", "knowledge.md"),
    ("upload a pdf to a space", "knowledge.md"),
    ("как ограничить доступ к пространству базы знаний", "knowledge.md"),
    ("verify the signature of a webhook", "webhooks.md"),
    ("Как проверить подпись вебхука?", "webhooks.md"),
    ("what happens when my webhook receiver is down, retries", "webhooks.md"),
    ("How do I create a client account as a partner?", "integration.md"),
    ("поставить клиента на паузу и возобновить", "integration.md"),
    ("payment link with YooKassa", "payments.md"),
    ("Как принять оплату через ЮKassa?", "payments.md"),
    ("one-time link into the cabinet", "payments.md"),
    ("Сколько стоит минута распознавания, тарифы", "billing.md"),
    ("How are holds and debits booked?", "billing.md"),
    ("which port does the server listen on", "settings.md"),
    ("переменная PARLEY_DATA_DIR", "settings.md"),
    ("health check and metrics endpoint", "operations.md"),
    ("где лежат данные и логи сервера", "operations.md settings.md"),
    ("streaming answers of the chat", "chat.md"),
    ("какую языковую модель использует чат", "chat.md settings.md"),
    ("How do I start from nothing, quick start", "getting-started.md"),
    ("сколько хранятся записи звонков", "operations.md settings.md calls.md"),
]
PATIENCE_S = 120.0  # however busy the machine is
ENGLISH = [question for question in QUESTIONS if question[0].isascii()]


def missed(searcher: Searcher, questions: Sequence[tuple[str, str]]) -> list[str]:
    """The questions whose page is not among the first three passages."""
    return [question for question, files in questions if not found(searcher, question) & set(files.split())]


def found(searcher: Searcher, question: str, limit: int = 3) -> set[str]:
    return {str(each.payload["file"]) for each in searcher.search("", question, Filter(), limit)}


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    spec = choose_embedder(Settings(_env_file=None))  # type: ignore[call-arg]
    if spec is None or spec.name != BUILT_IN_MODEL:
        pytest.skip(f"the model {BUILT_IN_MODEL} is not installed (parley models pull)")
    return spec.load()


@pytest.mark.models
def test_questions_in_both_languages_find_their_page_among_the_first_three(embedder: Embedder, tmp_path: Path) -> None:
    searcher = ProductDocs().searcher(embedder, tmp_path, PATIENCE_S)
    misses = missed(searcher, QUESTIONS)
    print(f"\nhit@3 {1 - len(misses) / len(QUESTIONS):.2f} of {len(QUESTIONS)}; missed: {misses}")
    assert len(misses) <= 0.15 * len(QUESTIONS)


def test_without_a_model_english_questions_find_their_page_by_words() -> None:
    misses = missed(ProductDocs().searcher(None, None), ENGLISH)
    print(f"\nhit@3 by words {1 - len(misses) / len(ENGLISH):.2f} of {len(ENGLISH)}; missed: {misses}")
    assert len(misses) <= 0.15 * len(ENGLISH)


def test_every_page_but_the_list_of_them_is_cut_along_its_headings() -> None:
    assert {point.payload["file"] for point in passages()} == set(page_files()) - {CONTENTS}
    webhooks = [point for point in passages() if point.payload["file"] == "webhooks.md"]
    assert len({point.payload["anchor"] for point in webhooks}) > 1
    assert all(str(point.payload["title"]).startswith("Webhooks") for point in webhooks)
    assert all(point.text for point in passages())


def test_an_anchor_is_what_code_hosts_make_of_a_heading() -> None:
    assert anchor_of("Short files, at once: `sync`") == "short-files-at-once-sync"
    assert anchor_of("2024-11-05") == "2024-11-05"
    assert anchor_of("Что нового") == "что-нового"


def test_vectors_are_computed_once_and_read_by_the_next_process(tmp_path: Path) -> None:
    first, second = Counted(), Counted()
    before = ProductDocs().searcher(first, tmp_path, PATIENCE_S).search("", "webhook", Filter(), 5)
    after = ProductDocs().searcher(second, tmp_path, PATIENCE_S).search("", "webhook", Filter(), 5)
    assert (first.calls, second.calls) == (1, 0)
    assert [each.id for each in before] == [each.id for each in after]
    assert all(each.dense is not None for each in before)


def test_another_model_and_a_damaged_file_have_them_computed_anew(tmp_path: Path) -> None:
    ProductDocs().searcher(Counted(), tmp_path, PATIENCE_S)
    other = HashEmbedder(OLD)
    assert ProductDocs().searcher(other, tmp_path, PATIENCE_S).embedder is other
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2
    whole = files[0].read_bytes()
    for damage in (b"", b"PK\x03\x04 no archive", whole[: len(whole) // 2]):
        for file in files:
            file.write_bytes(damage)
        again = Counted()
        assert ProductDocs().searcher(again, tmp_path, PATIENCE_S).embedder is again
        assert again.calls == 1
    assert sorted(tmp_path.iterdir()) == files


def test_where_nothing_can_be_kept_the_answer_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    embedder = Counted()
    assert ProductDocs().searcher(embedder, tmp_path / "file", PATIENCE_S).embedder is embedder
    assert ProductDocs().searcher(embedder, None, PATIENCE_S).embedder is embedder


def test_a_model_that_fails_leaves_the_search_by_words(tmp_path: Path) -> None:
    embedder = Counted()
    embedder.fails = True
    docs = ProductDocs()
    for _ in range(3):
        assert "webhooks.md" in found(
            docs.searcher(embedder, tmp_path, PATIENCE_S), "verify the signature of a webhook"
        )
    assert embedder.calls == 1, "it is not asked again at once"


def test_a_model_that_is_busy_is_waited_for_only_where_words_find_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_server.product_docs._PATIENCE_S", 0.0)
    monkeypatch.setattr("mcp_server.product_docs._LONG_PATIENCE_S", 30.0)
    embedder, free = Counted(), threading.Event()
    embedder.before = lambda: free.wait(30)
    docs = ProductDocs()
    by_words = docs.search("webhook", 3, embedder, tmp_path)
    assert by_words
    assert all(each.dense is None for each in by_words)
    threading.Timer(0.2, free.set).start()
    by_meaning = docs.search("вебхук", 3, embedder, tmp_path)
    assert len(by_meaning) == 3
    assert all(each.dense is not None for each in by_meaning)
    assert embedder.calls == 1


def test_many_who_ask_at_once_have_one_index_made(tmp_path: Path) -> None:
    docs, embedder = ProductDocs(), Counted()
    searchers: list[Searcher] = []
    threads = [
        threading.Thread(target=lambda: searchers.append(docs.searcher(embedder, tmp_path, PATIENCE_S)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert embedder.calls == 1
    assert len({tuple(sorted(found(each, "webhook", 10))) for each in searchers}) == 1


class Counted(HashEmbedder):
    def __init__(self) -> None:
        super().__init__(NEW)
        self.calls = 0

    def embed_for_index(self, texts: Sequence[str]) -> list[Vector]:
        self.calls += 1
        return super().embed_for_index(texts)


def test_the_documentation_is_where_the_program_is() -> None:
    assert (DOCS_FOLDER / CONTENTS).is_file()


def test_a_wheel_carries_the_documentation_beside_the_program() -> None:
    project = tomllib.loads((DOCS_FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {DOCS_FOLDER.name, "mcp_server"} <= set(wheel["only-include"])
