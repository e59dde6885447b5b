"""the tone of the staff among the figures

Revision ID: 0021
Revises: 0020
"""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_FILL = {
    "sqlite": """
        UPDATE communication_figures SET tone = (
            SELECT max(json_extract(each.value, '$.value'))
            FROM qc_evaluations, json_each(qc_evaluations.criteria) AS each
            WHERE qc_evaluations.communication_id = communication_figures.communication_id
            AND json_extract(each.value, '$.code') = 'tone_of_voice'
            AND json_type(each.value, '$.value') IN ('real', 'integer')
        ) WHERE scenario_code IS NOT NULL
    """,
    "postgresql": """
        UPDATE communication_figures SET tone = (
            SELECT max(CAST(each.value ->> 'value' AS double precision))
            FROM qc_evaluations, json_array_elements(qc_evaluations.criteria) AS each(value)
            WHERE qc_evaluations.communication_id = communication_figures.communication_id
            AND each.value ->> 'code' = 'tone_of_voice'
            AND each.value ->> 'value' ~ '^[0-9.]+$'
        ) WHERE scenario_code IS NOT NULL
    """,
}


def upgrade() -> None:
    with op.batch_alter_table("communication_figures", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("tone", sa.Float(), nullable=True))
    op.execute(sa.text(_FILL[op.get_bind().dialect.name]))


def downgrade() -> None:
    with op.batch_alter_table("communication_figures", schema=None, recreate="never") as batch_op:
        batch_op.drop_column("tone")
