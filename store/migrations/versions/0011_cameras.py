"""cameras: streams, events, traffic, workers

Revision ID: 0011
Revises: 0010
"""

import sqlalchemy as sa
from alembic import op


revision = '0011'
down_revision = '0010'


def upgrade() -> None:
    op.create_table('camera_workers',
    sa.Column('id', sa.String(length=64), nullable=False),
    sa.Column('places', sa.Integer(), nullable=False),
    sa.Column('streams', sa.Integer(), nullable=False),
    sa.Column('seen_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_camera_workers'))
    )
    op.create_table('camera_streams',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('name', sa.String(length=200), nullable=False),
    sa.Column('url', sa.LargeBinary(), nullable=False),
    sa.Column('shown_url', sa.String(length=4096), nullable=False),
    sa.Column('is_own', sa.Boolean(), nullable=False),
    sa.Column('transport', sa.String(length=3), nullable=False),
    sa.Column('scenarios', sa.JSON(), nullable=False),
    sa.Column('site_id', sa.String(length=200), nullable=True),
    sa.Column('geo', sa.JSON(none_as_null=True), nullable=True),
    sa.Column('webhook_url', sa.String(length=4096), nullable=True),
    sa.Column('key_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('zones', sa.JSON(), nullable=False),
    sa.Column('calibration', sa.JSON(), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('deleted_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('status', sa.String(length=12), nullable=False),
    sa.Column('message', sa.String(length=500), nullable=False),
    sa.Column('notes', sa.JSON(), nullable=False),
    sa.Column('fps', sa.Float(), nullable=False),
    sa.Column('latency_ms', sa.Float(), nullable=False),
    sa.Column('width', sa.Integer(), nullable=False),
    sa.Column('height', sa.Integer(), nullable=False),
    sa.Column('last_event_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('worker_id', sa.String(length=64), nullable=True),
    sa.Column('leased_until', sa.DateTime(timezone=True), nullable=True),
    sa.Column('progress', sa.LargeBinary(), nullable=True),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_camera_streams_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_camera_streams'))
    )
    with op.batch_alter_table('camera_streams', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_camera_streams_tenant_id_created_at_id'), ['tenant_id', 'created_at', 'id'], unique=False)
        batch_op.create_index(batch_op.f('ix_camera_streams_worker_id'), ['worker_id'], unique=False)

    op.create_table('camera_events',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('stream_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('subject', sa.String(length=200), nullable=False),
    sa.Column('scenario', sa.String(length=10), nullable=False),
    sa.Column('type', sa.String(length=20), nullable=False),
    sa.Column('confidence', sa.Float(), nullable=False),
    sa.Column('occurred_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('metadata', sa.JSON(), nullable=False),
    sa.Column('snapshot_key', sa.String(length=300), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['stream_id'], ['camera_streams.id'], name=op.f('fk_camera_events_stream_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_camera_events_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_camera_events')),
    sa.UniqueConstraint('stream_id', 'type', 'subject', name=op.f('uq_camera_events_stream_id_type_subject'))
    )
    with op.batch_alter_table('camera_events', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_camera_events_occurred_at'), ['occurred_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_camera_events_stream_id_occurred_at_id'), ['stream_id', 'occurred_at', 'id'], unique=False)
        batch_op.create_index(batch_op.f('ix_camera_events_tenant_id_occurred_at_id'), ['tenant_id', 'occurred_at', 'id'], unique=False)

    op.create_table('camera_hours',
    sa.Column('stream_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('hour', sa.DateTime(timezone=True), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('entered', sa.Integer(), nullable=False),
    sa.Column('left', sa.Integer(), nullable=False),
    sa.Column('waited', sa.Integer(), nullable=False),
    sa.Column('waited_s', sa.Float(), nullable=False),
    sa.Column('heat', sa.LargeBinary(), nullable=True),
    sa.ForeignKeyConstraint(['stream_id'], ['camera_streams.id'], name=op.f('fk_camera_hours_stream_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('stream_id', 'hour', name=op.f('pk_camera_hours'))
    )
    with op.batch_alter_table('camera_hours', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_camera_hours_hour'), ['hour'], unique=False)

    op.create_table('camera_visits',
    sa.Column('stream_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('hour', sa.DateTime(timezone=True), nullable=False),
    sa.Column('visitor', sa.Integer(), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.ForeignKeyConstraint(['stream_id'], ['camera_streams.id'], name=op.f('fk_camera_visits_stream_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('stream_id', 'hour', 'visitor', name=op.f('pk_camera_visits'))
    )
    with op.batch_alter_table('camera_visits', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_camera_visits_hour'), ['hour'], unique=False)

    with op.batch_alter_table('tenants', schema=None, recreate='never') as batch_op:
        batch_op.add_column(sa.Column('camera_limit', sa.Integer(), server_default='4', nullable=False))
        batch_op.add_column(sa.Column('camera_days', sa.Integer(), server_default='30', nullable=False))



def downgrade() -> None:
    with op.batch_alter_table('tenants', schema=None, recreate='never') as batch_op:
        batch_op.drop_column('camera_days')
        batch_op.drop_column('camera_limit')

    with op.batch_alter_table('camera_visits', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_camera_visits_hour'))

    op.drop_table('camera_visits')
    with op.batch_alter_table('camera_hours', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_camera_hours_hour'))

    op.drop_table('camera_hours')
    with op.batch_alter_table('camera_events', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_camera_events_tenant_id_occurred_at_id'))
        batch_op.drop_index(batch_op.f('ix_camera_events_stream_id_occurred_at_id'))
        batch_op.drop_index(batch_op.f('ix_camera_events_occurred_at'))

    op.drop_table('camera_events')
    with op.batch_alter_table('camera_streams', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_camera_streams_worker_id'))
        batch_op.drop_index(batch_op.f('ix_camera_streams_tenant_id_created_at_id'))

    op.drop_table('camera_streams')
    op.drop_table('camera_workers')
