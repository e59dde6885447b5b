"""privacy and trial: retention of audio, exports and deletion of accounts, trial uploads

Revision ID: 0015
Revises: 0014
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "trials",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("task_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("communication_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_trials_tenant_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trials")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_trials_token_hash")),
    )
    op.create_index(op.f("ix_trials_expires_at"), "trials", ["expires_at"])
    op.create_table(
        "trial_addresses",
        sa.Column("address_hash", sa.String(length=64), nullable=False),
        sa.Column("uploads", sa.JSON(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("address_hash", name=op.f("pk_trial_addresses")),
    )
    op.create_index(op.f("ix_trial_addresses_changed_at"), "trial_addresses", ["changed_at"])
    op.create_table(
        "account_exports",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("tenant_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("error_message", sa.String(length=300), nullable=True),
        sa.Column("blob_key", sa.String(length=300), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_account_exports_tenant_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_exports")),
    )
    op.create_index(op.f("ix_account_exports_tenant_id_created_at"), "account_exports", ["tenant_id", "created_at"])
    op.create_index(op.f("ix_account_exports_status"), "account_exports", ["status"])
    with op.batch_alter_table("tenants", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("audio_days", sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column("paused_since", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("deleting_since", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("tenants", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("deleting_since")
        batch_op.drop_column("paused_since")
        batch_op.drop_column("audio_days")
    op.drop_table("account_exports")
    op.drop_table("trial_addresses")
    op.drop_table("trials")
