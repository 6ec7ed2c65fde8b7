"""Many who follow one run: one of them looks for all, and each is told everything behind the number it came with."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.reasoning.events import PhaseEntered, RunInterrupted
from app.runs.event_store import StoredEvent
from app.runs.tails import Tails
from tests.waiting import LONG, LONGER, until


class Log:
    """An event log of one run in memory, which counts who looks and how many look at the same moment."""

    def __init__(self, count: int = 0) -> None:
        self.events = [StoredEvent(seq, 0.0, PhaseEntered("reading")) for seq in range(1, count + 1)]
        self.looks = self.at_once = self.most_at_once = 0
        self.fails = self.closed = False
        self._changed = threading.Condition()

    def append(self, event=PhaseEntered("reading")) -> None:  # noqa: B008 - frozen
        with self._changed:
            self.events.append(StoredEvent(len(self.events) + 1, 0.0, event))
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def follow(self, run_id: str, after: int, wait: float) -> tuple[StoredEvent, ...]:
        with self._changed:
            self.looks += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            try:
                self._changed.wait_for(lambda: len(self.events) > after or self.closed or self.fails, wait)
                if self.fails:
                    raise OSError("the database is gone")
                return tuple(self.events[after:])
            finally:
                self.at_once -= 1


def seqs(happened) -> list[int]:
    return [stored.seq for stored in happened]


@pytest.fixture
def readers():
    with ThreadPoolExecutor(20) as pool:
        yield pool


def test_twenty_who_follow_a_run_are_told_the_same_by_one_look(readers):
    log = Log(3)
    tails = Tails(log)
    told = [readers.submit(tails.follow, "r", 3, LONG) for _ in range(20)]
    until(lambda: log.at_once == 1 and tails._followed["r"].waiting == 20)
    log.append()
    assert [seqs(each.result(LONG)) for each in told] == [[4]] * 20
    assert log.most_at_once == 1


def test_who_is_behind_the_others_is_told_all_that_it_has_not_seen(readers):
    log = Log(3)
    tails = Tails(log)
    ahead = readers.submit(tails.follow, "r", 3, LONG)
    until(lambda: log.looks)
    assert seqs(tails.follow("r", 1, LONG)) == [2, 3]
    log.append()
    assert seqs(ahead.result(LONG)) == [4]


def test_who_is_ahead_of_the_others_is_not_told_anything_twice(readers):
    log = Log(3)
    tails = Tails(log)
    behind = readers.submit(tails.follow, "r", 3, LONG)
    until(lambda: log.looks)
    ahead = readers.submit(tails.follow, "r", 4, LONG)
    until(lambda: tails._followed["r"].waiting == 2)
    log.append()
    assert seqs(behind.result(LONG)) == [4]
    log.append()
    assert seqs(ahead.result(LONG)) == [5]


def test_when_the_one_who_looks_has_no_more_time_another_looks(readers):
    log = Log()
    tails = Tails(log)
    impatient = readers.submit(tails.follow, "r", 0, 0.2)
    until(lambda: log.looks)
    patient = [readers.submit(tails.follow, "r", 0, LONG) for _ in range(3)]
    assert impatient.result(LONG) == ()
    until(lambda: log.looks == 2)
    log.append()
    assert [seqs(each.result(LONG)) for each in patient] == [[1]] * 3


def test_trouble_is_told_to_who_looked_and_the_others_look_for_themselves(readers):
    log = Log()
    tails = Tails(log)
    told = [readers.submit(tails.follow, "r", 0, LONG) for _ in range(2)]
    until(lambda: log.looks and tails._followed["r"].waiting == 2)
    log.fails = True
    log.close()
    for each in told:
        with pytest.raises(OSError):
            each.result(LONG)


def test_when_no_more_can_come_nobody_waits(readers):
    log = Log()
    tails = Tails(log)
    told = [readers.submit(tails.follow, "r", 0, LONGER) for _ in range(5)]
    until(lambda: log.looks and tails._followed["r"].waiting == 5)
    log.close()
    assert [each.result(LONG) for each in told] == [()] * 5


def test_after_the_end_a_reader_who_knows_it_is_not_kept_waiting(readers):
    log = Log(2)
    tails = Tails(log)
    told = [readers.submit(tails.follow, "r", 2, LONGER) for _ in range(2)]
    until(lambda: tails._followed.get("r") and tails._followed["r"].waiting == 2)
    ahead = readers.submit(tails.follow, "r", 3, LONGER)
    until(lambda: tails._followed["r"].waiting == 3)
    log.append(RunInterrupted("Stopped."))
    assert [seqs(each.result(LONG)) for each in told] == [[3]] * 2 and ahead.result(LONG) == ()


def test_who_does_not_wait_sees_what_there_is(readers):
    assert seqs(Tails(Log(2)).follow("r", 1, 0)) == [2]


def test_nothing_is_kept_of_a_run_that_nobody_follows():
    tails = Tails(Log(2))
    tails.follow("r", 0, 5)
    assert tails._followed == {}


def test_what_happens_in_one_run_is_not_told_to_who_follows_another(readers):
    one, other = Log(), Log()

    class Both:
        def follow(self, run_id, after, wait):
            return {"one": one, "other": other}[run_id].follow(run_id, after, wait)

    tails = Tails(Both())
    told = readers.submit(tails.follow, "other", 0, 0.3)
    until(lambda: other.looks)
    one.append(PhaseEntered("searching"))
    assert told.result(LONG) == () and seqs(tails.follow("one", 0, 5)) == [1]
