"""The site's memory of calls that cost money or leave the machine: the same again is neither made nor paid.

Replies are kept by the digest of the whole request, so no prompt is stored, and up to a size, past which those that
nobody has needed for longest go. A cache that fails forgets and says so in the log; it never fails a call.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Connection,
    Index,
    String,
    Text,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Mapped, Session, mapped_column, sessionmaker

from app.domain.calls import Call
from app.extensions import db
from app.runs.db import DatabaseUnavailable, engine_of, write_transaction
from app.runs.tables import UtcDateTime

log = logging.getLogger(__name__)

MEGABYTE = 1_000_000
KEPT_SHARE = 0.95
"""A full cache is emptied down to this share of its size, so that not every new reply has to push one out."""

UNMEASURED_SHARE = 0.01
"""A process adds the sizes up once it has kept this share of the whole anew, so that not every reply reads them all."""

TOUCH_AFTER = timedelta(minutes=1)
"""A reply's last use is written down no more often than this, so that reading stays reading."""


class CachedCall(db.Model):  # type: ignore[name-defined] # made at run time
    """A reply by its request's digest (app.domain.calls.Call.key). `bytes` is what it counts for."""

    __tablename__ = "call_cache"
    # Adding up sizes and finding the oldest read this index alone, never the replies.
    __table_args__ = (Index("ix_call_cache_used_at_bytes", "used_at", "bytes"),)

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    model: Mapped[str] = mapped_column(Text)
    reply: Mapped[Any] = mapped_column(JSON)
    bytes: Mapped[int] = mapped_column(BigInteger)
    used_at: Mapped[datetime] = mapped_column(UtcDateTime)


# Built once, for every costly call asks them.
_kept = CachedCall.__table__.c
_RECALL = select(_kept.reply, _kept.used_at).where(_kept.key == bindparam("call"))
_KEEP = insert(CachedCall.__table__).from_select(
    ("key", "model", "reply", "bytes", "used_at"),
    select(
        bindparam("call", type_=String),
        bindparam("by", type_=Text),
        bindparam("said", type_=JSON),
        bindparam("size", type_=BigInteger),
        bindparam("now", type_=UtcDateTime),
    ).where(~exists().where(_kept.key == bindparam("call", type_=String))),
)


class CallCache:
    """Implements `calls.Memory` for costly calls. Safe to share between threads, and between processes."""

    def __init__(
        self, sessions: sessionmaker[Session], megabytes: int, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """`megabytes` is what the replies may take, 0 to keep none."""
        self._sessions = sessions
        self._engine = engine_of(sessions)
        self._limit = megabytes * MEGABYTE
        self._now = now
        self._well = True
        self._unmeasured = float("inf")  # the first reply has everything measured

    def recall(self, call: Call) -> Any | None:
        """The reply that was kept for an equal request to the same model, or None."""
        return self._trying(lambda: self._read(call.key)) if self._wants(call) else None

    def keep(self, call: Call, reply: Any) -> None:
        """Remember a reply; the first one to a call stands. One larger than the whole cache is not kept."""
        if self._wants(call):
            self._trying(lambda: self._keep(call, reply))

    def write(self, connection: Connection, call: Call, reply: Any) -> None:
        """Remember a reply as part of the connection's transaction."""
        if not self._wants(call):
            return
        size = len(json.dumps(reply).encode()) + len(call.key) + len(call.model.encode())
        if size > self._limit:
            return
        row = {"call": call.key, "by": call.model, "said": reply, "size": size, "now": self._now()}
        connection.execute(_KEEP, row)
        self._unmeasured += size
        if self._unmeasured >= self._limit * UNMEASURED_SHARE:
            self._measure(connection)

    def size(self) -> tuple[int, int]:
        """How many replies there are, and what they count for in bytes."""
        with self._sessions() as session:
            count, total = session.execute(select(func.count(), func.sum(CachedCall.bytes))).one()
        return count, int(total or 0)

    def purge(self) -> int:
        """Forget every reply; returns how many there were."""
        with self._sessions.begin() as session:
            return session.execute(delete(CachedCall)).rowcount  # type: ignore[attr-defined] # a CursorResult

    def _wants(self, call: Call) -> bool:
        return call.costly and self._limit > 0

    def _read(self, key: str) -> Any | None:
        with self._engine.connect() as connection:
            found = connection.execute(_RECALL, {"call": key}).one_or_none()
        if found is None:
            return None
        if self._now() - found.used_at > TOUCH_AFTER:
            self._trying(lambda: self._touch(key))
        return found.reply

    def _touch(self, key: str) -> None:
        with self._sessions.begin() as session:
            session.execute(update(CachedCall).where(CachedCall.key == key).values(used_at=self._now()))

    def _keep(self, call: Call, reply: Any) -> None:
        try:
            with write_transaction(self._engine) as connection:
                self.write(connection, call, reply)
        except IntegrityError:
            log.debug("another call like this one was kept at the same moment")

    def _measure(self, connection: Connection) -> None:
        """Add up what is kept, and forget the oldest where that is too much."""
        total = connection.scalar(select(func.sum(CachedCall.bytes))) or 0
        if total > self._limit:
            self._make_room(connection, float(total) - self._limit * KEPT_SHARE)
        self._unmeasured = 0.0

    def _make_room(self, connection: Connection, excess: float) -> None:
        """Forget the replies that nobody has needed for longest, as many as make up `excess` bytes."""
        oldest_first = select(CachedCall.used_at, CachedCall.bytes).order_by(CachedCall.used_at)
        forgotten = 0
        for row in connection.execute(oldest_first.execution_options(yield_per=1000)):
            forgotten += row.bytes
            if forgotten >= excess:
                connection.execute(delete(CachedCall).where(CachedCall.used_at <= row.used_at))
                return

    def _trying(self, work: Callable[[], Any]) -> Any | None:
        """What `work` comes to; None when the database fails, which is said once until it works again."""
        try:
            done = work()
        except (SQLAlchemyError, DatabaseUnavailable, ValueError) as error:
            if self._well:
                # The error itself would quote the reply.
                log.warning("the cache of calls failed (%s); calls are made without it", type(error).__name__)
            self._well = False
            return None
        self._well = True
        return done
