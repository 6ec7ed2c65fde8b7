"""What all runs of the site cost in a day, kept in the database so that every server sees the same sum."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, sessionmaker

from app.domain.model import Usage
from app.runs.db import database_now
from app.runs.tables import SpendingRow


def _addition(insert: Any) -> Any:
    """The statement that adds to a day's sum, or begins it. `insert` is the database's own."""
    statement = insert(SpendingRow.__table__)
    columns = SpendingRow.__table__.c
    sums = {each.name: each + statement.excluded[each.name] for each in columns if not each.primary_key}
    return statement.on_conflict_do_update(index_elements=[columns.day], set_=sums)


_ADDITIONS = {"sqlite": _addition(sqlite.insert), "postgresql": _addition(postgresql.insert)}
"""Both write ON CONFLICT the same way; SQLAlchemy has it per database. Built once, for every call of a model adds."""


class Spending:
    """The sums in one database. Days are UTC's."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self._sessions = sessions

    def today(self) -> Usage:
        """What has been spent since midnight."""
        with self._sessions() as session:
            row = session.get(SpendingRow, _now(session).date())
            return Usage(row.calls, row.prompt_tokens, row.completion_tokens, cost=row.cost) if row else Usage()

    def seconds_to_midnight(self) -> float:
        """How long it is until a new day begins."""
        with self._sessions() as session:
            now = _now(session)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return (midnight - now).total_seconds()

    def add(self, usage: Usage) -> None:
        """Add to today's sum in a transaction of its own."""
        with self._sessions.begin() as session:
            add_to_day(session.connection(), _now(session).date(), usage)


def add_to_day(connection: Connection, day: date, usage: Usage) -> None:
    """Add to a day's sum as part of the connection's transaction. What costs nothing writes nothing."""
    if not (usage.calls or usage.tokens or usage.cost):
        return
    spent = {
        "day": day,
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": usage.cost or 0.0,
    }
    connection.execute(_ADDITIONS[connection.dialect.name], spent)


def _now(session: Session) -> datetime:
    return session.execute(select(database_now())).scalar_one()
