"""What servers do that speak OpenAI's protocol in their own way: parts, reasoning, late errors, refused forms."""

from __future__ import annotations

import json

import pytest

from app.backends.http import HttpResult
from app.backends.llm.negotiation import parse_reply
from app.domain.errors import CallFailed
from app.domain.events import TroubleMet
from app.domain.instrumentation import listening
from app.modules.prompted import PromptedClaimVerifier
from tests.backends.openai_asking import chat, used_by
from tests.modules.prompted.cases import AUTHOR, CLAIM
from tests.openai_server import OpenAIServer, Reply, error


def text_of(content) -> str | None:
    body = {"choices": [{"message": {"content": content}}]}
    return parse_reply(HttpResult(200, content=json.dumps(body).encode())).text


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (
            [{"type": "thinking", "thinking": [{"type": "text", "text": "Rome?"}]}, {"type": "text", "text": "Paris"}],
            "Paris",
        ),
        ([{"type": "text", "text": "In "}, {"type": "text", "text": "Paris"}], "In Paris"),
        (["In ", "Paris"], "In Paris"),
        ([{"type": "text", "text": {"value": "Paris", "annotations": []}}], "Paris"),
        ([{"type": "thinking", "thinking": "Rome?"}], None),
        ([{"type": "text", "text": None}, None, 4], ""),
    ],
)
def test_a_list_of_parts_is_the_text_of_its_parts_without_reasoning(parts, text):
    assert text_of(parts) == text


@pytest.mark.parametrize(
    "reasoned",
    [
        "<think>Rome? True.</think>Paris",
        "<think duration='3'>Rome?</think>Paris",
        "◁think▷Rome?◁/think▷Paris",
        "[THINK]Rome?[/THINK]Paris",
        '<details type="reasoning" done="true"><summary>Thought</summary>Rome?</details>Paris',
        "<|begin_of_thought|>Rome?<|end_of_thought|><|begin_of_solution|>Paris<|end_of_solution|>",
        "<|START_THINKING|>Rome?<|END_THINKING|><|START_TEXT|>Paris<|END_TEXT|>",
        "<|START_THINKING|>Rome?<|END_THINKING|><|START_RESPONSE|>Paris<|END_RESPONSE|>",
        "<unused94>thought\nRome?<unused95>Paris",
        "Rome? I think.</think>Paris",
        "<think>Rome <think>or Oslo?</think></think>Paris",
        "<|channel|>analysis<|message|>Rome?<|end|><|start|>assistant<|channel|>final<|message|>Paris<|return|>",
        "analysisWe need a city. Rome?assistantfinalParis",
        "assistantfinalParis",
        "<思考>Rome?</思考>Paris",
        "Paris<think>Or Rome",
        "<|begin_of_box|>Paris<|end_of_box|>",
        "Paris<|im_end|>",
        "Paris<|im_end>",
        "|startthink|Rome?|endthink|Paris",
        "<|start_header_id|>assistant<|end_header_id|>\n\nParis<|eot_id|>",
        "<|assistant|>\nParis</s>",
        "|assistant|Paris",
        "<|im_start|>assistant\nParis<|im_end|>",
        "<start_of_turn>model\nParis<end_of_turn>",
        "Paris<｜end▁of▁sentence｜>",
    ],
)
def test_reasoning_in_any_known_mark_is_no_part_of_the_reply(reasoned):
    assert text_of(reasoned) == "Paris"


@pytest.mark.parametrize(
    "reasoned",
    [
        "<think>Paris? Rome",
        "◁think▷Paris",
        "<|channel|>analysis<|message|>Paris",
        "analysisWe need Paris",
    ],
)
def test_reasoning_that_was_cut_off_is_no_reply(reasoned):
    assert text_of(reasoned) == ""


@pytest.mark.parametrize(
    "plain", ["Paris [think tank]", "I think: <b>Paris</b>", "Reason: Paris", "analysis of Paris", "[1] Paris", "2 < 3"]
)
def test_text_without_such_marks_stays(plain):
    assert text_of(plain) == plain


@pytest.mark.parametrize(
    "text",
    [
        '{"enough": "Yes"} The claim is about Hamlet {a play}.',
        '```json\n{"enough": "Yes"}\n```\nI hope this helps.',
        '<think>{"enough": "No"}</think>{"enough": "Yes"}',
        '[{"enough": "Yes"}]',
        '{"enough": "Yes",}',
        "{'enough': 'Yes'}",
        '{"enough": "Yes" // as the answer says\n}',
        'Here: {enough: "Yes"}',
        "{“enough”: “Yes”}",
        '{"why": "It says\n"Hamlet" there", "enough": "Yes"}',
        '{"enough": true}',
        '"{\\"enough\\": \\"Yes\\"}"',
        '{"name": "enough", "arguments": {"enough": "Yes"}}',
        '{"Enough": "true"}',
        '{"enough": 1}',
        '{"ENOUGH": ["yes."]}',
        '{"response": {"enough": {"value": true}}}',
    ],
)
def test_json_is_read_with_words_before_and_after_it_and_with_common_errors(text):
    with OpenAIServer([Reply(text)], has_json_schema=True) as server:
        assert PromptedClaimVerifier(chat(server)).is_sufficient(CLAIM, (AUTHOR,)).holds
    assert len(server.asked) == 1


CALLED = {"name": "enough", "arguments": '{"enough": "Yes"}'}


@pytest.mark.parametrize(
    "message", [{"tool_calls": [{"type": "function", "function": CALLED}]}, {"function_call": CALLED}]
)
def test_json_may_stand_in_the_arguments_of_a_called_function(message):
    with OpenAIServer([Reply(None, finish="tool_calls", message=message)], has_json_schema=True) as server:
        assert PromptedClaimVerifier(chat(server)).is_sufficient(CLAIM, (AUTHOR,)).holds
    assert len(server.asked) == 1


CHUNKS = (
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"index": 0, "delta": {"content": "Par"}}]},
    {"choices": [{"index": 0, "delta": {"content": "is"}, "finish_reason": "stop"}], "usage": None},
    {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": None}},
)


def test_a_reply_that_is_streamed_unasked_is_read():
    stream = ": wait\r\n\r\n" + "".join(f"data: {json.dumps(each)}\r\n\r\n" for each in CHUNKS) + "data: [DONE]\n\n"
    replies = [Reply(body=b'data: {"error": {"message": "Overloaded"}}\n\n'), Reply(body=stream.encode())]
    with OpenAIServer(replies) as server:
        used = used_by(lambda: chat(server).complete("Ask.", max_tokens=5))
        assert chat(server).complete("Ask.", max_tokens=5) == "Paris"
    assert (used.prompt_tokens, used.completion_tokens) == (30, 0)


WHOLE = json.dumps({"choices": [{"message": {"content": "Paris"}, "finish_reason": {"type": "stop"}}]})


@pytest.mark.parametrize(
    "body",
    [
        f"{WHOLE}data: [DONE]\n\n",
        f"data: data: {WHOLE}\n\n",
        f"data: : PROCESSING\n\ndata: {WHOLE}\n\n",
        f": PROCESSING\n\n: PROCESSING\n\n{WHOLE}",
        f"\ufeffdata:{WHOLE}\r\rdata: [DONE]\r\r",
        "".join(f"data: {line}\n" for line in json.dumps(json.loads(WHOLE), indent=1).splitlines()),
        f"{WHOLE}{WHOLE}",
        f'data: {{"choices": [{{"delta": {{"content": "Pa"}}}}]}}\n\ndata: {WHOLE}\n\n',
        f'data: {{"choices": [{{"del\n\ndata: {WHOLE}\n\n',
    ],
)
def test_a_whole_reply_between_marks_of_a_stream_is_read(body):
    with OpenAIServer([Reply(body=body.encode(), headers={"Content-Type": "text/event-stream"})]) as server:
        assert chat(server).complete("Ask.", max_tokens=5) == "Paris"


LATE_ERRORS = [
    {"error": {"message": "No provider left", "code": 502}},
    {"error": "upstream timed out"},
    {"object": "error", "message": "CUDA error", "code": 500},
    {"choices": [{"message": {"content": "Half an answ"}, "finish_reason": "error"}]},
    [{"error": {"message": "Overloaded", "status": 503}}],
    {"success": False, "errors": [{"message": "Gone", "code": 7009}]},
]


@pytest.mark.parametrize("body", LATE_ERRORS)
def test_an_error_in_a_reply_with_status_200_is_retried_and_then_a_failure(body):
    with OpenAIServer([Reply(body=body), Reply("Paris")]) as server:
        assert chat(server).complete("Ask.", max_tokens=5) == "Paris"
    with OpenAIServer([Reply(body=body)]) as server, pytest.raises(CallFailed):
        chat(server).complete("Ask.", max_tokens=5)
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (401, "does not accept the key"),
        (402, "has no credit"),
        (429, "too many requests"),
        (500, r'failed \(500\): "No."'),
    ],
)
def test_an_error_in_a_reply_with_status_200_is_named_by_its_code(code, sentence):
    reply = Reply(body={"error": {"message": "No.", "code": code}})
    with OpenAIServer([reply]) as server, pytest.raises(CallFailed, match=sentence):
        chat(server).complete("Ask.", max_tokens=5)


REFUSALS = [
    error(400, "Unknown name additionalProperties at response_schema: Cannot find field."),
    error(400, "System role not supported"),
    error(400, "Das Schema wird nicht akzeptiert."),
    error(501, "not implemented"),
    Reply(status=500, body=b"<html>Internal Server Error</html>"),
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_schema_or_system_role_that_is_refused_in_any_words_is_not_sent_again(refusal):
    def script(asked):
        roles = {message["role"] for message in asked.body["messages"]}
        return refusal if "system" in roles or "response_format" in asked.body else Reply("Yes")

    with OpenAIServer(script, has_json_schema=True) as server:
        model = chat(server)
        for _ in range(2):
            assert PromptedClaimVerifier(model).is_sufficient(CLAIM, (AUTHOR,)).holds
    assert len(server.asked) == 3


@pytest.mark.parametrize("name", ["logprobs", "seed", "temperature", "stop"])
def test_a_parameter_that_is_refused_in_any_words_is_not_sent_again(name):
    def script(asked):
        return error(422, "Diese Anfrage ist nicht erlaubt.") if name in asked.body else Reply("Yes")

    with OpenAIServer(script) as server:
        model = chat(server)
        for _ in range(2):
            if name == "stop":
                assert model.complete("Ask.", max_tokens=5, stop=("\n",)) == "Yes"
            else:
                assert model.choose("Ask.", ("Yes", "No")).option == "Yes"
    assert len(server.asked) == 3


def test_an_outage_at_the_first_request_teaches_nothing_about_schemas():
    replies = [error(500, "down")] * 5 + [Reply('{"enough": "Yes"}')]
    with OpenAIServer(replies, has_json_schema=True) as server:
        model = chat(server)
        with pytest.raises(CallFailed):
            PromptedClaimVerifier(model).is_sufficient(CLAIM, (AUTHOR,))
        assert PromptedClaimVerifier(model).is_sufficient(CLAIM, (AUTHOR,)).holds
    assert "response_format" in server.asked[-1].body


def test_a_refusal_after_an_accepted_request_is_a_failure():
    with OpenAIServer([Reply('{"enough": "Yes"}'), error(400, "No.")], has_json_schema=True) as server:
        model = chat(server)
        assert PromptedClaimVerifier(model).is_sufficient(CLAIM, (AUTHOR,)).holds
        with pytest.raises(CallFailed, match="turned the request for tiny down"):
            PromptedClaimVerifier(model).is_sufficient(CLAIM, ())
    assert len(server.asked) == 2


@pytest.mark.parametrize("end", ["", "/", "/chat/completions", "/chat/completions/", "/responses"])
def test_a_base_address_may_be_that_of_an_endpoint_and_its_query_follows_the_path(end):
    with OpenAIServer([Reply("Paris")]) as server:
        assert chat(f"{server.url}{end}?api-version=1&x=a%20b").complete("Ask.", max_tokens=5) == "Paris"
    assert server.asked[0].path == "/v1/chat/completions?api-version=1&x=a+b"


@pytest.mark.parametrize(("tokens", "is_noted"), [(64, True), (300, True), (500, False), (650, False), (0, False)])
def test_a_prompt_that_the_server_cut_is_noted_on_the_step(tokens, is_noted):
    notices = []
    with OpenAIServer([Reply("Paris", usage=(tokens, 2))]) as server, listening(notices.append):
        chat(server).complete("word " * 505, max_tokens=5)
    noted = [str(each.message) for each in notices if isinstance(each, TroubleMet)]
    assert bool(noted) is is_noted and all("127.0.0.1" in each for each in noted)


@pytest.mark.parametrize("piece", ["A. B. C. ", "9", "Paris ", "<think>", "b<think>a</think>"])
def test_a_reply_has_no_more_characters_than_its_tokens_can_hold(piece):
    with OpenAIServer([Reply(piece * (400_000 // len(piece)) + "x")]) as server:
        assert len(chat(server).complete("Ask.", max_tokens=50)) <= 600
