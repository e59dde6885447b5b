"""sessions of invitations are bound to their account

Revision ID: 0018
Revises: 0017
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    # What is open at the upgrade ends within its twelve hours.
    with op.batch_alter_table("cabinet_sessions", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("is_bound", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("cabinet_sessions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("is_bound")
