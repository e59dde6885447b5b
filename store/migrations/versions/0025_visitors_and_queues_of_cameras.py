"""visitors and queues of cameras

Revision ID: 0025
Revises: 0024
"""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    op.create_table(
        "camera_visitors",
        sa.Column("stream_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("day", sa.DateTime(timezone=True), nullable=False),
        sa.Column("visitor", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("came", sa.Integer(), nullable=False),
        sa.Column("looks", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stream_id"], ["camera_streams.id"], name=op.f("fk_camera_visitors_stream_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("stream_id", "day", "visitor", name=op.f("pk_camera_visitors")),
    )
    op.create_index(op.f("ix_camera_visitors_day"), "camera_visitors", ["day"])
    op.create_table(
        "camera_queues",
        sa.Column("stream_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("hour", sa.DateTime(timezone=True), nullable=False),
        sa.Column("zone", sa.String(length=200), nullable=False),
        sa.Column("tenant_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("waited", sa.Integer(), nullable=False),
        sa.Column("waited_s", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["stream_id"], ["camera_streams.id"], name=op.f("fk_camera_queues_stream_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("stream_id", "hour", "zone", name=op.f("pk_camera_queues")),
    )
    op.create_index(op.f("ix_camera_queues_hour"), "camera_queues", ["hour"])


def downgrade() -> None:
    op.drop_table("camera_queues")
    op.drop_table("camera_visitors")
