"""what workers take

Revision ID: 0022
Revises: 0021
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    # With a default for the workers of the release before, which go on beside this one for a while and do not name it.
    with op.batch_alter_table("workers", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("takes", sa.JSON(), nullable=False, server_default="[]"))


def downgrade() -> None:
    with op.batch_alter_table("workers", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("takes")
