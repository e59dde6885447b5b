"""who may be watched, and what was read

Revision ID: 0026
Revises: 0025
"""

import sqlalchemy as sa
from alembic import op

import store.database

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    # With a default for the servers of the release before, which go on beside this one for a while and do not name it.
    with op.batch_alter_table("camera_streams", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("is_permitted", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.create_table(
        "camera_tally",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("made_at", store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("holds_until", store.database.UtcDateTime(timezone=True), nullable=False),
        sa.Column("streams", sa.Integer(), nullable=False),
        sa.Column("free", sa.Integer(), nullable=False),
        sa.Column("places", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_camera_tally")),
    )
    key = sa.String(100).with_variant(sa.String(100, collation="C"), "postgresql")
    with op.batch_alter_table("camera_events", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("search_key", key, nullable=True))
        batch_op.create_index(
            batch_op.f("ix_camera_events_tenant_id_type_occurred_at_id"),
            ["tenant_id", "type", "occurred_at", "id"],
            unique=False,
        )
        batch_op.create_index(
            batch_op.f("ix_camera_events_tenant_id_search_key"), ["tenant_id", "search_key"], unique=False
        )


def downgrade() -> None:
    with op.batch_alter_table("camera_events", schema=None, recreate="never") as batch_op:
        batch_op.drop_index(batch_op.f("ix_camera_events_tenant_id_search_key"))
        batch_op.drop_index(batch_op.f("ix_camera_events_tenant_id_type_occurred_at_id"))
        batch_op.drop_column("search_key")
    op.drop_table("camera_tally")
    with op.batch_alter_table("camera_streams", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("is_permitted")
