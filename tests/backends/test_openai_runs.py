"""A server that fails during a run: earlier hops are kept, the failed hop has its reason, and the run ends."""

from __future__ import annotations

import pytest

from app.domain.events import TokensUsed
from app.domain.model import HopStatus, Label
from app.runs.event_store import encode
from tests.backends.openai_asking import KEY, chat, run_over
from tests.openai_server import Asked, OpenAIServer, Reply, Script, error, play, role_of

FAULTS = {
    "wrong key": (error(401, f"Incorrect API key: {KEY}"), "does not accept the key"),
    "unknown model": (error(404, "no such model"), "knows no language model tiny"),
    "rate limit": (error(429, "slow down"), "too many requests"),
    "rate limit with a long wait": (error(429, headers={"Retry-After": "600"}), "too many requests"),
    "server errors": (error(500, f"oops {KEY}"), "failed (500)"),
    "hung socket": (Reply("Yes", delay=30), "did not answer within 2 seconds"),
    "cut stream": (Reply("Yes", cut=True), "broke off in the middle"),
    "invalid JSON": (Reply(body=b'{"choices": ['), "did not send a language model's reply"),
    "empty choice list": (Reply(body={"choices": []}), "its list of choices is empty"),
    "content filter": (Reply("Yes", finish="content_filter"), "content filter"),
    "context overflow": (error(400, "too long", code="context_length_exceeded"), "The prompt is too long"),
}


def failing_from_the_second_recital(fault: Reply) -> Script:
    """Return a script that works until the second passage is recited, and then returns `fault`."""
    story, recited = play(), []

    def script(asked: Asked) -> Reply:
        if role_of(asked.prompt) == "reciter":
            recited.append(asked)
        return fault if len(recited) > 1 and role_of(asked.prompt) == "reciter" else story(asked)

    return script


@pytest.mark.parametrize(("fault", "sentence"), FAULTS.values(), ids=FAULTS.keys())
def test_a_failure_in_the_second_hop_keeps_the_first_and_marks_the_second_failed(fault, sentence):
    with OpenAIServer(failing_from_the_second_recital(fault)) as server:
        report, events = run_over(chat(server, seconds=2 if fault.delay else 20))
    first, second = report.hops
    assert (first.status, first.answer.text) == (HopStatus.KEPT, "William Shakespeare")
    assert second.status is HopStatus.FAILED
    assert second.reason.startswith("The answerer failed: ") and sentence in second.reason
    assert report.verdict.label is Label.SUPPORTED  # the scripted reasoner's conclusion from the first hop
    assert len(server.asked) < 20
    assert KEY not in repr([encode(event) for event in events])


def test_only_answered_calls_are_counted():
    with OpenAIServer(failing_from_the_second_recital(error(400, "what?"))) as server:
        report, events = run_over(chat(server, seconds=20))
    assert report.usage.calls == sum(isinstance(event, TokensUsed) for event in events) == len(server.asked) - 1
    assert (report.usage.prompt_tokens, report.usage.cost) == (10 * report.usage.calls, None)


@pytest.mark.parametrize("fault", [error(401, "no"), error(503, "no")], ids=["wrong key", "server errors"])
def test_a_server_that_never_answers_ends_the_run_without_a_verdict(fault):
    with OpenAIServer([fault]) as server:
        report, _ = run_over(chat(server, seconds=20))
    assert (report.ended, report.verdict) == ("failed", None)
    assert [hop.status for hop in report.hops] == [HopStatus.FAILED] * 2
    assert "127.0.0.1" in report.hops[0].reason
