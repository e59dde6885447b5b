"""knowledge base

Revision ID: 0005
Revises: 0004
"""

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op


revision = '0005'
down_revision = '0004'

_COLUMNS = ('id', 'tenant_id', 'document_id', 'idx', 'text', 'title_path', 'page', 'start_char', 'end_char')


def _chunk_columns() -> tuple[Any, ...]:
    return (
    sa.Column('document_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('idx', sa.Integer(), nullable=False),
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('title_path', sa.JSON(), nullable=False),
    sa.Column('page', sa.Integer(), nullable=True),
    sa.Column('start_char', sa.Integer(), nullable=False),
    sa.Column('end_char', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['document_id'], ['kb_documents.id'], name=op.f('fk_kb_chunks_document_id'), ondelete='CASCADE'),
    )


def _new_chunks() -> None:
    op.create_table('kb_chunks',
    *_chunk_columns(),
    sa.Column('run', sa.Integer(), nullable=False),
    sa.Column('start_ms', sa.BigInteger(), nullable=True),
    sa.Column('end_ms', sa.BigInteger(), nullable=True),
    sa.PrimaryKeyConstraint('document_id', 'run', 'idx', name=op.f('pk_kb_chunks'))
    )
    op.create_index(op.f('ix_kb_chunks_tenant_id_id'), 'kb_chunks', ['tenant_id', 'id'], unique=False)


def _old_chunks() -> None:
    op.create_table('kb_chunks',
    *_chunk_columns(),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_kb_chunks')),
    sa.UniqueConstraint('document_id', 'idx', name=op.f('uq_kb_chunks_document_id_idx'))
    )


def _remake_chunks(rows: str, make: Callable[[], None], more: tuple[str, ...]) -> None:
    """No database changes a primary key that rows lie under: they wait in a copy of the table."""
    names = ', '.join((*_COLUMNS, *more))
    op.execute(f"CREATE TABLE kb_chunks_before AS {rows}")  # noqa: S608
    op.drop_table('kb_chunks')
    make()
    op.execute(f"INSERT INTO kb_chunks ({names}) SELECT {names} FROM kb_chunks_before")  # noqa: S608
    op.drop_table('kb_chunks_before')


def upgrade() -> None:
    op.create_table('kb_evaluations',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('space_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('status', sa.String(length=10), nullable=False),
    sa.Column('error_message', sa.Text(), nullable=True),
    sa.Column('setup', sa.JSON(none_as_null=True), nullable=True),
    sa.Column('metrics', sa.JSON(none_as_null=True), nullable=True),
    sa.Column('results', sa.JSON(none_as_null=True), nullable=True),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['space_id'], ['kb_spaces.id'], name=op.f('fk_kb_evaluations_space_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_kb_evaluations_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_kb_evaluations'))
    )
    with op.batch_alter_table('kb_evaluations', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_kb_evaluations_status_updated_at'), ['status', 'updated_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_kb_evaluations_tenant_id_space_id_created_at'), ['tenant_id', 'space_id', 'created_at'], unique=False)

    op.create_table('kb_space_grants',
    sa.Column('space_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('kind', sa.String(length=4), nullable=False),
    sa.Column('subject_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.ForeignKeyConstraint(['space_id'], ['kb_spaces.id'], name=op.f('fk_kb_space_grants_space_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_kb_space_grants_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('space_id', 'kind', 'subject_id', name=op.f('pk_kb_space_grants'))
    )
    with op.batch_alter_table('kb_space_grants', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_kb_space_grants_tenant_id_kind_subject_id'), ['tenant_id', 'kind', 'subject_id'], unique=False)

    op.create_table('kb_questions',
    sa.Column('id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('tenant_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('space_id', sa.Uuid(as_uuid=False), nullable=False),
    sa.Column('text', sa.Text(), nullable=False),
    sa.Column('document_id', sa.Uuid(as_uuid=False), nullable=True),
    sa.Column('quote', sa.Text(), nullable=False),
    sa.Column('created_at', sa.DateTime(timezone=True), nullable=False),
    sa.Column('updated_at', sa.DateTime(timezone=True), nullable=False),
    sa.ForeignKeyConstraint(['document_id'], ['kb_documents.id'], name=op.f('fk_kb_questions_document_id'), ondelete='SET NULL'),
    sa.ForeignKeyConstraint(['space_id'], ['kb_spaces.id'], name=op.f('fk_kb_questions_space_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenants.id'], name=op.f('fk_kb_questions_tenant_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_kb_questions'))
    )
    with op.batch_alter_table('kb_questions', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_kb_questions_document_id'), ['document_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_kb_questions_tenant_id_space_id_created_at'), ['tenant_id', 'space_id', 'created_at'], unique=False)

    with op.batch_alter_table('kb_documents', schema=None) as batch_op:
        batch_op.add_column(sa.Column('url', sa.String(length=2000), nullable=True))
        batch_op.add_column(sa.Column('version', sa.Integer(), server_default='0', nullable=False))
        batch_op.alter_column('sha256',
               existing_type=sa.VARCHAR(length=64),
               nullable=True)
        batch_op.create_unique_constraint(batch_op.f('uq_kb_documents_space_id_url'), ['space_id', 'url'])

    # What is there of a document that is not done is of the run before. One that was in work begins a new run: the job
    # of the old one has other steps than the jobs of this release.
    op.execute("UPDATE kb_documents SET version = CASE WHEN status IN ('pending', 'processing', 'error') THEN run - 1 ELSE run END")
    op.execute("UPDATE kb_documents SET status = 'pending', run = run + 1 WHERE status IN ('pending', 'processing')")
    _remake_chunks(
        "SELECT c.id, c.tenant_id, c.document_id, c.idx, c.text, c.title_path, c.page, c.start_char, c.end_char,"
        " d.version AS run FROM kb_chunks c JOIN kb_documents d ON d.id = c.document_id"
        " WHERE d.version > 0",
        _new_chunks,
        ('run',),
    )

    with op.batch_alter_table('kb_spaces', schema=None) as batch_op:
        batch_op.add_column(sa.Column('is_limited', sa.Boolean(), server_default=sa.false(), nullable=False))



def downgrade() -> None:
    with op.batch_alter_table('kb_spaces', schema=None) as batch_op:
        batch_op.drop_column('is_limited')

    _remake_chunks(
        "SELECT c.id, c.tenant_id, c.document_id, c.idx, c.text, c.title_path, c.page, c.start_char, c.end_char"
        " FROM kb_chunks c JOIN kb_documents d ON d.id = c.document_id AND d.version = c.run",
        _old_chunks,
        (),
    )
    # What has no bytes of its own has no place in the schema before.
    op.execute("DELETE FROM kb_documents WHERE sha256 IS NULL")
    with op.batch_alter_table('kb_documents', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('uq_kb_documents_space_id_url'), type_='unique')
        batch_op.alter_column('sha256',
               existing_type=sa.VARCHAR(length=64),
               nullable=False)
        batch_op.drop_column('version')
        batch_op.drop_column('url')

    with op.batch_alter_table('kb_questions', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_kb_questions_tenant_id_space_id_created_at'))
        batch_op.drop_index(batch_op.f('ix_kb_questions_document_id'))

    op.drop_table('kb_questions')
    with op.batch_alter_table('kb_space_grants', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_kb_space_grants_tenant_id_kind_subject_id'))

    op.drop_table('kb_space_grants')
    with op.batch_alter_table('kb_evaluations', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_kb_evaluations_tenant_id_space_id_created_at'))
        batch_op.drop_index(batch_op.f('ix_kb_evaluations_status_updated_at'))

    op.drop_table('kb_evaluations')
