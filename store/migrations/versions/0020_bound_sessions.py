"""sessions of invitations are bound to their account

Revision ID: 0020
Revises: 0019
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    # What is open at the upgrade ends within its twelve hours.
    with op.batch_alter_table("cabinet_sessions", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("is_bound", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("cabinet_sessions", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("is_bound")
