"""Work on the index that must not be lost: committed with the change that makes it necessary, done after it.

A row is one subject that the index must follow. `version` counts its changes, so that a worker that was at it while it
changed again does not tick off the newer change.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from store.database import Connection, id_column, metadata, now, time_column, upsert
from store.scope import across_tenants

DELETE_BLOB = "delete_blob"
FORGET_COMMUNICATION = "forget_communication"
FORGET_DOCUMENT = "forget_document"
INDEX_COMMUNICATION = "index_communication"

index_work = sa.Table(
    "index_work",
    metadata,
    id_column("subject_id", primary_key=True),
    sa.Column("action", sa.String(32), primary_key=True),
    id_column("tenant_id", nullable=False),
    sa.Column("blob_key", sa.String(300), nullable=True),
    sa.Column("version", sa.Integer, nullable=False),
    time_column("changed_at", nullable=False),
    sa.Index(None, "changed_at"),
)


@dataclass(frozen=True, slots=True)
class IndexWork:
    subject_id: str
    action: str
    tenant_id: str
    blob_key: str | None
    version: int


def add(
    tenant_id: str, connection: Connection, *, action: str, subject_id: str, blob_key: str | None = None
) -> IndexWork:
    """Notes that the index must follow the subject's change."""
    values = {"subject_id": subject_id, "action": action, "tenant_id": tenant_id, "blob_key": blob_key}
    statement = (
        upsert(connection, index_work)
        .values(**values, version=1, changed_at=now())
        .on_conflict_do_update(
            index_elements=["subject_id", "action"],
            set_={"version": index_work.c.version + 1, "changed_at": now()},
        )
        .returning(index_work.c.version)
    )
    return IndexWork(**values, version=connection.execute(statement).scalar_one())  # type: ignore[arg-type]


def get(tenant_id: str, connection: Connection, action: str, subject_id: str) -> IndexWork | None:
    columns = [index_work.c[name] for name in IndexWork.__dataclass_fields__]
    row = connection.execute(
        sa.select(*columns).where(
            index_work.c.tenant_id == tenant_id,
            index_work.c.action == action,
            index_work.c.subject_id == subject_id,
        )
    ).first()
    return IndexWork(**row._mapping) if row else None


def done(tenant_id: str, connection: Connection, work: IndexWork) -> None:
    """Ticks the work off, unless the subject changed again."""
    connection.execute(
        sa.delete(index_work).where(
            index_work.c.tenant_id == tenant_id,
            index_work.c.subject_id == work.subject_id,
            index_work.c.action == work.action,
            index_work.c.version == work.version,
        )
    )


def put_back(tenant_id: str, connection: Connection, work: IndexWork) -> None:
    """Work that failed waits behind what is there, so that it does not keep the head of the line."""
    connection.execute(
        sa.update(index_work)
        .where(
            index_work.c.tenant_id == tenant_id,
            index_work.c.subject_id == work.subject_id,
            index_work.c.action == work.action,
            index_work.c.version == work.version,
        )
        .values(changed_at=now())
    )


@across_tenants("whoever sweeps does the work of all")
def list_open(connection: Connection, *, limit: int = 100) -> list[IndexWork]:
    """The longest-waiting first; what failed waits from its last try on."""
    columns = [index_work.c[name] for name in IndexWork.__dataclass_fields__]
    rows = connection.execute(sa.select(*columns).order_by(index_work.c.changed_at).limit(limit))
    return [IndexWork(**row._mapping) for row in rows]
