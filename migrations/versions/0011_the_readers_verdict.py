"""The owner's own verdict on a claim, and the name that it is signed with

Revision ID: 0011
Revises: 0010
Create Date: 2026-11-28
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("notes", sa.Column("label", sa.String(32)))
    op.add_column("notes", sa.Column("signed", sa.Text, nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("notes", "signed")
    op.drop_column("notes", "label")
