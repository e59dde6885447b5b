"""signals and days of promises

Revision ID: 0008
Revises: 0007
"""

from itertools import groupby
from typing import Any

import sqlalchemy as sa
from alembic import op

from store.signals import due_day, value_keys

revision = '0008'
down_revision = '0007'

_BATCH = 2000
_items = sa.table(
    'summary_items',
    sa.column('id', sa.Uuid(as_uuid=False)),
    sa.column('communication_id', sa.Uuid(as_uuid=False)),
    sa.column('item_type', sa.String),
    sa.column('subtype', sa.String),
    sa.column('content', sa.Text),
    sa.column('meta', sa.JSON),
    sa.column('value_key', sa.BigInteger),
    sa.column('due_on', sa.Date),
)


def upgrade() -> None:
    op.add_column('summary_items', sa.Column('value_key', sa.BigInteger(), nullable=True))
    op.add_column('summary_items', sa.Column('due_on', sa.Date(), nullable=True))
    _fill(op.get_bind())
    op.create_index('ix_summary_items_value', 'summary_items',
        ['tenant_id', 'communication_id', 'subtype', 'value_key'], unique=False,
        sqlite_where=sa.text('value_key IS NOT NULL'), postgresql_where=sa.text('value_key IS NOT NULL'))
    op.create_index('ix_summary_items_due', 'summary_items',
        ['tenant_id', 'communication_id', 'speaker_id', 'due_on'], unique=False,
        sqlite_where=sa.text('due_on IS NOT NULL'), postgresql_where=sa.text('due_on IS NOT NULL'))


def _fill(connection: sa.Connection) -> None:
    """A stretch of communications at a time: values are told apart within each."""
    table = _items.c
    page = sa.select(table.communication_id).where(table.item_type != 'memory').distinct()
    page = page.order_by(table.communication_id).limit(_BATCH)
    found = sa.select(table.communication_id, table.id, table.item_type, table.subtype, table.content, table.meta)
    following = page
    while ids := list(connection.execute(following).scalars()):
        of_page = found.where(table.communication_id.in_(ids), table.item_type != 'memory')
        rows = connection.execute(of_page.order_by(table.communication_id, table.id)).all()
        put = [each for _, group in groupby(rows, key=lambda row: row[0]) for each in _values(list(group))]
        if put:
            connection.execute(sa.update(_items).where(table.id == sa.bindparam('item_id'))
                .values(value_key=sa.bindparam('key'), due_on=sa.bindparam('day')), put)
        following = page.where(table.communication_id > ids[-1])


def _values(rows: list[Any]) -> list[dict[str, Any]]:
    keys = value_keys((row.subtype if row.item_type == 'criteria' else None, row.content) for row in rows)
    values = [
        {'item_id': row.id, 'key': key, 'day': due_day(row.meta) if row.item_type == 'commitment' else None}
        for row, key in zip(rows, keys, strict=True)
    ]
    return [each for each in values if each['key'] is not None or each['day'] is not None]


def downgrade() -> None:
    op.drop_index('ix_summary_items_due', table_name='summary_items')
    op.drop_index('ix_summary_items_value', table_name='summary_items')
    with op.batch_alter_table('summary_items', schema=None) as batch_op:
        batch_op.drop_column('due_on')
        batch_op.drop_column('value_key')
