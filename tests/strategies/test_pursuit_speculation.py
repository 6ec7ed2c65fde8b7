"""Speculative pursuit: independent questions are answered in parallel, and the result is the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.model import Answer, Claim, Context, Question, RunOptions
from app.strategies.evidence_pursuit import Variant
from tests.strategies.lockstep import Lockstep
from tests.strategies.pursuit import CLAIM, Script
from tests.strategies.test_evidence_pursuit import scripts, variants

OPTIONS = RunOptions(strategy="evidence-pursuit", max_hops=10)


class Timed(Script):
    """A script whose calls are named after their question, and blocked by `before`."""

    before = staticmethod(lambda name: None)

    def next_step(self, claim, context, set_aside):
        self.before(f"step {len(context) + len(set_aside)}")
        return super().next_step(claim, context, set_aside)

    def first_questions(self, claim, n):
        self.before("step 0")
        return super().first_questions(claim, n)

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        self.before(question.text)
        return super().answer(question, claim)

    def paraphrase(self, claim, question, n):
        self.before(f"reword {question.text}")
        return super().paraphrase(claim, question, n)


def whole(script: Script, variant: Variant = Variant(), speculative: bool = True, **doors) -> list:  # noqa: B008 - it is frozen
    return list(script.strategy(variant, speculative).run(CLAIM, OPTIONS, **doors))


def test_other_wordings_are_requested_in_parallel_and_answered_in_parallel():
    rewordings = {"reword First?", "reword Second?"}
    answers = {"First, 1?", "Second, 1?", "First, 2?"}
    script = Timed(("First?", "Second?", True))
    script.before = plan = Lockstep([{"step 0"}, {"First?"}, {"step 1"}, {"Second?"}, {"step 2"}, rewordings, answers])
    events = whole(script)
    assert (plan.done, plan.others) == (7, [])
    assert events == whole(Script(("First?", "Second?", True)), speculative=False)


def test_questions_of_one_list_are_answered_four_at_a_time():
    asked = [f"Question {n}?" for n in range(1, 6)]
    script = Timed(opening=asked)
    script.before = plan = Lockstep([{"step 0"}, set(asked[:4])])
    events = whole(script, Variant(all_at_once=True))
    assert (plan.done, plan.others) == (2, asked[4:])
    assert events == whole(Script(opening=asked), Variant(all_at_once=True), speculative=False)


def test_an_unanswered_wording_is_replaced_and_the_others_are_not_repeated():
    script = Script(("First?", True), answers={"First, 2?": None})
    whole(script)
    asked = [text for text, _ in script.named("answer")]
    assert sorted(asked) == ["First, 1?", "First, 2?", "First, 3?", "First, 4?", "First?"]


@settings(max_examples=200)
@given(scripts, variants, st.integers(1, 8))
def test_speculation_gives_the_same_events_for_any_module_replies(script, variant, most):
    options = replace(OPTIONS, max_hops=most)
    again = replace(script, calls=[])
    ahead = list(script.strategy(variant, True).run(CLAIM, options))
    assert ahead == list(again.strategy(variant).run(CLAIM, options))


def test_a_bug_in_a_parallel_answer_is_raised():
    with pytest.raises(RuntimeError, match="a bug"):
        whole(Script(("First?", True), answers={"First, 1?": RuntimeError("a bug")}))
