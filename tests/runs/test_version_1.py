"""A database and exports of schema version 1 open, with codes for what programs compare and the words of today."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from app.domain.messages import Code, code_of
from app.domain.model import Label, RunOptions
from app.domain.ports import Strategy
from app.domain.report import Report, reduce_events
from app.runs.transfer import read_export, run_as_dict
from app.runs.version_1 import coded
from tests.fakes import scripted_strategy
from tests.runs.conftest import ended
from tests.strategies.pursuit import Script

FILES = Path(__file__).parent / "files"
EXPORTS = json.loads((FILES / "version_1.json").read_text())

ENDED_EARLY = ("asked-by-owner", "limit")


@pytest.fixture
def database_url(tmp_path) -> str:
    """The URL of a copy of the stored database."""
    file = tmp_path / "version_1.sqlite3"
    database = sqlite3.connect(file)
    database.executescript((FILES / "version_1.sql").read_text())
    database.close()
    return f"sqlite:///{file}"


class Container:
    def __init__(self) -> None:
        self.pursuit = Script()

    def strategy_for(self, options: RunOptions) -> Strategy:
        return self.pursuit.strategy() if options.strategy == "evidence-pursuit" else scripted_strategy()


def imported(run_id: str) -> Report:
    return reduce_events(read_export(json.dumps(EXPORTS[run_id]).encode()))


def test_what_programs_ask_of_a_stored_run_is_known(runs_with):
    runs = runs_with(Container())
    early = {run_id for run_id in (*EXPORTS, *ENDED_EARLY) if runs.report(run_id).report.ended_early}
    assert early == set(ENDED_EARLY)
    assert runs.report("pursuit-decided").report.stopped_because == Code.CALLED_FALSE()
    assert runs.report("asked-by-owner").report.stopped_because == Code.ASKED_BY_OWNER()
    assert runs.report("no-verdict").report.stopped_because == Code.STALLED(hops=2)
    assert runs.report("stopped").report.problem == "Stopped by its owner."
    assert runs.report("cut-off-for-good").report.problem == Code.CUT_OFF_OFTEN(times=3)
    assert Code.LEFT_OUT() in [hop.reason for hop in runs.report("left-out").report.hops]
    quotes = [each.quote for each in runs.report("enough").report.verdict.rationale]
    assert quotes == ["Hamlet is a play by William Shakespeare.", "Shakespeare was born in Stratford, England.", ""]


def test_runs_that_wait_or_were_cut_off_are_carried_out(runs_with):
    container = Container()
    runs = runs_with(container)
    for run_id in ("waiting", "cut-off-decided"):
        runs.wake(run_id)
        assert ended(runs, run_id).verdict.label is Label.SUPPORTED
    assert container.pursuit.named("step") == [], "the decision is kept"


@pytest.mark.parametrize("run_id", EXPORTS)
def test_an_export_opens_as_the_stored_run_does(runs_with, run_id):
    stored = runs_with(Container()).report(run_id)
    now, report = run_as_dict(stored), imported(run_id)
    assert (report.ended_early, code_of(report.problem)) == (stored.report.ended_early, code_of(stored.report.problem))
    for name, value in EXPORTS[run_id].items():
        if name not in ("options", "rationale", "hops", "stopped_because", "problem"):
            assert now[name] == value, name
    assert [str(hop.reason) for hop in report.hops] == [hop["reason"] for hop in now["hops"]]
    assert report.verdict == stored.report.verdict


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ("The limit of 5 hops was reached.", "The limit of 5 steps was reached."),
        ("Hop 1 already asked this.", "Step 1 already asked this."),
        ("It answers a question about Nuneaton, from hop 12.", "It answers a question about Nuneaton, from step 12."),
        ("It answers a question about hip hop, from hop 1.", "It answers a question about hip hop, from step 1."),
        ("It answers a question about 3 hops, from hop 1.", "It answers a question about 3 hops, from step 1."),
        ("It answers a question about Hip Hop 2, from hop 1.", "It answers a question about Hip Hop 2, from step 1."),
        ("The pair of hop 1 once more.", "The pair of step 1 once more."),
        ("The question of hop 1, in other words.", "The question of step 1, in other words."),
        ("The check had to conclude before this hop was done.", "The check had to conclude before this step was done."),
        (
            "Every question failed before it had an answer; the hops say why.",
            "Every question failed before it had an answer; the steps say why.",
        ),
        ("2 hops in a row brought nothing.", "The last 2 questions found no answer that helps."),
        ("The claim verifier was satisfied.", "The answers were enough to decide."),
        ("The check was cut off and cannot go on. No index.", "The check was cut off and cannot go on. No index."),
        ("The model was not reached.", "The model was not reached."),
    ],
)
def test_stored_sentences_are_read_in_the_words_of_today(stored, said):
    assert str(coded(stored)) == said
