"""The demo company: an account, its documents and its calls, loaded through the same endpoints that users have."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx2

from accounts import clients, ledger, partners
from accounts.keys import INTEGRATION_PREFIX, Keyring
from api.commands_accounts import open_accounts
from api.demo_camera import show_parcels
from api.progress import Progress
from store import accounts, chats, integrations
from store.accounts import Tenant
from store.database import Connection, Database
from store.errors import Unavailable
from store.ids import new_id
from store.settings import Settings

FOLDER = Path(__file__).parent.parent / "demo"
INTEGRATION_NAME = "demo partner"
LOOPBACK = ("127.0.0.0/8", "::1/128")
START_S = 60.0
JOB_S = 1800.0
LEAST_BALANCE_RUB = Decimal(11_000)
TOP_UP_RUB = Decimal(25_000)
CAMERA = "Parcels before a camera"


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """What demo.json says of the account."""

    tenant: Tenant
    api_key: str
    integration_secret: str
    chat_id: str
    widget_key: str


def load_demo(settings: Settings, *, small: bool = False, quiet: bool = False) -> dict[str, Any]:
    """Makes what is missing of the demo and writes demo.json into the data folder; returns what is in it. `small`: one
    recording of each language, since hearing them is most of the work.

    Raises InvalidRequest for a database that is not up to date, Unavailable where loading did not come to its end.
    """
    company = tomllib.loads((FOLDER / "company.toml").read_text(encoding="utf-8"))
    if small:
        company["call"] = list({each["language"]: each for each in reversed(company["call"])}.values())
    file = settings.data_dir / "demo.json"
    known = _read(file)
    account = _make_account(settings, company, known)
    loaded = set(_wanted(company)) <= set(known.get("loaded") or ())
    written = {
        "base_url": settings.effective_public_url,
        "tenant_id": account.tenant.id,
        "external_id": account.tenant.external_id,
        "api_key": account.api_key,
        "integration_secret": account.integration_secret,
        "widget_key": account.widget_key,
        "cabinet_url": settings.effective_cabinet_url,
        "chat_id": account.chat_id,
        "space_id": known.get("space_id"),
        "loaded": known.get("loaded"),
    }
    if not loaded:
        with _serving(settings) as url:
            progress = Progress(quiet=quiet)
            loader = Loader(url, account.api_key, progress)
            spaces = loader.load(company)
            progress.update(CAMERA, 1.0, done=show_parcels(settings, account.tenant.id, url, account.api_key))
        _open_spaces(settings, account, [spaces[each["key"]] for each in company["space"] if each["customers"]])
        written["space_id"] = spaces[company["space"][0]["key"]]
        written["loaded"] = _wanted(company)
    if written != known:
        _write(file, written)
    return {name: value for name, value in written.items() if name != "loaded"}


def _wanted(company: dict[str, Any]) -> list[str]:
    files, calls = (each["file"] for each in company["document"]), (each["record_id"] for each in company["call"])
    return [*files, *calls, CAMERA]


def _read(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(file: Path, values: dict[str, Any]) -> None:
    """Readable by its owner alone, and there whole or not at all."""
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(json.dumps(values, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    draft.replace(file)


def _make_account(settings: Settings, company: dict[str, Any], known: dict[str, Any]) -> DemoAccount:
    """The demo's account with keys that work: those of demo.json, new ones where they are lost."""
    with open_accounts(settings) as (connection, keyring):
        secret = _integration_secret(connection, keyring, str(known.get("integration_secret", "")))
        integration = partners.require_integration(connection, INTEGRATION_NAME)
        tenant = accounts.find_client(connection, integration.id, company["external_id"])
        api_key = str(known.get("api_key", ""))
        if tenant is None:
            made = clients.create_client(
                connection,
                keyring,
                external_id=company["external_id"],
                name=company["name"],
                email=company["email"],
                integration_id=integration.id,
                time_zone=company["time_zone"],
            )
            tenant, api_key = made.tenant, made.api_key
            _set_up_chat(tenant.id, connection, made.chat.id, company["widget"])
        elif accounts.find_by_key_hash(connection, keyring.hash(api_key)) is None:
            _, api_key = clients.add_key(tenant.id, connection, keyring, name="demo")
        _top_up(tenant.id, connection)
        chat = next(chat for chat in chats.list_all(tenant.id, connection) if chat.is_default)
    return DemoAccount(tenant, api_key, secret, chat.id, chat.public_key)


def _top_up(tenant_id: str, connection: Connection) -> None:
    """So that trying things never fails for want of money."""
    if ledger.balance(tenant_id, connection).available_micro < ledger.micro_of(LEAST_BALANCE_RUB):
        ledger.credit(
            tenant_id,
            connection,
            key=f"demo:{new_id()}",
            amount_micro=ledger.micro_of(TOP_UP_RUB),
            source="demo",
            source_ref=None,
            description="Money to try things with",
        )


def _integration_secret(connection: Connection, keyring: Keyring, known: str) -> str:
    integration = integrations.get(connection, INTEGRATION_NAME)
    if integration is None:
        _, secret = partners.create_integration(connection, keyring, name=INTEGRATION_NAME, allowed_networks=LOOPBACK)
        return secret
    if known.startswith(integration.secret_prefix):
        return known
    new = keyring.make_key(INTEGRATION_PREFIX)
    integrations.set_secret(connection, integration.id, secret_prefix=new.prefix, secret_hash=new.key_hash)
    return new.text


def _set_up_chat(tenant_id: str, connection: Connection, chat_id: str, widget: dict[str, Any]) -> None:
    # The demo's page may answer from calls too: they are invented, and trying that is what it is for.
    chats.update(
        tenant_id,
        connection,
        chat_id,
        header_title=widget["header_title"],
        greeting=widget["greeting"],
        suggestions=widget.get("suggestions", []),
        site_tools=["search_communications", "get_communication"],
    )


def _open_spaces(settings: Settings, account: DemoAccount, space_ids: list[str]) -> None:
    """Lets visitors of the page be answered from the customers' spaces, and not from the staff's."""
    database = Database(settings)
    with database.write() as connection:
        chats.update(account.tenant.id, connection, account.chat_id, site_space_ids=space_ids)
    database.close()


@contextmanager
def _serving(settings: Settings) -> Iterator[str]:
    """The address of a server over this data folder: the one that runs, else one of our own for as long as it takes."""
    address = f"http://{settings.host}:{settings.port}"
    if _runs(address, settings):
        yield address
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    environment = {**os.environ, "PARLEY_PUBLIC_URL": settings.effective_public_url, "PARLEY_LOG_LEVEL": "warning"}
    command = [sys.executable, "-m", "api.command_line", "serve", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + START_S
        while not _runs(address, settings):
            if server.poll() is not None or time.monotonic() > deadline:
                raise Unavailable("the server that loads the demo did not start")
            time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(timeout=60)
        except subprocess.TimeoutExpired:
            server.kill()


def _runs(address: str, settings: Settings) -> bool:
    try:
        answer = httpx2.get(f"{address}/readyz", timeout=5)
    except httpx2.HTTPError:
        return False
    return answer.status_code == 200 and (settings.data_dir / "index").is_dir()


class Loader:
    """Uploads what is not there yet and waits until all of it is done."""

    def __init__(self, url: str, api_key: str, progress: Progress) -> None:
        self._http = httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {api_key}"}, timeout=120)
        self._progress = progress
        self.today = date.min
        """In the company's zone, of the load: what is sent after midnight is dated as all else."""

    def load(self, company: dict[str, Any]) -> dict[str, str]:
        """The ids of the spaces by their keys. It loads once."""
        with self._http:
            return self._load(company)

    def _load(self, company: dict[str, Any]) -> dict[str, str]:
        spaces = self._spaces(company["space"])
        zone = ZoneInfo(company["time_zone"])
        self.today = datetime.now(zone).date()
        self._name_company(company)
        calls = {each["title"]: self._upload_call(each, zone) for each in company["call"]}
        texts = {each["record_id"]: self._send_conversation(each, zone) for each in company["conversation"]}
        documents = {each["title"]: self._upload_document(each, spaces) for each in company["document"]}
        waiting = {
            **{title: f"/public/v1/kb/documents/{document_id}" for title, document_id in documents.items()},
            **calls,
            **texts,
        }
        self._wait(waiting)
        self._wait({f"Analysis of {title}": there for title, there in self._analysed(company).items()})
        return spaces

    def _name_company(self, company: dict[str, Any]) -> None:
        """Quality control listens for both of its names."""
        path = "/public/v1/qc/scenarios"
        settings = self._json("GET", path)
        names = [company["name"], company["name_en"]]
        if settings["company"]["names"] != names:
            self._json("PUT", path, json={**settings, "company": {**settings["company"], "names": names}})

    def _spaces(self, wanted: list[dict[str, Any]]) -> dict[str, str]:
        there = self._json("GET", "/public/v1/kb/spaces", params={"limit": 100})["items"]
        ids = {space["name"]: space["id"] for space in there}
        for space in wanted:
            if space["name"] not in ids:
                body = {"name": space["name"], "description": space.get("description", "")}
                ids[space["name"]] = self._json("POST", "/public/v1/kb/spaces", json=body)["id"]
        return {space["key"]: ids[space["name"]] for space in wanted}

    def _upload_document(self, document: dict[str, Any], spaces: dict[str, str]) -> str:
        content = (FOLDER / "documents" / document["file"]).read_bytes()
        answer = self._json(
            "POST",
            f"/public/v1/kb/spaces/{spaces[document['space']]}/documents",
            files={"file": (document["file"], content)},
            data={"title": document["title"]},
        )
        return str(answer["id"])

    def _upload_call(self, call: dict[str, Any], zone: ZoneInfo) -> str:
        """The path to ask about the call. One that an earlier load began is waited for, not sent again."""
        there = _details(call)
        known = self._http.get(there)
        if known.status_code == 200 and known.json()["transcription_status"] != "error":
            return there
        day = self.today - timedelta(days=call["days_ago"])
        source = FOLDER / "calls" / call["file"]
        people = [{name: value for name, value in person.items() if name != "label"} for person in call["speaker"]]
        answer = self._json(
            "POST",
            "/v1/audio/transcriptions",
            files={"file": (call["title"] + source.suffix, source.read_bytes())},
            data={
                "timestamp_detail": "word",
                "language": call["language"],
                "direction": call["direction"],
                "record_id": call["record_id"],
                "occured_at": datetime.combine(day, call["time"], zone).isoformat(),
                "speakers": json.dumps(people, ensure_ascii=False),
            },
        )
        return f"/v1/audio/transcriptions/tasks/{answer['task_id']}"

    def _send_conversation(self, conversation: dict[str, Any], zone: ZoneInfo) -> str:
        """The path to ask about a chat, a mail or a meeting that comes in as text; sent again it is the same one."""
        day = self.today - timedelta(days=conversation["days_ago"])
        begin = datetime.combine(day, conversation["time"], zone)
        there = _details(conversation)
        if self._http.get(there).status_code == 200:
            return there
        turns = tomllib.loads((FOLDER / "messages" / conversation["file"]).read_text(encoding="utf-8"))["turn"]
        content = [
            {
                "label": turn["label"],
                "text": turn["text"].strip(),
                "at": (begin + timedelta(minutes=turn["minute"])).isoformat(),
            }
            for turn in turns
        ]
        body = {
            **{name: conversation[name] for name in ("kind", "channel_type", "language")},
            "request_record_id": conversation["record_id"],
            "occured_at": begin.isoformat(),
            "speakers": conversation["speaker"],
            "content": content,
            "summary": True,
        }
        if "direction" in conversation:
            body["direction"] = conversation["direction"]
        self._json("POST", "/public/v1/communications", json=body)
        return there

    def _analysed(self, company: dict[str, Any]) -> dict[str, str]:
        """The paths to ask whether the analyses are done, by the conversations' names."""
        return {
            each.get("title", each["record_id"]): _details(each)
            for each in (*company["call"], *company["conversation"])
        }

    def _wait(self, waiting: dict[str, str]) -> None:
        deadline = time.monotonic() + JOB_S
        self._progress.begin(list(waiting))
        while waiting:
            for title, path in list(waiting.items()):
                record = self._json("GET", path)
                status, progress = _state_of(record)
                self._progress.update(title, progress, done=status == "success")
                if status == "error":
                    reason = record.get("error_message") or record.get("transcription_error_message")
                    raise Unavailable(f"loading {title!r} failed: {reason}")
                if status == "success":
                    del waiting[title]
            if time.monotonic() > deadline:
                raise Unavailable(f"loading the demo takes longer than {JOB_S:.0f} s")
            time.sleep(0.3)
        self._progress.end()

    def _json(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        answer = self._http.request(method, path, **options)
        if answer.status_code >= 400:
            raise Unavailable(f"loading the demo: {method} {path} was answered {answer.status_code}: {answer.text}")
        found: dict[str, Any] = answer.json()
        return found


def _details(conversation: dict[str, Any]) -> str:
    return f"/public/v1/communications?request_record_id={conversation['record_id']}"


def _state_of(record: dict[str, Any]) -> tuple[str, float]:
    """How far a document, a task, or a conversation with its analysis is. A stage that failed holds nothing up."""
    if "summary_generation_status" not in record:
        return record.get("status") or record["transcription_status"], record.get("progress", 0.0)
    if record["transcription_status"] not in (None, "success"):
        return record["transcription_status"], 0.0
    stages = [record[f"{stage}_generation_status"] for stage in ("summary", "qc", "memory")]
    ended = sum(status not in ("pending", "processing") for status in stages)
    return ("success" if ended == len(stages) else "processing"), ended / len(stages)
