"""An exported run has exactly the documented keys, however the run ended."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest

from app.domain.events import (
    AnswerFound,
    HopKept,
    PhaseEntered,
    QuestionAsked,
    QuestioningEnded,
    RunBranched,
    RunFailed,
    RunImported,
    RunResumed,
    RunStarted,
    TokensUsed,
    TroubleMet,
    VerdictReached,
)
from app.domain.model import (
    Answer,
    Branch,
    Claim,
    Imported,
    Label,
    Origin,
    Passage,
    Question,
    RunOptions,
    Sentence,
    Span,
    Usage,
    Verdict,
)
from app.domain.report import reduce_events
from app.runs.service import StoredRun
from app.runs.transfer import run_as_dict
from tests.fakes import answer, passage

STARTED = RunStarted(
    Claim("Hamlet is by Shakespeare.", "A teacher", "2020-10-31"), RunOptions(modules=(("reasoner", "scripted"),))
)
CREATED = datetime(2026, 3, 1, 13, 30, tzinfo=timezone(timedelta(hours=1)))
ASKED = QuestionAsked(1, Question("Who wrote Hamlet?"))


def export_of(*events):
    """Return the export of a run with these events, one second apart, after a round trip through JSON text."""
    report = reduce_events((event, float(at)) for at, event in enumerate(events))
    return json.loads(json.dumps(run_as_dict(StoredRun("some-id", "me", CREATED, len(events), report))))


def test_a_run_with_a_verdict_is_exported_completely():
    found = answer("Shakespeare", "Hamlet is by Shakespeare.")
    verdict = Verdict(Label.SUPPORTED, (Sentence("It is.", (1,)),), None, 0.9)
    run = export_of(
        STARTED,
        ASKED,
        TokensUsed(Usage(1, 10, 2)),
        AnswerFound(1, found),
        HopKept(1, "tied"),
        QuestioningEnded("The kept answers are enough."),
        VerdictReached(verdict),
    )
    assert run == {
        "version": 1,
        "id": "some-id",
        "created_at": "2026-03-01T12:30:00+00:00",
        "claim": "Hamlet is by Shakespeare.",
        "speaker": "A teacher",
        "date": "2020-10-31",
        "state": "verdict",
        "phase": None,
        "label": "SUPPORTED",
        "confidence": 0.9,
        "rationale": [{"text": "It is.", "hops": [1], "from_memory": False}],
        "missing": None,
        "problem": None,
        "stopped_because": "The kept answers are enough.",
        "failures": [],
        "fact_checks": None,
        "resumed": 0,
        "branch": None,
        "imported": None,
        "seconds": 6.0,
        "usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": None},
        "options": {
            "strategy": "question-guided",
            "answerer": "retriever-reader",
            "labels": "three",
            "max_hops": 5,
            "preset": "local",
            "model": None,
            "corpora": ["vital"],
            "fresh": False,
            "search": None,
            "undated": True,
            "fact_checks": True,
            "look_up_fact_checks": False,
            "model_seed": None,
            "temperature": None,
            "max_tokens": None,
        },
        "modules": [{"role": "reasoner", "implementation": "scripted"}],
        "hops": [
            {
                "number": 1,
                "question": "Who wrote Hamlet?",
                "answer": "Shakespeare",
                "status": "kept",
                "reason": "tied",
                "from_memory": False,
                "answerer": "retriever-reader",
                "began": 1.0,
                "seconds": 3.0,
                "usage": {"calls": 1, "prompt_tokens": 10, "completion_tokens": 2, "cached": 0, "cost": None},
                "evidence": [
                    {
                        "title": "Hamlet",
                        "source": "Vital articles, CC BY-SA 4.0",
                        "url": "https://en.wikipedia.org/wiki/Hamlet",
                        "published": None,
                        "origin": "corpus",
                        "fact_check": False,
                        "score": 7.5,
                        "text": "Hamlet is by Shakespeare.",
                        "described": 0,
                        "cited": True,
                        "start": 13,
                        "end": 24,
                    },
                    {
                        "title": "Denmark",
                        "source": "Vital articles, CC BY-SA 4.0",
                        "url": "https://en.wikipedia.org/wiki/Denmark",
                        "published": None,
                        "origin": "corpus",
                        "fact_check": False,
                        "score": 7.5,
                        "text": "Nothing of use stands here.",
                        "described": 0,
                        "cited": False,
                        "start": None,
                        "end": None,
                    },
                ],
            }
        ],
    }


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


def test_a_hop_without_an_answer_cites_nothing():
    run = export_of(STARTED, ASKED, AnswerFound(1, Answer(None, retrieved=(passage("Nothing."),))))
    (hop,) = run["hops"]
    assert (hop["answer"], [each["cited"] for each in hop["evidence"]]) == (None, [False])


def test_the_cited_passage_is_exported_even_if_it_was_not_retrieved():
    found = Answer("it", Span(passage("This is it."), 8, 10), (passage("Another."),))
    (hop,) = export_of(STARTED, ASKED, AnswerFound(1, found))["hops"]
    assert [(each["text"], each["cited"]) for each in hop["evidence"]] == [("This is it.", True), ("Another.", False)]


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


def test_a_running_run_is_exported_with_its_phase():
    run = export_of(STARTED, PhaseEntered("asking"))
    assert (run["state"], run["phase"]) == ("running", "asking")


@pytest.mark.parametrize("question, exported", [(Question("By whom is it?"), "By whom is it?"), (None, None)])
def test_a_branch_is_exported_with_its_parent_hop_and_question(question, exported):
    run = export_of(STARTED, RunBranched(Branch("its-parent", 2, question)))
    assert run["branch"] == {"parent": "its-parent", "hop": 2, "question": exported}


def test_an_imported_report_is_marked_as_imported():
    run = export_of(STARTED, RunImported(Imported("2025-12-31T23:59:00+00:00")))
    assert run["imported"] == {"made_at": "2025-12-31T23:59:00+00:00"}
