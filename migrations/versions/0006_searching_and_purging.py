"""Claims as searches see them, and which kept replies a run made or used

Revision ID: 0006
Revises: 0005
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.text.wording import folded

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("searched", sa.Text, nullable=False, server_default=""))
    _fold_claims()
    op.create_table(
        "run_calls",
        sa.Column("run_id", sa.String(32), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("key", sa.String(64), primary_key=True),
    )
    op.create_index("ix_run_calls_key", "run_calls", ["key"])


def downgrade() -> None:
    op.drop_table("run_calls")
    op.drop_column("runs", "searched")


def _fold_claims() -> None:
    """No database folds case in every script, so Python does it for the runs that are there.

    A script (`--sql`) cannot: there, earlier runs are found by no word.
    """
    if op.get_context().as_sql:
        return
    runs = sa.table("runs", sa.column("id"), sa.column("claim"), sa.column("searched"))
    connection = op.get_bind()
    for run_id, claim in connection.execute(sa.select(runs.c.id, runs.c.claim)).all():
        connection.execute(sa.update(runs).where(runs.c.id == run_id).values(searched=folded(claim)))
