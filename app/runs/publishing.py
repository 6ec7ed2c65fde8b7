"""Publish reports in the gallery, and take them down as the operator."""

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
        """Put the run in the gallery; a published one keeps its place. Raises InvalidInput if not allowed."""
        at = func.coalesce(RunRow.published_at, database_now())
        if not self._change(run_id, _is_publishable(), published_at=at):
            raise InvalidInput(self._why_not(run_id))

    def unpublish(self, run_id: str) -> bool:
        """Remove the run from the gallery, for its owner. False if it was not published."""
        return self._change(run_id, RunRow.published_at.is_not(None), published_at=None)

    def take_down(self, run_id: str) -> bool:
        """Keep the run out of the gallery, for the operator, published or not. False for an unknown run.

        Its link still works.
        """
        return self._change(run_id, RunRow.taken_down_at.is_(None), taken_down_at=database_now(), published_at=None)

    def allow(self, run_id: str) -> bool:
        """Let the owner publish the run again. False if it was not taken down."""
        return self._change(run_id, RunRow.taken_down_at.is_not(None), taken_down_at=None)

    def listed(self, label: str = "", limit: int = 20, after: Position | None = None) -> tuple[PublishedRun, ...]:
        """Return the published reports, with `label` if one is given, last published first.

        `after` is the position (time of publishing and id) after which to continue.
        """
        chosen = select(RunRow).where(RunRow.published_at.is_not(None), _is_publishable())
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


def _is_publishable() -> ColumnElement[bool]:
    """Return the condition that a run may be published."""
    ours = and_(RunRow.state == "verdict", RunRow.imported.is_(False))
    return and_(ours, RunRow.taken_down_at.is_(None), is_visible())
