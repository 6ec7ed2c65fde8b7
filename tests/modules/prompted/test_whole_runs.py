"""The loop over prompted modules: a capable model completes it, and any other model's output ends it safely."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.backends.llm.openai_client import OpenAIChat
from app.backends.llm.registry import ModelSettings
from app.backends.local.seq2seq import Seq2Seq
from app.domain.events import Event, RunFailed, RunStarted, VerdictReached
from app.domain.model import HopStatus, Label, LabelSet, Origin, RunOptions
from app.domain.ports import QuestionGenerator, TextGenerator
from app.domain.report import Report, reduce_events
from app.modules.answerers.flan_t5 import FlanT5Answerer
from app.modules.answerers.reciter_reader import ReciterReader
from app.modules.prompted import (
    FlanT5Reasoner,
    PromptedClaimVerifier,
    PromptedQuestioner,
    PromptedReasoner,
    PromptedValidator,
)
from app.strategies.question_guided import QuestionGuided
from tests.fakes import ScriptedGenerator
from tests.modules.prompted.cases import ESSAY, REFUSAL
from tests.one_claim import CLAIM
from tests.openai_server import Asked, OpenAIServer, play
from tests.text_generators import PlayedModel, playing
from tests.tiny import tiny_t5


def prompted(model: TextGenerator) -> QuestionGuided:
    """Return a strategy in which one model plays all five roles."""
    return QuestionGuided(
        PromptedClaimVerifier(model),
        PromptedQuestioner(model),
        ReciterReader(model),
        PromptedValidator(model),
        PromptedReasoner(model),
    )


def flan_t5(model: TextGenerator, generator: QuestionGenerator) -> QuestionGuided:
    """Return a strategy with FLAN-T5 wherever it is possible, and a separate question generator."""
    return QuestionGuided(
        PromptedClaimVerifier(model), generator, FlanT5Answerer(model), PromptedValidator(model), FlanT5Reasoner(model)
    )


def run(strategy: QuestionGuided, labels: LabelSet = LabelSet.THREE) -> tuple[list[Event], Report]:
    options = RunOptions(labels=labels)
    events = list(strategy.run(CLAIM, options))
    return events, reduce_events((event, float(at)) for at, event in enumerate([RunStarted(CLAIM, options), *events]))


def in_process() -> Iterator[TextGenerator]:
    script = play()
    yield PlayedModel(lambda prompt: script(Asked("", {}, {"messages": [{"content": prompt}]})).text or "")


def over_http() -> Iterator[TextGenerator]:
    with OpenAIServer(play()) as server:
        yield OpenAIChat(ModelSettings("gpt", "gpt", server.url, "key"), 10)


@pytest.fixture(params=[in_process, over_http])
def capable(request: pytest.FixtureRequest) -> Iterator[TextGenerator]:
    yield from request.param()


def test_a_capable_model_checks_a_claim_of_two_hops(capable: TextGenerator) -> None:
    _, report = run(prompted(capable))
    assert [hop.question.text for hop in report.hops] == ["Who wrote Hamlet?", "Where was William Shakespeare born?"]
    assert [hop.status for hop in report.hops] == [HopStatus.KEPT] * 2
    assert report.sufficiency is not None and report.sufficiency.holds
    assert report.verdict is not None and report.verdict.label is Label.SUPPORTED
    assert [sentence.hops for sentence in report.verdict.rationale] == [(1,), (2,)]
    assert {passage.origin for hop in report.hops for passage in hop.answer.retrieved} == {Origin.RECITED}


@pytest.mark.parametrize("labels", list(LabelSet))
@pytest.mark.parametrize(
    "text", ["Yes", "**Yes**, we can know.", "True, as is well known", "Unknown", "", REFUSAL, ESSAY]
)
def test_a_model_that_always_replies_the_same_gets_no_verdict(text: str, labels: LabelSet) -> None:
    """Two hops fail with a reason, and each question is requested twice."""
    model = playing(text)
    events, report = run(prompted(model), labels)
    assert isinstance(events[-1], RunFailed)
    assert [hop.status for hop in report.hops] == [HopStatus.FAILED] * 2
    assert all("The model" in str(hop.reason) for hop in report.hops)
    assert len(model.prompts) == 4


@pytest.mark.parametrize("text", ["Yes", "True, as is well known", "Unknown", "", REFUSAL, ESSAY])
def test_unusable_decisions_after_good_questions_are_reported_as_failures(text: str) -> None:
    """Verdicts come only from actual decisions, and the run ends within its hops."""
    model, left = playing(text), iter(["Who wrote Hamlet?", "Where was Shakespeare born?", "When?", "Why?", "How?"])
    strategy = QuestionGuided(
        PromptedClaimVerifier(model),
        PromptedQuestioner(PlayedModel(lambda prompt: next(left))),
        ReciterReader(next(in_process())),
        PromptedValidator(model),
        PromptedReasoner(model),
    )
    events, report = run(strategy)
    assert isinstance(events[-1], RunFailed | VerdictReached)
    assert len(report.hops) <= 5
    if text == "Yes":
        assert report.sufficiency is not None and report.sufficiency.holds
        assert report.problem.values["module"] == "reasoner"
    else:
        assert {hop.status for hop in report.hops} <= {HopStatus.FAILED, HopStatus.SET_ASIDE}
        assert report.verdict is None or report.verdict.label is Label.NOT_ENOUGH_EVIDENCE


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Seq2Seq:
    return Seq2Seq(str(tiny_t5(tmp_path_factory.mktemp("models") / "flan-tiny")))


@pytest.mark.parametrize("labels", list(LabelSet))
def test_a_tiny_flan_t5_completes_a_run_with_every_module_it_can_play(tiny: Seq2Seq, labels: LabelSet) -> None:
    questions = ScriptedGenerator(["Who wrote Hamlet?", "Where was William Shakespeare born?", None])
    events, report = run(flan_t5(tiny, questions), labels)
    assert isinstance(events[-1], RunFailed | VerdictReached)
    if report.verdict and report.context:
        assert report.verdict.label in labels.labels
    for hop in report.hops:
        assert hop.status is not HopStatus.OPEN
        assert all(passage.origin is Origin.RECITED for passage in (hop.answer.retrieved if hop.answer else ()))


@pytest.mark.parametrize("labels", list(LabelSet))
def test_a_tiny_flan_t5_concludes_with_a_label_of_the_set_and_its_probability(tiny: Seq2Seq, labels: LabelSet) -> None:
    """From the likelihood of the labels' words."""
    _, recited = run(prompted(next(in_process())))
    verdict = FlanT5Reasoner(tiny).conclude(CLAIM, recited.context, labels.labels)
    assert verdict.label in labels.labels
    assert 1 / len(labels.labels) <= verdict.confidence <= 1


def test_a_missing_model_fails_the_run_with_its_fix(tmp_path: Path) -> None:
    questions = ScriptedGenerator(["Who wrote Hamlet?", "Where was William Shakespeare born?", None])
    events, report = run(flan_t5(Seq2Seq(str(tmp_path / "gone")), questions))
    assert isinstance(events[-1], RunFailed)
    assert all("models fetch flan-t5" in str(hop.reason) for hop in report.hops)
