"""ranks of people: an index that holds what is added up for each of them

Revision ID: 0016
Revises: 0015
"""

from alembic import op

revision = "0016"
down_revision = "0015"

OLD = "ix_participation_figures_speaker_id_occured_at"
NEW = "ix_participation_figures_of_speaker"


def upgrade() -> None:
    with op.batch_alter_table("participation_figures", schema=None) as batch_op:
        batch_op.drop_index(OLD)
        batch_op.create_index(
            NEW,
            [
                "speaker_id",
                "occured_at",
                "role",
                "kind",
                "channel_type",
                "direction",
                "talk_ms",
                "all_talk_ms",
                "score_pct",
                "commitments",
            ],
        )
    with op.batch_alter_table("speakers", schema=None) as batch_op:
        batch_op.create_index("ix_speakers_tenant_id_id", ["tenant_id", "id"])


def downgrade() -> None:
    with op.batch_alter_table("speakers", schema=None) as batch_op:
        batch_op.drop_index("ix_speakers_tenant_id_id")
    with op.batch_alter_table("participation_figures", schema=None) as batch_op:
        batch_op.drop_index(NEW)
        batch_op.create_index(OLD, ["speaker_id", "occured_at"])
