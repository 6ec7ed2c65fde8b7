"""Choosing among options: by token probabilities where available, else by text, with one retry and no guess."""

from __future__ import annotations

import math

import pytest

from app.backends.llm.negotiation import THINKING_TOKENS, choose_option
from app.backends.llm.openai_client import ALTERNATIVES
from app.domain.ports import OptionChoice
from tests.backends.openai_asking import chat
from tests.openai_server import OpenAIServer, Reply

YES_NO = ("Yes", "No")
LABELS = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_EVIDENCE")


def logs(**probabilities: float) -> dict[str, float]:
    return {token: math.log(p) for token, p in probabilities.items()}


@pytest.mark.parametrize(
    ("first", "options", "choice"),
    [
        (logs(Yes=0.6, yes=0.2, No=0.2), YES_NO, OptionChoice("Yes", pytest.approx(0.8))),
        ({" no": math.log(0.9), " Yes": math.log(0.1)}, YES_NO, OptionChoice("No", pytest.approx(0.9))),
        ({"▁True": math.log(0.5), "**": math.log(0.2)}, ("True", "False"), OptionChoice("True", 1.0)),
        (logs(SUP=0.3, REF=0.6, NOT=0.1), LABELS, OptionChoice("REFUTED", pytest.approx(0.6))),
        (
            {"NOT_": math.log(0.8), "SUP": math.log(0.2)},
            LABELS,
            OptionChoice("NOT_ENOUGH_EVIDENCE", pytest.approx(0.8)),
        ),
        (logs(A=0.7, B=0.3), ("A", "B"), OptionChoice("A", pytest.approx(0.7))),
    ],
)
def test_the_first_tokens_probabilities_decide_and_are_normalized_over_the_options(first, options, choice):
    assert choose_option("whatever it wrote", first, options) == choice


@pytest.mark.parametrize(
    ("text", "first", "choice"),
    [
        ("Yes", {}, OptionChoice("Yes")),
        ("No.", logs(No=0.3, Yes=0.1, Perhaps=0.6), OptionChoice("No", pytest.approx(0.75))),
        ("No.", logs(Yes=0.3, No=0.1, Perhaps=0.6), OptionChoice("No")),
        ("No.", logs(Yes=0.5, No=0.5), OptionChoice("No")),
        ("Perhaps", logs(Yes=0.3, Perhaps=0.7), None),
        ("Perhaps", logs(Yes=0.5, No=0.5), None),
        ("Well", logs(N=0.9, Y=0.1), None),
        ("", {}, None),
    ],
)
def test_the_text_decides_where_probabilities_do_not_and_nothing_is_guessed(text, first, choice):
    assert choose_option(text, first, YES_NO) == choice


def test_top_logprobs_are_requested_and_decide_the_choice():
    with OpenAIServer([Reply("No", top={"Yes": 0.3, "No": 0.7})]) as server:
        assert chat(server).choose("Is it so?", YES_NO) == OptionChoice("No", pytest.approx(0.7))
    (asked,) = server.asked
    assert asked.prompt == "Is it so?"
    assert (asked.body["logprobs"], asked.body["top_logprobs"], asked.body["temperature"]) == (True, 20, 0)


def test_probabilities_of_thinking_tokens_do_not_decide():
    with OpenAIServer([Reply("<think>No?</think>Yes", top={"No": 0.9, "Yes": 0.1})]) as server:
        assert chat(server).choose("Is it so?", YES_NO) == OptionChoice("Yes")


def test_the_log_probabilities_of_a_long_reasoning_do_not_make_a_reply_too_large():
    reasoning = {"token": " reasoning", "logprob": -0.1234567, "bytes": list(b" reasoning")}
    tokens = [{**reasoning, "top_logprobs": [reasoning] * ALTERNATIVES}] * THINKING_TOKENS
    choice = {"message": {"content": "Yes"}, "finish_reason": "stop", "logprobs": {"content": tokens}}
    with OpenAIServer([Reply(body={"choices": [choice]})]) as server:
        assert chat(server).choose("Is it so?", YES_NO) == OptionChoice("Yes")


@pytest.mark.parametrize("logprobs", ["odd", {"content": None}, {"content": []}, {"content": [{"token": 3}]}])
def test_malformed_log_probabilities_are_ignored(logprobs):
    choice = {"message": {"content": "Yes"}, "finish_reason": "stop", "logprobs": logprobs}
    with OpenAIServer([Reply(body={"choices": [choice]})]) as server:
        assert chat(server).choose("Is it so?", YES_NO) == OptionChoice("Yes")


def test_an_off_topic_reply_is_retried_once_with_the_options_spelled_out():
    with OpenAIServer([Reply("It depends on what you mean."), Reply("No")]) as server:
        assert chat(server).choose("Is it so?", YES_NO) == OptionChoice("No")
    assert server.asked[1].prompt.startswith("Is it so?\n\n")
    assert "Yes | No" in server.asked[1].prompt
