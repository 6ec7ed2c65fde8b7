"""Leases in place of process names; a journal of calls; what a day's calls cost

Revision ID: 0002
Revises: 0001
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_column("runs", "process")
    op.add_column("runs", sa.Column("epoch", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("runs", sa.Column("holder", sa.String(64)))
    op.add_column("runs", sa.Column("leased_until", sa.DateTime()))
    op.add_column("runs", sa.Column("cut_offs", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("runs", sa.Column("began_at", sa.DateTime()))
    op.create_index("ix_runs_ended_at", "runs", ["ended_at"])
    op.create_table(
        "journal",
        sa.Column("run_id", sa.String(32), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("reply", sa.JSON(), nullable=False),
    )
    op.create_table(
        "spending",
        sa.Column("day", sa.Date(), primary_key=True),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("spending")
    op.drop_table("journal")
    op.drop_index("ix_runs_ended_at", "runs")
    for name in ("began_at", "cut_offs", "leased_until", "holder", "epoch"):
        op.drop_column("runs", name)
    op.add_column("runs", sa.Column("process", sa.String(32), nullable=False, server_default=""))
