"""Store model calls, so that a resumed run repeats none and runs share the replies to costly ones.

A reply is stored under the digest of its request; prompts are not stored. Shared replies are kept up to a size limit,
and the least recently used are evicted first. Every other reply belongs to one run and is deleted when the run ends.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased, sessionmaker

from app.domain.instrumentation import Call
from app.runs.db import UtcDateTime, engine_of, write_transaction
from app.runs.models import RUNNING, SHARED, ModelCallRow, RunCallRow, RunRow

log = logging.getLogger(__name__)
T = TypeVar("T")

MEGABYTE = 1_000_000
TARGET_SHARE = 0.95  # of the size limit: eviction frees more than one reply needs, so that it is rare
UNMEASURED_SHARE = 0.01  # of the size limit: after adding this much, a process computes the total again
TOUCH_AFTER = timedelta(minutes=1)  # minimum time between two updates of `used_at`, so that most reads do not write

_calls, _links, _runs = ModelCallRow.__table__, RunCallRow.__table__, RunRow.__table__
_COLUMNS = ("scope", "key", "reply", "size_bytes", "used_at")
_RUN, _KEY = sa.bindparam("run", type_=sa.String), sa.bindparam("call", type_=sa.String)
_VALUES = (
    _KEY,
    sa.bindparam("reply", type_=sa.JSON),
    sa.bindparam("size", type_=sa.BigInteger),
    sa.bindparam("now", type_=UtcDateTime),
)
# Whether the run has made or used the shared reply with this key.
_IS_LINKED = sa.exists().where(_links.c.run_id == _RUN, _links.c.key == _KEY)


def _insert_missing(table: sa.Table, columns: Sequence[str], rows: sa.Select[Any]) -> dict[str, sa.Insert]:
    """Return, by dialect name, the statement that inserts `rows` and skips those that the table already has."""
    inserts: dict[str, Callable[[sa.Table], Any]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
    return {
        name: insert(table)
        .from_select(columns, rows)
        .on_conflict_do_nothing()
        .execution_options(preserve_rowcount=True)
        for name, insert in inserts.items()
    }


# Constants, because every model call executes them.
_FIND = (
    sa.select(_calls.c.scope, _calls.c.reply, _calls.c.used_at, _IS_LINKED.label("is_linked"))
    .where(_calls.c.key == _KEY, _calls.c.scope.in_([_RUN, SHARED]))
    .where(sa.or_(_calls.c.scope == _RUN, _IS_LINKED, sa.bindparam("shares", type_=sa.Boolean)))
    .order_by(_calls.c.scope.desc())  # the run's own reply before the shared one
    .limit(1)
)
# SQLite needs a WHERE between SELECT and ON CONFLICT.
_ADD_SHARED = _insert_missing(_calls, _COLUMNS, sa.select(sa.literal(SHARED, sa.String), *_VALUES).where(sa.true()))
_ADD_OWN = _insert_missing(
    _calls, _COLUMNS, sa.select(_runs.c.id, *_VALUES).where(_runs.c.id == _RUN, _runs.c.state == RUNNING, ~_IS_LINKED)
)
_LINK = _insert_missing(_links, ("run_id", "key"), sa.select(_runs.c.id, _KEY).where(_runs.c.id == _RUN))


class CallLog:
    """The stored calls of one database. Safe to share between threads and processes."""

    def __init__(
        self,
        sessions: sessionmaker[Session],
        megabytes: int = 0,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`megabytes` limits the shared replies; 0 shares none."""
        self._engine = engine_of(sessions)
        self._limit = megabytes * MEGABYTE
        self._now = now
        self._unmeasured_bytes = float("inf")  # so that the first shared reply triggers a measurement

    def for_run(self, run_id: str, is_new: bool = False, is_fresh: bool = False) -> RunCalls:
        """Return the calls of a run. A run that `is_new` has none stored; one that `is_fresh` shares no replies."""
        return RunCalls(self, run_id, is_new, is_fresh)

    def shares(self, call: Call) -> bool:
        return call.costly and self._limit > 0

    def find(self, run_id: str, key: str, shares: bool) -> tuple[Any | None, bool]:
        """Return the stored reply, or None, and whether `mark_used` must be called.

        Replies that the run itself stored or used are always found, those of other runs only with `shares`.
        """
        with self._engine.connect() as connection:
            row = connection.execute(_FIND, {"run": run_id, "call": key, "shares": shares}).one_or_none()
        if row is None:
            return None, False
        is_due = row.scope == SHARED and not (row.is_linked and self._now() - row.used_at <= TOUCH_AFTER)
        return row.reply, is_due

    def mark_used(self, run_id: str, key: str) -> None:
        used = sa.update(_calls).where(_calls.c.scope == SHARED, _calls.c.key == key).values(used_at=self._now())
        with write_transaction(self._engine) as connection:
            connection.execute(used)
            connection.execute(_LINK[connection.dialect.name], {"run": run_id, "call": key})

    def add(self, run_id: str, key: str, reply: Any, shares: bool) -> None:
        """Store a reply in one commit, unless there is one already; a reply above the size limit is not shared."""
        size = len(json.dumps(reply).encode()) + len(key)
        row = {"run": run_id, "call": key, "reply": reply, "size": size, "now": self._now()}
        with write_transaction(self._engine) as connection:
            name = connection.dialect.name
            if shares and size <= self._limit and connection.execute(_ADD_SHARED[name], row).rowcount:
                connection.execute(_LINK[name], row)
                self._unmeasured_bytes += size
                if self._unmeasured_bytes >= self._limit * UNMEASURED_SHARE:
                    self._measure(connection)
            else:  # also if another run has stored a shared reply meanwhile: this run uses its own reply
                connection.execute(_ADD_OWN[name], row)

    def size(self) -> tuple[int, int]:
        """Return the number of shared replies and their size in bytes."""
        with self._engine.connect() as connection:
            count, total = connection.execute(
                sa.select(sa.func.count(), sa.func.sum(_calls.c.size_bytes)).where(_calls.c.scope == SHARED)
            ).one()
        return count, int(total or 0)

    def purge(self) -> int:
        """Delete all shared replies; return their number."""
        with write_transaction(self._engine) as connection:
            return _delete_shared(connection, sa.true())

    def _measure(self, connection: sa.Connection) -> None:
        total = connection.scalar(sa.select(sa.func.sum(_calls.c.size_bytes)).where(_calls.c.scope == SHARED)) or 0
        if total > self._limit:
            _evict(connection, float(total) - self._limit * TARGET_SHARE)
        self._unmeasured_bytes = 0.0


class RunCalls:
    """The calls of one run: a `ResponseStore`. A failure of the database is logged once and fails no call."""

    def __init__(self, calls: CallLog, run_id: str, is_new: bool, is_fresh: bool) -> None:
        self._call_log = calls
        self._run_id = run_id
        self._is_fresh = is_fresh
        self._own: set[str] | None = set() if is_new else None  # all keys that a new run stored; unknown for others
        self._has_failed = False

    def get(self, call: Call) -> Any | None:
        shares = self._shares(call)
        if not shares and self._own is not None and call.key not in self._own:
            return None
        reply, is_due = self._attempt(lambda: self._call_log.find(self._run_id, call.key, shares)) or (None, False)
        if is_due:
            self._attempt(lambda: self._call_log.mark_used(self._run_id, call.key))
        return reply

    def put(self, call: Call, reply: Any) -> None:
        """Store the reply to a call, unless it has one. After the run has ended, only shared replies are stored."""
        if self._own is not None:
            self._own.add(call.key)
        self._attempt(lambda: self._call_log.add(self._run_id, call.key, reply, self._shares(call)))

    def _shares(self, call: Call) -> bool:
        return not self._is_fresh and self._call_log.shares(call)

    def _attempt(self, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except Exception as error:  # the call itself works without the log
            if not self._has_failed:  # only the type, because the message would quote the reply
                name = type(error).__name__
                log.warning("run %s: its calls cannot be stored or read (%s) and may be made again", self._run_id, name)
            self._has_failed = True
            return None


def delete_own_calls(connection: sa.Connection, run_id: str) -> None:
    """Delete the replies that belong to the run alone, as part of the connection's transaction."""
    connection.execute(sa.delete(ModelCallRow).where(ModelCallRow.scope == run_id))


def delete_calls(connection: sa.Connection, run_id: str) -> None:
    """Delete the run's own replies and the shared ones that no other stored run has used."""
    other = aliased(RunCallRow)
    is_used_elsewhere = sa.select(other.key).where(other.key == RunCallRow.key, other.run_id != run_id).exists()
    alone = sa.select(RunCallRow.key).where(RunCallRow.run_id == run_id, ~is_used_elsewhere)
    connection.execute(sa.delete(ModelCallRow).where(ModelCallRow.scope == SHARED, ModelCallRow.key.in_(alone)))
    delete_own_calls(connection, run_id)


def _evict(connection: sa.Connection, excess: float) -> None:
    """Delete the least recently used shared replies that together have at least `excess` bytes."""
    oldest_first = sa.select(_calls.c.used_at, _calls.c.size_bytes).where(_calls.c.scope == SHARED)
    rows = connection.execute(oldest_first.order_by(_calls.c.used_at).execution_options(yield_per=1000))
    for used_at, size in rows:
        excess -= size
        if excess <= 0:
            rows.close()
            _delete_shared(connection, _calls.c.used_at <= used_at)
            return


def _delete_shared(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> int:
    """Delete shared replies and return how many. Each unfinished run gets its own copy of those that it has used."""
    chosen = sa.and_(_calls.c.scope == SHARED, condition)
    used = (
        sa.select(_runs.c.id, *(_calls.c[name] for name in _COLUMNS[1:]))
        .join_from(_calls, _links, _links.c.key == _calls.c.key)
        .join(_runs, _runs.c.id == _links.c.run_id)
        .where(chosen, _runs.c.state == RUNNING)
    )
    connection.execute(_insert_missing(_calls, _COLUMNS, used)[connection.dialect.name])
    return connection.execute(sa.delete(_calls).where(chosen)).rowcount
