"""Under whose secret key the database's keys were made. A process with another one would know none of them."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.accounts import api_keys
from store.database import insert_ignoring, metadata, put_all
from store.scope import across_tenants

_THE_ONLY_ONE = 1

installation = sa.Table(
    "installation",
    metadata,
    sa.Column("number", sa.SmallInteger, primary_key=True),
    sa.Column("id", sa.String(12), nullable=False),
)


@across_tenants("the secret key is the whole installation's")
def is_known(connection: Connection) -> bool:
    """Earlier releases have no such table."""
    return sa.inspect(connection).has_table(installation.name)


@across_tenants("the secret key is the whole installation's")
def owner(connection: Connection) -> str | None:
    """The `Keyring.installation_id` that the database belongs to; None where nobody has claimed it yet."""
    return connection.execute(sa.select(installation.c.id)).scalar()


@across_tenants("the secret key is the whole installation's")
def claim(connection: Connection, installation_id: str) -> None:
    """Does nothing where somebody has claimed it already."""
    insert_ignoring(connection, installation, {"number": _THE_ONLY_ONE, "id": installation_id})


@across_tenants("the secret key is the whole installation's")
def take_over(connection: Connection, installation_id: str) -> None:
    """From now on the keys are those that this one makes; those of before are dead."""
    put_all(connection, installation, [{"number": _THE_ONLY_ONE, "id": installation_id}])


@across_tenants("the secret key is the whole installation's")
def some_secret(connection: Connection) -> bytes | None:
    """What was encrypted under the secret key, where there is any of it."""
    newest = sa.select(api_keys.c.signing_secret).order_by(api_keys.c.created_at.desc()).limit(1)
    return connection.execute(newest).scalar()
