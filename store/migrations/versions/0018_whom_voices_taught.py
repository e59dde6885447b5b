"""voices that were heard, by whom they taught: what is known of a voice is made anew of them

Revision ID: 0018
Revises: 0017
"""

from alembic import op

revision = "0018"
down_revision = "0017"

_BY_TENANT = "ix_heard_voices_tenant_id"
_BY_TAUGHT = "ix_heard_voices_tenant_id_taught_speaker_id"


def upgrade() -> None:
    op.create_index(_BY_TAUGHT, "heard_voices", ["tenant_id", "taught_speaker_id"])
    op.drop_index(_BY_TENANT, "heard_voices")


def downgrade() -> None:
    op.create_index(_BY_TENANT, "heard_voices", ["tenant_id"])
    op.drop_index(_BY_TAUGHT, "heard_voices")
