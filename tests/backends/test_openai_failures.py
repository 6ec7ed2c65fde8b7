"""Every failure of a server becomes one clear sentence, in time, and never an answer."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress

import pytest

from app.backends.llm.openai_client import OpenAIChat, max_reply_bytes
from app.backends.llm.registry import ModelSettings
from app.domain.errors import CallFailed
from tests.backends.openai_asking import KEY, chat
from tests.openai_server import OpenAIServer, Reply, error
from tests.waiting import LONG, LONGER


def failure(server, **fields) -> str:
    with pytest.raises(CallFailed) as caught:
        chat(server, **fields).complete("Ask.", max_tokens=5)
    return str(caught.value)


LIMIT = max_reply_bytes({"max_tokens": 5})


TOO_LARGE = "max_completion_tokens is too large: 104000. This model supports at most 16384 completion tokens."


CALLED = {"type": "function", "function": {"name": "search", "arguments": '{"words": "Paris"}'}}


def completion(**choice) -> Reply:
    return Reply(body={"choices": [{"message": {"content": "Yes"}, "finish_reason": "stop", **choice}]})


FILTERED = ("SPII", "IMAGE_SAFETY", "FinishReason.PROHIBITED_CONTENT", "guardrail_intervened")
CUT_OFF = ("MAX_TOKENS", "max_output_tokens", "model_length", "FinishReason.MAX_TOKENS", "max-tokens", "incomplete")


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), "does not accept the key for the language model tiny (401)"),
        (error(402, "Insufficient credits"), "has no credit left for the language model tiny (402)"),
        (error(403, "Country not supported"), "does not let this key use the language model tiny (403)"),
        (error(404, "The model `tiny` does not exist", code="model_not_found"), "knows no language model tiny"),
        (Reply(status=404, body=b"<html>Not here</html>"), "knows no language model tiny, or its address is wrong"),
        (Reply(status=301, headers={"Location": "http://example.com/"}), "sends requests on to another address (301)"),
        (
            error(400, TOO_LARGE, type="invalid_request_error", code="invalid_value"),
            'down (400): "max_completion_tokens',
        ),
        (error(418, "I am a\nteapot"), 'turned the request for tiny down (418): "I am a teapot"'),
        (error(400, "", code="content_filter"), "The content filter of 127.0.0.1"),
        (Reply(body=b"<html>Hello</html>"), "sent a web page and not a language model's reply"),
        (Reply(body=b'data: {"choices": []}\n\ndata: [DONE]\n\n'), "without an answer: its list of choices is empty."),
        (Reply(body=b"event: ping\n\n: wait\n\n"), "without an answer: its list of choices is empty."),
        (error(429, "Insufficient balance or no resource package.", code="1113"), "has no credit left"),
        (error(401, "Insufficient balance. Manage your billing here."), "has no credit left"),
        (error(400, "Your credit balance is too low to access the API."), "has no credit left"),
        (
            Reply(body={"choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
            'did not send a language model\'s reply: "insufficient balance".',
        ),
        (Reply(None, finish="tool_calls", message={"tool_calls": [CALLED]}), "without any text but called a tool."),
        (Reply("", message={"reasoning_content": "Paris?"}), "replied without any text."),
        (error(403, "Input was flagged", metadata={"reasons": ["violence"]}), "The moderation of 127.0.0.1"),
        (Reply(status=403, body=b"<!DOCTYPE html><title>Just a moment</title>"), "A gateway before 127.0.0.1"),
        (error(400, "This model only supports stream mode"), 'tiny down (400): "This model only supports stream mode"'),
        (completion(finish_reason="SAFETY"), "was stopped by its server's content filter."),
        (Reply(body=b'{"choices": [{"mess'), "did not send a language model's reply."),
        (Reply(body={"choices": [{"message": {"content": [{"type": "image"}]}}]}), "replied without any text."),
        (Reply(body={"choices": []}), "replied without an answer: its list of choices is empty."),
        *((completion(finish_reason=each), "was stopped by its server's content filter.") for each in FILTERED),
        *((completion(message={}, finish_reason=each), "used up its tokens before it wrote") for each in CUT_OFF),
        (Reply(status=418, body=b'data: {"error": {"message": "Too hot"}}\n\n'), 'down (418): "Too hot"'),
        (completion(finish_reason="content_filter"), "was stopped by its server's content filter."),
        (completion(message={"content": ""}, finish_reason="length"), "used up its tokens before it wrote an answer"),
        (Reply("Yes" * LIMIT), f"sent more than {LIMIT:,} bytes in one reply."),
        (error(500, "no" * LIMIT), f"sent more than {LIMIT:,} bytes in one reply."),
    ],
)
def test_a_bad_reply_is_one_clear_sentence_and_is_not_retried(reply, sentence):
    with OpenAIServer([reply]) as server:
        said = failure(server)
    assert sentence in said
    assert "tiny" in said or "127.0.0.1" in said
    assert KEY not in said and "Traceback" not in said and "\n" not in said
    assert len(server.asked) <= 2


@pytest.mark.parametrize(
    "reply",
    [
        error(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
        error(
            400,
            "'max_tokens' is too large: 500. This model's maximum context length is 4096 tokens",
            param="max_tokens",
        ),
        Reply(status=413, body=b"too large"),
    ],
)
def test_a_context_overflow_is_named_and_not_taken_for_a_refused_parameter(reply):
    with OpenAIServer([reply]) as server:
        assert "The prompt is too long for the language model tiny" in failure(server)
    assert len(server.asked) == 1


def test_a_transient_failure_is_retried_silently():
    with OpenAIServer([error(500), Reply("Yes", cut=True), Reply(None), Reply("Yes")]) as server:
        assert chat(server).complete("Ask.", max_tokens=5) == "Yes"
    assert len(server.asked) == 4


@pytest.mark.parametrize("reply", [Reply("Yes", delay=LONGER), Reply("Yes", drip=1)], ids=["hung", "dripping"])
def test_a_hanging_or_dripping_server_is_given_up_at_the_deadline(reply):
    started = time.monotonic()
    with OpenAIServer([reply]) as server:
        said = failure(server, seconds=1)
    assert said == f"The language model tiny at 127.0.0.1:{server.port} did not answer within 1 seconds."
    assert 0.9 < time.monotonic() - started < LONG
    assert len(server.asked) == 1


def test_a_server_that_cannot_be_asked_is_reported_with_the_reason():
    with OpenAIServer([Reply(body=b"no gzip", headers={"Content-Encoding": "gzip"})]) as server:
        assert "could not be asked (DecodingError" in failure(server)
        assert "offers no secure connection that can be trusted." in failure(server.url.replace("http:", "https:"))
    assert f"server 127.0.0.1:{server.port} cannot be reached" in failure(server.url)
    assert "server nowhere.invalid cannot be found" in failure("http://nowhere.invalid/v1")


def test_a_server_that_does_not_speak_http_is_reported():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_greet_like_a_mail_server, args=(listening,), daemon=True).start()
        said = failure(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
    assert "closed the connection without a valid reply." in said


def _greet_like_a_mail_server(listening: socket.socket) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"220 mail.example ESMTP\r\n\r\n")


def test_an_unusable_model_names_the_responsible_setting():
    model = OpenAIChat(ModelSettings("Tiny", "tiny", "http://127.0.0.1:1/v1", f"{KEY}\n"), 5)
    with pytest.raises(CallFailed) as caught:
        model.complete("Ask.", max_tokens=5)
    assert str(caught.value) == (
        "The language model Tiny cannot be asked. Its key holds characters that no key has: look at OPENAI_API_KEY."
    )
