"""The chosen options are what runs: one claim through every answerer, preset and baseline, over small test models."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event
from types import SimpleNamespace

import pytest

from app.backends.fetch.pages import WebPages
from app.backends.local import inference_queue
from app.config.settings import Settings
from app.container.container import MAX_PAGES_AT_ONCE, Container
from app.domain.errors import CallFailed, InvalidInput
from app.domain.model import Claim, HopStatus, Page, Passage, RunOptions, SearchHit
from app.text.claims import candidates
from tests.one_claim import checked
from tests.openai_server import OpenAIServer, play
from tests.text_generators import playing
from tests.tiny import tiny_t5
from tests.waiting import LONG, in_thread
from tests.web_server import Sent, WebServer, client

PROMPTED = RunOptions(preset="prompted", answerer="reciter-reader", model="scripted")


@pytest.fixture(scope="module")
def server():
    with OpenAIServer(play()) as server:
        yield server


@pytest.fixture(scope="module")
def container(server, tmp_path_factory):
    home = tmp_path_factory.mktemp("instance")
    return Container(
        Settings.from_env(
            {
                "INSTANCE": str(home),
                "OPENAI_BASE_URL": server.url,
                "OPENAI_MODEL": "scripted",
                "OPENAI_API_KEY": "a-key",
                "READ_WITH": "model",
                "FLAN_T5": str(tiny_t5(home / "t5", "Hamlet William Shakespeare England")),
            }
        )
    )


def test_all_local_models_share_one_queue_with_the_configured_deadline(tmp_path):
    others = set(inference_queue._instances)
    container = Container(Settings(instance=tmp_path, call_seconds=7, flan_t5="some/flan-t5"))
    (queue,) = set(inference_queue._instances) - others
    assert queue._call_seconds == 7 and container.components()


def test_speculative_calls_change_only_the_number_of_calls_and_each_is_counted(tmp_path):
    reports = []
    for overlap in ("off", "all"):
        with OpenAIServer(play()) as server:
            settings = {"INSTANCE": tmp_path, "OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "scripted"}
            settings |= {"READ_WITH": "model", "OVERLAP": overlap}
            container = Container(Settings.from_env({name: str(value) for name, value in settings.items()}))
            reports.append(checked(container, PROMPTED))
            assert reports[-1].usage.calls == len(server.asked)
    in_turn, ahead = reports
    assert (ahead.hops, ahead.verdict) == (in_turn.hops, in_turn.verdict)


def test_a_flan_t5_answers_from_memory_and_concludes_by_its_own_probabilities(container):
    report = checked(container, RunOptions(preset="prompted+flan-t5", answerer="flan-t5", model="scripted"))
    assert [hop.question.text for hop in report.hops] == ["Who wrote Hamlet?", "Where was William Shakespeare born?"]
    assert report.context and all(hop.from_memory for hop in report.context)
    assert {hop.answer.answerer for hop in report.context} == {"flan-t5"}
    assert report.ended == "verdict"
    assert 1 / 3 <= report.verdict.confidence <= 1


@pytest.mark.parametrize(
    "options",
    [
        RunOptions(preset="prompted", answerer="flan-t5", model="flan-t5"),
        RunOptions(preset="prompted+flan-t5", answerer="reciter-reader", model="scripted"),
        RunOptions(strategy="direct", model="flan-t5"),
        RunOptions(strategy="chain-of-thought", model="scripted"),
    ],
)
def test_any_mix_ends_with_a_valid_label_or_a_reason(container, options):
    report = checked(container, options)
    if report.ended == "verdict":
        assert report.verdict.label in options.labels.labels
    else:
        assert report.problem
    assert all(hop.status is not HopStatus.OPEN for hop in report.hops)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (replace(PROMPTED, model=None), "model"),
        (replace(PROMPTED, preset="own"), "preset"),
        (RunOptions(answerer="web-search"), "search"),
        (RunOptions(corpora=("no-such-corpus",)), "corpora"),
    ],
)
def test_unknown_options_never_become_a_strategy(container, options, field):
    with pytest.raises(InvalidInput) as refused:
        container.strategy_for(options)
    assert refused.value.field == field


def test_a_page_that_a_visitor_names_is_read_by_the_guarded_client(tmp_path):
    container = Container(Settings(instance=tmp_path))
    for url in ("http://127.0.0.1/", "file:///etc/passwd"):
        with pytest.raises(CallFailed):
            in_thread(container.page_at, url)
    with WebServer({"/": Sent(b"Hamlet is a play.", kind="text/plain")}) as site:
        container._pages = WebPages(http=client(site), robots=False)
        assert in_thread(container.page_at, site.url()).text == "Hamlet is a play."


def test_only_a_few_pages_that_visitors_name_are_read_at_the_same_time(tmp_path):
    container, inside, done = Container(Settings(instance=tmp_path)), Barrier(MAX_PAGES_AT_ONCE + 1), Event()

    class Slow:
        def read(self, hit: SearchHit) -> Page:
            inside.wait(LONG)
            done.wait(LONG)
            return Page(hit.url, "", "", "text")

    container._pages = Slow()
    with ThreadPoolExecutor() as pool:
        reading = [pool.submit(container.page_at, "https://a.example/") for _ in range(MAX_PAGES_AT_ONCE)]
        inside.wait(LONG)
        with pytest.raises(CallFailed, match="try again"):
            container.page_at("https://b.example/")
        done.set()
        assert [each.result().text for each in reading] == ["text"] * MAX_PAGES_AT_ONCE


def test_claims_and_questions_are_rewritten_by_the_chosen_language_model_alone(container, monkeypatch):
    model = playing("1. Hamlet is a play.\n2. Hamlet is long.")
    monkeypatch.setattr(container._models, "of", lambda options: model)
    found = candidates("Hamlet is a play. It is 3 hours long.")
    assert container.claims_of(found, RunOptions()) is None and container.statement_of("Is it?", RunOptions()) is None
    assert model.prompts == []
    assert container.claims_of(found, PROMPTED)[0].claim == "Hamlet is a play."
    assert container.statement_of("Is Hamlet a play?", PROMPTED) is None and len(model.prompts) == 2


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        ("He painted the Mona Lisa.", "Leonardo da Vinci painted the Mona Lisa."),
        ("This is the painter of the Mona Lisa.", "Leonardo da Vinci is the painter of the Mona Lisa."),
        ("its tower is in Paris", "Gustave’s tower is in Paris"),
        ("She met Bo Yang.", None),
    ],
)
def test_a_claim_without_a_subject_gets_the_likeliest_name_of_the_passages(container, monkeypatch, claim, named):
    texts = {"Mona Lisa": "The Mona Lisa is by the Italian painter Leonardo da Vinci.", "Gustave": "He built in Paris."}
    found = tuple(Passage(text, title, "vital") for title, text in texts.items())
    retriever = SimpleNamespace(retrieve=lambda query, number, before: found)
    monkeypatch.setattr(container._registry, "over", lambda names: retriever)
    assert container.names_for(Claim(claim), RunOptions(corpora=("vital",))) == named
