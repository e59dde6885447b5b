"""tool calls

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op


revision = '0007'
down_revision = '0006'


def upgrade() -> None:
    op.create_table('tool_calls',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('actor', sa.String(length=200), nullable=False),
    sa.Column('tool', sa.String(length=100), nullable=False),
    sa.Column('arguments', sa.JSON(), nullable=False),
    sa.Column('outcome', sa.String(length=10), nullable=False),
    sa.Column('error', sa.String(length=300), nullable=True),
    sa.Column('duration_ms', sa.Float(), nullable=False),
    sa.Column('items', sa.Integer(), nullable=True),
    sa.Column('characters', sa.Integer(), nullable=True),
    sa.Column('protocol_version', sa.String(length=20), nullable=True),
    sa.Column('client', sa.String(length=200), nullable=True),
    sa.Column('request_id', sa.String(length=128), nullable=True),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_tool_calls_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_tool_calls'))
    )
    with op.batch_alter_table('tool_calls', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_tool_calls_at'), ['at'], unique=False)
        batch_op.create_index(batch_op.f('ix_tool_calls_tenant_id_at_id_tool_outcome'), ['tenant_id', 'at', 'id', 'tool', 'outcome'], unique=False)


def downgrade() -> None:
    with op.batch_alter_table('tool_calls', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_tool_calls_tenant_id_at_id_tool_outcome'))
        batch_op.drop_index(batch_op.f('ix_tool_calls_at'))

    op.drop_table('tool_calls')
