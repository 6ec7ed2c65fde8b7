"""A model's reply that could not be read is neither replayed nor asked for again in the same words."""

from __future__ import annotations

import pytest

from app.backends.llm.openai_client import OpenAIChat
from app.backends.llm.registry import ModelSettings
from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import Call, cached_call, cached_if_readable, use_stores
from app.domain.model import Claim, Hop, HopStatus, Question
from app.modules.prompted import FIRST_INSTRUCTIONS, INSTRUCTIONS_AFTER_FAILURE, PromptedQuestioner
from tests.openai_server import OpenAIServer, Reply
from tests.stores import JsonStore

CLAIM = Claim("The author of Hamlet was born in England.")
NO_QUESTION = Hop(1, Question(""), status=HopStatus.FAILED)


def model_at(server: OpenAIServer) -> OpenAIChat:
    return OpenAIChat(ModelSettings("gpt", "gpt", server.url, "key"), 10)


def test_neither_of_two_unreadable_choices_is_stored():
    store = JsonStore()
    with OpenAIServer([Reply("Perhaps.")]) as server, use_stores(store):
        for _ in range(2):
            with pytest.raises(UnparseableOutput):
                model_at(server).choose("Yes or no?", ("Yes", "No"))
    assert len({asked.prompt for asked in server.asked}) == len(server.asked) == 2 and not store.replies


def test_a_second_hop_asks_for_the_question_in_words_not_used_before():
    instructions = (*FIRST_INSTRUCTIONS, *INSTRUCTIONS_AFTER_FAILURE)
    with OpenAIServer([Reply("I would rather not.")]) as server, use_stores(JsonStore()):
        for failed in ((), (NO_QUESTION,)):
            with pytest.raises(UnparseableOutput):
                PromptedQuestioner(model_at(server)).next_question(CLAIM, (), failed)
    assert len({asked.prompt for asked in server.asked}) == len(server.asked) == len(instructions)


def test_calls_made_twice_in_one_reading_are_computed_once():
    made = []
    with use_stores(store := JsonStore()), cached_if_readable():
        for _ in range(2):
            cached_call(Call("judge", {}), lambda: made.append(1) or "yes")
    assert made == [1] and len(store.replies) == 1
