"""names that people went by before, to be taken out of texts with the one they go by

Revision ID: 0019
Revises: 0018
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.create_table(
        "speaker_former_names",
        sa.Column("speaker_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("tenant_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["speaker_id"], ["speakers.id"], name=op.f("fk_speaker_former_names_speaker_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("speaker_id", "name", name=op.f("pk_speaker_former_names")),
    )
    op.create_index("ix_speaker_former_names_tenant_id", "speaker_former_names", ["tenant_id"])


def downgrade() -> None:
    op.drop_table("speaker_former_names")
