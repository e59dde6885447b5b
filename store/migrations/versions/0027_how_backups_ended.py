"""how backups ended

Revision ID: 0027
Revises: 0026
"""

import sqlalchemy as sa
from alembic import op

import store.database

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.create_table(
        "backup_outcomes",
        sa.Column("outcome", sa.String(10), nullable=False),
        sa.Column("at", store.database.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("outcome", name=op.f("pk_backup_outcomes")),
    )


def downgrade() -> None:
    op.drop_table("backup_outcomes")
