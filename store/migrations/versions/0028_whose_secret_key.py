"""under whose secret key the keys were made

Revision ID: 0028
Revises: 0027
"""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    op.create_table(
        "installation",
        sa.Column("number", sa.SmallInteger(), nullable=False),
        sa.Column("id", sa.String(12), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_installation")),
    )


def downgrade() -> None:
    op.drop_table("installation")
