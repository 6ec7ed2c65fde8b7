"""Small parts of the domain, and that it needs only the standard library."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from app.config.settings import ROOT
from app.domain import instrumentation as progress
from app.domain.events import PhaseEntered, TokensUsed
from app.domain.model import Usage

IMPORT_ALL = """
import pkgutil, sys
sys.path.insert(0, sys.argv[1])
import app.domain, app.strategies
packages = (app.domain, app.strategies)
names = [each.name for part in packages for each in pkgutil.iter_modules(part.__path__, f"{part.__name__}.")]
for name in names:
    __import__(name)
print(*names)
"""


def test_domain_and_strategies_import_without_any_package_installed():
    # -S leaves site-packages out, -I the environment and the current folder.
    bare = [sys.executable, "-I", "-S", "-c", IMPORT_ALL, str(ROOT)]
    done = subprocess.run(bare, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "app.strategies.question_guided" in done.stdout


def test_a_listener_gets_phases_and_costs_in_order():
    heard = []
    with progress.listening(heard.append):
        progress.report_phase("searching")
        progress.report_usage(Usage(1, 10, 2))
    assert heard == [PhaseEntered("searching"), TokensUsed(Usage(1, 10, 2))]


def test_without_a_listener_reporting_does_nothing():
    heard = []
    with progress.listening(heard.append):
        pass
    progress.report_phase("searching")
    progress.report_usage(Usage(1))
    assert heard == []


def test_an_inner_listener_replaces_the_outer_one_until_it_ends():
    outer, inner = [], []
    with progress.listening(outer.append):
        with progress.listening(inner.append):
            progress.report_phase("inner")
        progress.report_phase("outer")
    assert (inner, outer) == ([PhaseEntered("inner")], [PhaseEntered("outer")])


def test_events_of_another_thread_are_not_received():
    heard = []
    with progress.listening(heard.append), ThreadPoolExecutor(1) as pool:
        pool.submit(progress.report_phase, "someone else's").result()
    assert heard == []
