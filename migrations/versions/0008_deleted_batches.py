"""When a batch was deleted

Revision ID: 0008
Revises: 0007
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("batches", sa.Column("deleted_at", sa.DateTime))
    op.create_index("ix_batches_deleted_at", "batches", ["deleted_at"])


def downgrade() -> None:
    op.drop_index("ix_batches_deleted_at", "batches")
    op.drop_column("batches", "deleted_at")
