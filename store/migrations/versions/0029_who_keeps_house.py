"""which worker keeps house for all

Revision ID: 0029
Revises: 0028
"""

import sqlalchemy as sa
from alembic import op

import store.database

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.create_table(
        "housekeeping",
        sa.Column("number", sa.SmallInteger(), nullable=False),
        sa.Column("executor_id", sa.String(200), nullable=False),
        sa.Column("until", store.database.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_housekeeping")),
    )


def downgrade() -> None:
    op.drop_table("housekeeping")
