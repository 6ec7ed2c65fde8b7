"""How a run and its events stand in their rows: what is written at its beginning, at each event and at its end."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert
from sqlalchemy.orm import Session

from app.reasoning.events import SCHEMA_VERSION, TERMINAL, Event, RunFailed, RunStarted, VerdictReached
from app.reasoning.roles import Wish
from app.runs.clock import database_now
from app.runs.codec import encode, encode_options
from app.runs.event_statements import INSERT
from app.runs.tables import RunRow


def insert_run(session: Session, run_id: str, owner: str, started: RunStarted, **more: Any) -> datetime:
    """Insert a run's row, with `more` columns, and return when that was by the database's clock."""
    row = insert(RunRow).values(
        id=run_id,
        owner=owner,
        claim=started.claim.text,
        options=encode_options(started.options),
        created_at=database_now(),
        **more,
    )
    return session.execute(row.returning(RunRow.created_at)).scalar_one()


def insert_event(connection: Connection, run_id: str, seq: int, at: datetime, event: Event) -> None:
    """Insert the event with the number `seq` of the run, which happened `at` that moment."""
    row = {"run_id": run_id, "seq": seq, "at": at, "kind": event.kind, "version": SCHEMA_VERSION, "body": encode(event)}
    connection.execute(INSERT, row)


def ended_by(event: Event) -> dict[str, Any]:
    """The columns of the run's row that a terminal event sets; none for any other."""
    if not isinstance(event, TERMINAL):
        return {}
    ended = {"ended_at": database_now(), "holder": None, "leased_until": None}
    if isinstance(event, VerdictReached):
        return {"state": "verdict", "label": event.verdict.label.value, **ended}
    return {"state": "failed" if isinstance(event, RunFailed) else "interrupted", **ended}


def wish_in(column: str | None) -> Wish:
    """What the run's owner wants, by the column `wish` of its row."""
    return Wish(column) if column else Wish.GO_ON
