"""Folding events into a report: the state of a run after each event."""

from __future__ import annotations

import pytest

from app.domain.events import (
    AnswerFound,
    Event,
    HopFailed,
    HopKept,
    HopSetAside,
    PhaseEntered,
    QuestionAsked,
    RunFailed,
    RunInterrupted,
    RunResumed,
    RunStarted,
    StepFailed,
    SufficiencyJudged,
    TokensUsed,
    TroubleMet,
    VerdictReached,
)
from app.domain.messages import Code
from app.domain.model import Claim, HopStatus, Judgement, Question, RunOptions, Usage
from app.domain.report import Report, apply_event, reduce_events
from tests.fakes import SUPPORTED, answer

STARTED = RunStarted(Claim("Hamlet is by Shakespeare."), RunOptions(max_hops=3))
ASKED = QuestionAsked(1, Question("Who wrote Hamlet?"))
FOUND = AnswerFound(1, answer("Shakespeare"))


def after(*events: Event) -> Report:
    """Return the report after RunStarted and `events`, each a second after the last."""
    return reduce_events((event, float(at)) for at, event in enumerate((STARTED, *events)))


def test_a_hop_opens_with_its_question_and_then_gets_its_answer():
    asked, answered = after(ASKED).hops, after(ASKED, FOUND).hops
    assert [(hop.number, hop.question, hop.answer, hop.status) for hop in asked] == [
        (1, ASKED.question, None, HopStatus.OPEN)
    ]
    assert [(hop.answer, hop.status) for hop in answered] == [(FOUND.answer, HopStatus.OPEN)]


def test_a_resumed_run_keeps_closed_hops_and_repeats_the_unfinished_one_under_its_number():
    again = QuestionAsked(2, Question("Where was Shakespeare born?"))
    cut_off = (ASKED, HopKept(1, "tied"), QuestionAsked(2, Question("Where?")), AnswerFound(2, answer("England")))
    resumed = after(*cut_off, RunResumed("The check was cut off."))
    assert [(hop.number, hop.status) for hop in resumed.hops] == [(1, HopStatus.KEPT)]
    assert (resumed.phase, len(resumed.times)) == (Code.TAKING_UP(), 1)
    report = after(*cut_off, RunResumed("The check was cut off."), again)
    assert [(hop.number, hop.question.text, hop.answer) for hop in report.hops[1:]] == [
        (2, "Where was Shakespeare born?", None)
    ]
    assert report.times[1] == (5.0, 6.0)
    assert (after(*cut_off).resumed, report.resumed) == (0, 1), "which is not forgotten"


def test_an_interrupted_hop_whose_question_then_fails_has_no_question():
    report = after(ASKED, RunResumed("The check was cut off."), HopFailed(1, "question generator", "no reply"))
    assert [(hop.question.text, hop.status) for hop in report.hops] == [("", HopStatus.FAILED)]


@pytest.mark.parametrize(
    "said", [SufficiencyJudged(Judgement(False, "not yet")), StepFailed("claim verifier", "no reply")]
)
def test_the_last_hop_checked_for_sufficiency_is_recorded_even_when_the_call_failed(said):
    kept = (ASKED, HopKept(1, "tied"))
    assert after(*kept).judged_after == 0
    assert after(*kept, said, QuestionAsked(2, Question("Where?"))).judged_after == 1


@pytest.mark.parametrize(
    "last, status, reason",
    [
        (HopKept(1, "tied to the claim"), HopStatus.KEPT, "tied to the claim"),
        (HopSetAside(1, "not new"), HopStatus.SET_ASIDE, "not new"),
        (
            HopFailed(1, "QA validator", "no reply"),
            HopStatus.FAILED,
            Code.FAILED(module="QA validator", problem="no reply"),
        ),
    ],
)
def test_a_hop_closes_with_its_status_and_reason_and_keeps_its_answer(last, status, reason):
    (hop,) = after(ASKED, FOUND, last).hops
    assert (hop.status, hop.reason, hop.answer) == (status, reason, FOUND.answer)


def test_context_has_the_kept_hops_and_set_aside_the_rejected_and_failed_ones():
    report = after(
        ASKED,
        HopSetAside(1, ""),
        QuestionAsked(2, Question("b")),
        HopKept(2, ""),
        QuestionAsked(3, Question("c")),
        HopFailed(3, "answerer", ""),
        QuestionAsked(4, Question("d")),
    )
    assert [hop.number for hop in report.context] == [2]
    assert [hop.number for hop in report.set_aside] == [1, 3]


def test_a_hops_duration_is_from_the_start_of_its_question_to_its_last_event():
    report = after(PhaseEntered("thinking"), ASKED, PhaseEntered("reading"), FOUND, HopKept(1, ""), PhaseEntered("x"))
    assert report.seconds_of(report.hops[0]) == 4.0
    assert report.seconds == 6.0


def test_the_duration_of_an_open_hop_ends_with_the_run_unless_its_process_was_lost_before():
    stopped = after(ASKED, PhaseEntered("reading"), TokensUsed(Usage(1)), RunInterrupted("Its owner stopped it."))
    assert stopped.seconds_of(stopped.hops[0]) == 3.0
    lost = after(ASKED, PhaseEntered("reading"), RunInterrupted(Code.CUT_OFF_OFTEN(times=3)))
    assert lost.seconds_of(lost.hops[0]) == 0.0


def test_the_current_activity_started_with_its_phase_or_the_last_result():
    phases = (PhaseEntered("searching"), TokensUsed(Usage(1)), PhaseEntered("reading"), TroubleMet("x"))
    assert [(after(*phases[:n]).since, after(*phases[:n]).phase_over) for n in range(5)] == [
        (0.0, True),
        (1.0, False),
        (1.0, False),
        (3.0, False),
        (3.0, False),
    ]
    answered = after(ASKED, PhaseEntered("reading"), FOUND)
    assert (answered.phase, answered.phase_over, answered.since) == ("reading", True, 3.0)


def spent(calls: int) -> TokensUsed:
    return TokensUsed(Usage(calls, 10 * calls, calls))


def test_a_cost_belongs_to_the_hop_in_progress_including_its_question():
    enough = SufficiencyJudged(Judgement(False, "more"))
    first = (spent(1), ASKED, spent(2), FOUND, spent(4), HopKept(1, ""))
    report = after(*first, spent(8), enough, spent(16), QuestionAsked(2, Question("b")), spent(32), HopSetAside(2, ""))
    assert [report.usage_of(hop).calls for hop in report.hops] == [7, 48]
    assert report.usage.calls == 63, "which has the claim verifier's as well"


def test_an_interrupted_and_repeated_hop_has_the_cost_of_both_attempts():
    cut_off = (spent(1), ASKED, spent(2), HopKept(1, ""), spent(4), QuestionAsked(2, Question("Where?")), spent(8))
    report = after(*cut_off, RunResumed("cut off"), spent(16), QuestionAsked(2, Question("Where?")), spent(32))
    assert [report.usage_of(hop).calls for hop in report.hops] == [3, 60]
    assert report.usage.calls == 63
    ended = after(*cut_off, RunResumed("cut off"), RunFailed("x"))
    assert ([ended.usage_of(hop).calls for hop in ended.hops], ended.usage.calls) == ([3], 15)


def test_failed_steps_are_collected():
    report = after(StepFailed("claim verifier", "no reply"), StepFailed("claim verifier", "again"))
    assert report.failures == (
        Code.FAILED(module="claim verifier", problem="no reply"),
        Code.FAILED(module="claim verifier", problem="again"),
    )
    assert report.ended is None


@pytest.mark.parametrize(
    "last, ended, problem, verdict",
    [
        (VerdictReached(SUPPORTED), "verdict", "", SUPPORTED),
        (RunFailed("no reasoner"), "failed", "no reasoner", None),
        (RunInterrupted("restarted"), "interrupted", "restarted", None),
    ],
)
def test_a_terminal_event_ends_the_run_and_closes_the_hop_that_was_open(last, ended, problem, verdict):
    report = after(ASKED, HopKept(1, "tied"), QuestionAsked(2, Question("Where?")), last)
    assert (report.ended, report.problem, report.verdict) == (ended, problem, verdict)
    assert [hop.status for hop in report.hops] == [HopStatus.KEPT, HopStatus.INTERRUPTED]
    assert report.hops[1].reason == Code.RUN_ENDED()


def test_a_second_run_start_is_ignored():
    report = after(ASKED)
    assert apply_event(report, RunStarted(Claim("Another."), RunOptions()), report.seconds) == report


@pytest.mark.parametrize("events", [[], [(ASKED, 0.0)], [(ASKED, 0.0), (STARTED, 1.0)]])
def test_a_log_that_does_not_begin_with_a_run_start_is_rejected(events):
    with pytest.raises(ValueError, match="run"):
        reduce_events(events)
