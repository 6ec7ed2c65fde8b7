"""A recipe sets several options by name; options that are given besides replace its own."""

import re

import pytest

from app.capabilities.options import Capabilities, Choice
from app.domain.errors import InvalidInput
from app.domain.model import LabelSet
from app.presets import GUIDED_PRESETS, PURSUIT_PRESETS, RECIPES, recipe_of
from app.run_request import raw_options, resolve_options
from tests.fakes import AWAY, scripted_container
from tests.waiting import until
from tests.web.conftest import send, started, token

MIXES = tuple(Choice(name, each.title, needs_model=name != "local") for name, each in GUIDED_PRESETS.items())
PURSUITS = tuple(Choice(name, each.title, needs_model=name != "local") for name, each in PURSUIT_PRESETS.items())
ANSWERERS = tuple(Choice(name, name) for name in ("retriever-reader", "reciter-reader", "web-search"))
SHELVES = (Choice("vital", "Vital articles"), Choice("mine", "My papers"))
METHOD = re.compile(r'<input type="radio" name="recipe" value="([^"]*)"( checked)?')


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


class TestForm:
    def options_of(self, make_app, container, **fields):
        started(make_app(container).test_client(), **fields)
        until(lambda: container.asked_for)
        return container.asked_for[0]

    def test_offers_the_recipes_that_are_available_with_the_sites_own_chosen(self, make_app):
        page = make_app(container_with()).test_client().get("/").text
        assert METHOD.findall(page) == [(name, " checked" if name == "local" else "") for name in RECIPES]

    def test_shows_no_methods_where_there_is_one(self, make_app):
        page = make_app(scripted_container(mixes=MIXES[:1])).test_client().get("/").text
        assert "<legend>Method</legend>" not in page and 'id="model"' not in page
        assert '<input type="hidden" name="recipe" value="local">' in page

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({"recipe": "language-model"}, ("prompted", "retriever-reader", ("vital",))),
            ({"recipe": "language-model", "from_source": "mine"}, ("prompted", "retriever-reader", ("mine",))),
            ({"recipe": "evidence-pursuit"}, ("llm+llm", "web-search", ())),  # the source is as the page showed it
            ({"recipe": "evidence-pursuit", "from_source": "mine"}, ("llm+llm", "web-search", ("mine",))),
            ({"recipe": "qacheck"}, ("qacheck", "reciter-reader", ())),
            (
                {"recipe": "qacheck", "strategy": "question-guided", "preset": "local"},
                ("local", "retriever-reader", ("vital",)),
            ),
            (
                {"recipe": "local", "strategy": "evidence-pursuit", "pursuit": "paper"},
                ("paper", "web-search", ("vital",)),
            ),
        ],
    )
    def test_a_recipe_decides_unless_a_strategy_is_chosen_besides(self, make_app, fields, expected):
        shown = {"from_source": "vital", "answerer": "retriever-reader", "strategy": "", "preset": "local"}
        found = self.options_of(make_app, container_with(), model="big", **{**shown, **fields})
        assert (found.preset, found.answerer, found.corpora) == expected

    @pytest.mark.parametrize("recipe", [*RECIPES, ""])
    def test_the_form_of_an_earlier_check_repeats_its_method(self, make_app, recipe):
        container = container_with()
        client = make_app(container).test_client()
        fields = {"recipe": recipe} if recipe else {"strategy": "evidence-pursuit", "pursuit": "multi-doc"}
        path = started(client, model="big", from_source="mine", **fields)
        page = client.get("/", query_string={"again": path.rpartition("/")[2]}).text
        assert (recipe, " checked") in METHOD.findall(page)
        sent = dict(
            re.findall(r'<input type="radio" name="(strategy|preset|pursuit|recipe)" value="([^"]*)" checked', page)
        )
        started(client, model="big", from_source="mine", source_chosen="yes", **sent)
        until(lambda: len(container.asked_for) == 2)
        assert container.asked_for[0] == container.asked_for[1]

    def test_a_site_whose_defaults_are_no_recipe_offers_them_as_its_own(self, make_app):
        usual = resolve_options({"preset": "local+flan-t5", "model": "big"}, anywhere())
        container = container_with(usual=usual)
        app = make_app(container)
        assert METHOD.findall(app.test_client().get("/").text)[-1] == ("", " checked")
        started(app.test_client(), recipe="", strategy="", preset="local+flan-t5", from_source="vital")
        until(lambda: container.asked_for)
        assert container.asked_for[0].preset == "local+flan-t5"

    def test_a_recipe_that_is_unknown_is_refused_by_its_field(self, make_app):
        answer = send(make_app(container_with()).test_client(), recipe="magic")
        assert answer.status_code == 422 and 'id="recipe-problem"' in answer.text

    def test_a_batch_takes_a_recipe(self, make_app):
        app = make_app(container_with())
        client = app.test_client()
        assert '<option value="evidence-pursuit">' in client.get("/batches").text
        fields = {"claims": "Hamlet is a play.", "recipe": "language-model", "model": "big"}
        sent = client.post("/batches", data={"csrf_token": token(client), **fields})
        assert options_of_batch(app, sent.location).preset == "prompted"


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
