"""SmolLM2 behind llama.cpp's own OpenAI-compatible server on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from app.backends.llm.openai_client import OpenAIChat
from app.backends.llm.registry import ModelSettings
from app.modules.prompted import question_prompts, sufficiency_prompts
from tests.backends.openai_asking import llama_server, used_by
from tests.modules.prompted.cases import AUTHOR, CLAIM

pytestmark = [pytest.mark.models, pytest.mark.slow]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The base URL of a running llama.cpp server."""
    with llama_server() as address:
        yield f"{address}/v1"


@pytest.fixture(scope="module")
def model(url: str) -> OpenAIChat:
    return OpenAIChat(ModelSettings("SmolLM2", "smollm2", url), 300)


def test_it_completes_up_to_the_stop_string_and_counts_its_tokens(model):
    said = []
    usage = used_by(lambda: said.append(model.complete("Name three colours.", max_tokens=20, stop=["\n"])))
    assert said[0].strip() and "\n" not in said[0]
    assert usage.calls == 1
    assert usage.prompt_tokens > 5 and 0 < usage.completion_tokens <= 20
    assert usage.cost is None


def test_it_replies_in_json_that_fits_the_schema_and_chooses_by_the_probability_of_the_value(model):
    for context in ((), (AUTHOR,)):
        (question,) = json.loads(model.complete_chat(question_prompts(CLAIM, context)[1], max_tokens=96)).values()
        assert question.strip()
    choice = model.choose_in_chat(sufficiency_prompts(CLAIM, (AUTHOR,))[1], ("Yes", "No"))
    assert choice.option in ("Yes", "No") and 0.5 <= choice.probability <= 1
