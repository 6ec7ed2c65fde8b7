"""Parameters that a model refuses are recognized in the server's error message and left out from then on."""

from __future__ import annotations

import re

import pytest

from app.backends.llm.negotiation import THINKING_TOKENS
from app.backends.llm.openai_client import Sampling
from app.domain.errors import CallFailed
from app.domain.ports import OptionChoice
from tests.backends.openai_asking import chat, used_by
from tests.openai_server import Asked, OpenAIServer, Reply, error

UNSUPPORTED = "Unsupported parameter: '{}' is not supported with this model."


def refusing(*names: str, text: str = "Yes", **reply):
    """Return a script that refuses the parameters `names`, one at a time."""

    def script(asked: Asked) -> Reply:
        for name in names:
            if name in asked.body:
                return error(400, UNSUPPORTED.format(name), param=name, code="unsupported_parameter")
        return Reply(text, **reply)

    return script


@pytest.mark.parametrize("name", ["temperature", "seed", "stop"])
def test_a_refused_parameter_is_left_out_in_the_retry_and_in_later_calls(name):
    with OpenAIServer(refusing(name)) as server:
        model = chat(server)
        for _ in range(3):
            assert model.complete("Ask.", max_tokens=5, stop=["\n"]) == "Yes"
    assert [name in asked.body for asked in server.asked] == [True, False, False, False]
    assert server.asked[-1].body["max_tokens"] == 5


def test_without_log_probabilities_the_text_decides():
    with OpenAIServer(refusing("top_logprobs", "logprobs", top={"No": 1.0})) as server:
        assert chat(server).choose("Is it so?", ("Yes", "No")) == OptionChoice("Yes")
    assert "logprobs" not in server.asked[-1].body and "top_logprobs" not in server.asked[-1].body
    assert len(server.asked) == 2


def test_max_completion_tokens_replaces_max_tokens_with_room_for_thinking():
    with OpenAIServer(refusing("max_tokens", "temperature", "stop")) as server:
        assert chat(server).complete("Ask.", max_tokens=5, stop=["\n"]) == "Yes"
    last = server.asked[-1].body
    assert last["max_completion_tokens"] == 5 + THINKING_TOKENS
    assert not {"max_tokens", "temperature", "stop"} & set(last)


TOO_LARGE = (
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000."
)


@pytest.mark.parametrize(
    ("sampling", "message", "param"),
    [
        (Sampling(max_tokens=100_000), TOO_LARGE, "max_tokens"),
        (Sampling(temperature=2), "temperature: range: 0..1", "temperature"),
        (Sampling(seed=2**40), "Invalid 'seed': integer above maximum value. Expected a value <= 2147483647.", None),
    ],
)
def test_a_value_that_is_out_of_range_fails_its_call_only(sampling, message, param):
    def script(asked: Asked) -> Reply:
        is_default = asked.body["max_tokens"] == 5 and asked.body["temperature"] == 0 and asked.body["seed"] == 1
        return Reply("Yes") if is_default else error(400, message, type="invalid_request_error", param=param)

    with OpenAIServer(script) as server:
        model = chat(server)
        with pytest.raises(CallFailed, match=re.escape(message[:40])):
            model.sampled(sampling).complete("Ask.", max_tokens=5)
        assert model.complete("Ask.", max_tokens=5, stop=["\n"]) == "Yes"
    assert len(server.asked) == 2 and server.asked[-1].body["stop"] == ["\n"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("temperature", "'temperature' does not support 0 with this model. Only the default (1) value is supported."),
        ("stop", "Too many stop sequences: at most 4 are allowed"),
    ],
)
def test_a_parameter_whose_usual_value_is_refused_is_left_out_from_then_on(name, message):
    def script(asked: Asked) -> Reply:
        return error(400, message, type="invalid_request_error", param=name) if name in asked.body else Reply("Yes")

    with OpenAIServer(script) as server:
        model = chat(server)
        for _ in range(2):
            assert model.complete("Ask.", max_tokens=5, stop=["\n"]) == "Yes"
            assert model.choose("Is it so?", ("Yes", "No")) == OptionChoice("Yes")
    assert len(server.asked) == 5


def test_a_server_that_refuses_a_parameter_it_was_not_sent_fails_the_call():
    with OpenAIServer([error(400, UNSUPPORTED.format("seed"), param="seed")]) as server, pytest.raises(CallFailed):
        chat(server).complete("Ask.", max_tokens=5)
    assert len(server.asked) == 3  # the last one without any parameter that it may mean


def test_a_server_that_refuses_every_parameter_fails_the_call():
    with (
        OpenAIServer(
            [error(400, "temperature seed stop max_tokens max_completion_tokens are not supported")]
        ) as server,
        pytest.raises(CallFailed),
    ):
        chat(server).complete("Ask.", max_tokens=5, stop=["\n"])
    assert len(server.asked) == 5


def test_a_thinking_model_gets_a_larger_token_limit_from_then_on():
    def script(asked: Asked) -> Reply:
        if asked.body["max_tokens"] < 100:
            return Reply("", finish="length", usage=(10, 5), message={"reasoning_content": "Let me see"})
        return Reply("Paris\nand so on", usage=(10, 50))

    with OpenAIServer(script) as server:
        model = chat(server)
        usage = used_by(lambda: model.complete("Ask.", max_tokens=5, stop=["\n"]))
        assert model.complete("Again.", max_tokens=5, stop=["\n"]) == "Paris"
    assert (usage.calls, usage.completion_tokens) == (2, 55)
    assert [asked.body["max_tokens"] for asked in server.asked] == [5, 5 + THINKING_TOKENS, 5 + THINKING_TOKENS]
    assert ["stop" in asked.body for asked in server.asked] == [True, False, False]


def test_the_operator_can_set_the_thinking_token_limit():
    with OpenAIServer([Reply("Paris")]) as server:
        chat(server, thinking_tokens=300).complete("Ask.", max_tokens=5)
        chat(server, thinking_tokens=0).complete("Ask.", max_tokens=5)
    assert [asked.body["max_tokens"] for asked in server.asked] == [305, 5]
