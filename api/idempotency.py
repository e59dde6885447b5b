"""The Idempotency-Key header: the first answer to a request is stored and given again to its repetitions.

A request takes the key by a lease in the database, which it extends while it works; what a kill left behind is free
once the lease ran out. Only answers that tell of something done are stored (2xx): after any other the same key may try
again. `Call.keep` stores the answer in the transaction that does the thing, so that both last or neither. Work that
goes on after its request (`Claim.goes_on`) keeps the key until it ends; a repetition meanwhile may join it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog
from sse_starlette import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from api.services import Services
from store import idempotency
from store.database import Connection, Database, now
from store.errors import Conflict, InvalidRequest, Unavailable, Unprocessable
from store.idempotency import Entry
from store.ids import new_id

if TYPE_CHECKING:
    from api.http import Operation

log = structlog.get_logger(__name__)

HEADER = "idempotency-key"
REPLAYED_HEADER = "Idempotency-Replayed"
KEY_PATTERN = re.compile(r"[\x20-\x7e]{1,255}")
LEASE_S = 15.0
RENEWAL_S = 5.0
_MOST_TRIES = 10
# What belongs to one answer on the wire, or is put on by the layers around.
_UNKEPT_HEADERS = frozenset({"content-length", "connection", "transfer-encoding", "x-request-id"})


_finishing: set[asyncio.Task[None]] = set()  # else nothing holds them


class AnsweredBefore(Exception):
    """The request's repetition is answered by what was stored."""

    def __init__(self, response: Response) -> None:
        super().__init__("answered before")
        self.response = response


def claim_of(request: Request, services: Services, *, caller_id: str, operation: Operation) -> Claim:
    """The claim of a request that has the header. Raises InvalidRequest for a key that is none."""
    keys = request.headers.getlist(HEADER)
    if len(keys) != 1 or not KEY_PATTERN.fullmatch(keys[0]):
        raise InvalidRequest("Idempotency-Key: 1 to 255 printable ASCII characters.", param="Idempotency-Key")
    name = f"{operation.method} {operation.path}"
    return Claim(services, caller_id, keys[0], operation=name, path=request.scope["path"])


def forget_old_keys(database: Database, kept_hours: float) -> None:
    """Housekeeping: drops keys that are older than they are kept."""
    with database.write(durable=False) as connection:
        idempotency.forget_before(connection, now() - timedelta(hours=kept_hours))


class Claim:
    """One request's hold on its key."""

    def __init__(self, services: Services, owner_id: str, key: str, *, operation: str, path: str) -> None:
        self._services = services
        self._owner_id = owner_id
        self._key_hash = services.keyring.hash(f"idempotency {key}")
        self._operation = operation
        self._path = path
        self._id = new_id()
        self._stored: Entry | None = None
        self._identified = False
        self._kept: tuple[int, bytes] | None = None
        self._goes_on: Awaitable[None] | None = None

    async def answer_once(
        self,
        content: bytes | None,
        work: Callable[[], Awaitable[Response]],
        join: Callable[[str], Response | None] | None = None,
    ) -> Response:
        """The answer of `work`, or the one that was stored for this key; `content` is None where `identify` follows.
        `join` gives, by its claim's id, the answer that an earlier request of the same key still works on in this
        process.

        Raises Conflict idempotency_in_progress and Unprocessable idempotency_key_reused.
        """
        fingerprint = None if content is None else self._fingerprint(content)
        try:
            await run_in_threadpool(self._take, fingerprint)
        except AnsweredBefore as before:
            return before.response
        except _InWork as other:
            joined = join(other.claim_id) if join is not None else None
            if joined is None:
                raise
            return joined
        renewal = asyncio.create_task(self._renew())
        try:
            response = await work()
        except AnsweredBefore as before:
            renewal.cancel()
            return before.response
        # Whatever ended the work, the key is free again; also when the request was cancelled.
        except BaseException:
            await self._give_up(renewal)
            raise
        if self._goes_on is not None:
            task = asyncio.create_task(self._finish_after(self._goes_on, renewal))
            _finishing.add(task)
            task.add_done_callback(_finishing.discard)
            return response
        if isinstance(response, StreamingResponse | EventSourceResponse):
            return _Recorded(response, self, renewal)
        await self.finish(response, renewal)
        return response

    @property
    def id(self) -> str:
        return self._id

    def goes_on(self, work: Awaitable[None]) -> None:
        """Says that what the request asked for ends with `work`, whoever still listens: it keeps its answer itself
        (`keep`), or the key is free again."""
        self._goes_on = work

    async def _finish_after(self, work: Awaitable[None], renewal: asyncio.Task[None]) -> None:
        await work
        if self.has_kept:
            renewal.cancel()
        else:
            await self._give_up(renewal)

    @property
    def has_kept(self) -> bool:
        return self._kept is not None

    async def finish(self, response: Response, renewal: asyncio.Task[None]) -> None:
        """Stores the answer where it tells of something done, else frees the key."""
        if not 200 <= response.status_code < 300:
            await self._give_up(renewal)
            return
        assert self._identified, "an idempotent operation with a streamed body calls identify"
        renewal.cancel()
        with suppress(Unavailable):  # what was done is answered all the same
            await asyncio.shield(run_in_threadpool(self._store, response))

    async def _give_up(self, renewal: asyncio.Task[None]) -> None:
        renewal.cancel()
        with suppress(Unavailable):  # the lease runs out by itself
            await asyncio.shield(run_in_threadpool(self._release))

    def identify(self, *parts: str) -> None:
        """See `Call.identify`."""
        fingerprint = self._fingerprint(json.dumps(parts).encode())
        self._identified = True
        if self._stored is not None:
            self._replay(self._stored, fingerprint)
        with self._services.database.write(durable=False) as connection:
            if not idempotency.identify(connection, self._owner_id, self._id, fingerprint=fingerprint):
                raise _in_progress()

    def keep(self, connection: Connection, response: Response) -> None:
        """See `Call.keep`."""
        assert self._identified, "an idempotent operation with a streamed body calls identify"
        answer = _encoded(response)
        encrypted = self._services.keyring.encrypt(answer)
        if not idempotency.keep(connection, self._owner_id, self._id, status=response.status_code, answer=encrypted):
            raise _in_progress()
        self._kept = (response.status_code, answer)

    def _take(self, fingerprint: str | None) -> None:
        kept_for = timedelta(hours=self._services.settings.idempotency_hours)
        for _ in range(_MOST_TRIES):
            with self._services.database.write(durable=False) as connection:
                entry = idempotency.claim(
                    connection,
                    self._owner_id,
                    self._key_hash,
                    claim_id=self._id,
                    operation=self._operation,
                    fingerprint=fingerprint,
                    lease=timedelta(seconds=LEASE_S),
                    kept_for=kept_for,
                )
            if entry is not None:
                break
        else:
            raise _in_progress()
        self._identified = fingerprint is not None
        if entry.claim_id == self._id:
            return
        if entry.operation != self._operation:
            raise _reused()
        if entry.status is None:
            if fingerprint is not None and entry.fingerprint is not None and entry.fingerprint != fingerprint:
                raise _reused()
            raise _InWork(entry.claim_id)
        if fingerprint is None:
            self._stored = entry  # until the body was read
        else:
            self._replay(entry, fingerprint)

    def _replay(self, entry: Entry, fingerprint: str) -> None:
        assert entry.status is not None
        assert entry.answer is not None
        if entry.fingerprint != fingerprint:
            raise _reused()
        raise AnsweredBefore(_decoded(entry.status, self._services.keyring.decrypt(entry.answer)))

    def _store(self, response: Response) -> None:
        answer = _encoded(response)
        if self._kept == (response.status_code, answer):
            return
        encrypted = self._services.keyring.encrypt(answer)
        with self._services.database.write() as connection:
            if not idempotency.keep(
                connection, self._owner_id, self._id, status=response.status_code, answer=encrypted
            ):
                log.warning("an Idempotency-Key was taken over while its request was in work")

    def _release(self) -> None:
        if self._stored is None:
            with self._services.database.write(durable=False) as connection:
                idempotency.release(connection, self._owner_id, self._id)

    async def _renew(self) -> None:
        held = self._stored is None
        while held:
            await asyncio.sleep(RENEWAL_S)
            with suppress(Unavailable):  # tried again before the lease runs out
                held = await run_in_threadpool(self._extend)

    def _extend(self) -> bool:
        with self._services.database.write(durable=False) as connection:
            return idempotency.extend(connection, self._owner_id, self._id, lease=timedelta(seconds=LEASE_S))

    def _fingerprint(self, content: bytes) -> str:
        return hashlib.sha256(self._path.encode() + b"\n" + content).hexdigest()


class _Recorded(Response):
    """A streamed answer that is passed on as it comes. It is stored before its end is sent: who has read it to its end
    and asks again gets it again."""

    def __init__(
        self, streamed: StreamingResponse | EventSourceResponse, claim: Claim, renewal: asyncio.Task[None]
    ) -> None:
        self.status_code = streamed.status_code
        self.background = None
        self.raw_headers = streamed.raw_headers
        self._streamed = streamed
        self._claim = claim
        self._renewal = renewal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts: list[bytes] = []
        has_finished = False

        async def finish(*, ended: bool) -> None:
            nonlocal has_finished
            has_finished = True
            # A stream may end in an error event: it tells of something done where its handler kept an answer.
            is_done = ended and self._claim.has_kept
            whole = Response(b"".join(parts), status_code=self.status_code if is_done else 499)
            whole.raw_headers = self._streamed.raw_headers
            await self._claim.finish(whole, self._renewal)

        async def record(message: Message) -> None:
            if message["type"] == "http.response.body":
                parts.append(bytes(message.get("body", b"")))
                if not message.get("more_body", False):
                    await finish(ended=True)
            await send(message)

        try:
            await self._streamed(scope, receive, record)
        finally:
            if not has_finished:
                await finish(ended=False)


class _InWork(Conflict):
    """`claim_id` is that of the request that has the key."""

    def __init__(self, claim_id: str = "") -> None:
        super().__init__(
            "A request with this Idempotency-Key is still in work.", code="idempotency_in_progress", retry_after_s=1
        )
        self.claim_id = claim_id


def _in_progress() -> Conflict:
    return _InWork()


def _reused() -> Unprocessable:
    return Unprocessable(
        "This Idempotency-Key was used for another request.", code="idempotency_key_reused", param="Idempotency-Key"
    )


def _encoded(response: Response) -> bytes:
    """Headers as a line of JSON, then the body."""
    headers = [
        [name.decode("latin-1"), value.decode("latin-1")]
        for name, value in response.raw_headers
        if name.decode("latin-1").lower() not in _UNKEPT_HEADERS
    ]
    return json.dumps(headers).encode() + b"\n" + bytes(response.body)


def _decoded(status: int, answer: bytes) -> Response:
    head, _, body = answer.partition(b"\n")
    response = Response(body, status_code=status)
    for name, value in json.loads(head):
        response.headers[name] = value
    response.headers[REPLAYED_HEADER] = "true"
    return response
