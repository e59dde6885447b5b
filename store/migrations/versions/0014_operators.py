"""operators of an account, links that are mailed to them, whose a session is

Revision ID: 0014
Revises: 0013
"""

import uuid

import sqlalchemy as sa
from alembic import op


revision = '0014'
down_revision = '0013'


def upgrade() -> None:
    operators = op.create_table('operators',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('email', sa.String(length=320), nullable=False),
    sa.Column('name', sa.String(length=200), nullable=True),
    sa.Column('role', sa.String(length=10), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('seen_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_operators_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_operators')),
    sa.UniqueConstraint('tenant_id', 'email', name=op.f('uq_operators_tenant_id_email'))
    )
    with op.batch_alter_table('operators', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_operators_email'), ['email'], unique=False)

    op.create_table('mailed_codes',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('email', sa.String(length=320), nullable=False),
    sa.Column('operator_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('code_hash', sa.String(length=64), nullable=False),
    sa.Column('leads_to', sa.String(length=500), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('used_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['operator_id'], ['operators.id'], name=op.f('fk_mailed_codes_operator_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_mailed_codes')),
    sa.UniqueConstraint('code_hash', name=op.f('uq_mailed_codes_code_hash'))
    )
    with op.batch_alter_table('mailed_codes', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_mailed_codes_expires_at'), ['expires_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_mailed_codes_operator_id'), ['operator_id'], unique=False)

    with op.batch_alter_table('cabinet_sessions', schema=None, recreate='never') as batch_op:
        batch_op.add_column(sa.Column('operator_id', sa.Uuid(as_uuid=False), nullable=True))
    with op.batch_alter_table('cabinet_sessions', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_cabinet_sessions_operator_id'), ['operator_id'], unique=False)

    # The e-mail of an account is its first owner.
    tenants = sa.table('tenants',
        sa.column('id', sa.Uuid(as_uuid=False)),
        sa.column('email', sa.String()),
        sa.column('created_at', sa.DateTime(timezone=True)),
    )
    found = op.get_bind().execute(sa.select(tenants).where(tenants.c.email.is_not(None))).all()
    for row in found:
        values = {'id': str(uuid.uuid4()), 'tenant_id': row.id, 'email': row.email.lower(), 'role': 'owner'}
        op.get_bind().execute(sa.insert(operators).values(**values, created_at=row.created_at))


def downgrade() -> None:
    with op.batch_alter_table('cabinet_sessions', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_cabinet_sessions_operator_id'))

    with op.batch_alter_table('cabinet_sessions', schema=None, recreate='never') as batch_op:
        batch_op.drop_column('operator_id')

    with op.batch_alter_table('mailed_codes', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_mailed_codes_operator_id'))
        batch_op.drop_index(batch_op.f('ix_mailed_codes_expires_at'))

    op.drop_table('mailed_codes')
    with op.batch_alter_table('operators', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_operators_email'))

    op.drop_table('operators')
