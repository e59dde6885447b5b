"""A real server for tests: `parley serve` in a process of its own, over real HTTP, that can be stopped and killed."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, ClassVar

import httpx2

from accounts import ledger
from accounts.clients import NewClient, create_client
from accounts.keys import Keyring
from ingest.roles import Role
from store.database import Database
from store.ids import new_id
from store.migrate import migrate
from store.settings import Settings
from tests.support.forks import Forked, fork_parley
from tests.support.migrated import migrated_sqlite
from tests.support.network import Host

START_S = 180.0
STOP_S = 120.0
JOB_S = 480.0


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = archive.extractfile(member)
    assert content is not None
    return content.read()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def children_of(process_id: int) -> list[int]:
    """Process ids of its children; each of its threads has its own list of them."""
    lists = Path(f"/proc/{process_id}/task").glob("*/children")
    return [int(text) for path in lists for text in path.read_text().split()]


class RunningServer:
    """`parley serve` over a data folder. `settings` are PARLEY_ variables without the prefix, in lower case.

    Without a word about it, what is quick is taken: no language model, and the smaller of the speech models; and some
    servers stand idle beside each other, so each looks for jobs less often.
    """

    forks: ClassVar[bool] = False
    """Whether it is forked (`tests.support.forks`) where it can be, and no new program."""

    def __init__(
        self,
        data_dir: Path,
        *,
        role: Role = "all",
        cores: Sequence[int] | None = None,
        host: Host | None = None,
        code: Path | None = None,
        **settings: str,
    ) -> None:
        """`cores`: the only ones of the machine's that the server and its children may have; `host`: where it runs;
        `code`: the folder of another release."""
        self.role = role
        self.code = code
        self._cores, self._host = cores, host
        if host is not None:
            settings = {"host": "0.0.0.0", **settings}
        self.data_dir = data_dir
        self.port = free_port()
        self.url = f"http://{host.address if host else '127.0.0.1'}:{self.port}"
        if host is not None:
            settings = {"public_url": self.url, **settings}
        values = {
            "llm_model": "none",
            "log_format": "json",
            "asr_model": "whisper-base",
            "job_poll_s": "0.25",
            **settings,
        }
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")},
            "PARLEY_DATA_DIR": str(data_dir),
            "PARLEY_PORT": str(self.port),
            **{f"PARLEY_{name.upper()}": value for name, value in values.items()},
        }
        self.log_path = data_dir / "server.log"
        self.process: subprocess.Popen[bytes] | Forked | None = None
        self._is_resting = False
        fields = {name: value for name, value in values.items() if name not in ("llm_model", "log_format")}
        self.settings = Settings(data_dir=data_dir, port=self.port, _env_file=None, **fields)  # type: ignore[arg-type, call-arg]
        data_dir.mkdir(parents=True, exist_ok=True)
        self.database = Database(self.settings)
        if self.database.is_sqlite:
            migrated_sqlite(data_dir)
        migrate(self.database)

    def start(self) -> RunningServer:
        with self.log_path.open("ab") as log:
            self.process = self._started(log)
        self._wait_until_ready()
        return self

    def _started(self, log: IO[bytes]) -> subprocess.Popen[bytes] | Forked:
        serve = ["serve", "--role", self.role]
        # Another host, another release's code and a library that is loaded first need a new program.
        if self.forks and self._host is None and self.code is None and "LD_PRELOAD" not in self.environment:
            return fork_parley(serve, self.environment, log.fileno(), log.fileno(), self._cores)
        prefix = [] if self._cores is None else ["taskset", "--cpu-list", ",".join(map(str, self._cores))]
        if self._host is not None:
            prefix += self._host.prefix
        return subprocess.Popen(
            [*prefix, sys.executable, "-m", "api.command_line", *serve],
            env=self.environment,
            cwd=self.code,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
        )

    def _wait_until_ready(self) -> None:
        assert self.process is not None
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended:\n{self.log()[-4000:]}")
            try:
                if self.is_ready():
                    return
            except httpx2.HTTPError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"the server did not get ready:\n{self.log()[-4000:]}")

    def is_ready(self) -> bool:
        return httpx2.get(f"{self.url}/readyz", timeout=5).status_code == 200

    def stop(self) -> int:
        """Asks the server to stop, as Ctrl-C does; its exit status."""
        return self._end(signal.SIGINT)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, number: int) -> int:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.send_signal(signal.SIGCONT)  # one that rests hears nothing
        try:
            return self.process.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the server did not stop:\n{self.log()[-4000:]}") from None

    def rest(self) -> None:
        """Stands still: a server that idles looks for jobs all the same, which many beside each other feel."""
        if not self._is_resting and self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)
            self._is_resting = True

    def wake(self) -> None:
        """Goes on after `rest`."""
        if self._is_resting and self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self._is_resting = False
            self._wait_until_ready()

    def child_ids(self) -> list[int]:
        """Process ids of the server's children."""
        assert self.process is not None
        return children_of(self.process.pid)

    def kill_children(self) -> list[int]:
        """Kills every child process of the server; their ids."""
        ids = self.child_ids()
        for child in ids:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(child, signal.SIGKILL)
        return ids

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.stop()
        self.database.close()

    def log(self) -> str:
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def files(self, pattern: str) -> dict[Path, bytes]:
        """What the files of the data folder hold. A process of its own reads them: whoever closes a file of SQLite's
        gives up all locks that his process has on it, and the next one to leave deletes what is in use."""
        names = [str(path.relative_to(self.data_dir)) for path in self.data_dir.rglob(pattern) if path.is_file()]
        command = ["tar", "-cf", "-", "-C", str(self.data_dir), "--", *names]
        packed = subprocess.run(command, capture_output=True, check=False).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            members = [member for member in archive if member.isfile()]
            return {Path(member.name): _content(archive, member) for member in members}

    def new_client(self, external_id: str, *, balance_rub: str = "10000", **values: Any) -> Account:
        """A client account of its own with money to spend, made as the command line makes one."""
        with self.database.write() as connection:
            made = create_client(connection, Keyring.of(self.settings), external_id=external_id, **values)
        account = Account(self, made)
        account.add_money(balance_rub)
        return account


@dataclass
class Account:
    """A client account and its HTTP client."""

    server: RunningServer
    made: NewClient

    @property
    def tenant_id(self) -> str:
        return self.made.tenant.id

    @property
    def chat_id(self) -> str:
        return self.made.chat.id

    def add_money(self, roubles: str) -> None:
        amount_micro = ledger.micro_of(Decimal(roubles))
        if amount_micro:
            with self.server.database.write() as connection:
                ledger.credit(
                    self.tenant_id,
                    connection,
                    key=f"test:{new_id()}",
                    amount_micro=amount_micro,
                    source="test",
                    source_ref=None,
                    description="For the test",
                )

    def balance(self) -> dict[str, Any]:
        """The balance as the Public API gives it."""
        answer = self.get("/public/v1/balance")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def debits(self) -> list[dict[str, Any]]:
        """All charges, newest first."""
        return self.movements("debit")

    def movements(self, kind: str) -> list[dict[str, Any]]:
        """All of a kind in the history of the balance, newest first."""
        return self.items_of("/public/v1/balance/history", kind=kind)

    def items_of(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """All items of a list, page by page."""
        items: list[dict[str, Any]] = []
        while True:
            answer = self.get(path, params={**query, "limit": 100, "offset": len(items)})
            assert answer.status_code == 200, answer.text
            page = answer.json()
            items += page["items"]
            if len(items) >= page["pagination"]["total"]:
                return items

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.made.api_key}"}

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        options["headers"] = {**self.headers, **options.get("headers", {})}
        options.setdefault("timeout", 60)
        return httpx2.request(method, self.server.url + path, **options)

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx2.Response:
        return self.request("POST", path, **options)

    def post_at_last(self, path: str, **options: Any) -> httpx2.Response:
        """The answer to a careful client, which sends a request again, under its key, until it is accepted: also where
        who should answer is killed, or cannot reach what it needs."""
        headers = {"Idempotency-Key": new_id()}
        deadline = time.monotonic() + JOB_S
        while time.monotonic() < deadline:
            with suppress(httpx2.HTTPError):
                answer = self.post(path, headers=headers, **options)
                # 409: in work at one that was killed, and free again when its lease ran out.
                if answer.status_code not in (409, 503):
                    return answer
            time.sleep(0.2)
        raise AssertionError(f"it was not accepted:\n{self.server.log()[-4000:]}")

    def upload_audio(self, audio: bytes, name: str = "call.wav", **fields: str) -> httpx2.Response:
        files = {"file": (name, audio)}
        return self.post("/v1/audio/transcriptions", files=files, data=fields, timeout=JOB_S)

    def finished_task(self, task_id: str) -> dict[str, Any]:
        """Polls the task until it has ended."""
        deadline = time.monotonic() + JOB_S
        while time.monotonic() < deadline:
            record: dict[str, Any] = self.get(f"/v1/audio/transcriptions/tasks/{task_id}").json()
            if record["transcription_status"] in ("success", "error"):
                return record
            time.sleep(0.1)
        raise AssertionError(f"the task did not end:\n{self.server.log()[-4000:]}")

    def new_space(self, name: str = "Space") -> str:
        answer = self.post("/public/v1/kb/spaces", json={"name": name, "description": ""})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def upload_document(self, space_id: str, content: bytes, name: str) -> httpx2.Response:
        return self.post(f"/public/v1/kb/spaces/{space_id}/documents", files={"file": (name, content)})

    def finished_document(self, document_id: str) -> dict[str, Any]:
        """Polls the document until it has ended."""
        deadline = time.monotonic() + JOB_S
        while time.monotonic() < deadline:
            record: dict[str, Any] = self.get(f"/public/v1/kb/documents/{document_id}").json()
            if record["status"] in ("success", "error"):
                return record
            time.sleep(0.05)
        raise AssertionError(f"the document did not end:\n{self.server.log()[-4000:]}")

    def add_document(self, space_id: str, content: bytes, name: str) -> dict[str, Any]:
        answer = self.upload_document(space_id, content, name)
        assert answer.status_code == 202, answer.text
        return self.finished_document(answer.json()["id"])

    def call_tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """A tools/call as the contract documents it; the whole JSON-RPC answer."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        answer = self.post("/mcp", json=body, headers={"Accept": "application/json, text/event-stream"})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found
