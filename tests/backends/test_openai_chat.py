"""A language model behind a server: greedy requests, usage accounting and cached replies."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.backends.llm.openai_client import SEED, OpenAIChat, Sampling
from app.backends.llm.registry import ModelSettings
from app.domain.instrumentation import use_stores
from app.domain.model import Usage
from tests.backends.openai_asking import KEY, chat, used_by
from tests.openai_server import OpenAIServer, Reply
from tests.stores import JsonStore
from tests.waiting import LONG


def test_a_prompt_is_sent_as_one_user_message_with_greedy_decoding():
    with OpenAIServer([Reply("Who wrote Hamlet?")]) as server:
        assert chat(server).complete("Ask.", max_tokens=20, stop=["\n"]) == "Who wrote Hamlet?"
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "Ask."}],
        "max_tokens": 20,
        "temperature": 0,
        "seed": SEED,
        "stop": ["\n"],
    }


def test_a_run_may_have_its_own_seed_temperature_and_tokens_and_others_keep_theirs():
    with OpenAIServer([Reply("Yes")]) as server:
        usual = chat(server)
        usual.sampled(Sampling(42, 0.7, 300)).complete("Ask.", max_tokens=20)
        usual.complete("Ask.", max_tokens=20)
    sent = [tuple(asked.body[name] for name in ("seed", "temperature", "max_tokens")) for asked in server.asked]
    assert sent == [(42, 0.7, 300), (SEED, 0, 20)]


@pytest.mark.parametrize(
    ("body_text", "text"),
    [
        (" Paris.\n\nMore", "Paris."),
        ("<think>It is\na capital.</think>\n\nParis\nB", "Paris"),
    ],
)
def test_the_text_is_cut_at_the_stop_string_when_the_server_ignores_it(body_text, text):
    completion = {"choices": [{"message": {"content": body_text}, "finish_reason": "stop"}]}
    with OpenAIServer([Reply(body=completion)]) as server:
        assert chat(server).complete("Ask.", max_tokens=5, stop=["\n"]) == text


def test_tokens_are_counted_by_the_server_and_cost_needs_a_price():
    with OpenAIServer([Reply("Yes", usage=(1000, 50))]) as server:
        free = used_by(lambda: chat(server).complete("Ask.", max_tokens=5))
        paid = used_by(lambda: chat(server, prompt_price=2.0, completion_price=10.0).complete("Ask.", max_tokens=5))
    assert free == Usage(1, 1000, 50)
    assert paid == Usage(1, 1000, 50, cost=pytest.approx(0.0025))


def test_a_repeated_call_is_served_from_the_cache_and_counted_as_cached():
    store = JsonStore()
    with OpenAIServer([Reply("Yes")]) as server, use_stores(store):
        model = chat(server, prompt_price=1.0, completion_price=1.0)
        first = model.complete("Ask.", max_tokens=5)
        assert used_by(lambda: model.complete("Ask.", max_tokens=5)) == Usage(cached=1)
        assert model.complete("Ask.", max_tokens=5) == first
        assert len(server.asked) == 1
        model.complete("Ask.", max_tokens=6)
        model.complete("Ask!", max_tokens=5)
        model.complete("Ask.", max_tokens=5, stop=["\n"])
        assert len(server.asked) == 4
    assert all(call.costly for call in store.calls)
    assert len({call.key for call in store.calls}) == 4


def test_cached_replies_are_not_shared_between_models_or_servers():
    store = JsonStore()
    with OpenAIServer([Reply("Yes")]) as one, OpenAIServer([Reply("No")]) as other, use_stores(store):
        chat(one).complete("Ask.", max_tokens=5)
        assert chat(other).complete("Ask.", max_tokens=5) == "No"
        OpenAIChat(ModelSettings("Tiny", "small", one.url, KEY), 5).complete("Ask.", max_tokens=5)
    assert len(one.asked) == 2


def test_several_threads_call_concurrently():
    everyone = threading.Barrier(4, timeout=LONG)

    def script(asked):
        everyone.wait()  # no reply is sent before all requests have arrived
        return Reply(asked.prompt)

    with OpenAIServer(script) as server, ThreadPoolExecutor(4) as pool:
        model = chat(server)
        assert list(pool.map(lambda prompt: model.complete(prompt, max_tokens=5), "abcd")) == list("abcd")
