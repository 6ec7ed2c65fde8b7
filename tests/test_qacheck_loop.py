"""The preset `qacheck` as the container builds it, over real HTTP: QACheck's loop when the validator rejects pairs."""

from __future__ import annotations

from app.config.settings import Settings
from app.container.container import Container
from app.domain.model import HopStatus, Label, LabelSet, RunOptions
from tests.one_claim import checked
from tests.openai_server import Asked, OpenAIServer, Reply

OPTIONS = RunOptions(
    preset="qacheck", answerer="reciter-reader", model="scripted", labels=LabelSet.TWO, corpora=(), model_seed=7
)


def play(asked: Asked, question: str) -> Reply:
    """Play every role: nothing is ever enough, no pair is useful, and the claim is false."""
    prompt = asked.prompt
    if prompt.endswith("Question ="):
        return Reply(question)
    if prompt.endswith("Passage ="):
        return Reply("It is so.")
    if prompt.endswith("Answer ="):
        return Reply("so")
    return Reply({"Prediction =": "No, we cannot know.", "The answer:": "No"}.get(prompt.splitlines()[-1], ": False."))


def run(script, tmp_path):
    with OpenAIServer(script) as server:
        env = {"INSTANCE": str(tmp_path), "OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "scripted"}
        report = checked(Container(Settings.from_env(env)), OPTIONS)
    questions = [
        asked for asked in server.asked if asked.prompt.endswith("\nQuestion =") and "first ask" in asked.prompt
    ]
    return report, server.asked, questions


def test_each_rejected_pair_leads_to_a_question_with_another_seed_and_then_the_reasoner_decides(tmp_path):
    report, asked, questions = run(lambda asked: play(asked, f"Is it {asked.body['seed']}?"), tmp_path)
    assert [hop.question.text for hop in report.hops] == [f"Is it {seed}?" for seed in range(7, 32, 5)]
    assert {hop.status for hop in report.hops} == {HopStatus.SET_ASIDE}
    assert [each.body["temperature"] for each in questions] == [0, 0.5, 0.5, 0.5, 0.5]
    assert len({each.prompt for each in questions}) == 1, "the printed prompt does not list rejected pairs"
    assert asked[-1].prompt.endswith("Therefore, the final answer is")
    assert report.verdict.label is Label.REFUTED


def test_a_server_that_ignores_seeds_is_asked_with_five_seeds_before_the_reasoner(tmp_path):
    report, asked, questions = run(lambda asked: play(asked, "Who wrote Hamlet?"), tmp_path)
    assert len(report.hops) == 1 and [each.body["seed"] for each in questions] == [7, 12, 13, 14, 15, 16]
    assert asked[-1].prompt.endswith("Therefore, the final answer is") and report.verdict.label is Label.REFUTED
