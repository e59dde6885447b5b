"""chats as their owner sets them; conversations of the site widget

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa
from alembic import op


revision = '0010'
down_revision = '0009'

_SEES = ['search_communications', 'get_communication']


def upgrade() -> None:
    with op.batch_alter_table('chats', schema=None) as batch_op:
        batch_op.add_column(sa.Column('instructions', sa.Text(), nullable=False, server_default=''))
        batch_op.add_column(sa.Column('model', sa.String(length=200), nullable=True))
        batch_op.add_column(sa.Column('tools', sa.JSON(), nullable=True))
        batch_op.add_column(sa.Column('site_tools', sa.JSON(), nullable=False, server_default='[]'))
        batch_op.add_column(sa.Column('theme', sa.JSON(), nullable=False, server_default='{}'))
        batch_op.add_column(sa.Column('languages', sa.JSON(), nullable=False, server_default='[]'))
        batch_op.add_column(sa.Column('allowed_origins', sa.JSON(), nullable=False, server_default='[]'))
        batch_op.add_column(sa.Column('messages_per_day', sa.Integer(), nullable=True))
    chats = sa.table('chats', sa.column('site_sees_communications', sa.Boolean), sa.column('site_tools', sa.JSON))
    op.execute(sa.update(chats).where(chats.c.site_sees_communications).values(site_tools=_SEES))
    with op.batch_alter_table('chats', schema=None) as batch_op:
        batch_op.drop_column('site_sees_communications')

    op.create_table('widget_conversations',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('chat_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('last_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('turns', sa.Integer(), nullable=False),
    sa.Column('analysed_turns', sa.Integer(), nullable=False),
    sa.Column('operator_name', sa.String(length=200), nullable=True),
    sa.Column('person_requested_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('contact', sa.JSON(), nullable=True),
    sa.ForeignKeyConstraint(['chat_id'], ['chats.id'], name=op.f('fk_widget_conversations_chat_id'), ondelete='SET NULL'),
    sa.ForeignKeyConstraint(['id'], ['communications.id'], name=op.f('fk_widget_conversations_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_widget_conversations_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_widget_conversations'))
    )
    with op.batch_alter_table('widget_conversations', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_widget_conversations_tenant_id_last_at_id'), ['tenant_id', 'last_at', 'id'], unique=False)
        batch_op.create_index(batch_op.f('ix_widget_conversations_chat_id'), ['chat_id'], unique=False)
        batch_op.create_index('ix_widget_conversations_unanalysed', ['last_at'], unique=False,
            sqlite_where=sa.text('analysed_turns < turns'), postgresql_where=sa.text('analysed_turns < turns'))

    op.create_table('widget_turns',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('conversation_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('number', sa.Integer(), nullable=False),
    sa.Column('role', sa.String(length=10), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('status', sa.String(length=10), nullable=False),
    sa.Column('reply_to', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('author', sa.String(length=200), nullable=True),
    sa.Column('answer', sa.JSON(), nullable=True),
    sa.Column('touched_at', sa.DateTime(timezone=True), nullable=True),
    sa.Column('attempt', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('feedback', sa.String(length=4), nullable=True),
    sa.Column('comment', sa.Text(), nullable=True),
    sa.ForeignKeyConstraint(['conversation_id'], ['widget_conversations.id'], name=op.f('fk_widget_turns_conversation_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_widget_turns_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('tenant_id', 'conversation_id', 'id', name=op.f('pk_widget_turns'))
    )
    with op.batch_alter_table('widget_turns', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_widget_turns_conversation_id_number'), ['conversation_id', 'number'], unique=True)

    op.create_table('widget_abuse',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('chat_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('reason', sa.String(length=40), nullable=False),
    sa.Column('address', sa.String(length=64), nullable=False),
    sa.Column('origin', sa.String(length=300), nullable=True),
    sa.ForeignKeyConstraint(['chat_id'], ['chats.id'], name=op.f('fk_widget_abuse_chat_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_widget_abuse_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_widget_abuse'))
    )
    with op.batch_alter_table('widget_abuse', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_widget_abuse_at'), ['at'], unique=False)
        batch_op.create_index(batch_op.f('ix_widget_abuse_tenant_id_chat_id_at'), ['tenant_id', 'chat_id', 'at'], unique=False)


def downgrade() -> None:
    op.drop_table('widget_abuse')
    op.drop_table('widget_turns')
    op.drop_table('widget_conversations')
    with op.batch_alter_table('chats', schema=None) as batch_op:
        batch_op.add_column(sa.Column('site_sees_communications', sa.Boolean(), nullable=False, server_default=sa.false()))
    chats = sa.table('chats', sa.column('site_sees_communications', sa.Boolean), sa.column('id', sa.Uuid(as_uuid=False)),
        sa.column('site_tools', sa.JSON))
    connection = op.get_bind()
    opened = [row.id for row in connection.execute(sa.select(chats.c.id, chats.c.site_tools))
        if 'search_communications' in (row.site_tools or [])]
    if opened:
        connection.execute(sa.update(chats).where(chats.c.id.in_(opened)).values(site_sees_communications=True))
    with op.batch_alter_table('chats', schema=None) as batch_op:
        for column in ('instructions', 'model', 'tools', 'site_tools', 'theme', 'languages', 'allowed_origins', 'messages_per_day'):
            batch_op.drop_column(column)
