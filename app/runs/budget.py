"""Limits of a run and of the site's daily spending, and the owner's command to conclude early.

A run that reaches a limit does not fail: its strategy concludes from the evidence found so far, and the calls needed
for that are still made. The command is stored with the run, for any process that resumes it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, sessionmaker

from app.domain.messages import DAY_LIMITS, RUN_LIMITS, Code, Message, Text
from app.domain.model import Usage
from app.domain.ports import RunCommand
from app.runs.db import database_now
from app.runs.models import SpendingRow

COMMAND_POLL_SECONDS = 0.2
"""Appending an event also returns the owner's command. After this long without an append, a query reads it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run and, as `day_*`, of the whole site in a UTC day; None for no limit.

    Money is in the currency of the operator's prices.
    """

    seconds: float | None = None
    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    day_calls: int | None = None
    day_tokens: int | None = None
    day_cost: float | None = None

    def reached_by_run(self, usage: Usage) -> Message | None:
        return _limit_reached(RUN_LIMITS, usage, self.calls, self.tokens, self.cost)

    def reached_by_day(self, today: Callable[[], Usage]) -> Message | None:
        """Return the daily limit that the site has reached, or None. `today` is called only if there is a limit."""
        if (self.day_calls, self.day_tokens, self.day_cost) == (None, None, None):
            return None
        return _limit_reached(DAY_LIMITS, today(), self.day_calls, self.day_tokens, self.day_cost)


class RunBudget:
    """Implements `Control` for one run. A resumed run continues from its earlier usage and working time."""

    def __init__(
        self,
        limits: Limits,
        today: Callable[[], Usage],
        used: Usage = Usage(),  # noqa: B008 - it is frozen
        worked: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
        read_command: Callable[[], RunCommand] = lambda: RunCommand.CONTINUE,
    ) -> None:
        """Start with the usage `used` and `worked` seconds of work so far; `read_command` queries the database."""
        self._limits = limits
        self._today = today
        self._used = used
        self._lock = threading.Lock()
        self._clock = clock
        self._began = clock() - worked
        self._reason: Text = ""
        self._read_command = read_command
        self._is_finish_requested = False
        self._received_at = float("-inf")

    def count(self, usage: Usage) -> None:
        """Add the usage of a call. Thread-safe."""
        with self._lock:
            self._used += usage

    def receive(self, command: RunCommand) -> None:
        """Take over the owner's current command. FINISH_NOW cannot be withdrawn."""
        self._is_finish_requested = self._is_finish_requested or command is RunCommand.FINISH_NOW
        self._received_at = self._clock()

    def command(self) -> RunCommand:
        """Return FINISH_NOW once the owner asked for it, else FINISH_AFTER_HOP once a limit is reached."""
        if not self._is_finish_requested and self._clock() - self._received_at >= COMMAND_POLL_SECONDS:
            self.receive(self._read_command())
        if self._is_finish_requested:
            self._reason = self._reason or Code.ASKED_BY_OWNER()
            return RunCommand.FINISH_NOW
        self._reason = self._reason or self._limit_reached()
        return RunCommand.FINISH_AFTER_HOP if self._reason else RunCommand.CONTINUE

    def reason(self) -> Text:
        return self._reason

    def _limit_reached(self) -> Text:
        seconds = self._limits.seconds
        if seconds is not None and self._clock() - self._began >= seconds:
            return Code.RUN_SECONDS(amount=seconds)
        return self._limits.reached_by_run(self._used) or self._limits.reached_by_day(self._today) or ""


def _limit_reached(
    codes: Sequence[Code], usage: Usage, calls: int | None, tokens: int | None, cost: float | None
) -> Message | None:
    """Return the first limit that is reached; `codes` are those of the three."""
    if calls is not None and usage.calls >= calls:
        return codes[0](amount=calls)
    if tokens is not None and usage.tokens >= tokens:
        return codes[1](amount=tokens)
    if cost is not None and usage.cost and usage.cost >= cost:  # calls without a price never reach a limit of 0
        return codes[2](amount=cost)
    return None


def _upsert(insert: Any) -> Any:
    """Return the upsert that adds to a day's sum; `insert` is the insert function of a dialect."""
    statement = insert(SpendingRow.__table__)
    columns = SpendingRow.__table__.c
    sums = {each.name: each + statement.excluded[each.name] for each in columns if not each.primary_key}
    return statement.on_conflict_do_update(index_elements=[columns.day], set_=sums)


_UPSERTS = {"sqlite": _upsert(sqlite.insert), "postgresql": _upsert(postgresql.insert)}
"""By dialect, since SQLAlchemy has no common ON CONFLICT. Constants, because every model call executes one."""


class Spending:
    """The usage of the whole site by UTC day, in the database so that every server sees the same sum."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self._sessions = sessions

    def today(self) -> Usage:
        with self._sessions() as session:
            row = session.get(SpendingRow, _now(session).date())
            return Usage(row.calls, row.prompt_tokens, row.completion_tokens, cost=row.cost) if row else Usage()

    def seconds_to_midnight(self) -> float:
        with self._sessions() as session:
            now = _now(session)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return (midnight - now).total_seconds()

    def add(self, usage: Usage) -> None:
        """Add to today's sum in a separate transaction."""
        with self._sessions.begin() as session:
            add_to_day(session.connection(), _now(session).date(), usage)


def add_to_day(connection: Connection, day: date, usage: Usage) -> None:
    """Add to a day's sum in the connection's transaction. Empty usage writes nothing."""
    if not (usage.calls or usage.tokens or usage.cost):
        return
    spent = {
        "day": day,
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": usage.cost or 0.0,
    }
    connection.execute(_UPSERTS[connection.dialect.name], spent)


def _now(session: Session) -> datetime:
    return session.execute(select(database_now())).scalar_one()
