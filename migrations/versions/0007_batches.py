"""Batches of claims, and which runs are theirs

Revision ID: 0007
Revises: 0006
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "batches",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("options", sa.JSON, nullable=False),
        sa.Column("created_at", sa.DateTime, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
    )
    op.create_index("ix_batches_owner_created_at", "batches", ["owner", "created_at"])
    op.create_index("ix_batches_state", "batches", ["state"])
    op.create_table(
        "batch_claims",
        sa.Column("batch_id", sa.String(32), sa.ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("claim", sa.Text, nullable=False),
        sa.Column("speaker", sa.Text),
        sa.Column("date", sa.String(10)),
        sa.Column("run_id", sa.String(32)),
        sa.Column("problem", sa.Text),
    )
    op.add_column("runs", sa.Column("batch", sa.String(32)))
    op.create_index("ix_runs_batch", "runs", ["batch"])


def downgrade() -> None:
    op.drop_index("ix_runs_batch", "runs")
    op.drop_column("runs", "batch")
    op.drop_table("batch_claims")
    op.drop_table("batches")
