"""Gateways in front of a model get the key, headers, query and fields that they ask for."""

from __future__ import annotations

import pytest

from app.domain.errors import CallFailed
from app.domain.instrumentation import MemoryStore, use_stores
from tests.backends.openai_asking import KEY, chat
from tests.openai_server import OpenAIServer, Reply

AZURE = {"headers": {"api-key": "{key}"}, "extra": {"reasoning_effort": "low"}}


def test_azures_classic_endpoint_gets_its_key_version_and_fields():
    with OpenAIServer([Reply("Paris")]) as server:
        url = f"http://127.0.0.1:{server.port}/openai/deployments/mini?api-version=2024-10-21"
        assert chat(url, **AZURE).complete("Ask.", max_tokens=5) == "Paris"
    (asked,) = server.asked
    assert asked.path == "/openai/deployments/mini/chat/completions?api-version=2024-10-21"
    assert asked.headers["api-key"] == KEY and "authorization" not in asked.headers
    assert asked.body["reasoning_effort"] == "low"


def test_a_header_without_the_key_is_sent_beside_the_key():
    with OpenAIServer([Reply("Paris")]) as server:
        chat(server, headers={"x-team": "facts"}).complete("Ask.", max_tokens=5)
    assert server.asked[0].headers["x-team"] == "facts" and server.asked[0].headers["authorization"] == f"Bearer {KEY}"


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
