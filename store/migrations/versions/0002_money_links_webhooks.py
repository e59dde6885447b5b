"""money, payments, links, webhooks, speakers and analysis

Revision ID: 0002
Revises: 0001
"""

from datetime import datetime, timezone

import sqlalchemy as sa
from alembic import op


FIRST_TARIFF = '0199a000-0000-7000-8000-000000000000'
FIRST_RATES = (
    # product, unit, name, millionths of a rouble
    ('transcription', 'second', 'Transcription, a second of audio', 20_000),
    ('chat', 'message', 'Chat, a message', 1_500_000),
    ('summary', 'generation', 'Summary of a communication', 1_000_000),
    ('qc', 'generation', 'Quality control of a communication', 1_000_000),
    ('memory', 'generation', 'Memory of a communication', 500_000),
    ('vision', 'stream_day', 'Vision, a camera and day', 60_000_000),
)

revision = '0002'
down_revision = '0001'


def upgrade() -> None:
    op.create_table('idempotency_keys',
    sa.Column('owner_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('key_hash', sa.String(length=64), nullable=False),
    sa.Column('claim_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('operation', sa.String(length=200), nullable=False),
    sa.Column('fingerprint', sa.String(length=64), nullable=True),
    sa.Column('status', sa.Integer(), nullable=True),
    sa.Column('answer', sa.LargeBinary(), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('locked_until', sa.DateTime(timezone=True), nullable=True),
    sa.PrimaryKeyConstraint('owner_id', 'key_hash', name=op.f('pk_idempotency_keys'))
    )
    with op.batch_alter_table('idempotency_keys', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_idempotency_keys_created_at'), ['created_at'], unique=False)

    op.create_table('tariff_versions',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('label', sa.String(length=200), nullable=False),
    sa.Column('is_current', sa.Boolean(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_tariff_versions'))
    )
    op.create_table('tariff_rates',
    sa.Column('version_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('option_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('product', sa.String(length=32), nullable=False),
    sa.Column('unit', sa.String(length=16), nullable=False),
    sa.Column('name', sa.String(length=200), nullable=False),
    sa.Column('amount_micro', sa.BigInteger(), nullable=False),
    sa.Column('llm_model', sa.String(length=200), nullable=True),
    sa.ForeignKeyConstraint(['version_id'], ['tariff_versions.id'], name=op.f('fk_tariff_rates_version_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('version_id', 'option_id', name=op.f('pk_tariff_rates'))
    )
    op.create_table('audit_entries',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('actor', sa.String(length=200), nullable=False),
    sa.Column('action', sa.String(length=64), nullable=False),
    sa.Column('subject', sa.String(length=200), nullable=True),
    sa.Column('details', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_audit_entries_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_audit_entries'))
    )
    with op.batch_alter_table('audit_entries', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_audit_entries_at'), ['at'], unique=False)
        batch_op.create_index(batch_op.f('ix_audit_entries_tenant_id_at_id'), ['tenant_id', 'at', 'id'], unique=False)

    op.create_table('balances',
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('available_micro', sa.BigInteger(), nullable=False),
    sa.Column('held_micro', sa.BigInteger(), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_balances_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('tenant_id', name=op.f('pk_balances'))
    )
    op.create_table('cabinet_sessions',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('token_hash', sa.String(length=64), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('ended_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_cabinet_sessions_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_cabinet_sessions')),
    sa.UniqueConstraint('token_hash', name=op.f('uq_cabinet_sessions_token_hash'))
    )
    with op.batch_alter_table('cabinet_sessions', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_cabinet_sessions_expires_at'), ['expires_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_cabinet_sessions_tenant_id'), ['tenant_id'], unique=False)

    op.create_table('holds',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('key', sa.String(length=200), nullable=False),
    sa.Column('amount_micro', sa.BigInteger(), nullable=False),
    sa.Column('status', sa.String(length=8), nullable=False),
    sa.Column('tariff_version_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('source', sa.String(length=32), nullable=False),
    sa.Column('source_ref', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('ended_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_holds_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_holds')),
    sa.UniqueConstraint('tenant_id', 'key', name=op.f('uq_holds_tenant_id_key'))
    )
    with op.batch_alter_table('holds', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_holds_status_expires_at'), ['status', 'expires_at'], unique=False)

    op.create_table('ledger_transactions',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('key', sa.String(length=200), nullable=False),
    sa.Column('kind', sa.String(length=8), nullable=False),
    sa.Column('amount_micro', sa.BigInteger(), nullable=False),
    sa.Column('description', sa.String(length=300), nullable=True),
    sa.Column('product', sa.String(length=32), nullable=True),
    sa.Column('source', sa.String(length=32), nullable=True),
    sa.Column('source_ref', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_ledger_transactions_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_ledger_transactions')),
    sa.UniqueConstraint('tenant_id', 'key', name=op.f('uq_ledger_transactions_tenant_id_key'))
    )
    with op.batch_alter_table('ledger_transactions', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_ledger_transactions_tenant_id_kind_created_at_id'), ['tenant_id', 'kind', 'created_at', 'id'], unique=False)

    op.create_table('payment_links',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('amount_micro', sa.BigInteger(), nullable=False),
    sa.Column('status', sa.String(length=10), nullable=False),
    sa.Column('customer_email', sa.String(length=320), nullable=False),
    sa.Column('purpose', sa.String(length=300), nullable=False),
    sa.Column('provider', sa.String(length=16), nullable=False),
    sa.Column('provider_payment_id', sa.String(length=100), nullable=True),
    sa.Column('payment_url', sa.Text(), nullable=True),
    sa.Column('redirect_url', sa.Text(), nullable=True),
    sa.Column('fail_redirect_url', sa.Text(), nullable=True),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('paid_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('next_check_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('checks', sa.Integer(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_payment_links_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_payment_links')),
    sa.UniqueConstraint('provider', 'provider_payment_id', name=op.f('uq_payment_links_provider_provider_payment_id'))
    )
    with op.batch_alter_table('payment_links', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_payment_links_next_check_at'), ['next_check_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_payment_links_status_expires_at'), ['status', 'expires_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_payment_links_tenant_id_created_at'), ['tenant_id', 'created_at'], unique=False)

    op.create_table('session_codes',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('code_hash', sa.String(length=64), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('expires_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('used_at', sa.DateTime(timezone=True), nullable=True),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_session_codes_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_session_codes')),
    sa.UniqueConstraint('code_hash', name=op.f('uq_session_codes_code_hash'))
    )
    with op.batch_alter_table('session_codes', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_session_codes_expires_at'), ['expires_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_session_codes_tenant_id'), ['tenant_id'], unique=False)

    op.create_table('speakers',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('external_id', sa.String(length=64), nullable=True),
    sa.Column('name', sa.String(length=200), nullable=True),
    sa.Column('name_key', sa.String(length=400), nullable=True),
    sa.Column('role', sa.String(length=16), nullable=False),
    sa.Column('department', sa.String(length=200), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_speakers_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_speakers')),
    sa.UniqueConstraint('tenant_id', 'external_id', name=op.f('uq_speakers_tenant_id_external_id'))
    )
    with op.batch_alter_table('speakers', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_speakers_tenant_id_name_key_updated_at'), ['tenant_id', 'name_key', 'updated_at'], unique=False)

    op.create_table('usage_records',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('key', sa.String(length=200), nullable=False),
    sa.Column('product', sa.String(length=32), nullable=False),
    sa.Column('unit', sa.String(length=16), nullable=False),
    sa.Column('quantity', sa.BigInteger(), nullable=False),
    sa.Column('rate_micro', sa.BigInteger(), nullable=False),
    sa.Column('amount_micro', sa.BigInteger(), nullable=False),
    sa.Column('llm_model', sa.String(length=200), nullable=True),
    sa.Column('source', sa.String(length=32), nullable=False),
    sa.Column('source_ref', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('hold_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('transaction_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_usage_records_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_usage_records')),
    sa.UniqueConstraint('tenant_id', 'key', name=op.f('uq_usage_records_tenant_id_key'))
    )
    with op.batch_alter_table('usage_records', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_usage_records_hold_id'), ['hold_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_usage_records_tenant_id_source_ref'), ['tenant_id', 'source_ref'], unique=False)
        batch_op.create_index(batch_op.f('ix_usage_records_transaction_id'), ['transaction_id'], unique=False)

    op.create_table('webhook_deliveries',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('event_key', sa.String(length=200), nullable=False),
    sa.Column('event', sa.String(length=64), nullable=False),
    sa.Column('body', sa.Text(), nullable=False),
    sa.Column('url', sa.Text(), nullable=False),
    sa.Column('is_account_url', sa.Boolean(), nullable=False),
    sa.Column('key_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('status', sa.String(length=10), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('tries', sa.Integer(), nullable=False),
    sa.Column('run', sa.Integer(), nullable=False),
    sa.Column('next_attempt_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('delivered_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_webhook_deliveries_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_webhook_deliveries')),
    sa.UniqueConstraint('tenant_id', 'event_key', name=op.f('uq_webhook_deliveries_tenant_id_event_key'))
    )
    with op.batch_alter_table('webhook_deliveries', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_webhook_deliveries_created_at'), ['created_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_webhook_deliveries_status_next_attempt_at'), ['status', 'next_attempt_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_webhook_deliveries_tenant_id_created_at_id'), ['tenant_id', 'created_at', 'id'], unique=False)

    op.create_table('analysis_stages',
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('stage', sa.String(length=10), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('status', sa.String(length=10), nullable=False),
    sa.Column('error_message', sa.Text(), nullable=True),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_analysis_stages_communication_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('communication_id', 'stage', name=op.f('pk_analysis_stages'))
    )
    op.create_table('communication_speakers',
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('speaker_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.Column('role', sa.String(length=16), nullable=False),
    sa.Column('label', sa.String(length=64), nullable=True),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_communication_speakers_communication_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['speaker_id'], ['speakers.id'], name=op.f('fk_communication_speakers_speaker_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('communication_id', 'speaker_id', name=op.f('pk_communication_speakers'))
    )
    with op.batch_alter_table('communication_speakers', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_communication_speakers_tenant_id_speaker_id'), ['tenant_id', 'speaker_id'], unique=False)

    op.create_table('ledger_entries',
    sa.Column('transaction_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('account', sa.String(length=32), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('amount_micro', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['transaction_id'], ['ledger_transactions.id'], name=op.f('fk_ledger_entries_transaction_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('transaction_id', 'account', name=op.f('pk_ledger_entries'))
    )
    with op.batch_alter_table('ledger_entries', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_ledger_entries_tenant_id_account'), ['tenant_id', 'account'], unique=False)

    op.create_table('qc_evaluations',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('scenario_code', sa.String(length=32), nullable=False),
    sa.Column('score_pct', sa.Float(), nullable=True),
    sa.Column('comment', sa.Text(), nullable=True),
    sa.Column('status', sa.String(length=10), nullable=False),
    sa.Column('criteria', sa.JSON(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_qc_evaluations_communication_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_qc_evaluations')),
    sa.UniqueConstraint('communication_id', name=op.f('uq_qc_evaluations_communication_id'))
    )
    op.create_table('summaries',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('text', sa.Text(), nullable=True),
    sa.Column('user_summary', sa.Text(), nullable=True),
    sa.Column('category', sa.String(length=16), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_summaries_communication_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_summaries')),
    sa.UniqueConstraint('communication_id', name=op.f('uq_summaries_communication_id'))
    )
    op.create_table('webhook_attempts',
    sa.Column('delivery_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('latency_ms', sa.Integer(), nullable=False),
    sa.Column('status_code', sa.Integer(), nullable=True),
    sa.Column('error', sa.String(length=300), nullable=True),
    sa.Column('answer_head', sa.Text(), nullable=True),
    sa.ForeignKeyConstraint(['delivery_id'], ['webhook_deliveries.id'], name=op.f('fk_webhook_attempts_delivery_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('delivery_id', 'number', name=op.f('pk_webhook_attempts'))
    )
    op.create_table('summary_items',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('communication_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('summary_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('speaker_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('item_type', sa.String(length=12), nullable=False),
    sa.Column('subtype', sa.String(length=64), nullable=True),
    sa.Column('content', sa.Text(), nullable=False),
    sa.Column('meta', sa.JSON(none_as_null=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['communication_id'], ['communications.id'], name=op.f('fk_summary_items_communication_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['speaker_id'], ['speakers.id'], name=op.f('fk_summary_items_speaker_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['summary_id'], ['summaries.id'], name=op.f('fk_summary_items_summary_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_summary_items_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_summary_items'))
    )
    with op.batch_alter_table('summary_items', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_summary_items_summary_id'), ['summary_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_summary_items_communication_id'), ['communication_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_summary_items_tenant_id_communication_id'), ['tenant_id', 'communication_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_summary_items_tenant_id_speaker_id_created_at'), ['tenant_id', 'speaker_id', 'created_at'], unique=False)

    with op.batch_alter_table('transcription_tasks', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_transcription_tasks_communication_id'), ['communication_id'], unique=False)

    with op.batch_alter_table('kb_documents', schema=None) as batch_op:
        batch_op.add_column(sa.Column('key_id', sa.Uuid(as_uuid=False), nullable=True))

    # Never by a new table in place of the old: what refers to a tenant would go with the old one.
    with op.batch_alter_table('tenants', schema=None, recreate='never') as batch_op:
        batch_op.add_column(sa.Column('pause_reason', sa.String(length=10), nullable=True))
        batch_op.add_column(sa.Column('allow_credit', sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column('tariff_version_id', sa.Uuid(as_uuid=False), nullable=True))
        batch_op.add_column(sa.Column('webhook_url', sa.String(length=4096), nullable=True))
        batch_op.add_column(sa.Column('retention_days', sa.Integer(), nullable=True))
        batch_op.add_column(sa.Column('memory_enabled', sa.Boolean(), server_default=sa.true(), nullable=False))
        batch_op.add_column(sa.Column('qc_enabled', sa.Boolean(), server_default=sa.true(), nullable=False))
        batch_op.add_column(sa.Column('voices_enabled', sa.Boolean(), server_default=sa.false(), nullable=False))

    seed_first_tariff()
    # Clients that are there already get a balance too.
    op.execute("INSERT INTO balances (tenant_id, available_micro, held_micro, updated_at)"
               " SELECT id, 0, 0, updated_at FROM tenants")
    # Nobody told them that work costs money now: with credit nothing of theirs stops.
    op.execute(sa.table('tenants', sa.column('allow_credit', sa.Boolean())).update().values(allow_credit=True))



def seed_first_tariff() -> None:
    """The prices that an installation starts with, until `parley tariff set` makes a version of its own."""
    version_id = FIRST_TARIFF
    uuid = sa.Uuid(as_uuid=False)
    versions = sa.table('tariff_versions', sa.column('id', uuid), sa.column('label', sa.String()),
                        sa.column('is_current', sa.Boolean()), sa.column('created_at', sa.DateTime(timezone=True)))
    rates = sa.table('tariff_rates', sa.column('version_id', uuid), sa.column('option_id', uuid),
                     sa.column('position', sa.Integer()), sa.column('product', sa.String()),
                     sa.column('unit', sa.String()), sa.column('name', sa.String()),
                     sa.column('amount_micro', sa.BigInteger()), sa.column('llm_model', sa.String()))
    made_at = datetime(2026, 11, 20, tzinfo=timezone.utc)
    if op.get_bind().dialect.name == 'sqlite':
        made_at = made_at.replace(tzinfo=None)
    op.bulk_insert(versions, [{'id': version_id, 'label': 'Base', 'is_current': True, 'created_at': made_at}])
    op.bulk_insert(rates, [
        {'version_id': version_id, 'option_id': f'{version_id[:-2]}{number + 16:02x}', 'position': number,
         'product': product, 'unit': unit, 'name': name, 'amount_micro': amount, 'llm_model': None}
        for number, (product, unit, name, amount) in enumerate(FIRST_RATES)
    ])


def downgrade() -> None:
    with op.batch_alter_table('tenants', schema=None) as batch_op:
        batch_op.drop_column('voices_enabled')
        batch_op.drop_column('qc_enabled')
        batch_op.drop_column('memory_enabled')
        batch_op.drop_column('retention_days')
        batch_op.drop_column('webhook_url')
        batch_op.drop_column('tariff_version_id')
        batch_op.drop_column('allow_credit')
        batch_op.drop_column('pause_reason')

    with op.batch_alter_table('transcription_tasks', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_transcription_tasks_communication_id'))

    with op.batch_alter_table('kb_documents', schema=None) as batch_op:
        batch_op.drop_column('key_id')

    with op.batch_alter_table('summary_items', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_summary_items_tenant_id_speaker_id_created_at'))
        batch_op.drop_index(batch_op.f('ix_summary_items_tenant_id_communication_id'))
        batch_op.drop_index(batch_op.f('ix_summary_items_communication_id'))
        batch_op.drop_index(batch_op.f('ix_summary_items_summary_id'))

    op.drop_table('summary_items')
    op.drop_table('webhook_attempts')
    op.drop_table('summaries')
    op.drop_table('qc_evaluations')
    with op.batch_alter_table('ledger_entries', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_ledger_entries_tenant_id_account'))

    op.drop_table('ledger_entries')
    with op.batch_alter_table('communication_speakers', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_communication_speakers_tenant_id_speaker_id'))

    op.drop_table('communication_speakers')
    op.drop_table('analysis_stages')
    with op.batch_alter_table('webhook_deliveries', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_webhook_deliveries_tenant_id_created_at_id'))
        batch_op.drop_index(batch_op.f('ix_webhook_deliveries_status_next_attempt_at'))

    op.drop_table('webhook_deliveries')
    with op.batch_alter_table('usage_records', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_usage_records_transaction_id'))
        batch_op.drop_index(batch_op.f('ix_usage_records_tenant_id_source_ref'))
        batch_op.drop_index(batch_op.f('ix_usage_records_hold_id'))

    op.drop_table('usage_records')
    with op.batch_alter_table('speakers', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_speakers_tenant_id_name_key_updated_at'))

    op.drop_table('speakers')
    with op.batch_alter_table('session_codes', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_session_codes_tenant_id'))
        batch_op.drop_index(batch_op.f('ix_session_codes_expires_at'))

    op.drop_table('session_codes')
    with op.batch_alter_table('payment_links', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_payment_links_tenant_id_created_at'))
        batch_op.drop_index(batch_op.f('ix_payment_links_status_expires_at'))
        batch_op.drop_index(batch_op.f('ix_payment_links_next_check_at'))

    op.drop_table('payment_links')
    with op.batch_alter_table('ledger_transactions', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_ledger_transactions_tenant_id_kind_created_at_id'))

    op.drop_table('ledger_transactions')
    with op.batch_alter_table('holds', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_holds_status_expires_at'))

    op.drop_table('holds')
    with op.batch_alter_table('cabinet_sessions', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_cabinet_sessions_tenant_id'))
        batch_op.drop_index(batch_op.f('ix_cabinet_sessions_expires_at'))

    op.drop_table('cabinet_sessions')
    op.drop_table('balances')
    with op.batch_alter_table('audit_entries', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_audit_entries_tenant_id_at_id'))
        batch_op.drop_index(batch_op.f('ix_audit_entries_at'))

    op.drop_table('audit_entries')
    op.drop_table('tariff_rates')
    op.drop_table('tariff_versions')
    with op.batch_alter_table('idempotency_keys', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_idempotency_keys_created_at'))

    op.drop_table('idempotency_keys')
