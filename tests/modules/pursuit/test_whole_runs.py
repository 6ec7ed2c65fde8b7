"""Algorithm 1 over its modules: every preset completes, and the run ends for any output of a model."""

from __future__ import annotations

import pytest

from app.domain.events import Event, RunFailed, VerdictReached
from app.domain.model import Answer, Claim, Context, HopStatus, Label, LabelSet, Passage, Question, RunOptions, Span
from app.domain.ports import Pursuer
from app.domain.report import Report
from app.modules.local import LocalQuestionGenerator, LocalReasoner
from app.modules.prompted import PromptedReasoner
from app.modules.pursuit import LocalParaphraser, LocalPursuer, PromptedParaphraser, PromptedPursuer, Seq2SeqPursuer
from app.presets import PURSUIT_PRESETS, PursuitPreset
from app.strategies.evidence_pursuit import EvidencePursuit
from tests.modules.prompted.cases import ESSAY, REFUSAL
from tests.modules.pursuit.test_pursuit import Verifier
from tests.one_claim import followed
from tests.text_generators import PlayedModel, playing

CLAIM = Claim("The author of Hamlet was born in England.", "A visitor", "2020-10-31")
WHO, WHERE = "Who wrote Hamlet?", "Where was William Shakespeare born?"


def capable_reply(prompt: str) -> str:
    """Return what a capable language model writes for each prompt of the strategy."""
    if "ways to rephrase" in prompt:
        return '["By whom is Hamlet?", "Who is the author of Hamlet?"]' if WHO in prompt else '["His birthplace?"]'
    if "Keep the list short" in prompt:
        return f'["{WHO}", "{WHERE}"]'
    if "ask one more question" in prompt:
        return f"We know the author. Next question: {WHERE}" if WHERE not in prompt else "[[True]]"
    return "Hamlet is by Shakespeare [1]. He was born in England [2].\nLabel = true"


def fine_tuned(prompt: str) -> str:
    return WHERE if WHO in prompt else WHO


class Library:
    """An answerer with two passages: who wrote Hamlet and where he was born, in any wording."""

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        born = "born" in question.text or "birth" in question.text
        text = "William Shakespeare was born in England." if born else "Hamlet is a play by William Shakespeare."
        found = "England" if born else "William Shakespeare"
        passage = Passage(text, "Shakespeare", "A library")
        return Answer(found, Span(passage, text.index(found), text.index(found) + len(found)), (passage,))


def strategy_of(preset: PursuitPreset, play=capable_reply) -> EvidencePursuit:
    model, seq, verifier = PlayedModel(play), PlayedModel(fine_tuned), Verifier(True)
    questioners: dict[str, Pursuer] = {
        "llm": PromptedPursuer(model),
        "seq": Seq2SeqPursuer(seq, seq),
        "local": LocalPursuer(LocalQuestionGenerator(PlayedModel(fine_tuned)), verifier, verifier.judge),
    }
    llm = preset.others == "llm"
    return EvidencePursuit(
        questioners[preset.first],
        PromptedParaphraser(model) if llm else LocalParaphraser(playing("")),
        Library(),
        PromptedReasoner(model) if llm else LocalReasoner(verifier.judge),
        preset.variant,
        later=questioners[preset.then],
    )


def run(strategy: EvidencePursuit, labels: LabelSet) -> tuple[Report, list[Event]]:
    return followed(strategy, RunOptions(strategy="evidence-pursuit", labels=labels), CLAIM)


PAIRS = {"no-paraphrase": 2, "inflate-to-ten": 10, "local": 2}
"""Locally the judge of this test is sure after one pair, and there is one other wording of it: the claim's."""


@pytest.mark.parametrize("name", PURSUIT_PRESETS)
def test_every_preset_checks_a_claim_of_two_hops(name: str) -> None:
    preset = PURSUIT_PRESETS[name]
    report, _ = run(strategy_of(preset), preset.labels)
    assert report.verdict is not None and report.verdict.label is Label.SUPPORTED
    assert report.hops[0].question.text == WHO
    if name != "local":
        assert report.hops[1].question.text == WHERE
    assert {hop.status for hop in report.hops} == {HopStatus.KEPT}
    assert len(report.hops) == PAIRS.get(name, 5)
    assert {number for sentence in report.verdict.rationale for number in sentence.hops} <= set(range(1, 6))


@pytest.mark.parametrize("labels", list(LabelSet))
@pytest.mark.parametrize("text", ["Yes", "", "Unknown", REFUSAL, ESSAY, "[[Maybe]]", "[[True]] or [[False]]"])
def test_a_model_that_never_asks_gets_no_verdict(text: str, labels: LabelSet) -> None:
    """Two hops fail with a reason, and each question is requested twice."""
    model = playing(text)
    strategy = EvidencePursuit(PromptedPursuer(model), PromptedParaphraser(model), Library(), PromptedReasoner(model))
    report, events = run(strategy, labels)
    assert isinstance(events[-1], RunFailed)
    assert [hop.status for hop in report.hops] == [HopStatus.FAILED] * 2
    assert len(model.prompts) == 4


@pytest.mark.parametrize("text", ["", "Unknown", REFUSAL, ESSAY, "[[Maybe]]", "[[True]] or [[False]]", WHO])
def test_unusable_steps_after_a_good_first_question_are_reported_as_failures(text: str) -> None:
    def play(prompt: str) -> str:
        return text if "ask one more question" in prompt or "ways to rephrase" in prompt else capable_reply(prompt)

    report, events = run(strategy_of(PURSUIT_PRESETS["llm+llm"], play), LabelSet.THREE)
    assert events[-1] == VerdictReached(report.verdict)
    assert report.context == report.hops[:1]
    assert len(report.hops) <= 5
