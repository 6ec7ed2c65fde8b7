"""A recipe sets several options by name; options that are given besides replace its own."""

import pytest

from app.capabilities.options import Capabilities, Choice
from app.domain.errors import InvalidInput
from app.domain.model import LabelSet
from app.presets import GUIDED_PRESETS, PURSUIT_PRESETS, RECIPES, recipe_of
from app.run_request import raw_options, resolve_options
from tests.fakes import AWAY, scripted_container
from tests.waiting import until

MIXES = tuple(Choice(name, each.title, needs_model=name != "local") for name, each in GUIDED_PRESETS.items())
PURSUITS = tuple(Choice(name, each.title, needs_model=name != "local") for name, each in PURSUIT_PRESETS.items())
ANSWERERS = tuple(Choice(name, name) for name in ("retriever-reader", "reciter-reader", "web-search"))
SHELVES = (Choice("vital", "Vital articles"), Choice("mine", "My papers"))


def container_with(**fields):
    """A site that has every preset, a search engine and a language model, or what `fields` say instead."""
    everything = {"mixes": MIXES, "pursuits": PURSUITS, "choices": ANSWERERS, "language_models": (AWAY,)}
    return scripted_container(shelves=SHELVES, **{**everything, **fields})


def anywhere() -> Capabilities:
    return container_with().capabilities()


def resolved(raw: dict, capabilities: Capabilities) -> tuple:
    found = resolve_options({"model": "big", **raw}, capabilities)
    return found.strategy, found.preset, found.answerer, found.search


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"recipe": "local"}, ("question-guided", "local", "retriever-reader", None)),
        ({"recipe": "language-model"}, ("question-guided", "prompted", "retriever-reader", None)),
        ({"recipe": "evidence-pursuit"}, ("evidence-pursuit", "llm+llm", "web-search", "brave")),
        ({"recipe": "qacheck"}, ("question-guided", "qacheck", "reciter-reader", None)),
        ({"recipe": "papelo"}, ("evidence-pursuit", "papelo", "web-search", "brave")),
        ({"recipe": "papelo", "source": "mine"}, ("evidence-pursuit", "papelo", "web-search", "corpus")),
        ({"recipe": "papelo", "preset": "paper"}, ("evidence-pursuit", "paper", "web-search", "brave")),
        ({"recipe": "qacheck", "source": "vital"}, ("question-guided", "qacheck", "retriever-reader", None)),
        (
            {"recipe": "qacheck", "strategy": "evidence-pursuit"},
            ("evidence-pursuit", "local", "retriever-reader", None),
        ),
    ],
)
def test_given_options_replace_those_of_the_recipe(raw, expected):
    assert resolved(raw, anywhere()) == expected


def test_a_recipe_of_a_paper_brings_the_papers_labels_unless_others_are_given():
    assert resolve_options({"recipe": "papelo", "model": "big"}, anywhere()).labels is LabelSet.TWO
    assert resolve_options({"recipe": "papelo", "model": "big", "labels": "four"}, anywhere()).labels is LabelSet.FOUR


@pytest.mark.parametrize("name", RECIPES)
def test_the_options_of_a_recipe_are_resubmitted_without_it_and_name_it_again(name):
    options = resolve_options({"recipe": name, "model": "big"}, anywhere())
    assert recipe_of(options) == name
    assert resolve_options(raw_options(options), anywhere()) == options


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "magic",
            "There is no recipe 'magic'; choose one of: local, language-model, evidence-pursuit, qacheck, papelo",
        ),
        ("evidence-pursuit", "Evidence pursuit is not available here. No search engine is set up."),
    ],
)
def test_an_unknown_or_unavailable_recipe_is_refused(name, words):
    without_web = container_with(engines=(Choice("corpus", "The corpora"),)).capabilities()
    with pytest.raises(InvalidInput, match=words) as refused:
        resolve_options({"recipe": name, "model": "big"}, without_web)
    assert refused.value.field == "recipe"


def test_a_recipe_is_usable_with_another_source_where_its_own_is_not_set_up():
    without_web = container_with(engines=(Choice("corpus", "The corpora"),)).capabilities()
    options = resolve_options({"recipe": "evidence-pursuit", "source": "vital", "model": "big"}, without_web)
    assert (options.preset, options.search, options.corpora) == ("llm+llm", "corpus", ("vital",))


def test_a_recipe_is_available_where_all_its_parts_are_and_names_who_gets_the_text():
    gone = tuple(each.unavailable("No model.", "KEY") if each.needs_model else each for each in MIXES)
    found = {each.name: each for each in container_with(mixes=gone).capabilities().recipes}
    assert [name for name, each in found.items() if each.available] == ["local", "evidence-pursuit", "papelo"]
    assert (found["qacheck"].reason, found["qacheck"].mend) == ("No model.", "KEY")
    assert (found["local"].destination, found["papelo"].destination) == (None, "search.example.org")


def options_of_batch(app, address: str):
    return app.extensions["hopcheck"].batches.options_of(address.rpartition("/")[2])


def test_the_api_and_the_command_line_take_a_recipe(make_app):
    container = container_with()
    app = make_app(container)
    client = app.test_client()
    choices = client.get("/api/v1/choices").json["recipes"]
    assert [each["name"] for each in choices] == list(RECIPES)
    chosen = {"recipe": "papelo", "model": "big"}
    batch = client.post("/api/v1/batches", json={"claims": ["Hamlet is a play."], **chosen})
    assert options_of_batch(app, batch.headers["Location"]).preset == "papelo"
    assert client.post("/api/v1/runs", json={"claim": "Hamlet is a play.", **chosen}).status_code == 201
    until(lambda: container.asked_for)
    told = app.test_cli_runner().invoke(args=["check", "Hamlet is a play.", "--recipe", "papelo", "--model", "big"])
    assert told.exit_code == 0, told.output
    assert {each.preset for each in container.asked_for} == {"papelo"}
    refused = client.post("/api/v1/runs", json={"claim": "Hamlet is a play.", "recipe": "magic"})
    assert refused.status_code == 422 and refused.json["field"] == "recipe"
    wrong = app.test_cli_runner().invoke(args=["check", "Hamlet is a play.", "--recipe", "magic"])
    assert wrong.exit_code == 2 and "choose one of: local, language-model" in wrong.output
