"""Papelo's Algorithm 1 step by step: which questions are asked, how pairs are filled up, who gives the verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.domain.events import (
    TERMINAL,
    AnswerFound,
    Event,
    HopFailed,
    HopKept,
    HopSetAside,
    QuestionAsked,
    QuestioningEnded,
    RunFailed,
    RunResumed,
    RunStarted,
    StepFailed,
    SufficiencyJudged,
    VerdictReached,
)
from app.domain.messages import Code, code_of
from app.domain.model import HopStatus, Judgement, Label, LabelSet, Question, RunOptions
from app.domain.ports import RunCommand
from app.domain.report import Report, apply_event, reduce_events
from app.strategies.evidence_pursuit import DECISIONS, MAX_PARAPHRASES, Variant
from app.strategies.hop_loop import MAX_EARLY_CONFIDENCE
from tests.fakes import answer
from tests.strategies.lockstep import Steered
from tests.strategies.pursuit import CLAIM, FAILED, LATE, Script
from tests.strategies.test_question_guided import asked, reason_to_end, report_of

OPTIONS = RunOptions(strategy="evidence-pursuit")
BARE = Variant(padding="none")
EARLY = Variant(late_verdict=False)


def run(script: Script, variant: Variant = Variant(), options: RunOptions = OPTIONS, **doors) -> list[Event]:  # noqa: B008
    return list(script.strategy(variant).run(CLAIM, options, **doors))


def numbered(*numbers: int) -> list[str]:
    return [f"Question {number}?" for number in numbers]


def test_a_whole_run_emits_its_events_in_order():
    kept = Code.ANSWERED()
    assert run(Script(), BARE) == [
        QuestionAsked(1, Question("First?")),
        AnswerFound(1, answer("answer to First?")),
        HopKept(1, kept),
        QuestionAsked(2, Question("Second?")),
        AnswerFound(2, answer("answer to Second?")),
        HopKept(2, kept),
        SufficiencyJudged(Judgement(True, Code.SATISFIED())),
        QuestioningEnded(Code.SATISFIED()),
        VerdictReached(LATE),
    ]


def test_nothing_is_computed_before_the_next_event_is_requested():
    script = Script()
    events = script.strategy().run(CLAIM, OPTIONS)
    assert script.calls == []
    assert isinstance(next(events), QuestionAsked)
    assert script.named("answer") == []


class TestQuestioning:
    @pytest.mark.parametrize("holds", [True, False])
    def test_a_decision_ends_the_questions_and_is_reported(self, holds):
        events = run(Script(("First?", holds)), replace(BARE, late_verdict=False))
        assert asked(events) == ["First?"]
        assert SufficiencyJudged(Judgement(True, DECISIONS[holds]())) in events
        assert reason_to_end(events) == DECISIONS[holds]()

    def test_questions_end_at_enough_pairs_without_another_step(self):
        script = Script(numbered(*range(9)))
        events = run(script, Variant(pairs=3), replace(OPTIONS, max_hops=10))
        assert asked(events) == numbered(0, 1, 2)
        assert len(script.named("step")) == 2
        assert reason_to_end(events) == Code.COMPLETE(count=3)

    def test_questions_end_at_the_hop_limit(self):
        script = Script(numbered(*range(9)), answers={"Question 1?": None})
        events = run(script, options=replace(OPTIONS, max_hops=3))
        assert asked(events) == numbered(0, 1, 2)
        assert reason_to_end(events) == Code.HOP_LIMIT(hops=3)

    def test_a_repeated_question_ends_them_whatever_its_spacing_and_case(self):
        events = run(Script(("First?", " first? ", "Second?")), BARE)
        assert asked(events) == ["First?"]
        assert SufficiencyJudged(Judgement(False, Code.ONLY_REPEATED())) in events

    def test_questions_end_undecided_when_none_is_left(self):
        events = run(Script(("First?", None)), BARE)
        assert SufficiencyJudged(Judgement(False, Code.NOTHING_TO_ASK())) in events
        assert events[-1] == VerdictReached(LATE)

    def test_an_unanswered_question_is_set_aside_and_passed_to_the_next_step(self):
        script = Script(("First?", "Second?", True), answers={"First?": None})
        events = run(script, BARE)
        assert HopSetAside(1, Code.NO_ANSWER()) in events
        _, context, set_aside = script.named("step")[0]
        assert (context, [hop.question.text for hop in set_aside]) == ((), ["First?"])

    def test_two_unanswered_questions_in_a_row_end_them(self):
        script = Script(numbered(*range(9)), answers={"Question 1?": None, "Question 2?": FAILED})
        events = run(script, BARE)
        assert asked(events) == numbered(0, 1, 2)
        assert reason_to_end(events) == Code.STALLED(hops=2)

    def test_a_decision_without_any_answer_does_not_count(self):
        """A language model that "knows" the claim must not decide."""
        script = Script(("First?", True), answers={"First?": None})
        events = run(script, replace(BARE, late_verdict=False))
        assert SufficiencyJudged(Judgement(False, Code.UNFOUNDED())) in events
        assert events[-1].verdict.label is Label.NOT_ENOUGH_EVIDENCE


class TestQuestionsMadeAtOnce:
    VARIANT = Variant(all_at_once=True)

    def test_questions_of_a_list_are_asked_in_order_without_steps_between(self):
        script = Script(opening=numbered(1, 2, 3, 4, 5))
        events = run(script, self.VARIANT)
        assert asked(events) == numbered(1, 2, 3, 4, 5)
        assert (script.named("first"), script.named("step")) == ([(CLAIM, 5)], [])

    def test_missing_questions_are_filled_up_by_other_wordings(self):
        events = run(Script(opening=numbered(1, 2)), self.VARIANT)
        assert asked(events) == [*numbered(1, 2), "Question 1, 1?", "Question 2, 1?", "Question 1, 2?"]

    def test_a_failing_question_list_is_tried_twice_and_fails_the_run(self):
        events = run(Script(opening=FAILED), self.VARIANT)
        assert [event for event in events if isinstance(event, HopFailed)] == [
            HopFailed(number, "questioner", str(FAILED)) for number in (1, 2)
        ]
        assert isinstance(events[-1], RunFailed)


class TestOtherWordings:
    def test_four_wordings_are_requested_at_once_and_used_one_per_question_in_turn(self):
        script = Script()
        events = run(script)
        assert asked(events) == ["First?", "Second?", "First, 1?", "Second, 1?", "First, 2?"]
        assert script.named("paraphrase") == [("First?", MAX_PARAPHRASES), ("Second?", MAX_PARAPHRASES)]

    def test_each_wording_gets_its_own_answer(self):
        script = Script(answers={"First, 1?": "another answer"})
        report = report_of(run(script))
        assert report.hops[2].answer.text == "another answer"
        assert report.hops[2].reason == Code.OTHER_WORDS(hop=1)

    def test_unanswered_wordings_are_replaced_within_the_hop_limit(self):
        script = Script(answers={"First, 1?": None, "Second, 1?": None})
        roomy = report_of(run(script, options=replace(OPTIONS, max_hops=10)))
        assert (len(roomy.context), len(roomy.hops)) == (5, 7)
        tight = report_of(run(script))
        assert (len(tight.context), len(tight.hops)) == (3, 5)

    def test_a_wording_that_was_already_asked_is_skipped(self):
        script = Script(("First?", True), wordings={"First?": ["FIRST?", "", "Other?", "Other?"]})
        assert asked(run(script)) == ["First?", "Other?"]

    def test_a_failed_wording_call_is_a_failed_hop_and_two_in_a_row_end_them(self):
        script = Script(wordings={"First?": FAILED, "Second?": FAILED})
        events = run(script, options=replace(OPTIONS, max_hops=10))
        assert [event for event in events if isinstance(event, HopFailed)] == [
            HopFailed(number, "paraphraser", str(FAILED)) for number in (3, 4)
        ]
        assert events[-1] == VerdictReached(LATE)

    def test_failed_hops_get_no_other_wordings(self):
        script = Script(("First?", "Second?", True), answers={"Second?": FAILED})
        run(script)
        assert script.named("paraphrase") == [("First?", 4)]


class TestRepeatedPairs:
    def test_repeat_fills_up_pairs_with_existing_answers_and_asks_nothing(self):
        script = Script()
        report = report_of(run(script, Variant(padding="repeat")))
        assert [hop.question.text for hop in report.context] == ["First?", "Second?", "First?", "Second?", "First?"]
        assert report.hops[2].answer == report.hops[0].answer
        assert report.hops[2].reason == Code.REPEATED_PAIR(hop=1)
        assert len(script.named("answer")) == 2

    def test_inflate_to_ten_repeats_pairs_after_other_wordings_without_changing_the_verdict(self):
        script = Script()
        report = report_of(run(script, Variant(inflate_to=10)))
        texts = [hop.question.text for hop in report.context]
        assert texts[:5] == ["First?", "Second?", "First, 1?", "Second, 1?", "First, 2?"]
        assert texts[5:] == texts[:5]
        assert [hop.number for hop in script.named("conclude")[0][1]] == [1, 2, 3, 4, 5]


class TestTheVerdict:
    @pytest.mark.parametrize("labels", LabelSet)
    def test_the_late_verdict_uses_all_pairs_whatever_the_step_decided(self, labels):
        script = Script(("First?", False))
        events = run(script, options=replace(OPTIONS, labels=labels))
        ((claim, context, choice),) = script.named("conclude")
        assert (claim, [hop.number for hop in context], choice) == (CLAIM, [1, 2, 3, 4, 5], labels.labels)
        assert events[-1] == VerdictReached(LATE)

    @pytest.mark.parametrize("holds, label", [(True, Label.SUPPORTED), (False, Label.REFUTED)])
    def test_without_a_late_verdict_the_decision_is_the_verdict_citing_earlier_pairs(self, holds, label):
        script = Script(("First?", "Second?", holds))
        events = run(script, EARLY)
        verdict = events[-1].verdict
        assert (verdict.label, verdict.missing) == (label, None)
        assert [(sentence.text, sentence.hops) for sentence in verdict.rationale] == [
            ("First? answer to First?", (1,)),
            ("Second? answer to Second?", (2,)),
            (DECISIONS[holds](), (1, 2)),
        ]
        assert script.named("conclude") == []
        assert len(report_of(events).context) == 5, "the pairs are made up all the same"

    def test_without_a_late_verdict_the_reasoner_is_called_when_the_loop_ended_undecided(self):
        script = Script(("First?", None))
        assert run(script, EARLY)[-1] == VerdictReached(LATE)
        assert len(script.named("conclude")) == 1

    def test_without_a_late_verdict_one_more_step_follows_the_last_pair(self):
        decided = run(Script((*numbered(1, 2, 3, 4, 5), False)), EARLY)
        assert decided[-1].verdict.label is Label.REFUTED
        undecided = run(Script(numbered(1, 2, 3, 4, 5, 6)), EARLY)
        assert asked(undecided) == numbered(1, 2, 3, 4, 5)
        assert undecided[-1] == VerdictReached(LATE)

    def test_a_failed_last_step_is_reported_and_the_reasoner_decides(self):
        events = run(Script((*numbered(1, 2, 3, 4, 5), FAILED)), EARLY)
        assert StepFailed("questioner", str(FAILED)) in events
        assert events[-1] == VerdictReached(LATE)


class TestFailedCalls:
    @pytest.mark.parametrize("module", ["questioner", "answerer"])
    def test_a_failed_call_is_a_failed_hop_with_module_and_reason_and_the_run_continues(self, module):
        steps = ("First?", FAILED if module == "questioner" else "Second?", "Third?", True)
        script = Script(steps, answers={"Second?": FAILED if module == "answerer" else ""})
        events = run(script, BARE)
        assert HopFailed(2, module, str(FAILED)) in events
        report = report_of(events)
        assert [hop.number for hop in report.context] == [1, 3]
        assert events[-1] == VerdictReached(LATE)

    def test_a_failed_first_question_is_requested_again(self):
        script = Script((FAILED,))
        events = run(script)
        assert (len(script.named("first")), script.named("step")) == (2, [])
        assert isinstance(events[-1], RunFailed)


CONCLUDED = replace(LATE, confidence=MAX_EARLY_CONFIDENCE)


class TestControl:
    @pytest.mark.parametrize("hops", [1, 3])
    def test_conclude_calls_the_reasoner_with_the_present_pairs(self, hops):
        script = Script()
        events = run(script, control=Steered(*[RunCommand.CONTINUE] * 2 * hops, RunCommand.FINISH_AFTER_HOP))
        assert len(asked(events)) == hops
        assert reason_to_end(events) == "Somebody wished so."
        assert events[-1] == VerdictReached(CONCLUDED)

    def test_concluding_now_leaves_the_current_question_unanswered(self):
        script = Script()
        events = run(script, control=Steered(*[RunCommand.CONTINUE] * 3, RunCommand.FINISH_NOW))
        assert [hop.status for hop in report_of(events).hops] == [HopStatus.KEPT, HopStatus.INTERRUPTED]
        assert [question for question, _ in script.named("answer")] == ["First?"]
        assert (reason_to_end(events), events[-1]) == (
            "Somebody wished so.",
            VerdictReached(CONCLUDED),
        )


class TestResuming:
    def test_resuming_among_the_other_wordings_continues_with_the_next(self):
        events = run(Script())
        at = events.index(QuestionAsked(4, Question("Second, 1?")))
        script = Script()
        rest = run(script, so_far=report_of(events[:at]))
        assert rest == events[at:]
        assert script.named("step") == [], "the decision is kept"

    def test_a_decision_is_kept_on_resuming(self):
        events = run(Script(("First?", False)), EARLY)
        at = events.index(SufficiencyJudged(Judgement(True, Code.CALLED_FALSE()))) + 1
        assert run(Script(()), EARLY, so_far=report_of(events[:at])) == events[at:]

    def test_resuming_after_the_questions_ended_calls_only_the_reasoner(self):
        script, events = Script(), run(Script())
        assert run(script, so_far=report_of(events[:-1])) == [VerdictReached(LATE)]
        assert [call[0] for call in script.calls] == ["conclude"]

    def test_a_branch_with_a_higher_hop_limit_continues_asking(self):
        events = run(Script(numbered(1, 2, 3, 4)), options=replace(OPTIONS, max_hops=2))
        so_far = replace(report_of(events), stopped_because="", verdict=None, ended=None)
        assert asked(run(Script(numbered(1, 2, 3, 4)), BARE, so_far=so_far)) == numbered(3, 4)


texts = st.sampled_from([*numbered(1, 2, 3, 4, 5), FAILED, None, True, False])
scripts = st.builds(
    Script,
    steps=st.lists(texts, min_size=1, max_size=7).filter(lambda steps: not isinstance(steps[0], bool)),
    opening=st.lists(st.sampled_from(numbered(1, 2, 3, 4, 5, 6)), max_size=7) | st.just(FAILED),
    answers=st.dictionaries(
        st.sampled_from([*numbered(1, 2, 3, 4, 5), "Question 1, 1?", "Question 2, 1?", "Question 1, 2?"]),
        st.sampled_from([None, FAILED, "yes"]),
    ),
    wordings=st.dictionaries(
        st.sampled_from(numbered(1, 2, 3)), st.sampled_from([FAILED, [], ["Question 1?", "Other?"]])
    ),
    verdict=st.sampled_from([LATE, FAILED]),
)
variants = st.builds(
    Variant,
    pairs=st.integers(1, 6),
    all_at_once=st.booleans(),
    padding=st.sampled_from(["paraphrase", "repeat", "none"]),
    late_verdict=st.booleans(),
    inflate_to=st.sampled_from([0, 3, 10]),
)


@given(scripts, variants, st.integers(1, 8))
def test_run_invariants_hold_for_any_module_replies(script, variant, most):
    events = run(script, variant, replace(OPTIONS, max_hops=most))
    report = report_of(events)
    assert [isinstance(event, TERMINAL) for event in events] == [False] * (len(events) - 1) + [True]
    assert [hop.number for hop in report.hops] == list(range(1, len(report.hops) + 1))
    assert HopStatus.OPEN not in {hop.status for hop in report.hops}
    once = [hop for hop in report.hops if code_of(hop.reason) is not Code.REPEATED_PAIR]
    assert len(once) <= most
    questions = [hop.question.text for hop in once if hop.question.text]
    assert len(questions) == len(set(questions))
    assert len([hop for hop in once if hop.status is HopStatus.KEPT]) <= variant.pairs
    assert len(report.context) <= max(variant.pairs, variant.inflate_to)
    assert all(context for _, context, _ in script.named("conclude"))
    if report.verdict and not report.context:
        assert report.verdict.label is Label.NOT_ENOUGH_EVIDENCE
    only_failures = bool(report.hops) and {hop.status for hop in report.hops} == {HopStatus.FAILED}
    assert isinstance(events[-1], RunFailed) == (
        only_failures or (script.verdict is FAILED and bool(script.named("conclude")))
    )


def taken_up_at(cuts: list[int], script: Script, variant: Variant, options: RunOptions) -> Report:
    """Return the report of a run that was interrupted after the given numbers of events, and resumed each time."""
    report = reduce_events([(RunStarted(CLAIM, options), 0.0)])
    for cut in [*cuts, None]:
        for at, event in enumerate(script.strategy(variant).run(CLAIM, options, report)):
            if at == cut:
                break
            report = apply_event(report, event, 0.0)
        if report.ended:
            return report
        report = apply_event(report, RunResumed("It was cut off."), 0.0)
    raise AssertionError("the last run was not cut off")


@settings(max_examples=300)
@given(scripts, variants, st.integers(1, 8), st.lists(st.integers(0, 12), max_size=4))
@example(Script((*numbered(1, 2), FAILED)), Variant(2, late_verdict=False, inflate_to=10), 5, [7, 3])
def test_a_repeatedly_interrupted_run_has_the_report_of_an_uninterrupted_one(script, variant, most, cuts):
    options = replace(OPTIONS, max_hops=most)
    undisturbed = taken_up_at([], script, variant, options)
    disturbed = taken_up_at(cuts, script, variant, options)
    assert replace(disturbed, resumed=0, phase="") == replace(undisturbed, resumed=0, phase="")
