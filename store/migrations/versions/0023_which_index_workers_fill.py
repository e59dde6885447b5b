"""which index workers fill

Revision ID: 0023
Revises: 0022
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    with op.batch_alter_table("workers", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("index_name", sa.String(200), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("workers", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("index_name")
