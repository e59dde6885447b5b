"""Whether a process has the secret key that the database's keys were made under."""

from __future__ import annotations

from cryptography.fernet import InvalidToken

from accounts.keys import Keyring
from store import installation
from store.database import Connection, Database
from store.errors import InvalidRequest

NOT_OURS = (
    "The keys of this database were made under another secret key, so none of them would be known: PARLEY_SECRET_KEY "
    "has to be the same for all processes, or secret.key in each data dir. Where it is lost for good, `parley key "
    "reset-secret` begins with the one that is set."
)


def check_secret(database: Database, keyring: Keyring) -> None:
    """Claims a database that nobody has claimed. Raises InvalidRequest where it is another installation's."""
    with database.read() as connection:
        owner = installation.owner(connection)
    if owner is None:
        with database.write() as connection:
            _claim(connection, keyring)
            owner = installation.owner(connection)
    if owner != keyring.installation_id:
        raise InvalidRequest(NOT_OURS)


def refuse_other_secret(connection: Connection, keyring: Keyring) -> None:
    """Raises InvalidRequest where the database, of whichever release, is another installation's; claims nothing."""
    if installation.is_known(connection) and installation.owner(connection) not in (None, keyring.installation_id):
        raise InvalidRequest(NOT_OURS)


def _claim(connection: Connection, keyring: Keyring) -> None:
    """Where keys were made before anybody claimed the database, the one that made them does."""
    if (secret := installation.some_secret(connection)) is not None:
        try:
            keyring.decrypt(secret)
        except InvalidToken:
            raise InvalidRequest(NOT_OURS) from None
    installation.claim(connection, keyring.installation_id)
