"""The inference queue: order, time limits, and forking."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.backends.local.inference_queue import Inference, LazyModel
from app.domain.errors import CallFailed, ModelUnavailable
from tests.waiting import LONG, until


class Busy:
    """Keeps a queue busy with one piece of work until `release` is called."""

    def __init__(self, queue: Inference, loads: bool = False) -> None:
        self._begun, self._go_on = threading.Event(), threading.Event()
        ask = queue.load if loads else queue.run
        self._pool = ThreadPoolExecutor(1)
        self.result = self._pool.submit(ask, self._work)

    def _work(self) -> str:
        self._begun.set()
        assert self._go_on.wait(LONG)
        return "done"

    def __enter__(self) -> Busy:
        assert self._begun.wait(LONG)
        return self

    def release(self) -> None:
        self._go_on.set()

    def __exit__(self, *_: object) -> None:
        self.release()
        self._pool.shutdown()


def test_an_error_is_raised_to_the_caller_and_the_queue_continues():
    queue = Inference(LONG)
    with pytest.raises(ZeroDivisionError):
        queue.run(lambda: 1 / 0)
    assert queue.run(lambda: 1) == 1


def test_calls_are_served_in_the_order_they_arrive():
    queue, served = Inference(LONG), []
    with Busy(queue) as busy, ThreadPoolExecutor(5) as callers:
        for number in range(5):
            callers.submit(queue.run, lambda number=number: served.append(number))
            until(lambda number=number: queue._waiting.qsize() == number + 1)
        assert served == []
        busy.release()
    assert served == [0, 1, 2, 3, 4]


def test_a_call_that_waits_too_long_fails_and_never_starts():
    queue, begun = Inference(1), []
    with Busy(queue, loads=False) as busy:
        with pytest.raises(CallFailed, match="waited 1 seconds for its turn"):
            queue.run(lambda: begun.append(1))
        busy.release()
    assert queue.run(lambda: "the next") == "the next"
    assert begun == []


def test_a_call_that_runs_too_long_fails_and_later_calls_are_served_when_it_ends():
    queue = Inference(1)
    with Busy(queue) as busy:
        with pytest.raises(CallFailed, match="was not done after 1 seconds"):
            busy.result.result(LONG)
        busy.release()
        until(queue._waiting.empty)
        assert queue.run(lambda: "the next") == "the next"


def test_loading_a_model_does_not_use_the_time_of_waiting_calls():
    queue = Inference(1)
    with Busy(queue, loads=True) as busy, ThreadPoolExecutor(1) as caller:
        waiting = caller.submit(queue.run, lambda: "served")
        time.sleep(1.5)
        assert not waiting.done()
        busy.release()
        assert waiting.result(LONG) == "served"
        assert busy.result.result(LONG) == "done"


def test_a_nested_call_runs_immediately_within_its_caller():
    queue = Inference(LONG)
    assert queue.run(lambda: [1, queue.run(lambda: 2), 3]) == [1, 2, 3]
    with pytest.raises(ZeroDivisionError):
        queue.run(lambda: queue.run(lambda: 1 / 0))


@pytest.mark.parametrize(("set_before", "expected"), [({}, "passive"), ({"OMP_WAIT_POLICY": "active"}, "active")])
def test_omp_threads_wait_passively_unless_the_operator_sets_the_policy(set_before, expected):
    program = (
        "import os; from app.backends.local.inference_queue import Inference; "
        "Inference(); print(os.environ['OMP_WAIT_POLICY'])"
    )
    env = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"} | set_before
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=LONG, check=True
    )
    assert done.stdout.strip() == expected


FORKING = """
import os, threading, time
from app.backends.local.inference_queue import Inference
queue, begun = Inference(20), threading.Event()
threading.Thread(target=lambda: queue.run(lambda: (begun.set(), time.sleep(0.5)))).start()
begun.wait()
queue._lock.acquire()
if (child := os.fork()) == 0:
    os._exit(0 if queue.run(os.getpid) == os.getpid() else 1)
queue._lock.release()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert queue.run(os.getpid) == os.getpid()
"""
"""The child lacks the parent's thread, and the parent's lock may have been held."""

EXITING = """
import threading, time
from app.backends.local.inference_queue import Inference
queue, begun = Inference(20), threading.Event()
def work():
    begun.set()
    time.sleep(0.5)
    print("ended in peace", flush=True)
threading.Thread(target=lambda: queue.run(work), daemon=True).start()
begun.wait()
"""


@pytest.mark.parametrize(("program", "printed"), [(FORKING, ""), (EXITING, "ended in peace\n")])
def test_a_forked_child_can_use_the_queue_and_an_exiting_process_waits_for_the_running_call(program, printed):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=LONG, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")


class TestLoading:
    def test_a_model_is_loaded_once_under_concurrent_use(self):
        reads = []
        model = LazyModel(Inference(LONG), lambda: reads.append(1) or "model")
        with ThreadPoolExecutor(8) as callers:
            assert list(callers.map(lambda _: model(), range(8))) == ["model"] * 8
        assert reads == [1]

    def test_a_failed_load_is_retried_at_the_next_use(self):
        files = []

        def read() -> str:
            if not files:
                raise ModelUnavailable("It is missing", fix="make setup")
            return "model"

        model = LazyModel(Inference(LONG), read)
        with pytest.raises(ModelUnavailable, match="make setup"):
            model()
        files.append("model file")
        assert model() == "model"

    def test_a_loaded_model_is_returned_while_the_queue_is_busy(self):
        queue = Inference(LONG)
        model = LazyModel(queue, lambda: "model")
        model()
        with Busy(queue):
            assert model() == "model"
