"""figures of communications

Revision ID: 0006
Revises: 0005
"""

from typing import Any

import sqlalchemy as sa
from alembic import op


revision = '0006'
down_revision = '0005'


def _of_both() -> tuple[Any, ...]:
    return (
    sa.Column('kind', sa.String(length=8), nullable=False),
    sa.Column('channel_type', sa.String(length=16), nullable=False),
    sa.Column('direction', sa.String(length=3), nullable=True),
    sa.Column('duration_ms', sa.BigInteger(), nullable=True),
    sa.Column('is_answered', sa.Boolean(), nullable=True),
    sa.Column('category', sa.String(length=16), nullable=True),
    sa.Column('scenario_code', sa.String(length=32), nullable=True),
    sa.Column('score_pct', sa.Float(), nullable=True),
    sa.Column('qc_passed', sa.Integer(), nullable=False),
    sa.Column('qc_failed', sa.Integer(), nullable=False),
    sa.Column('signals', sa.Integer(), nullable=False),
    )


def upgrade() -> None:
    # Their rows are made after the schema is there, in batches: see store/migrate.py.
    op.create_table('communication_figures',
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('occured_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=False),
    *_of_both(),
    sa.Column('turns', sa.Integer(), nullable=False),
    sa.Column('client_ms', sa.BigInteger(), nullable=True),
    sa.Column('staff_ms', sa.BigInteger(), nullable=True),
    sa.Column('first_reply_s', sa.BigInteger(), nullable=True),
    sa.Column('commitments', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_communication_figures_communication_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('tenant_id', 'occured_at', 'communication_id', name=op.f('pk_communication_figures')),
    sa.UniqueConstraint('communication_id', name=op.f('uq_communication_figures_communication_id')),
    sqlite_with_rowid=False
    )
    op.create_table('participation_figures',
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('occured_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('speaker_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('role', sa.String(length=16), nullable=False),
    *_of_both(),
    sa.Column('turns', sa.Integer(), nullable=False),
    sa.Column('talk_ms', sa.BigInteger(), nullable=True),
    sa.Column('all_talk_ms', sa.BigInteger(), nullable=True),
    sa.Column('commitments', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_participation_figures_communication_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['speaker_id'], ['speakers.id'], name=op.f('fk_participation_figures_speaker_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('tenant_id', 'occured_at', 'communication_id', 'speaker_id', name=op.f('pk_participation_figures')),
    sqlite_with_rowid=False
    )
    with op.batch_alter_table('participation_figures', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_participation_figures_communication_id'), ['communication_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_participation_figures_speaker_id_occured_at'), ['speaker_id', 'occured_at'], unique=False)


def downgrade() -> None:
    op.drop_table('participation_figures')
    op.drop_table('communication_figures')
