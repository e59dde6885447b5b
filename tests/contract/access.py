"""The table of access: every route of the server, who may use it, and what it needs to be asked.

`test_access.py` fails where the server has a route that is not here.
"""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from accounts import ledger, webhooks
from accounts.keys import INTEGRATION_PREFIX, Keyring
from accounts.tariffs import Change, new_version
from chat import conversations as widget_conversations
from ingest.vision.recorder import newest_key
from store import (
    account_exports,
    accounts,
    analysis,
    camera_events,
    camera_streams,
    camera_visitors,
    communications,
    index_work,
    operators,
    speakers,
    transcriptions,
)
from store.analysis import CriterionResult, NewItem
from store.blobs import Blobs
from store.camera_visitors import VisitorLooks
from store.communications import ContentItem
from store.database import Connection, now
from store.ids import new_id
from store.speakers import Attending
from tests.contract.partner import Partner, make_partner
from tests.contract.recordings import tone, wav
from tests.support.server import Account, RunningServer

SECRET = "gravelmoth"
"""A word that only the owner's things hold."""
SOUND = wav(tone(0.5)) + f"The sound of {SECRET}".encode()
"""What the owner's call was heard from; the words after its end are nothing to a player."""

Guard = Literal["bearer", "key", "mcp", "visitor", "integration", "session", "open"]


@dataclass(frozen=True, slots=True)
class Row:
    """One method of one path. `{...}` in the path and in `send` stand for ids of the owner's things.

    `paused`: the status of the owner's own request while paused. `foreign`: what another tenant gets with the owner's
    ids; None where the request names none. Of an integration's routes owner and other tenant are two integrations.
    """

    method: str
    path: str
    guard: Guard
    paused: int | None = None
    foreign: int | None = None
    query: str = ""
    json: Any = None
    file: bool = False
    role: Literal["viewer", "operator", "owner"] | None = None
    # Its answer names nothing of the owner's, or no more by then: it cannot show that another's is kept apart.
    plain: bool = False

    @property
    def needed_role(self) -> str:
        """What a person of the cabinet needs: where the row says nothing, a viewer reads and an operator changes."""
        return self.role or ("viewer" if self.method == "GET" else "operator")

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}{self.query}"

    @property
    def ids(self) -> list[str]:
        """Names of the ids in it."""
        return re.findall(r"{(\w+)", f"{self.path} {self.query} {json.dumps(self.json)}")


_COMMUNICATION = "/public/v1/communications/{communication_id}"
_CONVERSATION = "/public/v1/conversations/{conversation_id}"
_PERSON = "/public/v1/speakers/{speaker_id}"
_KB = "/public/v1/kb"
_SPACE = _KB + "/spaces/{space_id}"
_DOCUMENT = _KB + "/documents/{document_id}"
_CLIENTS = "/integration/v1/clients"
_CLIENT = _CLIENTS + "/{external_id:path}"
_STREAMS = "/vision/v1/streams"
_CAMERA = {"name": "New", "rtsp_url": "rtsp://10.255.255.1/camera", "scenarios": ["traffic"]}
_DAY = "?stream_id={stream_id}&from=2026-03-01&to=2026-03-01"
_MESSAGE = {"text": f"What about {SECRET}?"}
_CHAT = {"kind": "chat", "channel_type": "telegram", "content": [{"text": "hello"}]}
_QUESTION = {"text": f"What does the {SECRET} cost?", "document_id": "{document_id}"}
_OPERATOR = "/public/v1/operators/{operator_id}"
_PERSON_TO_INVITE = {"email": "invited@shop.example", "role": "viewer"}
_RPC = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}

ROWS: tuple[Row, ...] = (
    Row("POST", "/v1/audio/transcriptions", "bearer", paused=403, file=True),
    Row("GET", "/v1/audio/transcriptions/tasks/{task_id}", "bearer", paused=403, foreign=404),
    Row("DELETE", "/v1/audio/transcriptions/tasks/{task_id}", "bearer", paused=403, foreign=404),
    Row("GET", "/public/v1/communications", "key", paused=200, foreign=404, query="?id={communication_id}"),
    Row("POST", "/public/v1/communications", "key", paused=403, json=_CHAT),
    Row("GET", "/public/v1/communications/search", "key", paused=200),
    Row("GET", _COMMUNICATION + "/corrections", "key", paused=200, foreign=404),
    Row("PATCH", _COMMUNICATION + "/content/{idx}", "key", paused=403, foreign=404, json={"text": "Other"}),
    Row("PATCH", _COMMUNICATION + "/speakers", "key", paused=403, foreign=404, json={"label": "SPEAKER_00"}),
    Row("POST", _COMMUNICATION + "/analysis", "key", paused=403, foreign=404, json={}),
    Row("GET", _COMMUNICATION + "/memory", "key", paused=200, foreign=404),
    Row("GET", _COMMUNICATION + "/waveform", "key", paused=200, foreign=404),
    Row("GET", _COMMUNICATION + "/words", "key", paused=200, foreign=404),
    Row("GET", _COMMUNICATION + "/export", "key", paused=200, foreign=404, query="?format=txt"),
    Row("DELETE", _COMMUNICATION, "key", paused=403, foreign=404),
    Row("GET", "/public/v1/views", "key", paused=200),
    Row("POST", "/public/v1/views", "key", paused=403, json={"name": "New", "filters": {"kind": "call"}}),
    Row("DELETE", "/public/v1/views/{view_id}", "key", paused=403, foreign=404),
    Row("POST", "/public/v1/media", "key", paused=403, file=True),
    Row("GET", "/public/v1/media/{ref}", "key", paused=200, foreign=404),
    Row("GET", "/public/v1/communications", "key", paused=200, foreign=404, query="?request_record_id={record_id}"),
    Row("GET", "/public/v1/balance", "key", paused=200),
    Row("GET", "/public/v1/balance/history", "key", paused=200),
    Row("GET", "/public/v1/balance/spending", "key", paused=200, plain=True),
    Row("GET", "/public/v1/tariff", "key", paused=200),
    Row("POST", "/public/v1/payment-link", "key", paused=200, json={"amount_rub": 500}, role="owner"),
    Row("GET", "/public/v1/payment-link/{payment_link_id}", "key", paused=200, foreign=404),
    Row("POST", "/public/v1/session-link", "key", paused=200, role="owner"),
    Row("GET", "/public/v1/communications/list", "key", paused=200, query="?speaker_external_id={speaker_external_id}"),
    Row(
        "GET",
        "/public/v1/speakers/profile",
        "key",
        paused=200,
        foreign=404,
        query="?speaker_external_id={speaker_external_id}",
    ),
    Row("GET", _PERSON, "key", paused=200, foreign=404),
    Row("PATCH", _PERSON, "key", paused=403, foreign=404, json={"department": "North"}),
    Row("GET", _PERSON + "/memory", "key", paused=200, foreign=404),
    Row("POST", _PERSON + "/merge", "key", paused=403, foreign=404, json={"speaker_id": "{other_speaker_id}"}),
    Row("DELETE", _PERSON + "/voice", "key", paused=403, foreign=404),
    Row("DELETE", _PERSON, "key", paused=403, foreign=404),
    Row("GET", "/public/v1/commitments", "key", paused=200),
    Row("PATCH", "/public/v1/commitments/{commitment_id}", "key", paused=403, foreign=404, json={"done": True}),
    Row("GET", "/public/v1/chats/list", "key", paused=200),
    Row("GET", "/public/v1/chats", "key", paused=200),
    Row("GET", "/public/v1/chats/models", "key", paused=200, plain=True),
    Row("POST", "/public/v1/chats", "key", paused=403, json={"name": "New"}),
    Row("GET", "/public/v1/chats/{chat_id}", "key", paused=200, foreign=404),
    Row("PATCH", "/public/v1/chats/{chat_id}", "key", paused=403, foreign=404, json={"name": "Other"}),
    Row("POST", "/public/v1/chats/{chat_id}/rotate-key", "key", paused=403, foreign=404),
    Row("POST", "/public/v1/chats/{chat_id}/messages", "key", paused=403, foreign=404, json=_MESSAGE),
    Row("DELETE", "/public/v1/chats/{chat_id}", "key", paused=403, foreign=404),
    Row("GET", "/public/v1/chats/{chat_id}/refused", "key", paused=200, foreign=404),
    Row("GET", "/public/v1/chats/{chat_id}/answers", "key", paused=200, foreign=404, query="?verdict=unanswered"),
    Row("GET", "/public/v1/conversations", "key", paused=200),
    Row("GET", _CONVERSATION, "key", paused=200, foreign=404),
    Row("POST", _CONVERSATION + "/takeover", "key", paused=403, foreign=404, json={"operator_name": "Anna"}),
    Row("POST", _CONVERSATION + "/messages", "key", paused=403, foreign=404, json=_MESSAGE),
    Row("POST", _CONVERSATION + "/release", "key", paused=403, foreign=404),
    Row("GET", _KB + "/spaces", "key", paused=200),
    Row("POST", _KB + "/spaces", "key", paused=403, json={"name": "New", "description": ""}),
    Row("GET", _SPACE, "key", paused=200, foreign=404),
    Row("PATCH", _SPACE, "key", paused=403, foreign=404, json={"name": "Other"}),
    Row("GET", _SPACE + "/documents", "key", paused=200, foreign=404),
    Row("POST", _SPACE + "/documents", "key", paused=403, foreign=404, json={"title": "A", "text": "B"}),
    Row("GET", _DOCUMENT, "key", paused=200, foreign=404),
    Row("POST", _DOCUMENT + "/reindex", "key", paused=403, foreign=404),
    Row("GET", _DOCUMENT + "/chunks", "key", paused=200, foreign=404),
    Row("GET", _DOCUMENT + "/file", "key", paused=200, foreign=404),
    Row("GET", _SPACE + "/questions", "key", paused=200, foreign=404),
    Row("POST", _SPACE + "/questions", "key", paused=403, foreign=404, json=_QUESTION),
    Row("PATCH", _KB + "/questions/{question_id}", "key", paused=403, foreign=404, json={"text": "Other?"}),
    Row("DELETE", _KB + "/questions/{question_id}", "key", paused=403, foreign=404),
    Row("GET", _SPACE + "/evaluations", "key", paused=200, foreign=404),
    Row("POST", _SPACE + "/evaluations", "key", paused=403, foreign=404, json={}),
    Row("GET", _KB + "/evaluations/{evaluation_id}", "key", paused=200, foreign=404),
    Row("POST", "/public/v1/search", "key", paused=200, json={"query": SECRET}, role="viewer"),
    Row("DELETE", _DOCUMENT, "key", paused=403, foreign=404),
    Row("DELETE", _SPACE, "key", paused=403, foreign=404),
    Row("POST", "/public/v1/search", "key", paused=200, json={"query": SECRET, "limit": 50}, role="viewer"),
    Row("GET", "/public/v1/settings", "key", paused=200),
    Row("PATCH", "/public/v1/settings", "key", paused=403, json={"language": "en"}, role="owner"),
    Row("GET", "/public/v1/qc/scenarios", "key", paused=200),
    Row("PUT", "/public/v1/qc/scenarios", "key", paused=403, json={"items": []}),
    Row(
        "POST",
        "/public/v1/qc/scenarios/preview",
        "key",
        paused=403,
        foreign=404,
        json={"items": [], "communication_id": "{communication_id}"},
    ),
    Row("GET", "/public/v1/keys", "key", paused=200),
    Row("POST", "/public/v1/keys", "key", paused=403, json={"name": "New"}, role="owner"),
    # A key that leaked must be ended in any state of the account.
    Row("DELETE", "/public/v1/keys/{key_id}", "key", paused=204, foreign=404, role="owner"),
    Row("GET", "/public/v1/audit", "key", paused=200),
    Row("GET", "/public/v1/operators", "key", paused=200, plain=True),
    Row("POST", "/public/v1/operators", "key", paused=403, json=_PERSON_TO_INVITE, role="owner"),
    Row("PATCH", _OPERATOR, "key", paused=403, foreign=404, json={"name": "Other"}, role="owner"),
    Row("POST", _OPERATOR + "/invitation", "key", paused=403, foreign=404, role="owner"),
    # Who must go has to go in any state of the account.
    Row("DELETE", _OPERATOR, "key", paused=204, foreign=404, role="owner"),
    Row("GET", "/public/v1/tool-calls", "key", paused=200, query="?tool=search_documents"),
    Row("GET", "/public/v1/webhook-deliveries", "key", paused=200),
    Row("POST", "/public/v1/webhook-deliveries/{delivery_id}/resend", "key", paused=202, foreign=404, role="owner"),
    Row(
        "POST",
        "/public/v1/settings/webhook-test",
        "key",
        paused=200,
        json={"webhook_url": "http://127.0.0.1:9/"},
        role="owner",
    ),
    Row("GET", _STREAMS, "bearer", paused=200),
    Row("POST", _STREAMS, "bearer", paused=403, json=_CAMERA),
    Row("GET", _STREAMS + "/{stream_id}", "bearer", paused=200, foreign=404),
    Row("PATCH", _STREAMS + "/{stream_id}", "bearer", paused=403, foreign=404, json={"name": "Other"}),
    Row("GET", _STREAMS + "/{stream_id}/snapshot", "bearer", paused=200, foreign=404),
    Row("GET", "/vision/v1/events", "bearer", paused=200, query="?stream_id={stream_id}"),
    Row("GET", "/vision/v1/analytics/traffic", "bearer", paused=200, foreign=404, query=_DAY),
    Row("GET", "/vision/v1/analytics/heatmap", "bearer", paused=200, foreign=404, query=_DAY),
    Row("DELETE", _STREAMS + "/{stream_id}", "bearer", paused=403, foreign=404),
    Row("POST", "/mcp", "mcp", paused=200, json=_RPC),
    Row("POST", _CLIENTS, "integration", json={"external_id": "{external_id}"}),
    Row("GET", _CLIENT, "integration", foreign=404),
    Row("POST", _CLIENT + "/api-key/rotate", "integration", foreign=404),
    Row("POST", _CLIENT + "/deactivate", "integration", foreign=404),
    Row("POST", _CLIENT + "/reactivate", "integration", foreign=404),
    Row("POST", "/widget/v1/messages", "visitor", json={"text": "hello"}),
    Row("GET", "/widget/v1/messages", "visitor"),
    Row("GET", "/widget/v1/messages/{message_id}/events", "visitor"),
    Row("POST", "/widget/v1/messages/{message_id}/cancel", "visitor"),
    Row("POST", "/widget/v1/feedback", "visitor", json={"message_id": "{message_id}", "value": "up"}),
    Row("POST", "/widget/v1/contact", "visitor", json={}),
    # By the cookie of a browser that a one-time link let in (test_session_links).
    Row("GET", "/cabinet", "session"),
    Row("GET", "/cabinet/{page:path}", "session"),
    Row("POST", "/cabinet/switch", "session"),
    Row("POST", "/cabinet/logout", "session"),
    # What nobody has to prove anything for, but the secret in the address or the form.
    Row("GET", "/vision/v1/snapshots/{token}", "open"),
    Row("GET", "/cabinet/sign-in", "open"),
    Row("GET", "/cabinet/preview", "open"),
    Row("POST", "/cabinet/sign-in", "open"),
    Row("GET", "/cabinet/enter", "open", query="?code=unknown"),
    Row("POST", "/cabinet/enter", "open"),
    Row("GET", "/cabinet/session-link", "open", query="?code=unknown"),
    Row("POST", "/cabinet/session-link", "open"),
    Row("GET", "/payments/sandbox/{token}", "open"),
    Row("POST", "/payments/sandbox/{token}", "open"),
    Row("GET", "/payments/return/{token}", "open"),
    Row("POST", "/payments/yookassa/notifications", "open"),
    # What nobody has to prove anything for.
    Row("GET", "/public/v1/account/exports", "key", paused=200, role="owner", plain=True),
    Row("GET", "/public/v1/account/exports/{export_id}", "key", paused=200, foreign=404, role="owner"),
    Row("GET", "/public/v1/account/exports/{export_id}/file", "key", paused=200, foreign=404, role="owner"),
    Row("DELETE", "/public/v1/account/exports/{export_id}", "key", paused=204, foreign=404, role="owner"),
    Row("POST", "/public/v1/account/exports", "key", paused=202, role="owner"),
    Row("DELETE", "/public/v1/account", "key", paused=400, json={"confirmation": "not its name"}, role="owner"),
    Row("POST", "/trial/v1/transcriptions", "open"),
    Row("GET", "/trial/v1/transcriptions/{token}", "open"),
    Row("DELETE", "/trial/v1/transcriptions/{token}", "open"),
    Row("GET", "/trial/v1/transcriptions/{token}/audio", "open"),
    Row("GET", "/widget.js", "open"),
    Row("GET", "/widget/v1/config", "open", query="?key=wk_unknown"),
    Row("POST", "/widget/v1/visitors", "open", json={"public_key": "wk_unknown"}),
    Row("GET", "/healthz", "open"),
    Row("GET", "/readyz", "open"),
    Row("GET", "/metrics", "open"),
    Row("GET", "/openapi/speech.json", "open"),
    Row("GET", "/openapi/public.json", "open"),
    Row("GET", "/openapi/integration.json", "open"),
    Row("GET", "/openapi/vision.json", "open"),
    Row("GET", "/docs", "open"),
    Row("GET", "/docs/search", "open", query="?q=webhook"),
    Row("GET", "/docs/{page:path}", "open"),
    Row("GET", "/", "open"),
    Row("GET", "/demo", "open"),
    Row("GET", "/assets", "open"),
    Row("GET", "/cabinet/assets", "open"),
)

# What a tool is asked for, with ids of the owner's things; and whether the owner finds the secret word by it.
TOOLS: dict[str, list[tuple[dict[str, Any], bool]]] = {
    "search_speakers": [({}, True), ({"query": SECRET}, True), ({"query": "{speaker_external_id}"}, True)],
    "search_communications": [
        ({}, True),
        ({"query": SECRET}, True),
        ({"participants": ["{speaker_id}"]}, True),
        ({"query": SECRET, "participants": ["{speaker_id}"]}, True),
        ({"query": SECRET, "participant_role": "client", "category": "support"}, True),
    ],
    "search_commitments": [({}, True), ({"query": SECRET}, True), ({"speaker_id": "{speaker_id}"}, True)],
    "get_period_metrics": [({}, False), ({"group_by": "category"}, False)],
    "rank_people": [({}, True), ({"speaker_id": "{speaker_id}"}, True), ({"group_by": "department"}, False)],
    "rank_signals": [({}, False), ({"speaker_id": "{speaker_id}", "group_by": "client"}, False)],
    "rank_qc": [({"min_evaluations": 1}, False), ({"speaker_id": "{speaker_id}"}, False)],
    "get_communication": [({"communication_id": "{communication_id}"}, True)],
    "get_qc_evaluation": [({"communication_id": "{communication_id}"}, True)],
    "search_memory": [({}, True), ({"query": SECRET}, True), ({"speaker_id": "{speaker_id}"}, True)],
    "search_documents": [({"query": SECRET}, True), ({"query": SECRET, "space_ids": ["{space_id}"]}, True)],
    "list_kb_spaces": [({}, True)],
    "list_kb_documents": [({"space_id": "{space_id}"}, True)],
    "list_kb_chunks": [({"document_id": "{document_id}"}, True)],
    "search_product_docs": [({"query": "Where do I send a recording?"}, False)],
}
ROWS += tuple(
    Row("POST", f"/public/v1/tools/{name}", "key", paused=200, json=asked[0][0], role="viewer")
    for name, asked in TOOLS.items()
)
KEYED = tuple(row for row in ROWS if row.guard in ("bearer", "key"))
FOREIGN = tuple(row for row in KEYED if row.foreign is not None)


@dataclass(frozen=True, slots=True)
class Owner:
    """A tenant with one of everything, each holding the secret word, the ids of it all, and a partner with a client."""

    account: Account
    ids: dict[str, str]
    partner: Partner

    def filled(self, value: Any) -> Any:
        """`value` with the ids in place of their names."""
        if isinstance(value, str):
            return value.format(**self.ids, idx=0)
        if isinstance(value, dict):
            return {name: self.filled(each) for name, each in value.items()}
        return [self.filled(each) for each in value] if isinstance(value, list) else value

    def options(self, row: Row) -> dict[str, Any]:
        """What `Account.request` needs beside method and path."""
        if row.file:
            return {"files": {"file": ("call.wav", b"no sound")}}
        headers = {"Origin": self.account.server.url} if row.guard == "visitor" else {}
        return {"json": self.filled(row.json), "headers": headers} if row.json is not None else {"headers": headers}

    def url(self, row: Row) -> str:
        return str(self.filled(row.path.replace(":path}", "}") + row.query))


def _export(account: Account) -> str:
    """One that is ready."""
    with account.server.database.write() as connection:
        export = account_exports.create(account.tenant_id, connection, actor="test")
        later = now() + timedelta(days=1)
        values = {"status": "success", "progress": 1.0, "ended_at": now(), "expires_at": later}
        account_exports.update(account.tenant_id, connection, export.id, **values)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("account.json", f"All of {SECRET}")
    Blobs(account.server.settings).put(export.blob_key, archive.getvalue())
    return export.id


def make_owner(account: Account) -> Owner:
    """Fills an account: a document by upload; a call as if it had been recognised, for tests without a speech model."""
    space_id = account.new_space(f"Space {SECRET}")
    text = f"The {SECRET} costs ninety roubles and is kept in the second drawer.".encode()
    document = account.add_document(space_id, text, f"{SECRET}.txt")
    assert document["status"] == "success", document
    asked = {"text": f"What does the {SECRET} cost?", "document_id": document["id"]}
    question = account.post(f"/public/v1/kb/spaces/{space_id}/questions", json=asked)
    assert question.status_code == 201, question.text
    evaluation = account.post(f"/public/v1/kb/spaces/{space_id}/evaluations", json={"label": SECRET})
    assert evaluation.status_code == 202, evaluation.text
    account.call_tool("search_documents", query=SECRET, space_ids=[space_id])
    audio_key = f"{account.tenant_id}/audio/{new_id()}"
    Blobs(account.server.settings).put(audio_key, SOUND)
    with account.server.database.write() as connection:
        call = communications.create(
            account.tenant_id,
            connection,
            kind="call",
            channel_type="phone",
            occured_at=now(),
            title=f"About {SECRET}",
            request_record_id=f"record-{SECRET}",
            is_closed=True,
        )
        said = ContentItem("audio_utterance", f"Is the {SECRET} there?", "SPEAKER_00", 0, 900, call.occured_at)
        communications.replace_content(account.tenant_id, connection, call.id, [said])
        person = speakers.upsert(account.tenant_id, connection, external_id=f"person-{SECRET}", name=SECRET)
        speakers.attach(account.tenant_id, connection, call.id, [Attending(person.id, "client", "SPEAKER_00")])
        remembered = NewItem("memory", f"Keeps the {SECRET} in the drawer", speaker_id=person.id)
        analysis.add_memory(account.tenant_id, connection, call.id, [remembered])
        other = speakers.upsert(account.tenant_id, connection, external_id=f"other-{SECRET}", name=f"Other {SECRET}")
        promised = NewItem("commitment", f"Send the {SECRET}", None, {"deadline": "2026-03-06"}, person.id)
        analysis.put_summary(
            account.tenant_id, connection, call.id, text=f"About the {SECRET}", category="support", items=[promised]
        )
        commitment_id = analysis.list_items(account.tenant_id, connection, call.id)[0].id
        proof = CriterionResult("greeting", "binary", True, evidence=f"Is the {SECRET} there?")
        analysis.put_qc(
            account.tenant_id,
            connection,
            call.id,
            scenario_code="support_incident",
            score_pct=100.0,
            comment=None,
            status="success",
            criteria=[proof],
        )
        analysis.set_stage(account.tenant_id, connection, call.id, "qc", "success")
        index_work.add(account.tenant_id, connection, action=index_work.INDEX_MEMORY, subject_id=person.id)
        task = transcriptions.create(
            account.tenant_id,
            connection,
            communication_id=call.id,
            blob_key=audio_key,
            file_name="call.wav",
            parameters={},
            occured_at=call.occured_at,
        )
        transcriptions.update(account.tenant_id, connection, task.id, status="success", progress=1.0)
        index_work.add(account.tenant_id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=call.id)
        stream_id = add_camera(account, connection)
        email = f"{SECRET}-{new_id()}@shop.example"  # no two accounts of a server have one
        assert accounts.update_tenant(account.tenant_id, connection, email=email)
        colleague = operators.add(
            account.tenant_id, connection, email=f"anna@{SECRET}.example", name=f"Anna {SECRET}", role="viewer"
        )
        assert colleague is not None
        new_version(connection, [Change("qc", 1_000_000)], f"Prices of {SECRET}", tenant=account.made.tenant)
        delivery = webhooks.emit(
            account.tenant_id,
            connection,
            event="kb.completed",
            subject=document["id"],
            fields={"document_id": document["id"], "space_id": space_id},
            url=f"http://127.0.0.1:9/{SECRET}",
        )
        assert delivery is not None
        # What the owner spends meanwhile changes the last digits alone.
        ledger.credit(
            account.tenant_id,
            connection,
            key="owner",
            amount_micro=735_146_500 * ledger.MICRO,
            source="payment",
            source_ref=call.id,
            description=f"For the {SECRET}",
        )
    conversation_id, message_id = new_id(), new_id()
    widget_conversations.accept(
        account.server.database, account.tenant_id, account.chat_id, conversation_id, message_id, f"Is {SECRET} there?"
    )
    origin = f"https://{SECRET}.example"
    assert account.request("PATCH", "/public/v1/settings", json={"widget_origins": [origin]}).status_code == 200
    quality = {"items": [], "company": {"contacts": [origin]}}
    assert account.request("PUT", "/public/v1/qc/scenarios", json=quality).status_code == 200
    view = account.post("/public/v1/views", json={"name": f"About {SECRET}", "filters": {"query": SECRET}}).json()
    link = account.post("/public/v1/payment-link", json={"amount_rub": 500}).json()
    key = account.post("/public/v1/keys", json={"name": f"For the {SECRET}"}).json()
    export_id = _export(account)
    partner = make_partner(account.server)
    client = partner.made(name=f"Client of the {SECRET}")
    deadline = time.monotonic() + 120
    for tool in ("search_communications", "search_memory"):
        while SECRET not in str(account.call_tool(tool, query=SECRET)):
            assert time.monotonic() < deadline, "the sweeper did not put it into the index"
            time.sleep(0.05)
    return Owner(
        account,
        {
            "space_id": space_id,
            "document_id": document["id"],
            "question_id": question.json()["id"],
            "evaluation_id": evaluation.json()["id"],
            "communication_id": call.id,
            "view_id": view["id"],
            "export_id": export_id,
            "ref": call.id,
            "record_id": f"record-{SECRET}",
            "speaker_id": person.id,
            "other_speaker_id": other.id,
            "commitment_id": commitment_id,
            "speaker_external_id": f"person-{SECRET}",
            "task_id": task.id,
            "stream_id": stream_id,
            "delivery_id": delivery.id,
            "chat_id": account.chat_id,
            "conversation_id": conversation_id,
            "message_id": message_id,
            "key_id": key["id"],
            "operator_id": colleague.id,
            "tariff": f"Prices of {SECRET}",
            "payment_link_id": link["id"],
            "origin": origin,
            "external_id": client["external_id"],
            "first_digits_of_the_balance": "735156",
        },
        partner,
    )


def add_camera(account: Account, connection: Connection) -> str:
    """The id of a camera that saw something; it is at an address that is never called."""
    stream = camera_streams.add(
        account.tenant_id,
        connection,
        name=f"Camera at the {SECRET}",
        url=Keyring.of(account.server.settings).encrypt(b"rtsp://169.254.0.1/camera"),
        shown_url=f"rtsp://169.254.0.1/{SECRET}",
        transport="tcp",
        scenarios=["traffic"],
        site_id=None,
        geo=None,
        webhook_url=None,
        key_id=None,
    )
    Blobs(account.server.settings).put(newest_key(account.tenant_id, stream.id), SECRET.encode())
    event_id = new_id()
    assert camera_events.add(
        account.tenant_id,
        connection,
        stream.id,
        event_id,
        subject="1",
        scenario="traffic",
        kind="person_entered",
        confidence=0.9,
        occurred_at=now(),
        details={"zone": SECRET},
        snapshot_key=None,
    )
    seen = VisitorLooks(now().date(), 1, 1, SECRET.encode())
    camera_visitors.put(account.tenant_id, connection, stream.id, [seen])
    return stream.id


def integration_secret(server: RunningServer, name: str) -> str:
    """The secret of a real integration."""
    from accounts.partners import create_integration

    with server.database.write() as connection:
        _, secret = create_integration(connection, Keyring.of(server.settings), name=name)
    assert secret.startswith(INTEGRATION_PREFIX)
    return secret
