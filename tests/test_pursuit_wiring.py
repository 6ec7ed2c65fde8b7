"""Evidence pursuit as the container builds it, every preset over real HTTP, with a real search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.config.settings import Settings
from app.container.container import Container
from app.domain.model import HopStatus, Label, Origin, Question, RunOptions
from app.modules.answerers.web_search import DocumentSettings
from app.presets import PURSUIT_PRESETS
from tests.backends.web_search.search_server import Reply as Found
from tests.backends.web_search.search_server import Said, SearchServer, searxng_reply
from tests.one_claim import CLAIM, checked
from tests.openai_server import Asked, OpenAIServer, Reply
from tests.tiny import tiny_t5

WROTE = Said("Hamlet", "https://encyclopedia.example/hamlet", "Hamlet was written by William Shakespeare.")
BORN = Said("Shakespeare", "https://lives.example/shakespeare", "William Shakespeare was born in England.")
OPTIONS = RunOptions(
    strategy="evidence-pursuit",
    preset="llm+llm",
    answerer="web-search",
    model="scripted",
    search="searxng",
    max_hops=10,
)


def player(asked: Asked) -> Reply:
    """Play every role of a pursuit: ask who wrote Hamlet, then where he was born, then find the claim true."""
    prompt = asked.prompt
    if "as a JSON list of strings. Keep" in prompt:
        return Reply('["Who wrote Hamlet?"]')
    if "ways to rephrase" in prompt:
        return Reply(
            '["By whom was Hamlet written?", "Hamlet is by which author?", "Who is Hamlet by?", "Whose is it?"]'
        )
    if "[[True]] or [[False]]" in prompt:
        return Reply("[[True]]" if "Where was" in prompt else "Where was William Shakespeare born?")
    if "choose the one document" in prompt:
        return Reply("Document 2" if "Where was" in prompt else "Document 1")
    if "referring to the one document" in prompt:
        return Reply("Document 1" if "Where was" in prompt else "Document 0")
    if "[[A]]" in prompt:
        return Reply("Shakespeare was born in England. [[A]]")
    if "Contexts:" in prompt:
        return Reply("Shakespeare wrote it [1] and was born in England [2].\nSUPPORTED")
    return Reply("In England." if "Where was" in prompt else "William Shakespeare.")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("instance")


@pytest.fixture
def net(home):
    """A scripted language model, a SearXNG, and the container that uses both."""
    with OpenAIServer(player) as model, SearchServer([Found(searxng_reply(WROTE, BORN))]) as search:
        env = {
            "INSTANCE": str(home),
            "OPENAI_BASE_URL": model.url,
            "OPENAI_MODEL": "scripted",
            "SEARXNG_URL": search.url.removesuffix("/search"),
            "QUESTION_SEQ2SEQ": str(tiny_t5(home / "first", "Who wrote Hamlet?")),
            "NEXT_QUESTION_SEQ2SEQ": str(tiny_t5(home / "next", "Where was he born?")),
        }
        yield Container(Settings.from_env(env)), model, search


def test_a_pursuit_asks_searches_decides_and_fills_up_to_five_pairs_with_distinct_pages(net):
    container, _, search = net
    report = checked(container, OPTIONS)
    assert report.verdict.label is Label.SUPPORTED
    assert len(report.context) == 5
    assert [hop.question.text for hop in report.hops[:3]] == [
        "Who wrote Hamlet?",
        "Where was William Shakespeare born?",
        "By whom was Hamlet written?",
    ]
    cited = [hop.answer.cited.passage for hop in report.context]
    assert [passage.url for passage in cited[:2]] == [WROTE.url, BORN.url]
    assert {passage.origin for passage in cited} == {Origin.WEB}
    assert all(passage.published is None for passage in cited)
    assert {asked.path for asked in search.asked} == {"/search"}


@pytest.mark.parametrize("name", PURSUIT_PRESETS)
def test_every_preset_is_built_and_its_run_ends(net, name):
    container, _, _ = net
    preset, labels = PURSUIT_PRESETS[name], PURSUIT_PRESETS[name].labels
    options = container.capabilities().effective(replace(OPTIONS, preset=name, labels=labels))
    if preset.others == "local":
        assert container.strategy_for(options).variant == preset.variant
    elif preset.first == "seq":  # a T5 of a few thousand weights writes no question, and none is made up
        assert {hop.status for hop in checked(container, options).hops} == {HopStatus.FAILED}
    else:
        assert checked(container, options).verdict.label in labels.labels


@pytest.mark.parametrize(
    ("name", "differs"),
    [
        ("seq+llm", {}),
        ("no-long-doc", {"long_document": False}),
        ("multi-doc", {"multi_document": True}),
        ("no-metadata", {"metadata": False}),
    ],
)
def test_document_options_of_preset_and_person_reach_the_answerer(net, name, differs):
    container, _, _ = net
    usual = DocumentSettings(long_document=True, multi_document=False, metadata=True, undated=True, fact_checks=True)
    options = replace(OPTIONS, preset=name)
    assert container.strategy_for(options).answerer.settings == replace(usual, **differs)
    assert container.strategy_for(replace(options, undated=False)).answerer.settings.undated is False
    assert container.strategy_for(replace(options, fact_checks=False)).answerer.settings.fact_checks is False


def test_web_search_also_answers_questions_of_the_other_strategy(net):
    container, _, _ = net
    answerer = container.strategy_for(replace(OPTIONS, strategy="question-guided", preset="prompted")).answerer
    answer = answerer.answer(Question("Who wrote Hamlet?"), CLAIM)
    assert (answer.text, answer.cited.passage.url) == ("William Shakespeare.", WROTE.url)


def test_the_default_pursuit_searches_the_configured_engine(net, home):
    container, _, _ = net
    usual = container.capabilities().defaults("evidence-pursuit")
    assert (usual.answerer, usual.search, usual.preset) == ("web-search", "searxng", "local")
    alone = Container(Settings.from_env({"INSTANCE": str(home)})).capabilities().defaults("evidence-pursuit")
    assert (alone.answerer, alone.search, alone.preset) == ("web-search", "corpus", "local")


def test_speaker_and_date_reach_every_prompt_and_no_later_page_is_shown_or_cited(tmp_path):
    later = Said("The future", "https://future.example/", "Hamlet was written later.", "2020-10-31")
    claim = replace(CLAIM, speaker="Ada Stone", date="2020-10-31")
    with OpenAIServer(player) as model, SearchServer([Found(searxng_reply(later, WROTE, BORN))]) as search:
        env = {"OPENAI_BASE_URL": model.url, "OPENAI_MODEL": "scripted", "SEARXNG_URL": search.url[: -len("/search")]}
        report = checked(Container(Settings.from_env({"INSTANCE": str(tmp_path), **env})), OPTIONS, claim)
    assert report.verdict.label is Label.SUPPORTED
    prompts = [asked.prompt for asked in model.asked]
    told = [prompt for prompt in prompts if CLAIM.text in prompt]
    assert told and all("by Ada Stone on 2020-10-31" in prompt for prompt in told)
    assert not any("The future" in prompt for prompt in prompts)
    assert later.url not in {passage.url for hop in report.hops for passage in hop.answer.retrieved}
