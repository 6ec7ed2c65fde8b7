"""Two tables: runs, and the append-only log of what happened in each. The log is the truth; a run's row sums it up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, ForeignKey, Index, String, Text, TypeDecorator
from sqlalchemy.orm import Mapped, mapped_column

from app.extensions import db

RUNNING = "running"


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time, kept as naive UTC: SQLite has no time zones."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.astimezone(UTC).replace(tzinfo=None) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.replace(tzinfo=UTC) if value else None


class RunRow(db.Model):  # type: ignore[name-defined] # made at run time
    """A run. `state` is "running" until a terminal event makes it "verdict", "failed" or "interrupted".

    `last_seq` is the newest event's number: appending counts it up first, which both takes the next number and makes
    other writers of this run wait. `process` names the process that carries the run out (processes.py).
    """

    __tablename__ = "runs"
    __table_args__ = (Index("ix_runs_owner_created_at", "owner", "created_at"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    owner: Mapped[str] = mapped_column(String(64))
    claim: Mapped[str] = mapped_column(Text)
    options: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    process: Mapped[str] = mapped_column(String(32))
    state: Mapped[str] = mapped_column(String(16), default=RUNNING, index=True)
    label: Mapped[str | None] = mapped_column(String(32))
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_seq: Mapped[int] = mapped_column(default=0)


class EventRow(db.Model):  # type: ignore[name-defined] # made at run time
    """One event of a run: numbered from 1 without gaps, never changed, never deleted alone."""

    __tablename__ = "events"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    kind: Mapped[str] = mapped_column(String(32))
    version: Mapped[int]
    body: Mapped[dict[str, Any]] = mapped_column(JSON)
