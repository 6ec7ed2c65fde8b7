"""The event loop shared by all outgoing requests."""

from __future__ import annotations

import subprocess
import sys
import textwrap

FIRST_REQUESTS_AT_ONCE = """
    import asyncio
    import threading

    from app.backends.http import HttpResult, run_with_deadline

    loops, gate = set(), threading.Barrier(8)

    async def request():
        loops.add(asyncio.get_running_loop())
        return HttpResult(200)

    def ask():
        gate.wait()
        assert run_with_deadline(request(), 60).status == 200

    asking = [threading.Thread(target=ask) for _ in range(8)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    print(len(loops))
"""


def test_concurrent_first_requests_share_one_event_loop():
    """A connection is tied to its loop: a client shared by two loops fails or hangs."""
    command = [sys.executable, "-c", textwrap.dedent(FIRST_REQUESTS_AT_ONCE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
