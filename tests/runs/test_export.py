"""An exported run has exactly the documented keys, however the run ended."""

from __future__ import annotations

import pytest

from app.domain.events import (
    AnswerFound,
    HopKept,
    QuestionAsked,
    RunFailed,
    RunResumed,
    RunStarted,
    TroubleMet,
    VerdictReached,
)
from app.domain.model import (
    Answer,
    Claim,
    Label,
    Origin,
    Passage,
    Question,
    RunOptions,
    Sentence,
    Span,
    Verdict,
)
from tests.fakes import answer
from tests.runs.test_importing import exported

STARTED = RunStarted(
    Claim("Hamlet is by Shakespeare.", "A teacher", "2020-10-31"), RunOptions(modules=(("reasoner", "scripted"),))
)
ASKED = QuestionAsked(1, Question("Who wrote Hamlet?"))


def export_of(*events) -> dict:
    """Return the export of a run with these events, one second apart."""
    return exported([(event, float(at)) for at, event in enumerate(events)])


@pytest.mark.parametrize("events", [(), (ASKED,), (ASKED, RunFailed("no"))])
def test_a_run_without_a_verdict_has_the_same_keys_and_no_label(events):
    run = export_of(STARTED, *events)
    assert list(run) == list(export_of(STARTED, VerdictReached(Verdict(Label.REFUTED, ()))))
    assert (run["label"], run["confidence"], run["missing"], run["rationale"]) == (None, None, None, [])
    assert run["stopped_because"] is None


def test_hops_and_sentences_based_on_a_models_memory_are_marked():
    recited = Passage("Hamlet is by Bacon.", "big", "from the model's memory, not a source", origin=Origin.RECITED)
    said = Answer("Bacon", Span(recited, 13, 18), (recited,))
    found = answer("1601", "Hamlet is of 1601.")
    rationale = Sentence("Bacon wrote it.", (1,)), Sentence("It is of 1601.", (2,)), Sentence("So it is.", (1, 2))
    run = export_of(
        STARTED,
        ASKED,
        AnswerFound(1, said),
        HopKept(1, ""),
        QuestionAsked(2, Question("Of when is it?")),
        AnswerFound(2, found),
        HopKept(2, ""),
        VerdictReached(Verdict(Label.REFUTED, rationale)),
    )
    assert [hop["from_memory"] for hop in run["hops"]] == [True, False]
    assert [each["from_memory"] for each in run["rationale"]] == [True, False, True]
    (evidence,) = run["hops"][0]["evidence"]
    assert (evidence["origin"], evidence["source"]) == ("recited", "from the model's memory, not a source")


def test_a_fact_check_is_marked_and_has_its_publication_date():
    page = Passage(
        "It is false.", "Checked", "politifact.com", "https://www.politifact.com/a", "2020-11-01", Origin.WEB
    )
    (hop,) = export_of(STARTED, ASKED, AnswerFound(1, Answer(None, retrieved=(page,))))["hops"]
    (evidence,) = hop["evidence"]
    assert (evidence["fact_check"], evidence["published"]) == (True, "2020-11-01")


def test_failures_and_the_reason_for_a_missing_verdict_are_exported():
    run = export_of(STARTED, ASKED, TroubleMet("Brave gave no answer."), RunResumed("cut off"), RunFailed("No luck."))
    assert (run["state"], run["problem"], run["failures"], run["resumed"]) == (
        "failed",
        "No luck.",
        ["Brave gave no answer."],
        1,
    )
