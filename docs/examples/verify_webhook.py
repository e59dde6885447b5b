"""Receives Parley's webhooks and believes those alone whose signature holds.

PARLEY_KEY=sk_live_... python docs/examples/verify_webhook.py 9000
"""

import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = hashlib.sha256(os.environ["PARLEY_KEY"].encode()).hexdigest()
OLDEST_S = 5 * 60
seen: set[str] = set()


def is_genuine(headers, body: bytes) -> bool:
    """`body` is what came, byte for byte: sign it before you parse it."""
    expected = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(headers.get("X-Webhook-Signature", ""), expected)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not is_genuine(self.headers, body):
            self.send_error(401)
            return
        # The same event may come twice, under the same id: answer 200 and do nothing the second time.
        event_id = self.headers["webhook-id"]
        if event_id not in seen and time.time() - int(self.headers["webhook-timestamp"]) < OLDEST_S:
            seen.add(event_id)
            print(event_id, json.loads(body), flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments) -> None:
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
