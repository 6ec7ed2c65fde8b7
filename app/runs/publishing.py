"""Publishing: an owner puts a finished report in the gallery, where anybody finds it; the operator may take it down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy.orm import Session, sessionmaker

from app.domain.errors import InvalidInput
from app.domain.model import Label
from app.runs.db import database_now
from app.runs.json_schema import Moment
from app.runs.models import RunRow, is_visible
from app.runs.projections import Position

GONE = "This check is not there any more."
NO_VERDICT = "Only a check that has come to a verdict can be published."
IMPORTED = "An imported report cannot be published, for nobody here knows how it came about."
TAKEN_DOWN = "The operator of this site has taken this report down, so it cannot be published again."


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A report in the gallery."""

    id: str
    claim: str
    label: Label
    published_at: Moment


class Publishing:
    """What is published of the runs of one database. Whether anything may be is for the operator's settings to say."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self._sessions = sessions

    def publish(self, run_id: str) -> None:
        """Put the run in the gallery; one that is there stays where it is. Raises InvalidInput where that cannot be."""
        at = func.coalesce(RunRow.published_at, database_now())
        if not self._change(run_id, _may_be_listed(), published_at=at):
            raise InvalidInput(self._why_not(run_id))

    def unpublish(self, run_id: str) -> bool:
        """Take the run out of the gallery, as its owner wishes. False where it was not in it."""
        return self._change(run_id, RunRow.published_at.is_not(None), published_at=None)

    def take_down(self, run_id: str) -> bool:
        """Keep the run out of the gallery, published or not, as the operator wishes. False where there is none.

        Those who have its link can still read it.
        """
        return self._change(run_id, RunRow.taken_down_at.is_(None), taken_down_at=database_now(), published_at=None)

    def allow(self, run_id: str) -> bool:
        """Let the owner publish again what was taken down. False where it was not."""
        return self._change(run_id, RunRow.taken_down_at.is_not(None), taken_down_at=None)

    def listed(self, label: str = "", limit: int = 20, after: Position | None = None) -> tuple[PublishedRun, ...]:
        """The published reports, with that label if one is given, the last published first.

        With `after`, a time of publishing and an id, those that follow that one.
        """
        chosen = select(RunRow).where(RunRow.published_at.is_not(None), _may_be_listed())
        if label:
            chosen = chosen.where(RunRow.label == label)
        if after:
            at, run_id = after
            later_in_list = and_(RunRow.published_at == at, RunRow.id > run_id)
            chosen = chosen.where(or_(RunRow.published_at < at, later_in_list))
        with self._sessions() as session:
            rows = session.scalars(chosen.order_by(RunRow.published_at.desc(), RunRow.id).limit(limit))
            return tuple(map(_published, rows))

    def _change(self, run_id: str, condition: ColumnElement[bool], **values: Any) -> bool:
        changed = update(RunRow).where(RunRow.id == run_id, is_visible(), condition).values(**values)
        with self._sessions.begin() as session:
            return session.execute(changed.returning(RunRow.id)).one_or_none() is not None

    def _why_not(self, run_id: str) -> str:
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


def _may_be_listed() -> ColumnElement[bool]:
    """The condition that a run may stand in the gallery."""
    ours = and_(RunRow.state == "verdict", RunRow.imported.is_(False))
    return and_(ours, RunRow.taken_down_at.is_(None), is_visible())
