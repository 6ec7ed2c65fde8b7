"""A published report is in the gallery until it is unpublished, taken down or deleted."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import insert, update

from app import cli
from app.domain.errors import InvalidInput
from app.domain.model import Claim, Label
from app.runs.models import RunRow
from app.runs.service import Runs
from tests.runs.conftest import NOON, ended_row
from tests.terminal import terminal

CLAIM = Claim("The author of Hamlet was born in England.")


def listed(runs: Runs, *arguments) -> list[str]:
    return [each.id for each in runs.publishing.listed(*arguments)]


def test_a_published_report_is_listed_with_its_publication_time_until_it_is_unpublished(runs, run_id):
    assert listed(runs) == [] and runs.report(run_id).published_at is None
    runs.publishing.publish(run_id)
    (found,) = runs.publishing.listed()
    assert (found.claim, found.label) == (CLAIM.text, Label.SUPPORTED)
    assert found.published_at == runs.report(run_id).published_at
    runs.publishing.publish(run_id)
    assert runs.publishing.listed() == (found,), "once more changes nothing"
    for _ in range(2):
        runs.publishing.unpublish(run_id)
        assert listed(runs) == []


def test_a_report_taken_down_by_the_operator_cannot_be_published_until_allowed(runs, run_id):
    runs.publishing.publish(run_id)
    assert runs.publishing.take_down(run_id) and not runs.publishing.take_down(run_id)
    assert listed(runs) == []
    with pytest.raises(InvalidInput, match="taken this report down"):
        runs.publishing.publish(run_id)
    assert runs.report(run_id).taken_down_at
    assert runs.publishing.allow(run_id) and not runs.publishing.allow(run_id)
    runs.publishing.publish(run_id)
    assert listed(runs) == [run_id]


@pytest.mark.parametrize("columns, reason", [({"imported": True}, "imported"), ({"state": "failed"}, "verdict")])
def test_only_reports_with_a_verdict_reached_on_this_site_can_be_published(runs, run_id, sessions, columns, reason):
    with sessions.begin() as session:
        session.execute(update(RunRow).values(**columns))
    with pytest.raises(InvalidInput, match=reason):
        runs.publishing.publish(run_id)
    assert listed(runs) == []


def test_a_deleted_report_leaves_the_gallery_until_it_is_restored(runs, run_id):
    runs.publishing.publish(run_id)
    runs.deletion.delete(run_id)
    assert listed(runs) == []
    with pytest.raises(InvalidInput, match="not there any more"):
        runs.publishing.publish(run_id)
    runs.deletion.restore(run_id, "me")
    assert listed(runs) == [run_id]


def test_the_gallery_is_sorted_by_publication_time_filtered_by_label_and_paged(runs, sessions):
    with sessions.begin() as session:
        for n in range(6):
            published_at, label = NOON + timedelta(minutes=n // 2), "REFUTED" if n % 2 else "SUPPORTED"
            row = ended_row(f"run{n}", f"Claim {n}.", label=label, published_at=published_at)
            session.execute(insert(RunRow).values(row))
    assert listed(runs) == ["run4", "run5", "run2", "run3", "run0", "run1"]
    assert listed(runs, "REFUTED") == ["run5", "run3", "run1"]
    assert listed(runs, "", 2, (NOON + timedelta(minutes=2), "run4")) == ["run5", "run2"]
    assert listed(runs, "SUPPORTED", 9, (NOON + timedelta(minutes=1), "run2")) == ["run0"]


def test_the_operator_lists_and_takes_down_published_reports_on_the_command_line(runs, run_id):
    command = partial(terminal(cli.runs.runs, runs=runs), "runs")
    runs.publishing.publish(run_id)
    line = command("published").output
    assert f"{run_id}  SUPPORTED  {CLAIM.text}" in line and line.count("\n") == 1
    assert command("take-down", run_id).output.startswith(f"It stays out of the gallery until `runs allow {run_id}`.")
    assert command("published").output == ""
    again = command("take-down", run_id)
    assert (again.exit_code, again.output) == (1, "Error: There is no such report, or it was taken down already.\n")
    assert command("allow", run_id).exit_code == 0
    assert command("allow", run_id).exit_code == 1
    runs.publishing.publish(run_id)
    assert listed(runs) == [run_id]
