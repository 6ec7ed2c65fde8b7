"""One HTTP client for the process, and retries of transient failures after waits that double and jitter."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from app.backends.http import MAX_ATTEMPTS, HttpResult, RetryPolicy, is_retryable, retry_after
from app.domain.instrumentation import listening

NOON = 1_700_000_000.0
"""14 November 2023, 22:13:20 UTC."""


class Watch:
    """A fake clock that advances only by sleeping and by requests."""

    def __init__(self) -> None:
        self.time = 0.0
        self.sleeps: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.time += seconds


def tried(
    watch: Watch, *outcomes: HttpResult, deadline: float = 60, jitter: float = 1.0, each: float = 0
) -> HttpResult:
    left = list(outcomes)

    def request(seconds: float) -> HttpResult:
        assert seconds == deadline - watch.time
        watch.time += each
        return left.pop(0) if len(left) > 1 else left[0]

    retry_policy = RetryPolicy(lambda: watch.time, lambda: NOON, watch.sleep, lambda: jitter)
    return retry_policy.run(request, deadline, "host")


FAILED, FINE = HttpResult(500), HttpResult(200)


def test_waits_double_and_stop_after_four_attempts():
    watch = Watch()
    assert tried(watch, FAILED) == FAILED
    assert watch.sleeps == [0.5, 1.0, 2.0]
    assert len(watch.sleeps) == MAX_ATTEMPTS - 1


def test_no_retry_is_made_when_its_wait_would_exceed_the_deadline():
    watch = Watch()
    assert tried(watch, FAILED, deadline=1.2) == FAILED
    assert watch.sleeps == [0.5]


def test_each_attempt_gets_only_the_remaining_time():
    watch = Watch()
    assert tried(watch, FAILED, deadline=10, each=4) == FAILED
    assert watch.sleeps == [0.5, 1.0]
    assert watch.time < 14


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("-3", 0.0),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0.0),
        ("soon", None),
        ("inf", None),
    ],
)
def test_retry_after_is_read_in_seconds_and_as_a_date(header, seconds):
    assert retry_after(HttpResult(429, {"retry-after": header}), NOON) == seconds


def test_a_date_without_a_zone_is_in_utc(monkeypatch):
    monkeypatch.setenv("TZ", "XYZ5")
    time.tzset()
    try:
        assert retry_after(HttpResult(429, {"retry-after": "Tue Nov 14 22:13:50 2023"}), NOON) == 30.0
    finally:
        monkeypatch.undo()
        time.tzset()


def test_waits_honour_the_server_and_long_ones_are_reported():
    watch, phases = Watch(), []
    with listening(lambda event: phases.append(event.phase)):
        tried(watch, HttpResult(503, {"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}), HttpResult(429), FINE)
    assert watch.sleeps == [30.0, 1.0]
    assert [str(each) for each in phases] == ["waiting 30 s for host", "waiting 1 s for host"]


@pytest.mark.parametrize(
    ("outcome", "passes"),
    [
        (HttpResult(429), True),
        (HttpResult(500), True),
        (HttpResult(error="cannot be reached"), True),
        (HttpResult(error="is no server", permanent=True), False),
        (HttpResult(timed_out=True), False),
        (HttpResult(400), False),
        (HttpResult(429, content=b'{"error": {"code": "insufficient_quota"}}'), False),
    ],
)
def test_only_transient_failures_are_retried(outcome, passes):
    assert is_retryable(outcome) is passes


FIRST_REQUESTS_AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from app.backends.http import open_client
gate = Barrier(8)
with ThreadPoolExecutor(8) as pool:
    print(len({id(loop) for _, loop in pool.map(lambda _: gate.wait() is None or open_client(), range(8))}))
"""


def test_concurrent_first_requests_share_one_event_loop():
    """A connection is tied to its loop: a client shared by two loops fails or hangs."""
    done = subprocess.run([sys.executable, "-c", FIRST_REQUESTS_AT_ONCE], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
