"""What the owner of a batch may do with it while it goes on, and after: pause, resume, cancel, try again."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import case, select, update
from sqlalchemy.orm import Session, sessionmaker

from app.runs.batches import FAILED, BatchState
from app.runs.tables import RUNNING, BatchClaimRow, BatchRow, RunRow, is_there

CANCELLED_WITH_ITS_BATCH = "Its batch was cancelled."


class BatchSteering:
    """Steers the batches of one database. `stop` ends an unfinished run, given its id and why."""

    def __init__(self, sessions: sessionmaker[Session], stop: Callable[[str, str], bool]) -> None:
        self._sessions = sessions
        self._stop = stop

    def unfinished(self, batch_id: str) -> tuple[str, ...]:
        """The runs of the batch that have begun and not ended."""
        begun = select(RunRow.id).where(RunRow.batch == batch_id, RunRow.state == RUNNING)
        with self._sessions() as session:
            return tuple(session.scalars(begun))

    def pause(self, batch_id: str) -> bool:
        """Begin no more of its runs; those that have begun go on. False unless it was going."""
        return self._turn(batch_id, BatchState.PAUSED, BatchState.GOING)

    def resume(self, batch_id: str) -> bool:
        """Go on with a paused batch. False unless it was one."""
        return self._turn(batch_id, BatchState.GOING, BatchState.PAUSED)

    def cancel(self, batch_id: str) -> bool:
        """Begin no more of its runs, for good, and end those that go on. False for one that is over."""
        if not self._turn(batch_id, BatchState.CANCELLED, BatchState.GOING, BatchState.PAUSED):
            return False
        self.stop_all(batch_id, CANCELLED_WITH_ITS_BATCH)
        return True

    def stop_all(self, batch_id: str, why: str) -> None:
        """End those of its runs that go on."""
        for run_id in self.unfinished(batch_id):
            self._stop(run_id, why)

    def retry(self, batch_id: str) -> int:
        """Give a new run to every claim whose run failed or was interrupted; returns how many. A paused batch stays so.

        0 for a cancelled or deleted one. The earlier runs stay where their links are.
        """
        again = select(RunRow.id).where(RunRow.batch == batch_id, RunRow.state.in_(FAILED), is_there())
        reset = update(BatchClaimRow).where(BatchClaimRow.batch_id == batch_id, BatchClaimRow.run_id.in_(again))
        may_go_on = (BatchRow.state != BatchState.CANCELLED.value, BatchRow.deleted_at.is_(None))
        open_again = update(BatchRow).where(BatchRow.id == batch_id, *may_go_on)
        woken = case((BatchRow.state == BatchState.PAUSED.value, BatchRow.state), else_=BatchState.GOING.value)
        with self._sessions.begin() as session:
            if session.execute(open_again.values(state=woken).returning(BatchRow.id)).one_or_none() is None:
                return 0
            return len(session.execute(reset.values(run_id=None).returning(BatchClaimRow.number)).all())

    def _turn(self, batch_id: str, state: BatchState, *where: BatchState) -> bool:
        """Change the batch's state from one of `where`; False where it is in none of them."""
        changed = update(BatchRow).where(BatchRow.id == batch_id, BatchRow.state.in_([each.value for each in where]))
        with self._sessions.begin() as session:
            done = session.execute(changed.values(state=state.value).returning(BatchRow.id))
            return done.one_or_none() is not None
