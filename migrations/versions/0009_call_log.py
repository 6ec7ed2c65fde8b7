"""One log of model calls in place of the journal of each run and the cache of the site

Revision ID: 0009
Revises: 0008
Create Date: 2026-11-23
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

SHARED = ""


def _table(name: str, *columns: str) -> Any:
    types = {"reply": sa.JSON(), "used_at": sa.DateTime(), "bytes": sa.BigInteger(), "size_bytes": sa.BigInteger()}
    return sa.table(name, *(sa.column(each, types.get(each, sa.String())) for each in columns))


LOG = _table("model_calls", "scope", "key", "reply", "size_bytes", "used_at")
JOURNAL = _table("journal", "run_id", "key", "reply")
CACHE = _table("call_cache", "key", "model", "reply", "bytes", "used_at")
LINKS = _table("run_calls", "run_id", "key")
RUNS = _table("runs", "id", "state")


def upgrade() -> None:
    op.create_table(
        "model_calls",
        sa.Column("scope", sa.String(32), primary_key=True),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("reply", sa.JSON(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.DateTime(), nullable=False),
    )
    op.create_index("ix_model_calls_scope_used_at_size_bytes", "model_calls", ["scope", "used_at", "size_bytes"])
    kept = sa.select(sa.literal(SHARED, sa.String()), CACHE.c.key, CACHE.c.reply, CACHE.c.bytes, CACHE.c.used_at)
    op.execute(sa.insert(LOG).from_select(LOG.c.keys(), kept))
    size = sa.func.length(sa.cast(JOURNAL.c.reply, sa.Text())) + sa.func.length(JOURNAL.c.key)
    now = sa.literal(datetime.now(UTC).replace(tzinfo=None), sa.DateTime())
    own = sa.select(JOURNAL.c.run_id, JOURNAL.c.key, JOURNAL.c.reply, size, now)
    op.execute(sa.insert(LOG).from_select(LOG.c.keys(), own))
    op.drop_table("journal")
    op.drop_table("call_cache")


def downgrade() -> None:
    op.create_table(
        "journal",
        sa.Column("run_id", sa.String(32), sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("reply", sa.JSON(), nullable=False),
    )
    op.create_table(
        "call_cache",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("reply", sa.JSON(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.DateTime(), nullable=False),
    )
    op.create_index("ix_call_cache_used_at_bytes", "call_cache", ["used_at", "bytes"])
    is_shared = LOG.c.scope == SHARED
    kept = sa.select(LOG.c.key, sa.literal("", sa.Text()), LOG.c.reply, LOG.c.size_bytes, LOG.c.used_at)
    op.execute(sa.insert(CACHE).from_select(CACHE.c.keys(), kept.where(is_shared)))
    own = sa.select(LOG.c.scope, LOG.c.key, LOG.c.reply).where(~is_shared)
    op.execute(sa.insert(JOURNAL).from_select(JOURNAL.c.keys(), own))
    has_own = sa.exists().where(JOURNAL.c.run_id == LINKS.c.run_id, JOURNAL.c.key == LINKS.c.key)
    used = sa.select(LINKS.c.run_id, LOG.c.key, LOG.c.reply).where(
        is_shared, LOG.c.key == LINKS.c.key, RUNS.c.id == LINKS.c.run_id, RUNS.c.state == "running", ~has_own
    )
    op.execute(sa.insert(JOURNAL).from_select(JOURNAL.c.keys(), used))
    op.drop_table("model_calls")
