"""Gateways in front of a model get the key, headers, query and fields that they ask for."""

from __future__ import annotations

import json

import pytest

from app.domain.errors import CallFailed
from app.domain.instrumentation import MemoryStore, use_stores
from app.domain.model import Usage
from app.domain.ports import OptionChoice
from app.modules.prompted import PromptedClaimVerifier
from tests.backends.openai_asking import KEY, chat, used_by
from tests.modules.prompted.cases import AUTHOR, CLAIM
from tests.openai_server import Asked, OpenAIServer, Reply

AZURE = {"headers": {"api-key": "{key}"}, "extra": {"reasoning_effort": "low"}}


def test_azures_classic_endpoint_gets_its_key_version_and_fields():
    with OpenAIServer([Reply("Paris")]) as server:
        url = f"http://127.0.0.1:{server.port}/openai/deployments/mini?api-version=2024-10-21"
        assert chat(url, **AZURE).complete("Ask.", max_tokens=5) == "Paris"
    (asked,) = server.asked
    assert asked.path == "/openai/deployments/mini/chat/completions?api-version=2024-10-21"
    assert asked.headers["api-key"] == KEY and "authorization" not in asked.headers
    assert asked.body["reasoning_effort"] == "low"


def test_replies_are_shared_only_between_requests_with_the_same_fields():
    with OpenAIServer([Reply("Paris")]) as server, use_stores(MemoryStore()):
        for effort in ("low", "low", "high"):
            chat(server, extra={"reasoning_effort": effort}).complete("Ask.", max_tokens=5)
    assert [asked.body["reasoning_effort"] for asked in server.asked] == ["low", "high"]


@pytest.mark.parametrize(
    ("path", "is_hinted"), [("", True), ("/", True), ("/v1", False), ("/openai/deployments/x", False)]
)
def test_an_address_without_a_path_that_is_not_found_gets_the_hint_to_add_one(path, is_hinted):
    with OpenAIServer([Reply(status=404, body=b"")]) as server, pytest.raises(CallFailed) as caught:
        chat(f"http://127.0.0.1:{server.port}{path}").complete("Ask.", max_tokens=5)
    assert ("/v1" in str(caught.value)) == is_hinted


def response(text: str = "Paris", **fields) -> Reply:
    """Return a reply of OpenAI's Responses API, with reasoning before the message."""
    token = {"token": text, "logprob": -0.1, "top_logprobs": [{"token": text, "logprob": -0.1}]}
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": [token]}
    message = {"type": "message", "role": "assistant", "content": [part]}
    output = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Rome?"}]}, message]
    usage = {"input_tokens": 30, "output_tokens": 4}
    return Reply(body={"object": "response", "status": "completed", "output": output, "usage": usage, **fields})


def asked_in_responses(reply: Reply, ask) -> list[Asked]:
    """Let `ask` use a model whose server has the Responses API only; return what was asked."""
    with OpenAIServer(lambda asked: reply if asked.path == "/v1/responses" else Reply(status=404)) as server:
        ask(chat(server, api="responses"))
    return server.asked


def test_a_server_with_the_responses_api_only_is_asked_in_its_form_and_stores_nothing():
    def ask(model) -> None:
        assert used_by(lambda: model.complete("Ask.", max_tokens=40, stop=("\n",))) == Usage(1, 30, 4)

    (asked,) = asked_in_responses(response(), ask)
    assert asked.body == {
        "model": "tiny",
        "input": [{"role": "user", "content": "Ask."}],
        "max_output_tokens": 40,
        "temperature": 0,
        "store": False,
    }


def test_a_response_is_cut_at_the_stop_strings_that_its_api_does_not_take():
    def ask(model) -> None:
        assert model.complete("Ask.", max_tokens=40, stop=("\n",)) == "Paris"

    asked_in_responses(response("Paris\nQuestion"), ask)


def test_a_choice_is_made_by_the_probabilities_of_a_response():
    def ask(model) -> None:
        assert model.choose("Yes or no?", ("Yes", "No")) == OptionChoice("Yes", 1.0)

    (asked,) = asked_in_responses(response("Yes"), ask)
    assert asked.body["include"] == ["message.output_text.logprobs"] and asked.body["top_logprobs"] == 20


def test_a_schema_is_asked_for_in_the_form_of_the_responses_api():
    def ask(model) -> None:
        assert PromptedClaimVerifier(model).is_sufficient(CLAIM, (AUTHOR,)).holds

    (asked,) = asked_in_responses(response('{"enough": "Yes"}'), ask)
    assert asked.body["text"]["format"]["type"] == "json_schema" and asked.body["text"]["format"]["schema"]
    assert [each["role"] for each in asked.body["input"]][:: len(asked.body["input"]) - 1] == ["system", "user"]


@pytest.mark.parametrize("last", [response().body, {"status": "completed", "output": []}])
def test_a_response_that_is_streamed_unasked_is_read(last):
    texts = [{"type": "response.output_text.delta", "delta": each} for each in ("Par", "is")]
    created = {"type": "response.created", "response": {"output": []}}
    events = (created, *texts, {"type": "response.completed", "response": last})
    stream = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    said = []
    asked_in_responses(Reply(body=stream.encode()), lambda model: said.append(model.complete("Ask.", max_tokens=40)))
    assert said == ["Paris"]


REFUSED = [{"type": "message", "content": [{"type": "refusal", "refusal": "I can't say that."}]}]


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (response(output=REFUSED), 'declined to answer: "I can\'t say that."'),
        (response(output=[]), "replied without any text"),
        (response("", status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "used up its tokens"),
        (response(status="failed", error={"code": "server_error", "message": "Gone"}), 'failed (502): "Gone"'),
        (Reply(body={"output": "Paris"}), "did not send a language model's reply"),
        (response(output=[None, {"type": "message"}, {"type": "message", "content": [None, 3]}]), "without any text"),
    ],
)
def test_a_response_without_an_answer_is_named_in_the_same_sentences(reply, sentence):
    def ask(model) -> None:
        with pytest.raises(CallFailed) as caught:
            model.complete("Ask.", max_tokens=40)
        assert sentence in str(caught.value)

    asked_in_responses(reply, ask)
