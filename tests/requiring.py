"""With REQUIRE_ALL=1, as in CI, a skipped test or a skipped test file is a failure.

`make test` on a machine without Chromium skips the browser tests and says so; `.ci/run` sets REQUIRE_ALL.
"""

from __future__ import annotations

import os

import pytest


def _nothing_may_skip() -> bool:
    return os.environ.get("REQUIRE_ALL") == "1"


def _failed_if_skipped(report):
    if _nothing_may_skip() and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason}  (REQUIRE_ALL=1: nothing may be skipped here)"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return _failed_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return _failed_if_skipped((yield))
