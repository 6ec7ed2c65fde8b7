"""The site's cache of costly calls

Revision ID: 0003
Revises: 0002
Create Date: 2026-11-22
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "call_cache",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("reply", sa.JSON(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.DateTime(), nullable=False),
    )
    op.create_index("ix_call_cache_used_at_bytes", "call_cache", ["used_at", "bytes"])


def downgrade() -> None:
    op.drop_table("call_cache")
