"""SmolLM2 behind llama.cpp's own OpenAI-compatible server on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from app.backends.llm.openai_client import OpenAIChat
from app.backends.llm.registry import ModelSettings
from app.config.settings import Settings
from app.container.container import Container
from app.domain.errors import CallFailed
from app.domain.model import HopStatus, Origin, RunOptions
from app.modules.prompted import question_prompts, sufficiency_prompts
from tests.backends.openai_asking import CONTEXT_TOKENS, llama_server, used_by
from tests.local_files import FILES
from tests.modules.prompted.cases import AUTHOR, CLAIM
from tests.one_claim import checked
from tests.tiny import tiny_t5

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


def test_it_chooses_by_the_probabilities_from_the_server(model):
    choice = model.choose("Is Paris the capital of France? Answer with one word, Yes or No.", ("Yes", "No"))
    assert choice.option in ("Yes", "No")
    assert choice.probability is not None and 0.5 <= choice.probability <= 1


def test_a_prompt_that_is_too_long_is_reported(model):
    with pytest.raises(CallFailed, match=r"The prompt is too long for the language model smollm2 at 127\.0\.0\.1"):
        model.complete("word " * 2 * CONTEXT_TOKENS, max_tokens=5)


@pytest.mark.timeout(900)
def test_a_whole_run_ends_and_reports_the_outcome_of_every_step(url, tmp_path):
    """SmolLM2 decides nothing reliably; the test is that each call is made, counted, and parsed or rejected.

    It writes no complete question through a chat, so the local generator asks; it rarely recites an answer, so a tiny
    FLAN-T5 answers, and the pair is validated, checked for sufficiency and concluded from.
    """
    settings = {
        "INSTANCE": str(tmp_path),
        "OPENAI_BASE_URL": url,
        "OPENAI_MODEL": "smollm2",
        "PRESET": "prompted",
        "QUESTION_GENERATOR": "local",
        "QUESTION_MODEL": str(FILES[0]),
        "READ_WITH": "model",
        "FLAN_T5": str(tiny_t5(tmp_path / "t5", "Hamlet William Shakespeare England")),
        "CALL_SECONDS": "300",
    }
    options = RunOptions(preset="own", answerer="flan-t5", model="smollm2", max_hops=1)
    report = checked(Container(Settings.from_env(settings)), options)
    (hop,) = report.hops
    assert hop.question.text.endswith("?")
    assert hop.status is not HopStatus.OPEN and hop.reason
    assert hop.answer is None or all(passage.origin is Origin.RECITED for passage in hop.answer.retrieved)
    assert report.ended == "verdict" or report.problem
    assert report.usage.calls > 1 and report.usage.prompt_tokens > 200


def test_it_replies_in_json_that_fits_the_schema_and_chooses_by_the_probability_of_the_value(model):
    for context in ((), (AUTHOR,)):
        (question,) = json.loads(model.complete_chat(question_prompts(CLAIM, context)[1], max_tokens=96)).values()
        assert question.strip()
    choice = model.choose_in_chat(sufficiency_prompts(CLAIM, (AUTHOR,))[1], ("Yes", "No"))
    assert choice.option in ("Yes", "No") and 0.5 <= choice.probability <= 1
