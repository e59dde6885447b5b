"""Communications that the cabinet's tests look at: a call with everything that one can have, and chats."""

from __future__ import annotations

import math
import struct
from datetime import UTC, datetime, timedelta

from store import analysis, communications, index_work, speakers, transcriptions
from store.analysis import CriterionResult, NewItem
from store.blobs import Blobs
from store.communications import ContentItem
from store.ids import new_id
from store.speakers import Attending
from tests.support.server import Account

AT = datetime(2026, 3, 4, 9, tzinfo=UTC)
HOSTILE = "<img src=x onerror=\"document.title='hacked'\"><script>document.title='hacked'</script>"
SAID = ("Good morning, this is the lamp shop", "My gravelmoth lamp arrived broken", "We will send a new one tomorrow")


def sound(seconds: int) -> bytes:
    data = struct.pack(f"<{seconds * 8000}h", *(round(9000 * math.sin(number / 5)) for number in range(seconds * 8000)))
    head = (b"RIFF", 36 + len(data), b"WAVEfmt ", 16, 1, 1, 8000, 16_000, 2, 16, b"data", len(data))
    return struct.pack("<4sI8sIHHIIHH4sI", *head) + data


def add_call(account: Account, *, failed_of: str | None = None) -> str:
    """A call of 30 seconds with sound, words, people, analysis; `failed_of`: why its recognition failed."""
    key, tenant = f"{account.tenant_id}/audio/{new_id()}", account.tenant_id
    recording = sound(30)
    Blobs(account.server.settings).put(key, recording)
    with account.server.database.write() as connection:
        row = communications.create(
            tenant,
            connection,
            kind="call",
            channel_type="phone",
            occured_at=AT,
            title="",
            direction="in",
            duration_ms=30_000,
            is_closed=True,
        )
        labels = ("SPEAKER_00", "SPEAKER_01", "SPEAKER_00")
        items = [
            ContentItem("audio_utterance", text, label, number * 10_000, number * 10_000 + 8_000, AT)
            for number, (text, label) in enumerate(zip(SAID, labels, strict=True))
        ]
        communications.replace_content(tenant, connection, row.id, items)
        words = [
            [{"word": word, "start": number * 10 + at} for at, word in enumerate(text.split())]
            for number, text in enumerate(SAID)
        ]
        segments = [
            {"text": text, "start": number * 10, "end": number * 10 + 8, "speaker": labels[number], "words": said}
            for number, (text, said) in enumerate(zip(SAID, words, strict=True))
        ]
        task = transcriptions.create(
            tenant,
            connection,
            communication_id=row.id,
            blob_key=key,
            file_name="call.wav",
            parameters={"words": True},
            occured_at=AT,
            media_type="audio/wav",
            size_bytes=len(recording),
        )
        result = {"language": "en", "text": " ".join(SAID), "audio_duration_ms": 30_000, "segments": segments}
        ended = (
            {"status": "error", "error_message": failed_of} if failed_of else {"status": "success", "result": result}
        )
        transcriptions.update(tenant, connection, task.id, progress=1.0, **ended)
        client = speakers.upsert(tenant, connection, external_id="c-1", name="Anna Client", role="client")
        speakers.attach(tenant, connection, row.id, [Attending(client.id, "client", "SPEAKER_01")])
        promise = NewItem("commitment", "Send a new lamp", None, {"deadline": "2026-03-05", "quote": SAID[2], "idx": 2})
        summary = f"A broken lamp. {HOSTILE}"
        analysis.put_summary(tenant, connection, row.id, text=summary, category="complaint", items=[promise])
        analysis.put_qc(
            tenant,
            connection,
            row.id,
            scenario_code="existing_case",
            score_pct=50.0,
            comment=None,
            status="success",
            criteria=[
                CriterionResult("greeting", "binary", True, evidence="Good morning"),
                CriterionResult("farewell", "binary", False, evidence=""),
            ],
        )
        for stage in ("summary", "qc"):
            analysis.set_stage(tenant, connection, row.id, stage, "success")
        index_work.add(tenant, connection, action=index_work.INDEX_COMMUNICATION, subject_id=row.id)
    return row.id


def add_chat(account: Account, text: str, number: int = 1) -> str:
    body = {
        "kind": "chat",
        "channel_type": "telegram",
        "occured_at": (AT - timedelta(hours=number)).isoformat(),
        "speakers": [{"id": f"v-{number}", "name": f"Visitor {number}", "role": "client", "label": "v"}],
        "summary": False,
        "content": [{"text": text, "label": "v"}],
    }
    answer = account.post("/public/v1/communications", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["communication_id"])


def add_chats(account: Account, count: int) -> None:
    with account.server.database.write() as connection:
        for number in range(count):
            communications.create(
                account.tenant_id,
                connection,
                kind="chat",
                channel_type="telegram",
                occured_at=AT - timedelta(hours=number),
                title="",
                is_closed=True,
            )
