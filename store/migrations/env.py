"""Alembic's entry: runs the migrations over the connection that `store.migrate` hands in."""

from typing import Any, Literal

from alembic import context

from store import migrate

migrate.import_tables()

from store import late_indexes  # noqa: E402, F401 - how its class runs operations on PostgreSQL
from store.database import UtcDateTime, metadata  # noqa: E402


def render_item(kind: str, item: Any, _context: Any) -> str | Literal[False]:
    """Migrations name the plain column type: they must run unchanged however the Python side moves."""
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcDateTime) else False


context.configure(
    render_item=render_item,
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    compare_type=True,
    transaction_per_migration=False,  # the transaction is whose connection it is
    tables_in_use=context.config.attributes.get("tables_in_use", frozenset()),
)
context.run_migrations()
