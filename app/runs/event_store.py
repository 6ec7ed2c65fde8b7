"""Append, read and follow the events of runs; encode and decode their bodies.

Every append is one commit. Only the holder of a run's lease may append, which is checked in the same transaction.
Followers hold no database session while they wait. An append in this process wakes them at once, one in another process
when its notification arrives (notifications.py), or else after POLL_SECONDS.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.orm import Session, sessionmaker

from app.domain import events
from app.domain.errors import HopcheckError
from app.domain.messages import Code, Message
from app.domain.model import RunOptions
from app.domain.ports import RunCommand
from app.runs.budget import add_to_day
from app.runs.call_log import delete_own_calls
from app.runs.db import database_now, engine_of, write_lock, write_transaction
from app.runs.json_schema import DESCRIBED, as_json, json_schemas
from app.runs.leases import Lease, LeaseLost
from app.runs.models import RUNNING, EventRow, RunRow, is_visible
from app.runs.notifications import LocalSubscribers, Notifier
from app.runs.version_1 import with_codes

POLL_SECONDS = 0.5

COALESCE_SECONDS = 0.05
"""Time for which a follower waits for more events after the first one, so that a burst is rendered once. A terminal
event ends the wait."""

WAITING = events.PhaseEntered(Code.WAITING())
"""The last of the events that a run is created with."""

_STRICT = ConfigDict(hide_input_in_errors=True, extra="forbid")
"""Errors are logged, so they must not contain users' text. Unknown fields are errors: a newer version wrote them."""

_AnyEvent = Annotated[events.Event, Field(discriminator="kind")]
_events: TypeAdapter[events.Event] = TypeAdapter(_AnyEvent, config=_STRICT)
_options: TypeAdapter[list[RunOptions]] = TypeAdapter(list[RunOptions], config=_STRICT)
"""In a list, because pydantic accepts no configuration for a bare dataclass."""

# Constants over tables, because SQLAlchemy takes longer to build a statement than SQLite to execute it.
_runs, _rows = RunRow.__table__.c, EventRow.__table__.c
_NEXT_SEQ = (
    update(RunRow.__table__)
    .where(_runs.id == bindparam("run"), _runs.state == RUNNING, _runs.epoch == bindparam("lease_epoch"))
    .values(last_seq=_runs.last_seq + 1)
    .returning(_runs.last_seq, database_now().label("now"), _runs.command)
)
_INSERT_EVENT = insert(EventRow.__table__)
_READ_EVENTS = (
    select(_rows.seq, _rows.at, _rows.version, _rows.body, _runs.created_at)
    .join_from(EventRow.__table__, RunRow.__table__, _runs.id == _rows.run_id)
    .where(_rows.run_id == bindparam("run"), _rows.seq > bindparam("after"))
    .order_by(_rows.seq)
)
_READ_COMMAND = select(_runs.command).where(_runs.id == bindparam("run"))
_READ_STATE = select(_runs.last_seq, _runs.state).where(_runs.id == bindparam("run"))


class RunEnded(HopcheckError):
    """The run has a terminal event or does not exist: no more events are accepted."""


class Unreadable(HopcheckError):
    """The stored events of a run cannot be decoded: another version of Hopcheck wrote them, or they are damaged."""

    def __init__(self) -> None:
        super().__init__("This check was stored by another version of Hopcheck, and this one cannot read it.")


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every event in a stream has besides its own fields."""

    seq: Annotated[int, Field(ge=0)]
    """Its number in the run, from 1."""
    seconds: Annotated[float, Field(ge=0)]
    """Seconds since the run's start."""


@dataclass(frozen=True, slots=True)
class StoredEvent(Envelope):
    event: events.Event

    def as_json(self) -> dict[str, Any]:
        """Return envelope and event as JSON types, with words in place of codes."""
        envelope = as_json(Envelope(self.seq, round(self.seconds, 3)))
        return {**envelope, **_in_words(encode(self.event))}


class EventStore:
    """The events of all runs in one database. Thread-safe."""

    def __init__(
        self,
        sessions: sessionmaker[Session],
        poll_seconds: float = POLL_SECONDS,
        notifier: Notifier | None = None,
        coalesce_seconds: float = COALESCE_SECONDS,
    ) -> None:
        """Store events in the database of `sessions`; `notifier` reaches other processes, None if there are none."""
        self._sessions = sessions
        self._engine = engine_of(sessions)
        self._poll_seconds = poll_seconds
        self._coalesce_seconds = coalesce_seconds
        self._notifier = notifier or Notifier()
        self._subscribers = LocalSubscribers()
        self._closed = False

    def create_run(
        self,
        run_id: str,
        owner: str,
        started: events.RunStarted,
        admit: Callable[[Session], None] = lambda session: None,
        inherited: Sequence[events.Event] = (),
        batch: str | None = None,
    ) -> None:
        """Commit a new run with its first events, for a branch including the `inherited` ones.

        `admit` is called in the transaction after the run was written; an exception that it raises rolls the run back.
        """
        with write_lock(self._engine), self._sessions.begin() as session:
            parent = next((each.branch.parent for each in inherited if isinstance(each, events.RunBranched)), None)
            last_seq = len(inherited) + 2
            now = _insert_run(session, run_id, owner, started, last_seq=last_seq, parent=parent, batch=batch)
            admit(session)
            for seq, event in enumerate((started, *inherited, WAITING), 1):
                _insert_event(session.connection(), run_id, seq, now, event)
        self._notify(run_id, WAITING)

    def import_run(self, run_id: str, owner: str, timed_events: Sequence[tuple[events.Event, float]]) -> None:
        """Commit a whole run read from a file: RunStarted first and a terminal event last.

        Each event comes with its seconds after the run's start. The parent of an imported branch is not linked.
        """
        (started, _), (ended, _) = timed_events[0], timed_events[-1]
        if not isinstance(started, events.RunStarted):
            raise ValueError(f"a run begins with run_started, not {started.kind}")
        last_seq = len(timed_events)
        with write_lock(self._engine), self._sessions.begin() as session:
            now = _insert_run(session, run_id, owner, started, last_seq=last_seq, imported=True, **_end_columns(ended))
            for seq, (event, seconds) in enumerate(timed_events, 1):
                _insert_event(session.connection(), run_id, seq, now + timedelta(seconds=seconds), event)

    def append(self, lease: Lease, event: events.Event, on_command: Callable[[RunCommand], None] | None = None) -> int:
        """Commit one event and return its number. `on_command` gets the owner's command as of that transaction.

        Raises LeaseLost when the lease's epoch is over, RunEnded after a terminal event. Incrementing `last_seq` first
        takes the write lock before anything is read, so concurrent writers never get the same number.
        """
        with write_transaction(self._engine) as connection:
            columns = _end_columns(event)
            statement = _NEXT_SEQ.values(**columns) if columns else _NEXT_SEQ
            row = connection.execute(statement, {"run": lease.run_id, "lease_epoch": lease.epoch}).one_or_none()
            if row is None:
                raise _append_error(connection, lease)
            seq, now, command = row
            _insert_event(connection, lease.run_id, seq, lease.clock.now(), event)
            if isinstance(event, events.TokensUsed):
                add_to_day(connection, now.date(), event.usage)
            elif isinstance(event, events.TERMINAL):
                delete_own_calls(connection, lease.run_id)
        self._notify(lease.run_id, event)
        if on_command:
            on_command(command_from_column(command))
        return seq

    def read(self, run_id: str, after: int = 0) -> tuple[StoredEvent, ...]:
        """Return the events numbered above `after`, in order. Raises Unreadable for those of another version.

        With `after` 0, a deleted run has no events; a follower that has read some of them still gets the rest.
        """
        statement = _READ_EVENTS if after else _READ_EVENTS.where(is_visible())
        with self._engine.connect() as connection:
            rows = connection.execute(statement, {"run": run_id, "after": after}).all()
        try:
            return tuple(
                StoredEvent(row.seq, (row.at - row.created_at).total_seconds(), decode(row.body, row.version))
                for row in rows
            )
        except ValueError as error:
            raise Unreadable from error

    def follow(self, run_id: str, after: int, wait: float) -> tuple[StoredEvent, ...]:
        """Return new events as `read` does, waiting up to `wait` seconds for some.

        Returns () early when nothing more can come: the run has ended or does not exist, or the store was closed.
        """
        deadline = time.monotonic() + wait
        self._notifier.subscribe(self._subscribers.notify_all)
        with self._subscribers.subscribe(run_id) as subscription:
            while True:
                subscription.changed.clear()
                closed = self._closed
                with self._engine.connect() as connection:
                    # Together, so that a run seen as ended is seen with its last event.
                    row = connection.execute(_READ_STATE, {"run": run_id}).one_or_none()
                has_new, is_over = row is not None and row.last_seq > after, row is None or row.state != RUNNING
                left = deadline - time.monotonic()
                if closed or left <= 0 or is_over:
                    return self.read(run_id, after) if has_new else ()
                if has_new or subscription.changed.wait(min(left, self._poll_seconds)):
                    subscription.ended.wait(min(left, self._coalesce_seconds))
                    if new := self.read(run_id, after):
                        return new

    def command(self, run_id: str) -> RunCommand:
        with self._engine.connect() as connection:
            return command_from_column(connection.scalar(_READ_COMMAND, {"run": run_id}))

    def close(self) -> None:
        """End the waits of all followers, because this process shuts down. Events can still be read."""
        self._closed = True
        self._notifier.close()
        self._subscribers.notify_all(ended=True)

    def _notify(self, run_id: str, event: events.Event) -> None:
        self._subscribers.notify(run_id, ended=isinstance(event, events.TERMINAL))
        self._notifier.publish()


def encode(event: events.Event) -> dict[str, Any]:
    """Return the event as JSON types, its kind included."""
    return _events.dump_python(event, mode="json")


def decode(body: dict[str, Any], version: int) -> events.Event:
    """Return the event that `encode` was given.

    Raises ValueError for an unknown version, kind or field, and for a body that is not an event.
    """
    if version not in (1, events.SCHEMA_VERSION):
        raise ValueError(f"events of schema version {version} cannot be read, only of 1 and {events.SCHEMA_VERSION}")
    try:
        event = _events.validate_python(body)
        return with_codes(event) if version == 1 else event
    except ValidationError as error:
        raise ValueError(f"a stored event cannot be read: {_first_error(error)}") from None


_CODES = {each.value: each for each in Code}


def _in_words(value: Any) -> Any:
    match value:
        case {"code": code, "values": values}:
            return str(Message(_CODES[code], values))
        case dict():
            return {name: _in_words(each) for name, each in value.items()}
        case list():
            return [_in_words(each) for each in value]
    return value


def event_schema(ref_template: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of `StoredEvent.as_json`; `ref_template` addresses its parts in `$defs`.

    It allows unknown fields, so that readers elsewhere can ignore those of later versions.
    """
    schema = TypeAdapter(_AnyEvent, config=DESCRIBED).json_schema(mode="serialization", ref_template=ref_template)
    for name in ("Code", "Message"):
        del schema["$defs"][name]
    # Each kind gets the envelope itself: generators would drop the union from a StoredEvent that added it.
    envelope = json_schemas([Envelope], ref_template)["Envelope"]
    for address in schema["discriminator"]["mapping"].values():
        kind = schema["$defs"][address.rpartition("/")[2]]
        kind["properties"] |= envelope["properties"]
        kind["required"] = [*kind.get("required", []), *envelope["required"]]
    return _with_texts(schema, {"$ref": ref_template.format(model="Message")})


def _with_texts(schema: Any, message: dict[str, str]) -> Any:
    """Return the schema with a text in place of each choice between `message` and a text."""
    if isinstance(schema, list):
        return [_with_texts(each, message) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _with_texts(each, message) for name, each in schema.items()}
    match [each for each in found.get("anyOf", ()) if each != message]:
        case [only]:
            return {name: each for name, each in found.items() if name != "anyOf"} | only
        case [_, *_] as several:
            return found | {"anyOf": several}
    return found


def encode_options(options: RunOptions) -> dict[str, Any]:
    return _options.dump_python([options], mode="json")[0]


def decode_options(stored: dict[str, Any]) -> RunOptions:
    """Return the options that `encode_options` was given. Raises ValueError for anything else."""
    try:
        return _options.validate_python([stored])[0]
    except ValidationError as error:
        raise ValueError(f"stored options cannot be read: {_first_error(error)}") from None


def _first_error(error: ValidationError) -> str:
    """Return the kind and the place of the first mistake, without the value found there."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{first['type'].replace('_', ' ')} at {'.'.join(map(str, first['loc'])) or 'its kind'}"


def _insert_run(session: Session, run_id: str, owner: str, started: events.RunStarted, **columns: Any) -> datetime:
    """Insert a run's row and return its time by the database's clock."""
    row = insert(RunRow).values(
        id=run_id,
        owner=owner,
        claim=started.claim.text,
        options=encode_options(started.options),
        created_at=database_now(),
        **columns,
    )
    return session.execute(row.returning(RunRow.created_at)).scalar_one()


def _insert_event(connection: Connection, run_id: str, seq: int, at: datetime, event: events.Event) -> None:
    row = {
        "run_id": run_id,
        "seq": seq,
        "at": at,
        "kind": event.kind,
        "version": events.SCHEMA_VERSION,
        "body": encode(event),
    }
    connection.execute(_INSERT_EVENT, row)


def _end_columns(event: events.Event) -> dict[str, Any]:
    """Return the columns of the run's row that a terminal event sets; none for any other event."""
    if not isinstance(event, events.TERMINAL):
        return {}
    ended = {"ended_at": database_now(), "holder": None, "leased_until": None}
    if isinstance(event, events.VerdictReached):
        return {"state": "verdict", "label": event.verdict.label.value, **ended}
    return {"state": "failed" if isinstance(event, events.RunFailed) else "interrupted", **ended}


def command_from_column(column: str | None) -> RunCommand:
    return RunCommand(column) if column else RunCommand.CONTINUE


def _append_error(connection: Connection, lease: Lease) -> HopcheckError:
    if connection.scalar(select(RunRow.state).where(RunRow.id == lease.run_id)) == RUNNING:
        return LeaseLost(f"run {lease.run_id} is no longer carried out in epoch {lease.epoch}")
    return RunEnded(f"run {lease.run_id} takes no more events")
