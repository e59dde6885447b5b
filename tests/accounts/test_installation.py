"""Which secret key a database belongs to."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from accounts.clients import create_client
from accounts.installation import check_secret, refuse_other_secret
from accounts.keys import Keyring
from store import installation
from store.database import Database
from store.errors import InvalidRequest
from store.settings import Settings
from tests.store.conftest import database as database

OURS, OTHER = Keyring(b"o" * 32), Keyring(b"x" * 32)


def test_who_comes_first_has_it_and_no_other_until_it_is_taken_over(database: Database) -> None:
    check_secret(database, OURS)
    check_secret(database, OURS)
    with pytest.raises(InvalidRequest, match="another secret key"):
        check_secret(database, OTHER)
    with database.write() as connection:
        installation.take_over(connection, OTHER.installation_id)
    check_secret(database, OTHER)
    with pytest.raises(InvalidRequest), database.read() as connection:
        refuse_other_secret(connection, OURS)


def test_of_a_database_from_before_the_one_that_made_its_keys_is_the_first(database: Database) -> None:
    with database.write() as connection:
        create_client(connection, OURS, external_id="shop")
    with pytest.raises(InvalidRequest, match="another secret key"):
        check_secret(database, OTHER)
    with database.read() as connection:
        refuse_other_secret(connection, OTHER)  # nobody has claimed it yet
        assert installation.owner(connection) is None
    check_secret(database, OURS)
    with database.read() as connection:
        assert installation.owner(connection) == OURS.installation_id


def keyring(folder: Path, secret_key: str = "") -> Keyring:
    return Keyring.of(Settings(data_dir=folder, secret_key=secret_key, _env_file=None))  # type: ignore[arg-type, call-arg]


def test_what_a_data_dir_has_goes_into_the_setting_too(tmp_path: Path) -> None:
    made = keyring(tmp_path / "here")
    content = (tmp_path / "here" / "secret.key").read_bytes()
    same = keyring(tmp_path / "there", "base64:" + b64encode(content).decode())
    assert same.hash("sk_live_1") == made.hash("sk_live_1")
    assert same.decrypt(made.encrypt(b"rtsp://camera")) == b"rtsp://camera"
    assert keyring(tmp_path / "there", content.hex()).installation_id != made.installation_id
    assert not (tmp_path / "there").exists(), "a setting needs no file"


@pytest.mark.parametrize("wrong", ["base64:", "base64:AAAA", "base64:not base64", "base64:" + "A" * 42])
def test_what_is_no_key_is_said_so(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(InvalidRequest, match="PARLEY_SECRET_KEY"):
        keyring(tmp_path, wrong)
