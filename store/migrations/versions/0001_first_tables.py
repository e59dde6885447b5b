"""first tables

Revision ID: 0001
Revises: 
"""

import sqlalchemy as sa
from alembic import op


revision = '0001'
down_revision = None


def upgrade() -> None:
    op.create_table('index_work',
    sa.Column('subject_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('action', sa.String(length=32), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('blob_key', sa.String(length=300), nullable=True),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('changed_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('subject_id', 'action', name=op.f('pk_index_work'))
    )
    with op.batch_alter_table('index_work', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_index_work_changed_at'), ['changed_at'], unique=False)

    op.create_table('integrations',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('name', sa.String(length=200), nullable=False),
    sa.Column('secret_prefix', sa.String(length=24), nullable=False),
    sa.Column('secret_hash', sa.String(length=64), nullable=False),
    sa.Column('allowed_networks', sa.JSON(), nullable=False),
    sa.Column('features', sa.JSON(), nullable=False),
    sa.Column('is_enabled', sa.Boolean(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_integrations')),
    sa.UniqueConstraint('name', name=op.f('uq_integrations_name')),
    sa.UniqueConstraint('secret_hash', name=op.f('uq_integrations_secret_hash'))
    )
    op.create_table('rate_windows',
    sa.Column('bucket', sa.String(length=200), nullable=False),
    sa.Column('window', sa.BigInteger(), nullable=False),
    sa.Column('count', sa.Integer(), nullable=False),
    sa.PrimaryKeyConstraint('bucket', 'window', name=op.f('pk_rate_windows'))
    )
    with op.batch_alter_table('rate_windows', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_rate_windows_window'), ['window'], unique=False)

    op.create_table('workers',
    sa.Column('executor_id', sa.String(length=200), nullable=False),
    sa.Column('process_id', sa.Integer(), nullable=False),
    sa.Column('last_seen_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('executor_id', name=op.f('pk_workers'))
    )
    op.create_table('tenants',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('client_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('integration_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('external_id', sa.String(length=128), nullable=True),
    sa.Column('name', sa.String(length=200), nullable=False),
    sa.Column('email', sa.String(length=320), nullable=True),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('features', sa.JSON(), nullable=False),
    sa.Column('language', sa.String(length=2), nullable=False),
    sa.Column('time_zone', sa.String(length=64), nullable=False),
    sa.Column('widget_origins', sa.JSON(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['integration_id'], ['integrations.id'], name=op.f('fk_tenants_integration_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_tenants')),
    sa.UniqueConstraint('client_id', name=op.f('uq_tenants_client_id')),
    sa.UniqueConstraint('email', name=op.f('uq_tenants_email')),
    sa.UniqueConstraint('integration_id', 'external_id', name=op.f('uq_tenants_integration_id_external_id'))
    )
    with op.batch_alter_table('tenants', schema=None) as batch_op:
        batch_op.create_index('uq_tenants_own_external_id', ['external_id'], unique=True, sqlite_where=sa.text('integration_id IS NULL'), postgresql_where=sa.text('integration_id IS NULL'))

    op.create_table('api_keys',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('name', sa.String(length=200), nullable=False),
    sa.Column('prefix', sa.String(length=24), nullable=False),
    sa.Column('key_hash', sa.String(length=64), nullable=False),
    sa.Column('signing_secret', sa.LargeBinary(), nullable=False),
    sa.Column('issuer', sa.String(length=16), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('revoked_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_api_keys_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_api_keys')),
    sa.UniqueConstraint('key_hash', name=op.f('uq_api_keys_key_hash'))
    )
    with op.batch_alter_table('api_keys', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_api_keys_tenant_id'), ['tenant_id'], unique=False)

    op.create_table('chats',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('name', sa.String(length=200), nullable=False),
    sa.Column('header_title', sa.String(length=200), nullable=False),
    sa.Column('greeting', sa.Text(), nullable=False),
    sa.Column('suggestions', sa.JSON(), nullable=False),
    sa.Column('is_default', sa.Boolean(), nullable=False),
    sa.Column('is_active', sa.Boolean(), nullable=False),
    sa.Column('default_space_ids', sa.JSON(), nullable=False),
    sa.Column('site_sees_communications', sa.Boolean(), nullable=False),
    sa.Column('site_space_ids', sa.JSON(), nullable=False),
    sa.Column('workflow_flow_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('public_key', sa.String(length=64), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_chats_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_chats')),
    sa.UniqueConstraint('public_key', name=op.f('uq_chats_public_key'))
    )
    with op.batch_alter_table('chats', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_chats_tenant_id_created_at'), ['tenant_id', 'created_at'], unique=False)

    op.create_table('communications',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('kind', sa.String(length=8), nullable=False),
    sa.Column('channel_type', sa.String(length=16), nullable=False),
    sa.Column('request_record_id', sa.String(length=64), nullable=True),
    sa.Column('direction', sa.String(length=3), nullable=True),
    sa.Column('language', sa.String(length=8), nullable=True),
    sa.Column('duration_ms', sa.BigInteger(), nullable=True),
    sa.Column('title', sa.String(length=300), nullable=False),
    sa.Column('is_closed', sa.Boolean(), nullable=False),
    sa.Column('occured_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_communications_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_communications'))
    )
    with op.batch_alter_table('communications', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_communications_tenant_id_occured_at_id'), ['tenant_id', 'occured_at', 'id'], unique=False)
        batch_op.create_index(batch_op.f('ix_communications_tenant_id_request_record_id'), ['tenant_id', 'request_record_id'], unique=False)

    op.create_table('kb_spaces',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('name', sa.String(length=200), nullable=False),
    sa.Column('description', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_kb_spaces_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_kb_spaces'))
    )
    with op.batch_alter_table('kb_spaces', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_kb_spaces_tenant_id_created_at'), ['tenant_id', 'created_at'], unique=False)

    op.create_table('content_items',
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('idx', sa.Integer(), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('label', sa.String(length=64), nullable=True),
    sa.Column('start_ms', sa.BigInteger(), nullable=True),
    sa.Column('end_ms', sa.BigInteger(), nullable=True),
    sa.Column('media', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_content_items_communication_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('communication_id', 'idx', name=op.f('pk_content_items'))
    )
    op.create_table('kb_documents',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('space_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('title', sa.String(length=300), nullable=False),
    sa.Column('file_name', sa.String(length=300), nullable=False),
    sa.Column('mime', sa.String(length=100), nullable=True),
    sa.Column('size_bytes', sa.BigInteger(), nullable=False),
    sa.Column('sha256', sa.String(length=64), nullable=False),
    sa.Column('blob_key', sa.String(length=300), nullable=False),
    sa.Column('status', sa.String(length=10), nullable=False),
    sa.Column('progress', sa.Float(), nullable=False),
    sa.Column('error_code', sa.String(length=32), nullable=True),
    sa.Column('error_message', sa.Text(), nullable=True),
    sa.Column('chunk_count', sa.Integer(), nullable=False),
    sa.Column('run', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['space_id'], ['kb_spaces.id'], name=op.f('fk_kb_documents_space_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_kb_documents_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_kb_documents')),
    sa.UniqueConstraint('space_id', 'sha256', name=op.f('uq_kb_documents_space_id_sha256'))
    )
    with op.batch_alter_table('kb_documents', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_kb_documents_status_updated_at'), ['status', 'updated_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_kb_documents_tenant_id_space_id_created_at'), ['tenant_id', 'space_id', 'created_at'], unique=False)

    op.create_table('transcription_tasks',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('status', sa.String(length=10), nullable=False),
    sa.Column('progress', sa.Float(), nullable=False),
    sa.Column('error_message', sa.Text(), nullable=True),
    sa.Column('blob_key', sa.String(length=300), nullable=False),
    sa.Column('file_name', sa.String(length=300), nullable=False),
    sa.Column('parameters', sa.JSON(), nullable=False),
    sa.Column('result', sa.JSON(), nullable=True),
    sa.Column('audio_ms', sa.BigInteger(), nullable=True),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('occured_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_transcription_tasks_communication_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_transcription_tasks_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_transcription_tasks'))
    )
    with op.batch_alter_table('transcription_tasks', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_transcription_tasks_status_created_at'), ['status', 'created_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_transcription_tasks_tenant_id_communication_id'), ['tenant_id', 'communication_id'], unique=False)

    op.create_table('kb_chunks',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('document_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('idx', sa.Integer(), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('title_path', sa.JSON(), nullable=False),
    sa.Column('page', sa.Integer(), nullable=True),
    sa.Column('start_char', sa.Integer(), nullable=False),
    sa.Column('end_char', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['document_id'], ['kb_documents.id'], name=op.f('fk_kb_chunks_document_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_kb_chunks')),
    sa.UniqueConstraint('document_id', 'idx', name=op.f('uq_kb_chunks_document_id_idx'))
    )


def downgrade() -> None:
    op.drop_table('kb_chunks')
    with op.batch_alter_table('transcription_tasks', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_transcription_tasks_tenant_id_communication_id'))
        batch_op.drop_index(batch_op.f('ix_transcription_tasks_status_created_at'))

    op.drop_table('transcription_tasks')
    with op.batch_alter_table('kb_documents', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_kb_documents_tenant_id_space_id_created_at'))
        batch_op.drop_index(batch_op.f('ix_kb_documents_status_updated_at'))

    op.drop_table('kb_documents')
    op.drop_table('content_items')
    with op.batch_alter_table('kb_spaces', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_kb_spaces_tenant_id_created_at'))

    op.drop_table('kb_spaces')
    with op.batch_alter_table('communications', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_communications_tenant_id_request_record_id'))
        batch_op.drop_index(batch_op.f('ix_communications_tenant_id_occured_at_id'))

    op.drop_table('communications')
    with op.batch_alter_table('chats', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_chats_tenant_id_created_at'))

    op.drop_table('chats')
    with op.batch_alter_table('api_keys', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_api_keys_tenant_id'))

    op.drop_table('api_keys')
    with op.batch_alter_table('tenants', schema=None) as batch_op:
        batch_op.drop_index('uq_tenants_own_external_id', sqlite_where=sa.text('integration_id IS NULL'), postgresql_where=sa.text('integration_id IS NULL'))

    op.drop_table('tenants')
    op.drop_table('workers')
    with op.batch_alter_table('rate_windows', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_rate_windows_window'))

    op.drop_table('rate_windows')
    op.drop_table('integrations')
    with op.batch_alter_table('index_work', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_index_work_changed_at'))

    op.drop_table('index_work')
