"""What a run's owner wishes of it, and which run it branches off

Revision ID: 0004
Revises: 0003
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("runs", sa.Column("wish", sa.String(16)))
    op.add_column("runs", sa.Column("parent", sa.String(32)))
    op.create_index("ix_runs_parent", "runs", ["parent"])


def downgrade() -> None:
    op.drop_index("ix_runs_parent", "runs")
    for name in ("parent", "wish"):
        op.drop_column("runs", name)
