"""releases that work with it

Revision ID: 0024
Revises: 0023
"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.add_column("alembic_version", sa.Column("works_from", sa.String(32), nullable=True))


def downgrade() -> None:
    op.drop_column("alembic_version", "works_from")
