"""promises by their days

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op


revision = '0009'
down_revision = '0008'


def upgrade() -> None:
    op.create_index('ix_summary_items_commitments', 'summary_items',
        ['tenant_id', 'due_on', 'id'], unique=False,
        sqlite_where=sa.text("item_type = 'commitment'"), postgresql_where=sa.text("item_type = 'commitment'"))


def downgrade() -> None:
    op.drop_index('ix_summary_items_commitments', table_name='summary_items')
