"""Any bytes that a server sends are parsed as a reply or rejected with a one-line error, without a crash."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.backends.http import HttpResult
from app.backends.llm.negotiation import Reply, choose_option, error_message, parse_reply, refused_parameter
from app.backends.llm.registry import ModelSettings

MODEL = ModelSettings("Tiny", "tiny", "http://127.0.0.1:1/v1", "sk-key")

WORDS = st.sampled_from(
    "choices message content refusal finish_reason logprobs token logprob top_logprobs usage prompt_tokens error "
    "param code stop seed temperature unsupported Yes".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=15,
)
CHOICE = st.fixed_dictionaries({"message": JSON | st.fixed_dictionaries({"content": JSON, "refusal": JSON})})
COMPLETIONS = JSON | st.fixed_dictionaries({"choices": JSON | st.lists(CHOICE | JSON, max_size=2), "usage": JSON})


@given(COMPLETIONS)
def test_any_json_is_parsed_or_rejected(body):
    reply = parse_reply(HttpResult(200, content=json.dumps(body).encode()))
    if reply is not None:
        assert "\0" not in (reply.text or "").encode().decode()
        assert reply.prompt_tokens >= 0 and reply.completion_tokens >= 0


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_rejected_without_a_crash(content):
    assert parse_reply(HttpResult(200, content=content)) is None


@given(st.integers(300, 599), COMPLETIONS.map(lambda body: json.dumps(body).encode()) | st.binary(max_size=200))
@example(403, b'{"param": []}')
def test_any_error_becomes_one_line(status, content):
    outcome = HttpResult(status, content=content)
    said = error_message(outcome, MODEL, 60)
    assert said.isprintable() and len(said) < 400
    assert refused_parameter(outcome, {"seed": 1, "stop": []}) in (None, "seed", "stop")


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"choices": ' * 50_000])
def test_deeply_nested_json_is_rejected(content):
    assert parse_reply(HttpResult(200, content=content)) is None


@pytest.mark.parametrize("logprob", ["NaN", "-Infinity", "1e999", '"low"'])
def test_a_log_probability_that_is_not_a_number_is_ignored(logprob):
    token = f'{{"token": "Yes", "logprob": -0.1, "top_logprobs": [{{"token": "Yes", "logprob": {logprob}}}]}}'
    body = f'{{"choices": [{{"message": {{"content": "Yes"}}, "logprobs": {{"content": [{token}]}}}}]}}'
    reply = parse_reply(HttpResult(200, content=body.encode()))
    assert reply == Reply("Yes", "", "", {}, 0, 0)
    assert choose_option("Yes", reply.first, ("Yes", "No")).probability is None


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("<think>\nParis?\n</think>\n\nRome", "Rome"),
        ("Pa\0ris", "Paris"),
        ("\ud83d Paris", "? Paris"),
    ],
)
def test_thinking_and_unstorable_characters_are_removed(written, text):
    body = {"choices": [{"message": {"content": written}}]}
    assert parse_reply(HttpResult(200, content=json.dumps(body).encode())).text == text
