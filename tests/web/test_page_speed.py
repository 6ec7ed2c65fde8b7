"""Home and a finished report take the server less than a tenth of a second; benchmarks/pages.py measures all pages."""

from __future__ import annotations

import statistics
import time

from tests.web.conftest import started, wait_for

MAX_SECONDS = 0.1


def test_home_and_a_finished_report_are_quick(client):
    """CPU time, because other programs slow down the clock's; the first request of each page loads its templates."""
    path = started(client)
    wait_for(client, path, 'id="verdict-heading"')
    for address in ("/", path):
        taken = []
        for _ in range(6):
            began = time.thread_time()
            assert client.get(address, headers={"Accept-Encoding": "br"}).status_code == 200
            taken.append(time.thread_time() - began)
        assert statistics.median(taken[1:]) < MAX_SECONDS, address
