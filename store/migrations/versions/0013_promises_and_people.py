"""promises that were kept, people that were merged

Revision ID: 0013
Revises: 0012
"""

import sqlalchemy as sa
from alembic import op


revision = '0013'
down_revision = '0012'

_HAS_DAY = sa.text('due_on IS NOT NULL')
_IS_COMMITMENT = sa.text("item_type = 'commitment'")
_IS_DONE = sa.text('done_at IS NOT NULL')


def upgrade() -> None:
    with op.batch_alter_table('summary_items', schema=None, recreate='never') as batch_op:
        batch_op.add_column(sa.Column('done_at', sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column('done_by', sa.String(length=200), nullable=True))
    with op.batch_alter_table('summary_items', schema=None) as batch_op:
        batch_op.drop_index('ix_summary_items_due')
        batch_op.create_index('ix_summary_items_due', ['tenant_id', 'communication_id', 'speaker_id', 'due_on', 'done_at'], unique=False, sqlite_where=_HAS_DAY, postgresql_where=_HAS_DAY)
        batch_op.drop_index('ix_summary_items_commitments')
        batch_op.create_index('ix_summary_items_commitments', ['tenant_id', 'due_on', 'id', 'done_at', 'speaker_id'], unique=False, sqlite_where=_IS_COMMITMENT, postgresql_where=_IS_COMMITMENT)
        batch_op.create_index('ix_summary_items_done', ['tenant_id', 'done_at', 'id', 'speaker_id'], unique=False, sqlite_where=_IS_DONE, postgresql_where=_IS_DONE)

    op.create_table('speaker_aliases',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('speaker_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('external_id', sa.String(length=64), nullable=True),
    sa.Column('name', sa.String(length=200), nullable=True),
    sa.Column('name_key', sa.String(length=400), nullable=True),
    sa.Column('merged_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['speaker_id'], ['speakers.id'], name=op.f('fk_speaker_aliases_speaker_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_speaker_aliases')),
    sa.UniqueConstraint('tenant_id', 'external_id', name=op.f('uq_speaker_aliases_tenant_id_external_id'))
    )
    with op.batch_alter_table('speaker_aliases', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_speaker_aliases_speaker_id'), ['speaker_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_speaker_aliases_tenant_id_name_key'), ['tenant_id', 'name_key'], unique=False)


def downgrade() -> None:
    with op.batch_alter_table('speaker_aliases', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_speaker_aliases_tenant_id_name_key'))
        batch_op.drop_index(batch_op.f('ix_speaker_aliases_speaker_id'))

    op.drop_table('speaker_aliases')
    with op.batch_alter_table('summary_items', schema=None) as batch_op:
        batch_op.drop_index('ix_summary_items_done', sqlite_where=_IS_DONE, postgresql_where=_IS_DONE)
        batch_op.drop_index('ix_summary_items_commitments')
        batch_op.create_index('ix_summary_items_commitments', ['tenant_id', 'due_on', 'id'], unique=False, sqlite_where=_IS_COMMITMENT, postgresql_where=_IS_COMMITMENT)
        batch_op.drop_index('ix_summary_items_due')
        batch_op.create_index('ix_summary_items_due', ['tenant_id', 'communication_id', 'speaker_id', 'due_on'], unique=False, sqlite_where=_HAS_DAY, postgresql_where=_HAS_DAY)
    with op.batch_alter_table('summary_items', schema=None, recreate='never') as batch_op:
        batch_op.drop_column('done_by')
        batch_op.drop_column('done_at')
