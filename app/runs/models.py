"""The tables: runs, the append-only log of what happened in each, and what it takes to carry them out.

The log is the truth and a run's row sums it up. `model_calls` has the replies that a run replays when it is resumed and
those that runs share; spending adds up what the whole site's calls cost in a day.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    ColumnElement,
    ForeignKey,
    Index,
    String,
    Text,
    false,
)
from sqlalchemy.engine.default import DefaultExecutionContext
from sqlalchemy.orm import Mapped, mapped_column

from app.runs.db import Base, UtcDateTime
from app.text.normalise import folded

RUNNING = "running"
SHARED = ""
"""The scope of a stored reply that every run may use."""


def _searched(context: DefaultExecutionContext) -> str:
    return folded(context.get_current_parameters()["claim"])


class RunRow(Base):
    """A run. `state` is "running" until a terminal event makes it "verdict", "failed" or "interrupted".

    `last_seq` is the newest event's number: appending counts it up first, which both takes the next number and makes
    other writers of this run wait. `epoch`, `holder` and `leased_until` are the lease of whoever carries the run out
    (leases.py); `cut_offs` counts the leases that lapsed, `began_at` is when the first was taken. `wish` is what the
    owner wants of it (a roles.RunCommand, None to go on); `parent` is the run that this one branches off, there or not.
    `batch` is the batch whose claim it checks, None for a run that a person started.
    `deleted_at` is when the owner deleted it: nobody is shown it from then on, and after a while it is gone. The owner
    published it at `published_at`, unless the operator took it down at `taken_down_at`, which the owner cannot undo.
    An `imported` run was read from a file: it was not carried out here. `searched` is the claim as searches see it, for
    SQLite knows the case of ASCII letters alone.
    """

    __tablename__ = "runs"
    __table_args__ = (Index("ix_runs_owner_created_at", "owner", "created_at"), Index("ix_runs_ended_at", "ended_at"))

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    owner: Mapped[str] = mapped_column(String(64))
    claim: Mapped[str] = mapped_column(Text)
    options: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    state: Mapped[str] = mapped_column(String(16), default=RUNNING, index=True)
    label: Mapped[str | None] = mapped_column(String(32))
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_seq: Mapped[int] = mapped_column(default=0)
    epoch: Mapped[int] = mapped_column(default=0, server_default="0")
    holder: Mapped[str | None] = mapped_column(String(64))
    leased_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    cut_offs: Mapped[int] = mapped_column(default=0, server_default="0")
    began_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    wish: Mapped[str | None] = mapped_column(String(16))
    parent: Mapped[str | None] = mapped_column(String(32), index=True)
    batch: Mapped[str | None] = mapped_column(String(32), index=True)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    taken_down_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    imported: Mapped[bool] = mapped_column(default=False, server_default=false())
    searched: Mapped[str] = mapped_column(Text, default=_searched, server_default="")


def is_visible() -> ColumnElement[bool]:
    """The condition that a run was not deleted. Every query that shows runs to anybody asks for it."""
    return RunRow.deleted_at.is_(None)


class EventRow(Base):
    """One event of a run: numbered from 1 without gaps, never changed, never deleted alone."""

    __tablename__ = "events"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    kind: Mapped[str] = mapped_column(String(32))
    version: Mapped[int]
    body: Mapped[dict[str, Any]] = mapped_column(JSON)


class ModelCallRow(Base):
    """The reply to a call, by the call's key (app.domain.calls.Call)."""

    __tablename__ = "model_calls"
    # The total size and the least recently used replies are read from this index alone.
    __table_args__ = (Index("ix_model_calls_scope_used_at_size_bytes", "scope", "used_at", "size_bytes"),)

    scope: Mapped[str] = mapped_column(String(32), primary_key=True)  # the only run that may use it, or SHARED
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    reply: Mapped[Any] = mapped_column(JSON)
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    used_at: Mapped[datetime] = mapped_column(UtcDateTime)


class RunCallRow(Base):
    """A link from a run to a shared reply that it made or used. The reply may have been evicted since."""

    __tablename__ = "run_calls"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True, index=True)


class NoteRow(Base):
    """What the owner thinks of a hop, or of the verdict, which counts as hop 0: one note each, which may change."""

    __tablename__ = "notes"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    hop: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    agrees: Mapped[bool | None]
    text: Mapped[str] = mapped_column(Text, default="")
    written_at: Mapped[datetime] = mapped_column(UtcDateTime)


class BatchRow(Base):
    """Claims that are checked one after another; `state` is a batches.BatchState. Its runs carry its id.

    `deleted_at` is when its owner deleted it; those of its runs that went with it have the very same time.
    """

    __tablename__ = "batches"
    __table_args__ = (Index("ix_batches_owner_created_at", "owner", "created_at"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    owner: Mapped[str] = mapped_column(String(64))
    title: Mapped[str] = mapped_column(Text)
    options: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    state: Mapped[str] = mapped_column(String(16), index=True)
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)


class BatchClaimRow(Base):
    """A claim of a batch, numbered from 1. `problem` is why it is none; else `run_id` is its newest run, once begun."""

    __tablename__ = "batch_claims"

    batch_id: Mapped[str] = mapped_column(ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    claim: Mapped[str] = mapped_column(Text)
    speaker: Mapped[str | None] = mapped_column(Text)
    date: Mapped[str | None] = mapped_column(String(10))
    run_id: Mapped[str | None] = mapped_column(String(32))
    problem: Mapped[str | None] = mapped_column(Text)


class SpendingRow(Base):
    """What all model calls of a day cost, by UTC. Money is in the currency of the operator's prices."""

    __tablename__ = "spending"

    day: Mapped[date] = mapped_column(primary_key=True)
    calls: Mapped[int] = mapped_column(BigInteger)
    prompt_tokens: Mapped[int] = mapped_column(BigInteger)
    completion_tokens: Mapped[int] = mapped_column(BigInteger)
    cost: Mapped[float]
