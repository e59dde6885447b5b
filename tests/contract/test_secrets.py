"""Nothing that opens an account or signs for it lies anywhere in clear."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from accounts import partners
from accounts.keys import Keyring
from store.ids import new_id
from tests.contract.partner import Partner, give_money, make_partner
from tests.contract.recordings import tone, wav
from tests.support.receiver import receiving
from tests.support.server import RunningServer

# The one place of each digest by which a secret is found.
HASH_COLUMNS = {"key_hash", "secret_hash", "code_hash", "token_hash"}


@dataclass(frozen=True, slots=True)
class Used:
    """A server that was stopped after all kinds of secrets were made and used on it."""

    server: RunningServer
    secrets: dict[str, str]
    hashes: dict[str, str]


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Used]:
    server = RunningServer(
        tmp_path_factory.mktemp("used"), log_level="debug", allowed_networks="127.0.0.0/8", sweep_s="0.5"
    )
    try:
        partner = make_partner(server.start())
        secrets = {"integration secret": partner.secret, **_use(partner)}
        with server.database.write() as connection:
            _, secrets["new integration secret"] = partners.rotate_secret(
                connection, Keyring.of(server.settings), partner.id
            )
        partner.put(new_id())  # with the old one
        server.stop()
        hash_of = Keyring.of(server.settings).hash
        yield Used(server, secrets, {name: hash_of(secret) for name, secret in secrets.items()})
    finally:
        server.close()


def _use(partner: Partner) -> dict[str, str]:
    """Does a bit of everything; the secrets that came of it."""
    url, idempotency_key = partner.server.url, new_id()
    body = {"external_id": "client", "name": "Client", "email": "client@shop.example"}
    made = partner.request("POST", json=body, headers={"Idempotency-Key": idempotency_key}).json()
    give_money(partner.server, made["tenant_id"])
    keys = {"first key": made["api_key"], "rotated key": partner.done("client", "api-key/rotate")["api_key"]}
    keys["key of an update"] = partner.put("client", rotate_key=True).json()["api_key"]
    partner.done("client", "deactivate")
    keys["key of a reactivation"] = last = partner.done("client", "reactivate")["api_key"]
    headers = {"Authorization": f"Bearer {last}"}
    own = httpx2.post(
        url + "/public/v1/keys", headers=headers | {"Idempotency-Key": new_id()}, json={"name": "own"}
    ).json()
    keys["own key"] = own["api_key"]
    with receiving() as receiver:
        for key in keys.values():  # dead ones too
            headers = {"Authorization": f"Bearer {key}"}
            httpx2.patch(url + "/public/v1/settings", headers=headers, json={"webhook_url": receiver.url()})
            httpx2.get(url + "/public/v1/balance", headers={"x-api-key": key})
            httpx2.get(url + f"/public/v1/{key}", headers=headers)
            rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
            httpx2.post(url + "/mcp", headers=headers, json=rpc)
            httpx2.post(url + "/public/v1/settings/webhook-test", headers=headers)
            files = {"file": ("call.wav", wav(tone(1.0)))}
            httpx2.post(
                url + "/v1/audio/transcriptions",
                headers=headers,
                files=files,
                data={"webhook_url": receiver.url("/own")},
            )
        receiver.wait("/own")
    link = httpx2.post(url + "/public/v1/session-link", headers=headers)
    assert link.status_code == 200, link.text
    (keys["session code"],) = parse_qs(urlsplit(link.json()["url"]).query)["code"]
    with httpx2.Client() as browser:
        entered = browser.post(url + "/cabinet/session-link", data={"code": keys["session code"]})
        assert entered.status_code in (200, 303), entered.text
        (keys["session cookie"],) = browser.cookies.values()
    assert len(set(keys.values())) == 7
    return keys


def needles(used: Used) -> dict[str, bytes]:
    """What must be nowhere: each secret, without its prefix, and the digest that signs webhooks."""
    found = {}
    for name, secret in used.secrets.items():
        digest = hashlib.sha256(secret.encode())
        found[name] = secret.rpartition("_live_")[2].encode()
        found[f"sha256 of the {name}"] = digest.hexdigest().encode()
        found[f"raw sha256 of the {name}"] = digest.digest()
    return found


@pytest.mark.proves("authentication.client.shown-once")
def test_no_secret_and_no_signing_digest_lies_in_any_file_of_the_server(used: Used) -> None:
    """The log is one of them."""
    content = used.server.files("*")
    assert {"server.log", "parley.sqlite3", "jobs.sqlite3"} <= {path.name for path in content}
    assert any(b"client@shop.example" in each for each in content.values()), "the scan sees nothing"
    log = used.server.log()
    assert "/v1/audio/transcriptions" in log
    lying = [
        (name, path.name) for path, held in content.items() for name, needle in needles(used).items() if needle in held
    ]
    assert lying == []
    assert [name for name, digest in used.hashes.items() if digest in log] == []


def test_what_a_secret_is_found_by_stands_in_its_own_column_alone(used: Used) -> None:
    found: dict[str, set[str]] = {name: set() for name in used.hashes}
    for file in ("parley.sqlite3", "jobs.sqlite3"):
        for table, column, value in _values(used.server.data_dir / file):
            raw = value if isinstance(value, bytes) else str(value).encode()
            for name, needle in needles(used).items():
                assert needle not in raw, f"{name} in {table}.{column}"
            for name, digest in used.hashes.items():
                if digest.encode() in raw or bytes.fromhex(digest) in raw:
                    found[name].add(column)
    assert {name: columns for name, columns in found.items() if not columns <= HASH_COLUMNS} == {}
    assert found["own key"] == {"key_hash"}
    assert found["new integration secret"] == {"secret_hash"}


def _values(file: Path) -> Iterator[tuple[str, str, object]]:
    """Every value of every column of every table."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert tables
        for table in tables:
            rows = connection.execute(f'SELECT * FROM "{table}"')
            columns = [each[0] for each in rows.description]
            for row in rows:
                for column, value in zip(columns, row, strict=True):
                    if isinstance(value, str | bytes):
                        yield table, column, value
