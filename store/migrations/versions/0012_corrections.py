"""corrections of timelines, waveforms, saved views

Revision ID: 0012
Revises: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "corrections",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("communication_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("idx", sa.Integer(), nullable=True),
        sa.Column("label", sa.String(length=64), nullable=True),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["communication_id"],
            ["communications.id"],
            name=op.f("fk_corrections_communication_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_corrections_tenant_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_corrections")),
    )
    with op.batch_alter_table("corrections", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_corrections_tenant_id"), ["tenant_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_corrections_communication_id_created_at_id"),
            ["communication_id", "created_at", "id"],
            unique=False,
        )

    op.create_table(
        "waveforms",
        sa.Column("communication_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("task_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("duration_ms", sa.BigInteger(), nullable=False),
        sa.Column("peaks", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["communication_id"],
            ["communications.id"],
            name=op.f("fk_waveforms_communication_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("communication_id", name=op.f("pk_waveforms")),
    )

    op.create_table(
        "saved_views",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("filters", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_saved_views_tenant_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_views")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_saved_views_tenant_id_name")),
    )


def downgrade() -> None:
    op.drop_table("saved_views")
    op.drop_table("waveforms")
    with op.batch_alter_table("corrections", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_corrections_communication_id_created_at_id"))
        batch_op.drop_index(batch_op.f("ix_corrections_tenant_id"))
    op.drop_table("corrections")
