"""analysis and imports

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op


revision = '0004'
down_revision = '0003'


def upgrade() -> None:
    op.create_table('media',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('type', sa.String(length=8), nullable=False),
    sa.Column('mime', sa.String(length=100), nullable=False),
    sa.Column('name', sa.String(length=300), nullable=False),
    sa.Column('size_bytes', sa.BigInteger(), nullable=False),
    sa.Column('blob_key', sa.String(length=300), nullable=False),
    sa.Column('sha256', sa.String(length=64), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_media_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_media'))
    )
    with op.batch_alter_table('media', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_media_communication_id_created_at'), ['communication_id', 'created_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_media_tenant_id_communication_id'), ['tenant_id', 'communication_id'], unique=False)

    op.create_table('quality_settings',
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('settings', sa.JSON(), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_quality_settings_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('tenant_id', name=op.f('pk_quality_settings'))
    )
    op.create_table('analyses',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('task_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('status', sa.String(length=10), nullable=False),
    sa.Column('run', sa.Integer(), nullable=False),
    sa.Column('failures', sa.Integer(), nullable=False),
    sa.Column('due_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('hold_key', sa.String(length=180), nullable=False),
    sa.Column('user_prompt', sa.Text(), nullable=True),
    sa.Column('webhook_url', sa.String(length=4096), nullable=True),
    sa.Column('key_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('tokens', sa.BigInteger(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_analyses_communication_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_analyses_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_analyses')),
    sa.UniqueConstraint('communication_id', name=op.f('uq_analyses_communication_id'))
    )
    with op.batch_alter_table('analyses', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_analyses_status_due_at'), ['status', 'due_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_analyses_tenant_id'), ['tenant_id'], unique=False)

    with op.batch_alter_table('communications', schema=None) as batch_op:
        batch_op.add_column(sa.Column('import_key', sa.String(length=64), nullable=True))
        batch_op.create_index('uq_communications_import_key', ['tenant_id', 'import_key'], unique=True)

    with op.batch_alter_table('qc_evaluations', schema=None) as batch_op:
        batch_op.add_column(sa.Column('engines', sa.JSON(none_as_null=True), nullable=True))

    with op.batch_alter_table('summaries', schema=None) as batch_op:
        batch_op.add_column(sa.Column('engines', sa.JSON(none_as_null=True), nullable=True))



def downgrade() -> None:
    with op.batch_alter_table('summaries', schema=None) as batch_op:
        batch_op.drop_column('engines')

    with op.batch_alter_table('qc_evaluations', schema=None) as batch_op:
        batch_op.drop_column('engines')

    with op.batch_alter_table('communications', schema=None) as batch_op:
        batch_op.drop_index('uq_communications_import_key')
        batch_op.drop_column('import_key')

    with op.batch_alter_table('analyses', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_analyses_tenant_id'))
        batch_op.drop_index(batch_op.f('ix_analyses_status_due_at'))

    op.drop_table('analyses')
    op.drop_table('quality_settings')
    with op.batch_alter_table('media', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_media_tenant_id_communication_id'))
        batch_op.drop_index(batch_op.f('ix_media_communication_id_created_at'))

    op.drop_table('media')
