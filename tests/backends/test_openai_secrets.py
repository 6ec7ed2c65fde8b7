"""A planted API key appears nowhere in what the back end logs, raises, stores or shows."""

from __future__ import annotations

import pytest

from app.backends.http import quoted
from tests.backends.openai_asking import KEY, chat
from tests.openai_server import OpenAIServer, Reply, error
from tests.stores import left_by

ECHO = f"You sent 'Bearer {KEY}', {KEY}!"
SERVERS = {
    "fine": Reply("Yes"),
    "wrong key": error(401, ECHO),
    "bad request": error(400, ECHO),
    "refused parameter": error(400, f"unsupported parameter 'seed' {ECHO}", param="seed"),
    "broken": error(500, ECHO),
    "refusal": Reply(None, message={"refusal": ECHO}),
    "error in a 200": Reply(body={"error": {"message": ECHO}}),
    "no JSON": Reply(body=ECHO.encode()),
    "hung": Reply("Yes", delay=30),
}


@pytest.mark.parametrize("reply", SERVERS.values(), ids=SERVERS.keys())
def test_a_planted_key_is_in_no_log_error_trace_event_cache_or_repr(reply, caplog):
    with OpenAIServer([reply]) as server:
        model = chat(server, seconds=0.5 if reply.delay else 10)
        left = left_by(lambda: model.complete("Ask.", max_tokens=5), model._transport.open, caplog)
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"  # the key was sent, so it could have leaked
    assert KEY not in left + repr(model) + repr(model._model) + repr(model._transport)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"Wrong key {KEY} in\nline 1\x1b[31m", "Wrong key [key] in line 1[31m"),
        (f"{'x' * 150} {KEY} {'y' * 150}", f"{'x' * 150} [key] {'y' * 43}"),
        (f"It was {KEY[:5]}\0{KEY[5:]}", "It was [key]"),
        (f"{'x' * 190} {KEY}", f"{'x' * 190} [key]"),
    ],
)
def test_a_servers_message_is_quoted_on_one_short_line_without_the_key(text, said):
    assert quoted(text, KEY) == said
