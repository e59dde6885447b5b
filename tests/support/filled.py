"""A row in every table, whichever the schema: for migrations, which know the tables of their day alone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from store.database import Database
from store.ids import new_id

TENANT_ID = "01890000-0000-7000-8000-00000000000a"
MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def fill(database: Database) -> None:
    """One row a table, each referring to what was filled before it."""
    tables = sa.MetaData()
    with database.write() as connection:
        tables.reflect(connection)
        made: dict[str, dict[str, Any]] = {}
        for table in tables.sorted_tables:
            if table.name == "alembic_version":
                continue
            made[table.name] = {column.name: value_for(column, made) for column in table.columns}
            connection.execute(sa.insert(table).values(**made[table.name]))


def value_for(column: sa.Column[Any], made: dict[str, dict[str, Any]]) -> Any:
    for key in column.foreign_keys:
        return made[key.column.table.name][key.column.name]
    kind = column.type
    if column.name == "tenant_id" or (column.name, column.table.name) == ("id", "tenants"):
        return TENANT_ID if isinstance(kind, sa.Uuid) else TENANT_ID.replace("-", "")
    if isinstance(kind, sa.Boolean):
        return True
    if isinstance(kind, sa.JSON):
        return []
    if isinstance(kind, sa.Float):
        return 0.5
    if isinstance(kind, sa.Integer):
        return 1
    if isinstance(kind, sa.DateTime):
        return MOMENT if kind.timezone else MOMENT.replace(tzinfo=None)
    if isinstance(kind, sa.Date):
        return MOMENT.date()
    if isinstance(kind, sa.LargeBinary):
        return b"x"
    if isinstance(kind, sa.Uuid) or (isinstance(kind, sa.CHAR) and kind.length == 32):
        # SQLite reflects a UUID as what it is stored as.
        return new_id() if isinstance(kind, sa.Uuid) else new_id().replace("-", "")
    return "x"


def rows(database: Database) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, by the table's name."""
    tables = sa.MetaData()
    with database.read() as connection:
        tables.reflect(connection)
        return {
            name: [dict(row._mapping) for row in connection.execute(sa.select(table))]
            for name, table in tables.tables.items()
            if name != "alembic_version"
        }
