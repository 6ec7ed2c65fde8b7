"""What a model refuses is learned from its server's own words, once, and done without from then on."""

from __future__ import annotations

import pytest

from app.backends.llm.negotiation import THINKING_TOKENS
from app.domain.errors import CallFailed
from app.domain.ports import Choice
from tests.backends.openai_asking import chat, used_by
from tests.openai_server import Asked, OpenAIServer, Reply, error

UNSUPPORTED = "Unsupported parameter: '{}' is not supported with this model."


def refusing(*names: str, text: str = "Yes", **reply):
    """A server that turns down, one at a time, whatever of `names` it is sent."""

    def script(asked: Asked) -> Reply:
        for name in names:
            if name in asked.body:
                return error(400, UNSUPPORTED.format(name), param=name, code="unsupported_parameter")
        return Reply(text, **reply)

    return script


@pytest.mark.parametrize("name", ["temperature", "seed", "stop"])
def test_a_refused_parameter_is_left_out_at_once_and_from_then_on(name):
    with OpenAIServer(refusing(name)) as server:
        model = chat(server)
        for _ in range(3):
            assert model.complete("Ask.", max_tokens=5, stop=["\n"]) == "Yes"
    assert [name in asked.body for asked in server.asked] == [True, False, False, False]
    assert server.asked[-1].body["max_tokens"] == 5


def test_refused_log_probabilities_leave_the_words_to_decide():
    with OpenAIServer(refusing("top_logprobs", "logprobs", top={"No": 1.0})) as server:
        assert chat(server).choose("Is it so?", ("Yes", "No")) == Choice("Yes")
    assert "logprobs" not in server.asked[-1].body and "top_logprobs" not in server.asked[-1].body
    assert len(server.asked) == 2


def test_where_stop_is_refused_the_text_is_cut_here():
    with OpenAIServer(refusing("stop", text="Who?\nQuestion 2 = Why?")) as server:
        assert chat(server).complete("Ask.", max_tokens=5, stop=["\n"]) == "Who?"


def test_a_model_that_wants_max_completion_tokens_gets_them_with_room_for_its_thoughts():
    with OpenAIServer(refusing("max_tokens", "temperature", "stop")) as server:
        assert chat(server).complete("Ask.", max_tokens=5, stop=["\n"]) == "Yes"
    last = server.asked[-1].body
    assert last["max_completion_tokens"] == 5 + THINKING_TOKENS
    assert not {"max_tokens", "temperature", "stop"} & set(last)


@pytest.mark.parametrize(
    ("status", "body", "name"),
    [
        (400, {"error": {"message": "Unrecognized request argument supplied: seed"}}, "seed"),
        (400, [{"error": {"code": 400, "message": 'Unknown name "seed": Cannot find field.'}}], "seed"),
        (400, [{"error": {"message": "the model does not support the stopSequences parameter."}}], "stop"),
        (400, {"code": "400", "message": "Argument not supported on this model: stop"}, "stop"),
        (400, {"error": "Invalid 'stop': array too long. Expected an array with at most 4 entries."}, "stop"),
        (422, {"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted"}]}, "temperature"),
    ],
)
def test_a_parameter_is_known_from_whatever_words_a_server_uses(status, body, name):
    def script(asked: Asked) -> Reply:
        return Reply(status=status, body=body) if name in asked.body else Reply("Yes")

    with OpenAIServer(script) as server:
        assert chat(server).complete("Ask.", max_tokens=5, stop=["\n"]) == "Yes"
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (403, "You are not allowed to request logprobs from this model"),
        (400, "Logprobs is not enabled for models/tiny"),
    ],
)
def test_log_probabilities_may_be_forbidden_in_other_words(status, message):
    def script(asked: Asked) -> Reply:
        return error(status, message) if "logprobs" in asked.body else Reply("Yes")

    with OpenAIServer(script) as server:
        assert chat(server).choose("Is it so?", ("Yes", "No")) == Choice("Yes")
    assert len(server.asked) == 2


def test_a_server_that_goes_on_refusing_what_it_is_not_sent_is_named_and_left():
    with OpenAIServer([error(400, UNSUPPORTED.format("seed"), param="seed")]) as server, pytest.raises(CallFailed):
        chat(server).complete("Ask.", max_tokens=5)
    assert len(server.asked) == 2


def test_a_server_that_refuses_everything_in_turn_is_left_in_the_end():
    with (
        OpenAIServer(
            [error(400, "temperature seed stop max_tokens max_completion_tokens are not supported")]
        ) as server,
        pytest.raises(CallFailed),
    ):
        chat(server).complete("Ask.", max_tokens=5, stop=["\n"])
    assert len(server.asked) == 5


def test_a_model_found_thinking_gets_room_for_thoughts_once_and_for_all():
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


def test_the_operator_may_say_how_much_room_thoughts_get():
    with OpenAIServer([Reply("Paris")]) as server:
        chat(server, thinking_tokens=300).complete("Ask.", max_tokens=5)
        chat(server, thinking_tokens=0).complete("Ask.", max_tokens=5)
    assert [asked.body["max_tokens"] for asked in server.asked] == [305, 5]


def test_a_model_that_uses_up_its_room_is_left_with_a_clear_sentence():
    spent = Reply("<think>Let me see, the capital", finish="length")
    with OpenAIServer([spent]) as server, pytest.raises(CallFailed, match="used up its tokens"):
        chat(server, thinking_tokens=300).complete("Ask.", max_tokens=5)
    assert len(server.asked) == 1
