"""Signatures of webhooks: the documented one, and that of the Standard Webhooks specification (version 1) beside it.

Both are HMAC-SHA256 keyed by the 64 characters of hex(SHA-256(API key)), taken as ASCII. A library of Standard Webhooks
is given them as `whsec_` and their base64.
"""

from __future__ import annotations

import base64
import hashlib
import hmac

CONTENT_TYPE = "application/json"


def signed_headers(secret: str, delivery_id: str, timestamp_s: int, body: bytes) -> list[tuple[str, str]]:
    """The headers of one attempt. `secret`: hex(SHA-256(API key)); `timestamp_s`: Unix time of the attempt."""
    key = secret.encode("ascii")
    content = f"{delivery_id}.{timestamp_s}.".encode() + body
    standard = base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return [
        ("Content-Type", CONTENT_TYPE),
        ("X-Webhook-Signature-Alg", "hmac-sha256"),
        ("X-Webhook-Signature", f"sha256={hmac.digest(key, body, hashlib.sha256).hex()}"),
        ("webhook-id", delivery_id),
        ("webhook-timestamp", str(timestamp_s)),
        ("webhook-signature", f"v1,{standard}"),
    ]
