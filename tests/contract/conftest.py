"""What the contract's tests share: a server that is small and has no models, and calls that were recognised once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import numpy as np
import pytest

from ingest.speech.recognise import choose_engine
from store import accounts
from store.ids import new_id
from store.settings import load_settings
from store.weights import ModelMissing
from tests.contract import material
from tests.contract.recordings import RATE, encoded, spoken, wav
from tests.contract.site_page import open_page, page  # noqa: F401
from tests.support.receiver import Receiver, receiving
from tests.support.scripted_model import API_KEY, MODEL, ScriptedModel, serve_scripted_model
from tests.support.server import JOB_S, Account, RunningServer

MAX_AUDIO_BYTES = 400_000
SYNC_MAX_BYTES = 150_000
SYNC_MAX_SECONDS = 20
CHAT_REQUESTS_PER_MINUTE = 3
OTHER_MODEL = "openai/other"
"""What chats of `model_server` may be set to beside its own."""


@pytest.fixture(scope="session")
def small_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with narrow limits and no model at all: what is uploaded is accepted, and its task ends in error."""
    running = RunningServer(
        tmp_path_factory.mktemp("small-server"),
        cache_dir=str(tmp_path_factory.mktemp("no-models")),
        llm_model="local",
        max_audio_bytes=str(MAX_AUDIO_BYTES),
        sync_max_bytes=str(SYNC_MAX_BYTES),
        sync_max_seconds=str(SYNC_MAX_SECONDS),
        sync_places="1",
        chat_requests_per_minute=str(CHAT_REQUESTS_PER_MINUTE),
        mcp_requests_per_minute="100000",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def new_small_account(small_server: RunningServer) -> Callable[..., Account]:
    """Makes accounts of the small server."""

    def make(**values: object) -> Account:
        return small_server.new_client(f"client {new_id()}", **values)

    return make


@pytest.fixture
def small_account(new_small_account: Callable[..., Account]) -> Account:
    return new_small_account()


@pytest.fixture
def pause() -> Callable[..., None]:
    """Pauses a client as an operator does; `pause(account, active=True)` takes it back."""

    def set_active(account: Account, *, active: bool = False) -> None:
        with account.server.database.write() as connection:
            accounts.update_tenant(account.tenant_id, connection, is_active=active)

    return set_active


@dataclass
class Upload:
    """An async upload that was polled to its end. `seen` are the distinct (ETag, record) in order."""

    account: Account
    sent: dict[str, str]
    accepted: dict[str, Any]
    seen: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def record(self) -> dict[str, Any]:
        return self.seen[-1][1]

    @property
    def result(self) -> dict[str, Any]:
        assert self.record["transcription_status"] == "success", self.record
        found: dict[str, Any] = self.record["transcription_result_body"]
        return found

    @property
    def communication(self) -> dict[str, Any]:
        answer = self.account.get("/public/v1/communications", params={"id": self.accepted["communication_id"]})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def said_by(self, speaker: str) -> str:
        return " ".join(each["text"] for each in self.result["segments"] if each["speaker"] == speaker).lower()


@dataclass
class HeardCalls:
    """Recordings that a real model heard, one account's. The English ones are of two people: first the left channel
    says "Good afternoon, Polar Owl, English line", then the right one "This is Sarah from Silver Lane"."""

    english: Upload
    """Nothing asked for but what to keep: record_id, direction, occured_at."""
    swapped: Upload
    """Left and right changed, the other direction, and the people in the order that the channels had before."""
    mixed: Upload
    """Russian, two channels mixed down, no language given."""
    three_channels: Upload
    truncated: Upload
    """The first half of the bytes of an MP3 file that says it is whole."""
    sync: httpx2.Response
    """Russian, sync, with words."""

    @property
    def asynchronous(self) -> tuple[Upload, ...]:
        return (self.english, self.swapped, self.mixed, self.three_channels, self.truncated)


ENGLISH_S = 11.0
PEOPLE = '[{"name": "Polar Owl", "role": "employee"}, {"name": "Sarah", "role": "client"}]'
TRUNCATED_S = 14.0
RUSSIAN_S = 6.0


@pytest.fixture(scope="session")
def heard(server: RunningServer) -> HeardCalls:
    try:
        choose_engine(load_settings())
    except ModelMissing as missing:
        pytest.skip(str(missing))
    account = server.new_client("the client whose calls are heard")
    english = spoken("04", 0, ENGLISH_S)
    voices = (english[:, 0], english[7 * RATE :, 1], spoken("05", 0, 5.5)[:, 0])
    three = np.zeros((6 * RATE, 3), np.int16)
    for number, voice in enumerate(voices):
        three[: len(voice), number] = voice[: len(three)]
    mp3 = encoded(spoken("04", 0, TRUNCATED_S), "mp3", "mp3")
    uploads = [
        _upload(
            account,
            wav(english),
            record_id="crm-7781",
            direction="out",
            occured_at="2026-03-04T05:06:07+03:00",
        ),
        _upload(account, wav(english[:, ::-1]), direction="in", language="en", speakers=PEOPLE, summary="false"),
        _upload(account, encoded(spoken("02", 0, RUSSIAN_S), "ogg", "libopus"), channel_speakers="false"),
        _upload(account, wav(three), language="en"),
        _upload(account, mp3[: len(mp3) // 2], language="en"),
    ]
    _poll_all(account, uploads)
    russian = wav(spoken("01", 0, RUSSIAN_S))
    sync = account.upload_audio(russian, mode="sync", language="ru", timestamp_detail="word", record_id="sync")
    return HeardCalls(*uploads, sync=sync)


def _upload(account: Account, audio: bytes, **fields: str) -> Upload:
    answer = account.upload_audio(audio, "call.bin", **fields)
    assert answer.status_code == 202, answer.text
    return Upload(account, fields, answer.json())


def _poll_all(account: Account, uploads: list[Upload]) -> None:
    """Polls until all have ended; the calls are worked on one after the other, so all states are seen."""
    deadline = time.monotonic() + JOB_S
    unfinished = list(uploads)
    while unfinished:
        assert time.monotonic() < deadline, account.server.log()[-4000:]
        for upload in list(unfinished):
            etag = upload.seen[-1][0] if upload.seen else ""
            answer = account.get(
                f"/v1/audio/transcriptions/tasks/{upload.accepted['task_id']}", headers={"If-None-Match": etag}
            )
            if answer.status_code == 200:
                upload.seen.append((answer.headers["ETag"], answer.json()))
                if upload.record["transcription_status"] in ("success", "error"):
                    unfinished.remove(upload)
        time.sleep(0.2)


@pytest.fixture(scope="session")
def _model() -> Iterator[ScriptedModel]:
    with serve_scripted_model() as model:
        yield model


@pytest.fixture(scope="session")
def model_server(_model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server whose chats answer by the scripted model; small limits for documents, the documented ones elsewhere."""
    running = RunningServer(
        tmp_path_factory.mktemp("model-server"),
        llm_model=MODEL,
        llm_api_base=f"{_model.base_url}/v1",
        llm_api_key=API_KEY,
        chat_models=OTHER_MODEL,
        max_document_bytes="20000",
        sweep_s="1",
        # Else the analysis of one test's conversation takes the words that a later test scripted.
        widget_quiet_s="86400",
        chat_quiet_s="86400",
    )
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def scripted(_model: ScriptedModel) -> ScriptedModel:
    """The model of `model_server`, with nothing left of earlier tests."""
    _model.forget()
    return _model


@dataclass(frozen=True)
class Library:
    """An account with documents in two spaces: `prices` (Russian text, a PDF) and `rules` (English)."""

    account: Account
    prices: str
    rules: str
    pdf_id: str


@pytest.fixture(scope="session")
def library(server: RunningServer) -> Library:
    """Tests only read it."""
    account = server.new_client("library")
    prices, rules = account.new_space("Prices"), account.new_space("Rules")
    for space_id, name, content in (
        (prices, "dostavka.txt", material.DELIVERY.encode()),
        (prices, "filtry.md", material.FILTERS.encode()),
        (rules, "returns.html", material.RETURNS.encode()),
        (rules, "parking.txt", material.PARKING.encode()),
    ):
        assert account.add_document(space_id, content, name)["status"] == "success"
    pdf = account.add_document(prices, material.handbook_pdf(), "handbook.pdf")
    assert pdf["status"] == "success", pdf
    return Library(account, prices, rules, pdf["id"])


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    """Takes webhooks on loopback."""
    with receiving() as found:
        yield found


@pytest.fixture(scope="session")
def telling_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that may call the receiver."""
    running = RunningServer(tmp_path_factory.mktemp("telling"), allowed_networks="127.0.0.0/8", sweep_s="1")
    try:
        yield running.start()
    finally:
        running.close()
