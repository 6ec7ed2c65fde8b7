"""QACheck's loop step by step: when it asks, which pairs it keeps, why it stops, and how failures are handled."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import CallFailed, ModelUnavailable, UnparseableOutput
from app.domain.events import (
    TERMINAL,
    AnswerFound,
    HopFailed,
    HopKept,
    HopSetAside,
    QuestionAsked,
    QuestioningEnded,
    RunFailed,
    RunStarted,
    StepFailed,
    SufficiencyJudged,
    VerdictReached,
)
from app.domain.messages import Code
from app.domain.model import Branch, Claim, Hop, HopStatus, Judgement, Label, LabelSet, Question, RunOptions
from app.domain.ports import RunCommand
from app.domain.report import Report, reduce_events
from app.strategies.hop_loop import MAX_EARLY_CONFIDENCE
from app.strategies.question_guided import QuestionGuided
from tests.fakes import SUPPORTED, TWO_HOPS, USEFUL, Script, ScriptedHop, answer, scripted_strategy
from tests.strategies.lockstep import Steered

CLAIM = Claim("The author of Hamlet was born in England.")
FAILED = CallFailed("the model did not answer in 60 s")
TURNED_DOWN = Judgement(False, "It is not tied to the claim.")


def hops(*outcomes: str) -> Script:
    """Return a script of hops that are "kept", "set aside", "answerless" (set aside for it) or "failed"."""
    made = {
        "kept": lambda n: ScriptedHop(f"Question {n}?", answer(f"answer {n}")),
        "set aside": lambda n: ScriptedHop(f"Question {n}?", answer(f"answer {n}"), TURNED_DOWN),
        "failed": lambda n: ScriptedHop(f"Question {n}?", FAILED),
    }
    return Script(tuple(made[outcome](n) for n, outcome in enumerate(outcomes, 1)), SUPPORTED)


def run(strategy: QuestionGuided, options: RunOptions = RunOptions(), **doors) -> list:  # noqa: B008 - it is frozen
    return list(strategy.run(CLAIM, options, **doors))


def report_of(events: list) -> Report:
    return reduce_events((event, 0.0) for event in (RunStarted(CLAIM, RunOptions()), *events))


def asked(events: list) -> list[str]:
    return [event.question.text for event in events if isinstance(event, QuestionAsked)]


def reason_to_end(events: list) -> str:
    (ended,) = [event for event in events if isinstance(event, QuestioningEnded)]
    return ended.reason


EARLY = replace(SUPPORTED, confidence=MAX_EARLY_CONFIDENCE)
"""The same verdict of a run that was concluded early: further questions could have changed it."""


def test_a_whole_run_emits_its_events_in_order():
    first, second = TWO_HOPS.hops
    assert run(scripted_strategy(TWO_HOPS)) == [
        QuestionAsked(1, Question(first.question)),
        AnswerFound(1, first.answer),
        HopKept(1, USEFUL.reason),
        SufficiencyJudged(first.enough),
        QuestionAsked(2, Question(second.question)),
        AnswerFound(2, second.answer),
        HopKept(2, USEFUL.reason),
        SufficiencyJudged(second.enough),
        QuestioningEnded(Code.SATISFIED()),
        VerdictReached(SUPPORTED),
    ]


def test_nothing_is_computed_before_the_next_event_is_requested():
    strategy = scripted_strategy(TWO_HOPS)
    events = strategy.run(CLAIM, RunOptions())
    assert strategy.generator.calls == []
    assert isinstance(next(events), QuestionAsked)
    assert strategy.answerer.calls == [], "the question is out before the answer is looked for"


class TestWhenQuestioningEnds:
    def test_questioning_stops_when_the_evidence_is_sufficient(self):
        kept = hops("kept", "kept", "kept").hops
        script = Script((replace(kept[0], enough=Judgement(True, "Enough.")), *kept[1:]), SUPPORTED)
        events = run(scripted_strategy(script))
        assert len(asked(events)) == 1
        assert reason_to_end(events) == Code.SATISFIED()

    @pytest.mark.parametrize("most", [1, 3, 5])
    def test_questioning_stops_at_max_hops(self, most):
        events = run(scripted_strategy(hops(*["kept"] * 7)), RunOptions(max_hops=most))
        assert len(asked(events)) == most
        assert reason_to_end(events) == Code.HOP_LIMIT(hops=most)

    @pytest.mark.parametrize("last", [("set aside", "set aside"), ("set aside", "failed"), ("failed", "failed")])
    def test_two_fruitless_hops_in_a_row_lead_to_the_reasoner(self, last):
        strategy = scripted_strategy(hops("kept", *last, "kept"))
        events = run(strategy)
        assert len(report_of(events).hops) == 3
        assert reason_to_end(events) == Code.STALLED(hops=2)
        assert len(strategy.reasoner.calls) == 1

    def test_a_kept_hop_resets_the_count_of_fruitless_ones(self):
        events = run(scripted_strategy(hops("set aside", "kept", "set aside", "kept")))
        assert len(asked(events)) == 4
        assert reason_to_end(events) == Code.NOTHING_TO_ASK()


class TestAsPublished:
    """QACheck, section 3: a rejected pair leads to another question, and the reasoner is always called."""

    def published(self, script: Script, enough: bool = False) -> QuestionGuided:
        return replace(scripted_strategy(script), verifier=Verifier(enough), as_published=True)

    @pytest.mark.parametrize(
        ("outcomes", "count"),
        [
            (["set aside"] * 7, 5),
            (["set aside", "set aside", "set aside", "kept", "set aside"], 5),
            (["kept", "set aside", "set aside", "kept", "kept", "kept"], 5),
            (["set aside", "failed", "set aside", "failed", "set aside"], 5),
            (["kept", "failed", "failed", "kept"], 3),  # a server that is away
        ],
    )
    def test_rejected_pairs_lead_to_another_question_up_to_five(self, outcomes, count):
        strategy = self.published(hops(*outcomes))
        events = run(strategy)
        assert len(asked(events)) == count
        assert len(strategy.reasoner.calls) == 1 and events[-1] == VerdictReached(SUPPORTED)

    def test_the_verifier_is_asked_before_the_first_question_and_after_each_kept_pair(self):
        strategy = self.published(hops("kept", "set aside", "kept", "kept", "kept"))
        events = run(strategy)
        assert strategy.verifier.pairs == [0, 1, 2, 3], "after the fifth question nothing depends on it"
        assert isinstance(events[0], SufficiencyJudged)

    def test_a_satisfied_verifier_leads_to_the_reasoner_without_a_question(self):
        events = run(self.published(hops("kept"), enough=True))
        assert asked(events) == [] and events[-1] == VerdictReached(SUPPORTED)

    def test_a_resumed_run_does_not_ask_about_the_empty_context_again(self):
        strategy = self.published(hops("kept"))
        before = report_of([SufficiencyJudged(Judgement(False, "Not yet."))])
        run(strategy, so_far=before)
        assert strategy.verifier.pairs == [1]


class Verifier:
    """Always gives the same judgement; records the number of pairs of each call."""

    def __init__(self, enough: bool) -> None:
        self.enough, self.pairs = enough, list[int]()

    def is_sufficient(self, claim, context):
        self.pairs.append(len(context))
        return Judgement(self.enough, "So it is.")


class TestTheVerifier:
    def test_it_is_called_again_only_when_the_context_has_changed(self):
        strategy = scripted_strategy(hops("kept", "set aside", "kept", "set aside"))
        run(strategy)
        assert [len(context) for _, context in strategy.verifier.calls] == [1, 2]

    def test_its_failed_call_is_reported_and_the_run_continues(self):
        first, *rest = hops("kept", "kept").hops
        events = run(scripted_strategy(Script((replace(first, enough=FAILED), *rest), SUPPORTED)))
        assert StepFailed("claim verifier", str(FAILED)) in events
        assert len(asked(events)) == 2
        assert events[-1] == VerdictReached(SUPPORTED)


class TestTheValidator:
    def test_a_rejected_pair_is_reported_with_its_reason_and_kept_out_of_the_context(self):
        strategy = scripted_strategy(hops("kept", "set aside", "kept"))
        events = run(strategy)
        assert HopSetAside(2, TURNED_DOWN.reason) in events
        turned_down = report_of(events).hops[1]
        assert (turned_down.status, turned_down.reason) == (HopStatus.SET_ASIDE, TURNED_DOWN.reason)
        assert turned_down.answer.text == "answer 2"
        _, context, _ = strategy.reasoner.calls[0]
        assert [hop.number for hop in context] == [1, 3]

    def test_it_is_called_for_a_missing_answer_too(self):
        script = Script((ScriptedHop("Question 1?", answer(None), TURNED_DOWN),), SUPPORTED)
        strategy = scripted_strategy(script)
        run(strategy)
        assert strategy.validator.calls[0][2].answer.text is None


def test_the_generator_gets_kept_set_aside_and_failed_hops():
    strategy = scripted_strategy(hops("kept", "set aside", "kept", "failed", "kept"))
    run(strategy)
    contexts = [
        ([hop.number for hop in kept], [hop.number for hop in aside]) for _, kept, aside in strategy.generator.calls
    ]
    assert contexts == [([], []), ([1], []), ([1], [2]), ([1, 3], [2]), ([1, 3], [2, 4])]


class TestFailedCalls:
    @pytest.mark.parametrize("error", [FAILED, UnparseableOutput("no label"), ModelUnavailable("gone", fix="make")])
    @pytest.mark.parametrize("module", ["question generator", "answerer", "QA validator"])
    def test_a_failed_call_is_a_failed_hop_with_module_and_reason_and_the_run_continues(self, module, error):
        first = {
            "question generator": ScriptedHop(error),
            "answerer": ScriptedHop("Question 1?", error),
            "QA validator": ScriptedHop("Question 1?", answer("answer 1"), error),
        }[module]
        events = run(scripted_strategy(Script((first, *TWO_HOPS.hops), SUPPORTED)))
        assert HopFailed(1, module, str(error)) in events
        report = report_of(events)
        assert (report.hops[0].status, report.hops[0].number) == (HopStatus.FAILED, 1)
        assert report.hops[0].reason == Code.FAILED(module=module, problem=str(error))
        assert [hop.number for hop in report.context] == [2, 3]
        assert events[-1] == VerdictReached(SUPPORTED)

    def test_a_failed_reasoner_call_fails_the_run_without_a_label(self):
        events = run(scripted_strategy(Script(TWO_HOPS.hops, FAILED)))
        assert events[-1] == RunFailed(Code.FAILED(module="reasoner", problem=str(FAILED)))
        assert report_of(events).verdict is None

    def test_a_programming_error_is_raised_and_is_not_a_failed_call(self):
        with pytest.raises(ZeroDivisionError):
            run(scripted_strategy(Script((ScriptedHop("Question 1?", ZeroDivisionError()),), SUPPORTED)))


class TestTheVerdict:
    @pytest.mark.parametrize("labels", LabelSet)
    def test_the_reasoner_gets_the_kept_hops_and_the_labels(self, labels):
        strategy = scripted_strategy(hops("kept", "set aside", "kept"))
        run(strategy, RunOptions(labels=labels))
        ((claim, context, choice),) = strategy.reasoner.calls
        assert (claim, [hop.number for hop in context], choice) == (CLAIM, [1, 3], labels.labels)

    @pytest.mark.parametrize("so_far", [None, Report(CLAIM, RunOptions())], ids=["alone", "by the service"])
    @pytest.mark.parametrize("is_found", [True, False])
    def test_no_question_is_asked_about_an_opinion_unless_telling_it_fails(self, is_found, so_far):
        def why_uncheckable(claim):
            if not is_found:
                raise CallFailed("The model is not there.")
            return Code.OPINION()

        strategy = replace(scripted_strategy(hops("kept")), why_uncheckable=why_uncheckable)
        events = run(strategy, so_far=so_far)
        assert any(isinstance(event, QuestionAsked) for event in events) is not is_found
        assert (events[-1].verdict.missing == Code.OPINION()) is is_found

    def test_a_question_added_by_hand_is_asked_about_an_opinion_too(self):
        strategy = replace(scripted_strategy(hops("kept")), why_uncheckable=lambda claim: Code.OPINION())
        branch = Branch("A" * 22, 1, question=Question("Who said so?"))
        events = run(strategy, so_far=Report(CLAIM, RunOptions(), branch=branch))
        assert next(event for event in events if isinstance(event, QuestionAsked)).question == branch.question

    @pytest.mark.parametrize("labels", LabelSet)
    @pytest.mark.parametrize(
        "outcomes, missing",
        [
            ((), Code.NO_QUESTION()),
            (("set aside", "set aside"), Code.NOTHING_HELPS()),
            (("set aside", "failed"), Code.NOTHING_HELPS()),
        ],
    )
    def test_without_a_kept_hop_the_verdict_is_not_enough_even_with_two_labels(self, labels, outcomes, missing):
        strategy = scripted_strategy(hops(*outcomes))
        events = run(strategy, RunOptions(labels=labels))
        verdict = events[-1].verdict
        assert (verdict.label, verdict.rationale, verdict.missing) == (Label.NOT_ENOUGH_EVIDENCE, (), missing)
        assert strategy.reasoner.calls == []


class TestControl:
    def test_conclude_calls_the_reasoner_with_the_present_pairs(self):
        strategy = scripted_strategy(hops("kept", "kept"))
        events = run(strategy, control=Steered(RunCommand.CONTINUE, RunCommand.FINISH_AFTER_HOP))
        assert len(asked(events)) == 1
        assert strategy.verifier.calls == [], "nothing depends on its reply any more"
        assert reason_to_end(events) == "Somebody wished so."
        assert events[-1] == VerdictReached(EARLY)

    @pytest.mark.parametrize("calls", [1, 2])
    def test_concluding_now_abandons_the_current_hop_and_keeps_the_earlier_ones(self, calls):
        """Requested while the second hop's question (1) or its answer (2) is being computed."""
        strategy = scripted_strategy(hops("kept", "kept"))
        whole_hop_and_verifier = 5
        wishes = Steered(*[RunCommand.CONTINUE] * (whole_hop_and_verifier + calls - 1), RunCommand.FINISH_NOW)
        events = run(strategy, control=wishes)
        first, second = report_of(events).hops
        assert (first.status, second.status, second.reason) == (
            HopStatus.KEPT,
            HopStatus.INTERRUPTED,
            Code.MUST_CONCLUDE(),
        )
        assert (second.answer is not None, len(strategy.validator.calls)) == (calls == 2, 1)
        assert [hop.number for hop in strategy.reasoner.calls[0][1]] == [1]
        assert (reason_to_end(events), events[-1]) == ("Somebody wished so.", VerdictReached(EARLY))

    def test_a_command_while_the_reasoner_works_does_not_lower_its_confidence(self):
        strategy, wishes = scripted_strategy(), Steered(RunCommand.CONTINUE)
        conclude = strategy.reasoner.conclude

        def commanded_meanwhile(*given):
            wishes.commands = [RunCommand.FINISH_NOW]
            return conclude(*given)

        strategy.reasoner.conclude = commanded_meanwhile
        assert run(strategy, control=wishes)[-1] == VerdictReached(SUPPORTED)

    @pytest.mark.parametrize(("enough", "verdict"), [(True, SUPPORTED), (False, EARLY)])
    def test_a_command_while_the_verifier_judges_lowers_the_confidence_only_if_it_ends_the_questions(
        self, enough, verdict
    ):
        """If the answers are enough, nothing was cut short; the stored event says which of the two it was."""
        strategy, wishes = scripted_strategy(hops("kept", "kept")), Steered(RunCommand.CONTINUE)

        def commanded_meanwhile(*given):
            wishes.commands = [RunCommand.FINISH_NOW]
            return Judgement(enough, "So it is.")

        strategy.verifier.is_sufficient = commanded_meanwhile
        events = run(strategy, control=wishes)
        assert events[-1] == VerdictReached(verdict)
        assert [event.early for event in events if isinstance(event, QuestioningEnded)] == [not enough]
        resumed = run(scripted_strategy(hops("kept", "kept")), so_far=report_of(events[:-1]), control=wishes)
        assert resumed == [VerdictReached(verdict)]


class TestResuming:
    def so_far(self, *statuses: HopStatus) -> Report:
        found = tuple(
            Hop(n, Question(f"Earlier {n}?"), answer(f"earlier {n}"), status, "said earlier")
            for n, status in enumerate(statuses, 1)
        )
        whole = sum(status not in (HopStatus.OPEN, HopStatus.INTERRUPTED) for status in statuses)
        return Report(CLAIM, RunOptions(), found, judged_after=whole)

    def test_closed_hops_are_kept_and_numbering_continues(self):
        strategy = scripted_strategy(hops("kept"))
        events = run(strategy, so_far=self.so_far(HopStatus.KEPT, HopStatus.SET_ASIDE))
        assert events[0] == QuestionAsked(3, Question("Question 1?"))
        _, kept, aside = strategy.generator.calls[0]
        assert ([hop.question.text for hop in kept], [hop.question.text for hop in aside]) == (
            ["Earlier 1?"],
            ["Earlier 2?"],
        )
        assert [hop.number for hop in strategy.reasoner.calls[0][1]] == [1, 3]

    @pytest.mark.parametrize("status", [HopStatus.OPEN, HopStatus.INTERRUPTED])
    def test_an_unfinished_hop_is_dropped_and_asked_again(self, status):
        strategy = scripted_strategy(hops("kept"))
        events = run(strategy, so_far=self.so_far(HopStatus.KEPT, status))
        assert events[0] == QuestionAsked(2, Question("Question 1?"))
        assert strategy.generator.calls[0][2] == ()

    def test_earlier_hops_count_towards_the_limit(self):
        strategy = scripted_strategy(hops("kept", "kept"))
        events = run(strategy, RunOptions(max_hops=2), so_far=self.so_far(HopStatus.KEPT, HopStatus.KEPT))
        assert asked(events) == []
        assert events[-1] == VerdictReached(SUPPORTED)

    def test_a_pending_call_of_the_verifier_is_made_on_resuming(self):
        strategy = scripted_strategy(hops("kept", "kept"))
        asked = replace(self.so_far(HopStatus.KEPT), judged_after=0)
        assert isinstance(run(strategy, so_far=asked)[0], SufficiencyJudged)
        again = scripted_strategy(hops("kept", "kept"))
        assert isinstance(run(again, so_far=self.so_far(HopStatus.KEPT))[0], QuestionAsked)
        assert len(strategy.verifier.calls) == len(again.verifier.calls) + 1

    def test_a_satisfied_verifier_is_not_called_again(self):
        strategy = scripted_strategy(hops("kept"))
        events = run(strategy, so_far=replace(self.so_far(HopStatus.KEPT), sufficiency=Judgement(True, "enough")))
        assert [event.kind for event in events] == ["questioning_ended", "verdict_reached"]
        assert reason_to_end(events) == Code.SATISFIED()
        assert strategy.verifier.calls == []


def test_a_strategy_keeps_no_state_of_a_run():
    strategy = QuestionGuided(*(getattr(scripted_strategy(), role) for role in QuestionGuided.__dataclass_fields__))
    first = strategy.run(CLAIM, RunOptions())
    next(first), next(first)
    second = strategy.run(Claim("Another."), RunOptions())
    assert next(second).hop == 1


outcomes_of_hops = st.lists(st.sampled_from(["kept", "set aside", "failed"]), max_size=8)


@given(outcomes_of_hops, st.integers(1, 6), st.lists(st.booleans(), min_size=8, max_size=8))
def test_run_invariants_hold_for_any_module_replies(outcomes, most, enough):
    script = hops(*outcomes)
    judged = (replace(hop, enough=Judgement(yes, "")) for hop, yes in zip(script.hops, enough, strict=False))
    strategy = scripted_strategy(Script(tuple(judged), SUPPORTED))
    events = run(strategy, RunOptions(max_hops=most))
    report = report_of(events)
    assert [isinstance(event, TERMINAL) for event in events] == [False] * (len(events) - 1) + [True]
    assert len(report.hops) <= most
    assert [hop.number for hop in report.hops] == list(range(1, len(report.hops) + 1))
    assert HopStatus.OPEN not in {hop.status for hop in report.hops}
    assert all(context for _, context in strategy.verifier.calls)
    assert [context for _, context, _ in strategy.reasoner.calls] == ([report.context] if report.context else [])
    only_failures = bool(report.hops) and {hop.status for hop in report.hops} == {HopStatus.FAILED}
    assert (report.verdict is None) == only_failures
