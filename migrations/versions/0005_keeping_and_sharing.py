"""Runs that were deleted, published, taken down or imported, and the owner's notes

Revision ID: 0005
Revises: 0004
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("deleted_at", "published_at", "taken_down_at"):
        op.add_column("runs", sa.Column(name, sa.DateTime))
    op.add_column("runs", sa.Column("imported", sa.Boolean, nullable=False, server_default=sa.false()))
    for name in ("deleted_at", "published_at"):
        op.create_index(f"ix_runs_{name}", "runs", [name])
    op.create_table(
        "notes",
        sa.Column("run_id", sa.String(32), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("hop", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("agrees", sa.Boolean),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("written_at", sa.DateTime, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("notes")
    for name in ("deleted_at", "published_at"):
        op.drop_index(f"ix_runs_{name}", "runs")
    for name in ("imported", "taken_down_at", "published_at", "deleted_at"):
        op.drop_column("runs", name)
