"""narrow lists: indexes of the few among many, and which communication a webhook is about

Revision ID: 0017
Revises: 0016
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_INDEXES = (
    (
        "communication_figures",
        "ix_communication_figures_unanswered",
        ["tenant_id", "kind", "direction", "occured_at", "communication_id", "is_answered"],
        ("is_answered IS 0", "is_answered IS FALSE"),
    ),
    (
        "communication_figures",
        "ix_communication_figures_signals",
        ["tenant_id", "occured_at", "communication_id", "signals", "kind", "channel_type", "direction"],
        ("signals != 0", "signals != 0"),
    ),
    (
        "widget_conversations",
        "ix_widget_conversations_waiting",
        ["tenant_id", "person_requested_at", "id", "operator_name"],
        ("person_requested_at IS NOT NULL", "person_requested_at IS NOT NULL"),
    ),
    (
        "widget_conversations",
        "ix_widget_conversations_taken",
        ["tenant_id", "last_at", "id"],
        ("operator_name IS NOT NULL", "operator_name IS NOT NULL"),
    ),
    (
        "widget_turns",
        "ix_widget_turns_judged",
        ["tenant_id", "feedback", "at", "id", "conversation_id"],
        ("feedback IS NOT NULL", "feedback IS NOT NULL"),
    ),
)
_OF_COMMUNICATION = "ix_webhook_deliveries_tenant_id_communication_id_created_at"


def upgrade() -> None:
    for table, name, columns, (sqlite, postgresql) in _INDEXES:
        op.create_index(name, table, columns, sqlite_where=sa.text(sqlite), postgresql_where=sa.text(postgresql))
    with op.batch_alter_table("webhook_deliveries", schema=None) as batch_op:
        batch_op.add_column(sa.Column("communication_id", sa.Uuid(as_uuid=False), nullable=True))
        batch_op.create_index(_OF_COMMUNICATION, ["tenant_id", "communication_id", "created_at"])
    named = {
        "sqlite": "replace(json_extract(body, '$.communication_id'), '-', '')",
        "postgresql": "CAST(CAST(body AS json) ->> 'communication_id' AS uuid)",
    }[op.get_bind().dialect.name]
    op.execute(sa.text(f"UPDATE webhook_deliveries SET communication_id = {named}"))  # noqa: S608 - one of ours


def downgrade() -> None:
    with op.batch_alter_table("webhook_deliveries", schema=None) as batch_op:
        batch_op.drop_index(_OF_COMMUNICATION)
        batch_op.drop_column("communication_id")
    for table, name, _, _ in reversed(_INDEXES):
        op.drop_index(name, table_name=table)
