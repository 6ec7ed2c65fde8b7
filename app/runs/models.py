"""The tables: runs and their append-only events, notes, batches, stored model calls and daily spending."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine.default import DefaultExecutionContext
from sqlalchemy.orm import InstrumentedAttribute, Mapped, mapped_column

from app.runs.db import Base, UtcDateTime
from app.text.wording import folded

Cursor = tuple[datetime, str]
"""A pagination cursor: the time and the id of the last run on the previous page."""

RUNNING = "running"
PEOPLE, BATCHES = "people", "batches"
QUEUES = (PEOPLE, BATCHES)
"""Queues in order of priority: runs that a person waits for come before those of batches."""
SHARED = ""
"""The scope of a stored reply that every run may use."""


def _searched(context: DefaultExecutionContext) -> str:
    return folded(context.get_current_parameters()["claim"])


class RunRow(Base):
    """A run: a summary of its events, and its lease."""

    __tablename__ = "runs"
    __table_args__ = (
        sa.Index("ix_runs_owner_created_at", "owner", "created_at"),
        sa.Index("ix_runs_ended_at", "ended_at"),
    )

    id: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    owner: Mapped[str] = mapped_column(sa.String(64))
    claim: Mapped[str] = mapped_column(sa.Text)
    options: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    state: Mapped[str] = mapped_column(sa.String(16), default=RUNNING, index=True)
    """RUNNING until a terminal event sets "verdict", "failed" or "interrupted"."""
    label: Mapped[str | None] = mapped_column(sa.String(32))
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    last_seq: Mapped[int] = mapped_column(default=0)
    """The newest event's number. An append increments it first, which makes other writers of the run wait."""
    epoch: Mapped[int] = mapped_column(default=0, server_default="0")
    holder: Mapped[str | None] = mapped_column(sa.String(64))
    leased_until: Mapped[datetime | None] = mapped_column(UtcDateTime)
    """With `epoch` and `holder`, the run's lease (leases.py); None for a run without a holder."""
    cut_offs: Mapped[int] = mapped_column(default=0, server_default="0")
    """The number of its leases that expired."""
    began_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    """The time at which the first lease was acquired."""
    command: Mapped[str | None] = mapped_column("wish", sa.String(16), key="command")
    """The owner's command, a ports.RunCommand; None for CONTINUE."""
    parent: Mapped[str | None] = mapped_column(sa.String(32), index=True)
    """The run that this one branches off, which may have been deleted."""
    batch: Mapped[str | None] = mapped_column(sa.String(32), index=True)
    """The batch of the claim; None for a run that a person started."""
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    """From then on the run is hidden; it is purged later (lifecycle.py)."""
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    taken_down_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    """The time at which the operator withdrew it from publication, which the owner cannot undo."""
    imported: Mapped[bool] = mapped_column(default=False, server_default=sa.false())
    """True if it was read from a file instead of carried out here."""
    searched: Mapped[str] = mapped_column(sa.Text, default=_searched, server_default="")
    """The claim in the form that searches use, because SQLite ignores case for ASCII letters only."""


def is_visible() -> sa.ColumnElement[bool]:
    """Return the condition that a run was not deleted. Every query that shows runs to users includes it."""
    return RunRow.deleted_at.is_(None)


def comes_after(time: InstrumentedAttribute[Any], position: Cursor) -> sa.ColumnElement[bool]:
    """Return the condition that a run comes after that position in a list sorted by `time`, newest first."""
    at, run_id = position
    return sa.or_(time < at, sa.and_(time == at, RunRow.id > run_id))


class EventRow(Base):
    """An event of a run, numbered from 1 without gaps. Events are never changed, and deleted only with their run."""

    __tablename__ = "events"

    run_id: Mapped[str] = mapped_column(sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    kind: Mapped[str] = mapped_column(sa.String(32))
    version: Mapped[int]
    body: Mapped[dict[str, Any]] = mapped_column(sa.JSON)


class ModelCallRow(Base):
    """The reply to a call, by the call's key (app.domain.instrumentation.Call)."""

    __tablename__ = "model_calls"
    # The total size and the least recently used replies are read from this index alone.
    __table_args__ = (sa.Index("ix_model_calls_scope_used_at_size_bytes", "scope", "used_at", "size_bytes"),)

    scope: Mapped[str] = mapped_column(sa.String(32), primary_key=True)  # the only run that may use it, or SHARED
    key: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    reply: Mapped[Any] = mapped_column(sa.JSON)
    size_bytes: Mapped[int] = mapped_column(sa.BigInteger)
    used_at: Mapped[datetime] = mapped_column(UtcDateTime)


class RunCallRow(Base):
    """A link from a run to a shared reply that it made or used. The reply may have been evicted since."""

    __tablename__ = "run_calls"

    run_id: Mapped[str] = mapped_column(sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(sa.String(64), primary_key=True, index=True)


class NoteRow(Base):
    """The owner's note on a hop, or on the verdict as hop 0."""

    __tablename__ = "notes"

    run_id: Mapped[str] = mapped_column(sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    hop: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    agrees: Mapped[bool | None]
    text: Mapped[str] = mapped_column(sa.Text, default="")
    written_at: Mapped[datetime] = mapped_column(UtcDateTime)
    label: Mapped[str | None] = mapped_column(sa.String(32))
    """The owner's own verdict, which is public with its text; None for a private note."""
    signed: Mapped[str] = mapped_column(sa.Text, default="", server_default="")


class BatchRow(Base):
    """A batch of claims. Its runs have its id in `batch`."""

    __tablename__ = "batches"
    __table_args__ = (sa.Index("ix_batches_owner_created_at", "owner", "created_at"),)

    id: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    owner: Mapped[str] = mapped_column(sa.String(64))
    title: Mapped[str] = mapped_column(sa.Text)
    options: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    state: Mapped[str] = mapped_column(sa.String(16), index=True)
    """A BatchState."""
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime, index=True)
    """Runs that were deleted with the batch have the same time."""
    source: Mapped[dict[str, Any] | None] = mapped_column(sa.JSON(none_as_null=True))
    """A SourceText, where the claims were taken from one."""


class BatchClaimRow(Base):
    """A claim of a batch, numbered from 1."""

    __tablename__ = "batch_claims"

    batch_id: Mapped[str] = mapped_column(sa.ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    claim: Mapped[str] = mapped_column(sa.Text)
    speaker: Mapped[str | None] = mapped_column(sa.Text)
    date: Mapped[str | None] = mapped_column(sa.String(10))
    run_id: Mapped[str | None] = mapped_column(sa.String(32))
    """Its newest run, once started."""
    problem: Mapped[str | None] = mapped_column(sa.Text)
    """The reason why the line is not a valid claim."""


class SpendingRow(Base):
    """The usage of all model calls of a UTC day. Money is in the currency of the operator's prices."""

    __tablename__ = "spending"

    day: Mapped[date] = mapped_column(primary_key=True)
    calls: Mapped[int] = mapped_column(sa.BigInteger)
    prompt_tokens: Mapped[int] = mapped_column(sa.BigInteger)
    completion_tokens: Mapped[int] = mapped_column(sa.BigInteger)
    cost: Mapped[float]
