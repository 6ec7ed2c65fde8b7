"""The text that the claims of a batch were taken from

Revision ID: 0010
Revises: 0009
Create Date: 2026-11-23
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("batches", sa.Column("source", sa.JSON()))


def downgrade() -> None:
    op.drop_column("batches", "source")
