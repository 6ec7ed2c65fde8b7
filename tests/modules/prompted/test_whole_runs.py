"""The loop over prompted modules: a capable model completes it, and any other model's output ends it safely."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.backends.llm.openai_client import OpenAIChat
from app.backends.llm.registry import ModelSettings
from app.backends.local.seq2seq import Seq2Seq
from app.domain.events import RunFailed, VerdictReached
from app.domain.model import HopStatus, Label, LabelSet, Origin, RunOptions
from app.domain.ports import TextGenerator
from app.modules.answerers.reciter_reader import ReciterReader
from app.modules.prompted import (
    FlanT5Reasoner,
    PromptedClaimVerifier,
    PromptedQuestioner,
    PromptedReasoner,
    PromptedValidator,
)
from app.strategies.question_guided import QuestionGuided
from tests.modules.prompted.cases import ESSAY, REFUSAL
from tests.one_claim import CLAIM, followed, prompted
from tests.openai_server import Asked, OpenAIServer, play
from tests.text_generators import PlayedModel, playing
from tests.tiny import tiny_t5


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
    report, _ = followed(prompted(capable), RunOptions())
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
    report, events = followed(prompted(model), RunOptions(labels=labels))
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
    report, events = followed(strategy, RunOptions())
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
def test_a_tiny_flan_t5_concludes_with_a_label_of_the_set_and_its_probability(tiny: Seq2Seq, labels: LabelSet) -> None:
    """From the likelihood of the labels' words."""
    recited, _ = followed(prompted(next(in_process())), RunOptions())
    verdict = FlanT5Reasoner(tiny).conclude(CLAIM, recited.context, labels.labels)
    assert verdict.label in labels.labels
    assert 1 / len(labels.labels) <= verdict.confidence <= 1
