"""A stand-in of YooKassa's API on loopback, made from its documentation (https://yookassa.ru/developers/api).

Real HTTP with basic authentication and idempotence keys: the same key with the same body answers with the payment that
was made, with another body it is refused. `pays` and `cancels` move a payment as a payer or a bank does; `notify` tells
a server of it; `breaks` scripts how the next requests end; `reach` is called as each of them comes, is done, and is
answered.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import httpx2

SHOP_ID = "506751"
SECRET_KEY = "test_Fh8hUAVVBGUGbjmlzba6TB0iyUbos_lueTHE-axOwM0"

Break = Literal["500", "401", "429", "html", "redirect", "drop", "drop before", "hang", "202", "array", "no url"]
Moment = Literal["POST came", "POST done", "POST answered", "GET came", "GET done", "GET answered"]


class StandIn:
    """The shop's payments. `asked` are (method, path) of the requests, `wishes` the bodies of new payments."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.payments: dict[str, dict[str, Any]] = {}
        self.asked: list[tuple[str, str]] = []
        self.wishes: list[dict[str, Any]] = []
        self.released = threading.Event()
        self.reach: Callable[[Moment], None] = lambda moment: None
        self._by_key: dict[str, tuple[str, str]] = {}
        self._breaks: deque[Break] = deque()
        self._lock = threading.Lock()

    @property
    def api_url(self) -> str:
        return f"{self.base_url}/v3"

    @property
    def settings(self) -> dict[str, str]:
        """Settings of a server whose shop this is."""
        return {
            "payment_provider": "yookassa",
            "yookassa_shop_id": SHOP_ID,
            "yookassa_secret_key": SECRET_KEY,
            "yookassa_api_url": self.api_url,
        }

    def breaks(self, *how: Break) -> None:
        """How the next requests end: after the work was done, but for "drop before"."""
        self._breaks.extend(how)

    def payment_of(self, link_id: str) -> dict[str, Any]:
        (found,) = [each for each in self.payments.values() if each["metadata"].get("link_id") == link_id]
        return found

    def pays(self, payment_id: str) -> dict[str, Any]:
        payment = self.payments[payment_id]
        payment |= {"status": "succeeded", "paid": True, "refundable": True, "captured_at": _moment()}
        payment["payment_method"] = {"type": "bank_card", "id": payment_id, "saved": False, "title": "Bank card *4444"}
        return payment

    def cancels(self, payment_id: str, reason: str, party: str = "payment_network") -> dict[str, Any]:
        payment = self.payments[payment_id]
        payment |= {"status": "canceled", "cancellation_details": {"party": party, "reason": reason}}
        return payment

    def notify(self, url: str, payment: dict[str, Any], *, event: str | None = None) -> httpx2.Response:
        """Sends a notification as YooKassa does."""
        name = event or f"payment.{payment['status']}"
        body = {"type": "notification", "event": name, "object": payment}
        return httpx2.post(url + "/payments/yookassa/notifications", json=body, timeout=30)

    def answer(self, method: str, path: str, headers: Any, raw: bytes) -> tuple[int, Any] | None:
        """(status, body) of one request; None closes the connection without an answer."""
        with self._lock:
            self.asked.append((method, path))
            how = self._breaks.popleft() if self._breaks else None
            done = None if how == "drop before" else self._work(method, path, headers, raw)
        if how is None:
            return done
        if how == "hang":
            self.released.wait(60)
        if how in ("500", "401", "429"):
            return int(how), _error({"500": "internal_server_error", "401": "invalid_credentials"}.get(how, "too_many"))
        if how == "202":
            return 202, {"type": "processing", "description": "Request accepted", "retry_after": 1800}
        if how == "no url":
            return 200, {"id": str(uuid.uuid4()), "status": "pending", "confirmation": {"type": "redirect"}}
        return {"html": (502, "<html>Bad gateway</html>"), "redirect": (302, {}), "array": (200, [])}.get(how)

    def _work(self, method: str, path: str, headers: Any, raw: bytes) -> tuple[int, Any]:
        token = base64.b64encode(f"{SHOP_ID}:{SECRET_KEY}".encode()).decode()
        if headers.get("Authorization") != f"Basic {token}":
            return 401, _error("invalid_credentials")
        if (method, path) == ("POST", "/v3/payments"):
            return self._create(headers.get("Idempotence-Key", ""), raw)
        found = re.fullmatch(r"/v3/payments/([0-9a-z-]{36})", path)
        if method == "GET" and found:
            payment = self.payments.get(found[1])
            return (200, payment) if payment else (404, _error("not_found"))
        return 404, _error("not_found")

    def _create(self, key: str, raw: bytes) -> tuple[int, Any]:
        wish = json.loads(raw)
        if not 1 <= len(key) <= 64:
            return 400, _error("invalid_request", "Idempotence-Key")
        canonical = json.dumps(wish, sort_keys=True)
        if key in self._by_key:
            known, payment_id = self._by_key[key]
            return (200, self.payments[payment_id]) if known == canonical else (400, _error("invalid_request"))
        wrong = _wrong_in(wish)
        if wrong:
            return 400, _error("invalid_request", wrong)
        self.wishes.append(wish)
        payment_id = str(uuid.uuid4())
        payment = {
            "id": payment_id,
            "status": "pending",
            "paid": False,
            "amount": wish["amount"],
            "confirmation": {
                "type": "redirect",
                "return_url": wish["confirmation"]["return_url"],
                "confirmation_url": f"{self.base_url}/checkout/payments/v2/contract?orderId={payment_id}",
            },
            "created_at": _moment(),
            "description": wish["description"],
            "metadata": wish["metadata"],
            "recipient": {"account_id": SHOP_ID, "gateway_id": "100700"},
            "refundable": False,
            "test": True,
        }
        self.payments[payment_id] = payment
        self._by_key[key] = (canonical, payment_id)
        return 200, payment


def _wrong_in(wish: dict[str, Any]) -> str | None:
    """The parameter that the API would refuse."""
    amount = re.compile(r"\d+\.\d\d")
    if wish["amount"]["currency"] != "RUB" or not amount.fullmatch(wish["amount"]["value"]):
        return "amount"
    if wish.get("capture") is not True:
        return "capture"
    if wish["confirmation"]["type"] != "redirect" or len(wish["confirmation"]["return_url"]) > 2048:
        return "confirmation"
    if len(wish["description"]) > 128:
        return "description"
    receipt = wish.get("receipt")
    if receipt is not None:
        if "@" not in receipt["customer"].get("email", ""):
            return "receipt.customer"
        for item in receipt["items"]:
            if not 1 <= int(item["vat_code"]) <= 12 or len(item["description"]) > 128:
                return "receipt.items"
        if [item["amount"] for item in receipt["items"]] != [wish["amount"]]:
            return "receipt.items"
    return None


def _error(code: str, parameter: str | None = None) -> dict[str, Any]:
    body = {"type": "error", "id": str(uuid.uuid4()), "code": code, "description": "What went wrong"}
    return body | ({"parameter": parameter} if parameter else {})


def _moment() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextlib.contextmanager
def serve_yookassa() -> Iterator[StandIn]:
    """Runs the stand-in in a thread until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._serve("GET")

        def do_POST(self) -> None:
            self._serve("POST")

        def _serve(self, method: Literal["GET", "POST"]) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            stand_in.reach(f"{method} came")
            answer = stand_in.answer(method, self.path, self.headers, raw)
            stand_in.reach(f"{method} done")
            self.close_connection = True
            if answer is None:
                return
            status, body = answer
            text = body if isinstance(body, str) else json.dumps(body)
            with contextlib.suppress(ConnectionError):
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", f"{stand_in.api_url}/elsewhere")
                if status == 429:
                    self.send_header("Retry-After", "3600")
                self.send_header("Connection", "close")  # else the next request may come on what is being closed
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())
            stand_in.reach(f"{method} answered")

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stand_in = StandIn(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        stand_in.released.set()
        server.shutdown()
        thread.join(10)
        server.server_close()
