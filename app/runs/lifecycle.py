"""Delete, restore and purge runs, apply the retention period, and publish reports.

A deleted run is hidden at once, and its owner can restore it for a while. Then it is purged, with its events, its notes
and the stored replies that no other run has used. Branches of a deleted run stay. Owners publish reports in the
gallery; the operator can take them down.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, select, update
from sqlalchemy.orm import Session, sessionmaker

from app.domain.errors import NotNow
from app.domain.messages import Code, Text
from app.domain.model import Label
from app.runs.admission import is_invalid_id
from app.runs.call_log import delete_calls
from app.runs.db import changes_row, database_now
from app.runs.json_schema import Moment
from app.runs.models import RUNNING, BatchRow, Cursor, RunRow, comes_after, is_visible
from app.runs.projections import RunSummary, summary

log = logging.getLogger(__name__)

DAY_SECONDS = 86_400.0

UNDO_SECONDS = 600.0
"""Time within which a deleted run can be restored."""

PURGE_LIMIT = 100
"""Maximum number of runs that one purge deletes, because other writers wait for it."""


class Deletion:
    """Delete, restore and purge runs. `stop` ends an unfinished run, given its id and the reason."""

    def __init__(self, sessions: sessionmaker[Session], stop: Callable[[str, Text], bool]) -> None:
        self._sessions = sessions
        self._stop = stop

    def of_owner(self, run_id: str, owner: str) -> RunSummary | None:
        """Return the run if it is the owner's, else None. Reads no events, which may be those of another version."""
        if is_invalid_id(run_id):
            return None
        chosen = select(RunRow).where(RunRow.id == run_id, RunRow.owner == owner, is_visible())
        with self._sessions() as session:
            row = session.scalar(chosen)
            return summary(row) if row else None

    def delete(self, run_id: str) -> bool:
        """Stop the run if it is unfinished, and hide it. False for an unknown run."""
        self._stop(run_id, Code.DELETED())
        ended = update(RunRow).where(RunRow.id == run_id, RunRow.state != RUNNING, is_visible())
        return changes_row(self._sessions, ended.values(deleted_at=database_now()))

    def restore(self, run_id: str, owner: str) -> bool:
        """Restore a deleted run of the owner. False if it is too late or unknown."""
        if is_invalid_id(run_id):
            return False
        shown = update(RunRow).where(RunRow.id == run_id, RunRow.owner == owner, _is_restorable())
        return changes_row(self._sessions, shown.values(deleted_at=None))

    def restorable(self, owner: str) -> tuple[RunSummary, ...]:
        """Return the owner's deleted runs that can still be restored, last deleted first."""
        chosen = select(RunRow).where(RunRow.owner == owner, _is_restorable())
        with self._sessions() as session:
            return tuple(map(summary, session.scalars(chosen.order_by(RunRow.deleted_at.desc(), RunRow.id))))

    def purge(self) -> tuple[str, ...]:
        """Purge up to PURGE_LIMIT runs that can no longer be restored; return their ids."""
        return self.purge_where(RunRow.deleted_at <= database_now(-UNDO_SECONDS), PURGE_LIMIT)

    def purge_where(self, condition: ColumnElement[bool], limit: int | None = None) -> tuple[str, ...]:
        with self._sessions() as session:
            run_ids = tuple(session.scalars(select(RunRow.id).where(condition).limit(limit)))
        return tuple(run_id for run_id in run_ids if self._purge(run_id, condition))

    def purge_older(self, days: int, limit: int | None = None) -> int:
        """Purge up to `limit` unpublished runs that ended more than `days` ago; return their number."""
        return len(self.purge_where(_ended_before(days), limit))

    def count_older(self, days: int) -> int:
        with self._sessions() as session:
            return session.scalar(select(func.count()).select_from(RunRow).where(_ended_before(days))) or 0

    def _purge(self, run_id: str, condition: ColumnElement[bool]) -> bool:
        """Purge one run; False if it no longer meets the condition, because it was just restored or published."""
        # The update checks the condition again and locks the row, so that no restore or publication comes between.
        locked = update(RunRow).where(RunRow.id == run_id, condition).values(deleted_at=database_now())
        with self._sessions.begin() as session:
            if session.execute(locked.returning(RunRow.id)).one_or_none() is None:
                return False
            delete_calls(session.connection(), run_id)
            session.execute(delete(RunRow).where(RunRow.id == run_id))  # events, links and notes go with it
        log.info("run %s was deleted for good", run_id)
        return True


def _is_restorable() -> ColumnElement[bool]:
    """Return the condition that a run can be restored by itself; one deleted with its batch cannot."""
    with_its_batch = select(BatchRow.id).where(BatchRow.id == RunRow.batch, BatchRow.deleted_at.is_not(None))
    return and_(RunRow.deleted_at > database_now(-UNDO_SECONDS), ~with_its_batch.exists())


GONE = "This check is not there any more."
NO_VERDICT = "Only a check that has come to a verdict can be published."
IMPORTED = "An imported report cannot be published, because it was not made here."
TAKEN_DOWN = "The operator of this site has taken this report down, so it cannot be published again."


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A report in the gallery."""

    id: str
    claim: str
    label: Label
    published_at: Moment


class Publishing:
    """The published runs of one database. Callers check that the settings allow publishing."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self._sessions = sessions

    def publish(self, run_id: str) -> None:
        """Put the run in the gallery; a published one keeps its place. Raises NotNow if not allowed."""
        at = func.coalesce(RunRow.published_at, database_now())
        if not self._change(run_id, _is_publishable(), published_at=at):
            raise NotNow(self._reason_against(run_id), "run")

    def unpublish(self, run_id: str) -> bool:
        """Remove the run from the gallery, for its owner. False if it was not published."""
        return self._change(run_id, RunRow.published_at.is_not(None), published_at=None)

    def take_down(self, run_id: str) -> bool:
        """Keep the run out of the gallery, for the operator. Its link still works.

        False for a run that is unknown or already taken down.
        """
        return self._change(run_id, RunRow.taken_down_at.is_(None), taken_down_at=database_now(), published_at=None)

    def allow(self, run_id: str) -> bool:
        """Let the owner publish the run again. False if it was not taken down."""
        return self._change(run_id, RunRow.taken_down_at.is_not(None), taken_down_at=None)

    def listed(self, label: str = "", limit: int = 20, after: Cursor | None = None) -> tuple[PublishedRun, ...]:
        """Return the published reports, last published first; with `label`, those with this label.

        `after` is the position (time of publication and id) after which to continue.
        """
        chosen = select(RunRow).where(RunRow.published_at.is_not(None), _is_publishable())
        if label:
            chosen = chosen.where(RunRow.label == label)
        if after:
            chosen = chosen.where(comes_after(RunRow.published_at, after))
        with self._sessions() as session:
            rows = session.scalars(chosen.order_by(RunRow.published_at.desc(), RunRow.id).limit(limit))
            return tuple(map(_published, rows))

    def _change(self, run_id: str, condition: ColumnElement[bool], **values: Any) -> bool:
        return changes_row(
            self._sessions, update(RunRow).where(RunRow.id == run_id, is_visible(), condition).values(**values)
        )

    def _reason_against(self, run_id: str) -> str:
        with self._sessions() as session:
            row = session.get(RunRow, run_id)
        if row is None or row.deleted_at:
            return GONE
        if row.taken_down_at:
            return TAKEN_DOWN
        return IMPORTED if row.imported else NO_VERDICT


def _published(row: RunRow) -> PublishedRun:
    assert row.label and row.published_at, "only a verdict is published"
    return PublishedRun(row.id, row.claim, Label(row.label), row.published_at)


def _is_publishable() -> ColumnElement[bool]:
    ours = and_(RunRow.state == "verdict", RunRow.imported.is_(False))
    return and_(ours, RunRow.taken_down_at.is_(None), is_visible())


def _ended_before(days: int) -> ColumnElement[bool]:
    is_old = RunRow.ended_at < database_now(-days * DAY_SECONDS)
    return and_(RunRow.state != RUNNING, is_old, RunRow.published_at.is_(None))
