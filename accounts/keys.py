"""Keys and secrets: made once, shown once, found by an HMAC under the installation's secret key."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from typing import Any

from cryptography.fernet import Fernet, InvalidToken

from store.clocks import CLOCK
from store.errors import InvalidRequest
from store.files import SECRET_FILE, kept_bytes
from store.settings import Settings

CLIENT_PREFIX = "sk_live_"
INTEGRATION_PREFIX = "int_live_"
WIDGET_PREFIX = "wk_"
_SHOWN_CHARACTERS = 6
_SECRET_BYTES = 32
_ITSELF = "base64:"
"""What follows is the secret key itself, as such a file has it; another text is a password that it is derived from."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made. `text` is shown once and kept nowhere."""

    text: str
    prefix: str
    key_hash: str
    signing_secret: bytes


class Keyring:
    """Makes and finds keys, encrypts what must be read again, and signs short-lived tokens."""

    def __init__(self, secret_key: bytes) -> None:
        assert len(secret_key) >= _SECRET_BYTES, f"the secret key has at least {_SECRET_BYTES} bytes"
        self._pepper = _derive(secret_key, b"api keys")
        self._token_key = _derive(secret_key, b"tokens")
        self.installation_id = _derive(secret_key, b"installation").hex()[:12]
        """Names this installation beside others; no secret, the same in each of its processes."""
        self._fernet = Fernet(base64.urlsafe_b64encode(_derive(secret_key, b"stored secrets")))

    @classmethod
    def of(cls, settings: Settings) -> Keyring:
        """The keyring of this installation; makes its secret key at first use. Raises InvalidRequest where the setting
        says that it is the key itself, and is none."""
        given = settings.secret_key.get_secret_value()
        if not given:
            return cls(kept_bytes(settings.data_dir / SECRET_FILE, _SECRET_BYTES))
        if not given.startswith(_ITSELF):
            return cls(hashlib.sha256(given.encode()).digest())
        try:
            secret = base64.b64decode(given.removeprefix(_ITSELF), validate=True)
        except ValueError:
            secret = b""
        if len(secret) < _SECRET_BYTES:
            raise InvalidRequest(
                f"PARLEY_SECRET_KEY: {_ITSELF} is followed by {_SECRET_BYTES} bytes or more in base64."
            )
        return cls(secret)

    def hash(self, key: str) -> str:
        """What a key is found by: hex HMAC-SHA256 under the pepper."""
        return hmac.new(self._pepper, key.encode(), hashlib.sha256).hexdigest()

    def make_key(self, prefix: str = CLIENT_PREFIX) -> NewKey:
        text = prefix + secrets.token_urlsafe(32)
        digest = hashlib.sha256(text.encode()).hexdigest()
        return NewKey(
            text=text,
            prefix=text[: len(prefix) + _SHOWN_CHARACTERS],
            key_hash=self.hash(text),
            signing_secret=self._fernet.encrypt(digest.encode()),
        )

    def open_secret(self, encrypted: bytes) -> str:
        """What `make_key` encrypted: hex(SHA-256(key)). Raises cryptography.fernet.InvalidToken."""
        return self._fernet.decrypt(encrypted).decode()

    def encrypt(self, secret: bytes) -> bytes:
        """For what must be read again and must not lie in clear."""
        return self._fernet.encrypt(secret)

    def decrypt(self, encrypted: bytes) -> bytes:
        """Raises cryptography.fernet.InvalidToken."""
        return self._fernet.decrypt(encrypted)

    def sign_token(self, purpose: str, claims: dict[str, Any], *, lifetime_s: int) -> str:
        """A token that cannot be read or changed outside, valid for `lifetime_s` and this purpose only."""
        body = json.dumps({"for": purpose, "until": int(CLOCK.time_s()) + lifetime_s, **claims}, separators=(",", ":"))
        return Fernet(base64.urlsafe_b64encode(self._token_key)).encrypt(body.encode()).decode().rstrip("=")

    def open_token(self, purpose: str, token: str) -> dict[str, Any] | None:
        """The claims of a token that is whole, of this purpose and not expired; else None."""
        try:
            padded = token + "=" * (-len(token) % 4)
            body = Fernet(base64.urlsafe_b64encode(self._token_key)).decrypt(padded.encode())
        except (InvalidToken, ValueError):
            return None
        claims: dict[str, Any] = json.loads(body)
        return claims if claims.get("for") == purpose and claims.get("until", 0) > CLOCK.time_s() else None


def make_public_key() -> str:
    """A widget's public key: it opens nothing by itself, but must not be guessed."""
    return WIDGET_PREFIX + secrets.token_urlsafe(18)


def _derive(secret_key: bytes, purpose: bytes) -> bytes:
    return hmac.new(secret_key, b"parley/" + purpose, hashlib.sha256).digest()
