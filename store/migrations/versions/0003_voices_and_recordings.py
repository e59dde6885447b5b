"""voices and recordings

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op


revision = '0003'
down_revision = '0002'


def upgrade() -> None:
    op.create_table('heard_voices',
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('label', sa.String(length=64), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('model', sa.String(length=64), nullable=False),
    sa.Column('embedding', sa.LargeBinary(), nullable=False),
    sa.Column('clean_ms', sa.BigInteger(), nullable=False),
    sa.Column('taught_speaker_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_heard_voices_communication_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_heard_voices_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('communication_id', 'label', name=op.f('pk_heard_voices'))
    )
    with op.batch_alter_table('heard_voices', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_heard_voices_tenant_id'), ['tenant_id'], unique=False)

    op.create_table('speaker_voices',
    sa.Column('speaker_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('model', sa.String(length=64), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('embedding', sa.LargeBinary(), nullable=False),
    sa.Column('clean_ms', sa.BigInteger(), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['speaker_id'], ['speakers.id'], name=op.f('fk_speaker_voices_speaker_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_speaker_voices_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('speaker_id', 'model', name=op.f('pk_speaker_voices'))
    )
    with op.batch_alter_table('speaker_voices', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_speaker_voices_tenant_id'), ['tenant_id'], unique=False)

    with op.batch_alter_table('transcription_tasks', schema=None) as batch_op:
        batch_op.add_column(sa.Column('media_type', sa.String(length=100), nullable=True))
        batch_op.add_column(sa.Column('size_bytes', sa.BigInteger(), nullable=True))



def downgrade() -> None:
    with op.batch_alter_table('transcription_tasks', schema=None) as batch_op:
        batch_op.drop_column('size_bytes')
        batch_op.drop_column('media_type')

    with op.batch_alter_table('speaker_voices', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_speaker_voices_tenant_id'))

    op.drop_table('speaker_voices')
    with op.batch_alter_table('heard_voices', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_heard_voices_tenant_id'))

    op.drop_table('heard_voices')
