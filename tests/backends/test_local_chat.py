"""A GGUF file in this process as the language model of every prompted module: SmolLM2 through its chat template."""

from __future__ import annotations

import json
import shutil
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from app.backends.llm.openai_client import OpenAIChat
from app.backends.llm.registry import configured_models
from app.backends.local.inference_queue import Inference
from app.backends.local.llama_cpp import CHAT_CONTEXT_TOKENS, ChatTransport
from app.capabilities.options import find_choice
from app.config import FLASK
from app.config.settings import Settings
from app.container.container import Container
from app.domain.errors import CallFailed, InvalidInput, UnparseableOutput
from app.domain.model import Claim, Question, RunOptions
from app.modules.pursuit import first_prompts, paraphrase_prompts, step_prompts
from tests import one_claim
from tests.backends.openai_asking import used_by
from tests.small_model import packaged_gguf

pytestmark = pytest.mark.models

NAME = "SmolLM2-135M-Instruct.Q4_1"


class CountingQueue(Inference):
    """Counts the calls that pass through the queue."""

    calls = 0

    def run(self, work):
        self.calls += 1
        return super().run(work)


@pytest.fixture(scope="module")
def queue() -> CountingQueue:
    return CountingQueue(300)


@pytest.fixture(scope="module")
def transport(queue: CountingQueue) -> ChatTransport:
    return ChatTransport(packaged_gguf(), 1, queue)


@pytest.fixture(scope="module")
def model(transport: ChatTransport) -> OpenAIChat:
    (settings,) = configured_models(None, None, None, None, None, packaged_gguf())
    return OpenAIChat(settings, 300, transport=transport)


def test_it_answers_as_a_chat_up_to_the_stop_string_and_counts_its_tokens(model, queue):
    said, before = [], queue.calls
    usage = used_by(lambda: said.append(model.complete("Name three colours.", max_tokens=20, stop=["\n"])))
    assert said[0].strip() and "\n" not in said[0]
    assert usage.calls == 1 and queue.calls == before + 1
    # The file's chat template puts a system message before the four words.
    assert usage.prompt_tokens > 20 and 0 < usage.completion_tokens <= 20


@pytest.mark.parametrize("options", [("Yes", "No"), ("true", "false", "not enough evidence"), ('a "b"', "c\\d")])
@pytest.mark.parametrize("prompt", ["Write a poem about the sea.", "[[Maybe]]"])
def test_whatever_is_asked_it_writes_one_of_the_options(model, prompt, options):
    """Without the grammar it writes prose to most of these, which names no option."""
    assert model.choose(prompt, options).option in options


def test_a_choice_has_the_probability_that_the_file_gives_it(model):
    choice = model.choose("Is Paris the capital of France? Answer with one word, Yes or No.", ("Yes", "No"))
    assert choice.probability is not None and 0 < choice.probability <= 1


@pytest.mark.parametrize("claim", ["}{ \" ' \\", "Write no JSON!"])
def test_a_reply_with_a_schema_is_always_json_of_that_schema(transport, claim):
    schema = {
        "type": "object",
        "properties": {
            "label": {"enum": ["true", "false"]},
            "question": {"type": "string", "pattern": "^[A-Z][a-z ]{8,40}\\?$"},
        },
        "required": ["label", "question"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
    request = {"messages": [{"role": "user", "content": claim}], "max_tokens": 100, "temperature": 0}
    both = {"response_format": form, "grammar": 'root ::= "no JSON"'}
    reply = json.loads(
        transport.post({"model": "any", **request, **both}, 300).parsed["choices"][0]["message"]["content"]
    )
    assert reply.keys() == {"label", "question"}
    assert reply["label"] in ("true", "false") and reply["question"].endswith("?")


@pytest.mark.slow
@pytest.mark.parametrize("max_tokens", [8, 500])
def test_a_reply_with_a_schema_is_never_cut_off(transport, max_tokens):
    """SmolLM2 would go on with such a list until its tokens end, in the middle of the JSON."""
    properties = {"list": {"type": "array", "items": {"type": "string"}}, "why": {"type": ["string", "null"]}}
    schema = {"type": "object", "properties": properties, "required": ["list", "why"], "additionalProperties": False}
    request = {
        "messages": [{"role": "user", "content": "Write 1 is a number. 2 is a number. 3 is a number. Go on to 1000."}],
        "max_tokens": max_tokens,
        "temperature": 0,
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}},
    }
    body = transport.post(request, 300).parsed
    assert json.loads(body["choices"][0]["message"]["content"]).keys() == properties.keys()
    assert body["choices"][0]["finish_reason"] == "stop"


@pytest.mark.slow
@pytest.mark.parametrize(
    "chat",
    [
        first_prompts(Claim("Mount Everest lies in the Andes."))[1],
        step_prompts(Claim("Mount Everest lies in the Andes."), (), ())[1],
        paraphrase_prompts(Question("Where does Mount Everest lie?"), 3)[1],
    ],
    ids=lambda chat: chat.name,
)
def test_every_question_in_a_reply_is_whole_and_ends_in_a_question_mark(model, chat):
    """Without the pattern SmolLM2 writes headings and statements to the first two, and its lists are cut off."""
    *_, written = json.loads(model.complete_chat(chat, max_tokens=96)).values()
    questions = written if isinstance(written, list) else [written]
    assert questions and all(each.endswith("?") and each.count("?") == 1 for each in questions)


def test_a_prompt_that_is_too_long_is_reported(model):
    with pytest.raises(CallFailed, match="The prompt is too long for the language model SmolLM2"):
        model.complete("word " * 2 * CHAT_CONTEXT_TOKENS, max_tokens=5)


def test_other_programs_on_this_machine_cannot_ask_it(transport):
    address = transport.open().listening_address
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{address}/v1/chat/completions", b'{"messages":[{"role":"user","content":"hi"}]}')


def test_replies_are_cached_by_the_contents_of_the_file(tmp_path):
    first, other = tmp_path / "a.gguf", tmp_path / "b.gguf"
    first.write_bytes(b"GGUF 1")
    other.write_bytes(b"GGUF 2")
    address = ChatTransport(first, 1, Inference()).address
    assert address != ChatTransport(other, 1, Inference()).address
    shutil.copy(other, first)
    assert address != ChatTransport(first, 1, Inference()).address


def container(folder: Path, **settings: str) -> Container:
    return Container(Settings.from_env({"INSTANCE": str(folder), "CALL_SECONDS": "300", **settings}))


@pytest.mark.parametrize(("content", "words"), [(None, "There is no file"), (b"PK", "is no GGUF file")])
def test_a_file_that_is_missing_or_no_gguf_cannot_be_chosen(tmp_path, content, words):
    path = tmp_path / "mine.gguf"
    if content:
        path.write_bytes(content)
    choices = container(tmp_path, LOCAL_MODEL=str(path)).capabilities().models
    with pytest.raises(InvalidInput, match=words):
        find_choice(choices, "mine", "model")


def test_a_file_of_the_hub_that_was_not_fetched_names_the_command(tmp_path):
    name = "hub:no-one/nothing/some.gguf"
    (choice, _) = container(tmp_path, LOCAL_MODEL=name).capabilities().models
    assert (choice.available, choice.mend) == (False, f"{FLASK} models fetch {name}")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_reply_of_a_pursuit_with_the_file_in_every_role_parses(tmp_path, monkeypatch):
    """What `prompted` modules make of its replies is tested with the same model behind a server."""
    unread: list[str] = []
    monkeypatch.setattr(UnparseableOutput, "__init__", lambda self, message: unread.append(message))
    made = container(tmp_path, LOCAL_MODEL=str(packaged_gguf()), READ_WITH="model")
    (choice, _) = made.capabilities().models
    assert (choice.name, choice.destination) == (NAME, None)
    options = RunOptions("evidence-pursuit", "reciter-reader", preset="llm+llm", model=NAME, max_hops=1, max_tokens=100)
    report = one_claim.checked(made, options)
    assert (report.ended, report.problem, unread) == ("verdict", "", [])
    assert report.usage.calls > 3
