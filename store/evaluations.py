"""Questions with the passage that each should find, and what evaluations of a space's retrieval came to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from store.database import Connection, id_column, metadata, now, time_column
from store.ids import new_id
from store.rounds import Place, Waiting, list_waiting
from store.scope import across_tenants

questions = sa.Table(
    "kb_questions",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("space_id", sa.ForeignKey("kb_spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    # None where it was deleted: the question is stale until it is given another one.
    id_column("document_id", sa.ForeignKey("kb_documents.id", ondelete="SET NULL"), nullable=True),
    # Words of the passage: they outlive its being cut anew. Empty: any passage of the document will do.
    sa.Column("quote", sa.Text, nullable=False),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.Index(None, "tenant_id", "space_id", "created_at"),
    sa.Index(None, "document_id"),
)

evaluations = sa.Table(
    "kb_evaluations",
    metadata,
    id_column("id", primary_key=True),
    id_column("tenant_id", sa.ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    id_column("space_id", sa.ForeignKey("kb_spaces.id", ondelete="CASCADE"), nullable=False),
    sa.Column("status", sa.String(10), nullable=False),  # pending, processing, success, error
    sa.Column("error_message", sa.Text, nullable=True),
    # With what was searched: models, numbers of documents and chunks, label.
    sa.Column("setup", sa.JSON(none_as_null=True), nullable=True),
    sa.Column("metrics", sa.JSON(none_as_null=True), nullable=True),
    # Of each question: its id and text, and the ranks of its passages.
    sa.Column("results", sa.JSON(none_as_null=True), nullable=True),
    time_column("created_at", nullable=False),
    time_column("updated_at", nullable=False),
    sa.Index(None, "tenant_id", "space_id", "created_at"),
    sa.Index(None, "status", "updated_at"),
)

UNFINISHED = ("pending", "processing")


@dataclass(frozen=True, slots=True)
class Question:
    """`quote` is of the passage that should be found; empty: any passage of the document."""

    id: str
    space_id: str
    text: str
    document_id: str | None
    quote: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Evaluation:
    """`results` is None where it was not asked for."""

    id: str
    tenant_id: str
    space_id: str
    status: str
    error_message: str | None
    setup: dict[str, Any] | None
    metrics: dict[str, Any] | None
    results: list[dict[str, Any]] | None
    created_at: datetime
    updated_at: datetime


_QUESTION_COLUMNS = [questions.c[name] for name in Question.__dataclass_fields__]
_SHORT_COLUMNS = [evaluations.c[name] for name in Evaluation.__dataclass_fields__ if name != "results"]


def add_question(
    tenant_id: str, connection: Connection, *, space_id: str, text: str, document_id: str, quote: str
) -> Question:
    made_at = now()
    row = Question(new_id(), space_id, text, document_id, quote, made_at, made_at)
    values = {name: getattr(row, name) for name in Question.__dataclass_fields__}
    connection.execute(sa.insert(questions).values(tenant_id=tenant_id, **values))
    return row


def get_question(tenant_id: str, connection: Connection, question_id: str) -> Question | None:
    query = sa.select(*_QUESTION_COLUMNS).where(questions.c.tenant_id == tenant_id, questions.c.id == question_id)
    row = connection.execute(query).first()
    return Question(**row._mapping) if row else None


def list_questions(
    tenant_id: str, connection: Connection, space_id: str, *, limit: int, offset: int = 0
) -> tuple[list[Question], int]:
    """A page in the order of creation, and the number of all."""
    where = (questions.c.tenant_id == tenant_id, questions.c.space_id == space_id)
    order = (questions.c.created_at, questions.c.id)
    rows = connection.execute(
        sa.select(*_QUESTION_COLUMNS).where(*where).order_by(*order).limit(limit).offset(offset)
    ).all()
    total = connection.execute(sa.select(sa.func.count()).select_from(questions).where(*where)).scalar_one()
    return [Question(**row._mapping) for row in rows], total


def update_question(tenant_id: str, connection: Connection, question_id: str, **values: Any) -> None:
    """Sets the given columns: text, document_id or quote."""
    connection.execute(
        sa.update(questions)
        .where(questions.c.tenant_id == tenant_id, questions.c.id == question_id)
        .values(**values, updated_at=now())
    )


def delete_question(tenant_id: str, connection: Connection, question_id: str) -> bool:
    result = connection.execute(
        sa.delete(questions).where(questions.c.tenant_id == tenant_id, questions.c.id == question_id)
    )
    return result.rowcount == 1


def add(tenant_id: str, connection: Connection, *, space_id: str, label: str) -> Evaluation:
    made_at = now()
    values: dict[str, Any] = {
        "id": new_id(),
        "tenant_id": tenant_id,
        "space_id": space_id,
        "status": "pending",
        "error_message": None,
        "setup": {"label": label} if label else None,
        "metrics": None,
        "created_at": made_at,
        "updated_at": made_at,
    }
    connection.execute(sa.insert(evaluations).values(**values))
    return Evaluation(**values, results=None)


def update(tenant_id: str, connection: Connection, evaluation_id: str, **values: Any) -> bool:
    """Sets the given columns of an evaluation that has not ended. False where it had, or is gone."""
    result = connection.execute(
        sa.update(evaluations)
        .where(
            evaluations.c.tenant_id == tenant_id,
            evaluations.c.id == evaluation_id,
            evaluations.c.status.in_(UNFINISHED),
        )
        .values(**values, updated_at=now())
    )
    return result.rowcount == 1


def get(tenant_id: str, connection: Connection, evaluation_id: str) -> Evaluation | None:
    query = sa.select(*_SHORT_COLUMNS, evaluations.c.results).where(
        evaluations.c.tenant_id == tenant_id, evaluations.c.id == evaluation_id
    )
    row = connection.execute(query).first()
    return Evaluation(**row._mapping) if row else None


def get_previous(tenant_id: str, connection: Connection, evaluation: Evaluation) -> Evaluation | None:
    """The one that succeeded before it in the same space."""
    query = (
        sa.select(*_SHORT_COLUMNS, evaluations.c.results)
        .where(
            evaluations.c.tenant_id == tenant_id,
            evaluations.c.space_id == evaluation.space_id,
            evaluations.c.status == "success",
            sa.tuple_(evaluations.c.created_at, evaluations.c.id)
            < sa.tuple_(
                sa.literal(evaluation.created_at, time_column("t").type),
                sa.literal(evaluation.id, sa.Uuid(as_uuid=False)),
            ),
        )
        .order_by(evaluations.c.created_at.desc(), evaluations.c.id.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    return Evaluation(**row._mapping) if row else None


def get_unfinished(tenant_id: str, connection: Connection, space_id: str) -> Evaluation | None:
    query = sa.select(*_SHORT_COLUMNS).where(
        evaluations.c.tenant_id == tenant_id,
        evaluations.c.space_id == space_id,
        evaluations.c.status.in_(UNFINISHED),
    )
    row = connection.execute(query.limit(1)).first()
    return Evaluation(**row._mapping, results=None) if row else None


def forget_old(tenant_id: str, connection: Connection, space_id: str, *, keep: int) -> None:
    """Deletes all but the newest `keep` of a space."""
    where = (evaluations.c.tenant_id == tenant_id, evaluations.c.space_id == space_id)
    order = (evaluations.c.created_at.desc(), evaluations.c.id.desc())
    old = connection.execute(sa.select(evaluations.c.id).where(*where).order_by(*order).offset(keep).limit(1000))
    if ids := list(old.scalars()):
        connection.execute(sa.delete(evaluations).where(*where, evaluations.c.id.in_(ids)))


def list_newest(
    tenant_id: str, connection: Connection, space_id: str, *, limit: int, offset: int = 0
) -> tuple[list[Evaluation], int]:
    """A page without results, newest first, and the number of all."""
    where = (evaluations.c.tenant_id == tenant_id, evaluations.c.space_id == space_id)
    order = (evaluations.c.created_at.desc(), evaluations.c.id.desc())
    rows = connection.execute(sa.select(*_SHORT_COLUMNS).where(*where).order_by(*order).limit(limit).offset(offset))
    found = [Evaluation(**row._mapping, results=None) for row in rows]
    total = connection.execute(sa.select(sa.func.count()).select_from(evaluations).where(*where)).scalar_one()
    return found, total


@across_tenants("the sweeper starts what a crash left unstarted")
def list_unfinished(
    connection: Connection, *, older_than_s: float, limit: int, after: Place | None = None
) -> list[Waiting]:
    """Evaluations that were accepted and have not ended, the longest unchanged first, from behind `after` on."""
    table = evaluations.c
    unfinished = table.status.in_(UNFINISHED)
    return list_waiting(connection, unfinished, table.updated_at, older_than_s=older_than_s, limit=limit, after=after)
