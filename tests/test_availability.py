"""Available choices follow from the settings and the files on the machine, and every refusal names its fix."""

import pytest

from app.backends.corpus.registry import CorpusInfo
from app.backends.llm.registry import ModelSettings
from app.backends.web_search.registry import configured_searches
from app.capabilities.availability import Availability
from app.capabilities.options import GUIDED, PURSUIT, default_corpora
from app.components import CORPUS, MODEL, RERANKER, Components
from app.config import FLASK
from app.config.settings import Settings
from app.domain.errors import ModelUnavailable
from app.domain.model import RunOptions
from app.presets import OWN
from tests.tiny import tiny_t5

PARTS = (MODEL, CORPUS, RERANKER)

BIG = ModelSettings("big", "big-1", "https://api.example.org/v1", "key")
HOME = ModelSettings("home", "home-1", "http://127.0.0.1:8080/v1", None, key_variable=None)


@pytest.fixture
def availability(tmp_path):
    def made(*models: ModelSettings, broken: str = "", parts: tuple[str, ...] = (), **settings) -> Availability:
        def load():
            raise ModelUnavailable("It is cut off", fix="make setup")

        loaded = Components([(name, load if name == broken else lambda: None) for name in (*PARTS, *parts)])
        loaded.warm()
        nothing = {"FLAN_T5": str(tmp_path / "nothing"), "INSTANCE": str(tmp_path), "WIKIPEDIA": "off"}
        return Availability(Settings.from_env(nothing | settings), loaded, models)

    return made


def named(choices) -> dict:
    return {choice.name: choice for choice in choices}


def test_without_settings_only_local_choices_are_available(availability):
    capabilities = availability().capabilities()
    assert [choice.name for choice in capabilities.strategies if choice.available] == [GUIDED, PURSUIT]
    assert [choice.name for choice in capabilities.presets if choice.available] == ["local"]
    assert [choice.name for choice in capabilities.pursuits if choice.available] == ["local"]
    assert not [choice for choice in capabilities.answerers if choice.available]
    assert not [choice for choice in capabilities.models if choice.available]


def test_a_configured_language_model_enables_its_choices_and_names_its_destination(availability):
    capabilities = availability(BIG, HOME).capabilities()
    assert named(capabilities.presets)["prompted"].available
    assert named(capabilities.answerers)["reciter-reader"].available
    assert named(capabilities.strategies)["chain-of-thought"].available
    assert named(capabilities.models)["big"].destination == "api.example.org"
    assert named(capabilities.models)["home"].destination is None


def test_a_search_engine_names_every_host_that_may_get_a_query(tmp_path):
    own = {"INSTANCE": str(tmp_path), "SEARXNG_URL": "http://127.0.0.1:8080"}

    def hosts(**settings: str) -> dict[str, str | None]:
        known = Settings.from_env(own | settings)
        parts = Components([(name, lambda: None) for name in PARTS])
        capabilities = Availability(known, parts, (), configured_searches(known.by_name(), 60)).capabilities()
        return {choice.name: choice.destination for choice in capabilities.searches if choice.destination}

    assert hosts() == {}
    assert hosts(BRAVE_API_KEY="key", TAVILY_API_KEY="key") == {
        "searxng": "api.search.brave.com or api.tavily.com",
        "brave": "api.search.brave.com or api.tavily.com",
        "tavily": "api.tavily.com or api.search.brave.com",
    }


def test_a_model_without_its_key_is_listed_as_unavailable(availability):
    keyless = ModelSettings("keyless", "x", "https://api.example.org/v1", None, key_variable="SOME_API_KEY")
    choice = named(availability(keyless).capabilities().models)["keyless"]
    assert not choice.available and "SOME_API_KEY" in choice.reason


def test_a_flan_t5_on_this_machine_is_a_reasoner_an_answerer_and_a_language_model(availability, tmp_path):
    capabilities = availability(FLAN_T5=str(tiny_t5(tmp_path / "t5"))).capabilities()
    assert named(capabilities.presets)["local+flan-t5"].available
    assert named(capabilities.answerers)["flan-t5"].available
    assert named(capabilities.models)["flan-t5"].available
    assert named(capabilities.presets)["prompted"].available


@pytest.mark.parametrize(
    ("broken", "group", "name"),
    [
        (MODEL, "presets", "local"),
        (MODEL, "pursuits", "local"),
        (MODEL, "answerers", "retriever-reader"),
        (RERANKER, "pursuits", "local"),
        (RERANKER, "answerers", "retriever-reader"),
        (CORPUS, "answerers", "retriever-reader"),
        (CORPUS, "searches", "corpus"),
    ],
)
def test_choices_that_need_a_failed_component_are_unavailable(availability, broken, group, name):
    choice = named(getattr(availability(broken=broken).capabilities(), group))[name]
    assert not choice.available
    assert "It is cut off" in choice.reason and choice.mend == "make setup"


def test_without_an_indexed_corpus_retrieval_is_unavailable(availability):
    choice = named(availability().capabilities().answerers)["retriever-reader"]
    assert not choice.available and "corpus" in choice.reason and choice.mend == "make corpus"


def test_live_wikipedia_is_a_corpus_that_needs_no_index_and_names_its_host(availability):
    capabilities = availability(WIKIPEDIA="simple").capabilities()
    live = named(capabilities.corpora)["wikipedia-live"]
    assert (live.title, live.destination) == ("Wikipedia, live (simple)", "simple.wikipedia.org")
    assert named(capabilities.answerers)["retriever-reader"].available
    assert capabilities.defaults().corpora == ("vital",)
    assert "wikipedia-live" not in named(availability(WIKIPEDIA="off").capabilities().corpora)


def test_a_gguf_file_that_could_not_be_loaded_is_unavailable(availability, tmp_path):
    file = tmp_path / "cut.gguf"
    file.write_bytes(b"GGUF")
    cut = ModelSettings("cut", "cut", "", None, key_variable=None, gguf=file)
    loaded = availability(cut, broken="cut", parts=("cut",)).capabilities()
    assert "It is cut off" in named(loaded.models)["cut"].reason
    assert loaded.defaults().model is None


def test_a_corpus_that_cannot_be_opened_leaves_the_others_and_live_wikipedia_available(availability, monkeypatch):
    found = [CorpusInfo(name, name, "", "built", 1, 1, "2026-11-23", "ready") for name in ("vital", "mine")]
    monkeypatch.setattr("app.capabilities.availability.installed", lambda instance: found)
    capabilities = availability(broken=CORPUS, CORPORA="mine", WIKIPEDIA="en").capabilities()
    assert [choice.name for choice in capabilities.corpora if choice.available] == ["vital", "wikipedia-live"]
    assert "It is cut off" in named(capabilities.corpora)["mine"].reason
    assert named(capabilities.answerers)["retriever-reader"].available


def test_a_questioner_that_is_set_but_not_on_this_machine_is_fetched_by_a_command(availability, tmp_path):
    def fix_of(preset: str, **settings: str) -> str:
        return named(availability(BIG, **settings).capabilities().pursuits)[preset].mend

    assert fix_of("paper") == "QUESTION_SEQ2SEQ"
    assert fix_of("paper", QUESTION_SEQ2SEQ=str(tmp_path / "nothing")) == "QUESTION_SEQ2SEQ"
    fetch = f"{FLASK} models fetch"
    assert fix_of("paper", QUESTION_SEQ2SEQ="some/questioner") == f"{fetch} question-seq2seq"
    first = str(tiny_t5(tmp_path / "first"))
    second = fix_of("seq+seq", QUESTION_SEQ2SEQ=first, NEXT_QUESTION_SEQ2SEQ="some/questioner")
    assert second == f"{fetch} next-question-seq2seq"


def test_setting_one_module_makes_a_custom_default_preset(availability):
    own = availability(BIG, REASONER="prompted")
    assert own.presets[OWN].reasoner == "prompted"
    assert own.presets[OWN].claim_verifier == "local"
    assert own.capabilities().defaults().preset == OWN
    assert OWN not in availability(BIG).presets


@pytest.mark.parametrize(
    "settings", [{"PRESET": "prompted"}, {"QUESTION_GENERATOR": "prompted"}, {"ANSWERER": "reciter-reader"}]
)
def test_the_defaults_of_question_guided_checks_are_the_settings_also_where_pursuits_are_the_default(
    availability, settings
):
    pursuing = availability(BIG, STRATEGY=PURSUIT, **settings).capabilities()
    assert pursuing.defaults().strategy == PURSUIT
    assert pursuing.defaults(GUIDED) == availability(BIG, **settings).capabilities().defaults()


def test_the_papers_own_answerer_can_be_the_default(availability):
    assert availability(BIG).capabilities().defaults().answerer == "retriever-reader"
    assert availability(BIG, ANSWERER="reciter-reader").capabilities().defaults().answerer == "reciter-reader"


def test_a_report_names_the_modules_used(availability):
    modules = availability(BIG).modules(RunOptions(preset="prompted", answerer="reciter-reader", model="big"))
    assert dict(modules) == {
        "claim verifier": "big, prompted",
        "question generator": "big, prompted",
        "answerer": "a language model's memory: big recites, the local model reads",
        "QA validator": "big, prompted",
        "reasoner": "big, prompted",
    }
    assert availability(BIG).modules(RunOptions(strategy="direct", model="big")) == (("asker", "big, prompted"),)


def test_a_report_names_a_model_in_a_folder_without_the_path(availability):
    given = {"FLAN_T5": "/srv/private/own-model"}
    modules = dict(availability(BIG, **given).modules(RunOptions(answerer="flan-t5", model="big")))
    assert "own-model" in modules["answerer"] and "private" not in modules["answerer"]


def test_a_report_names_an_own_corpus_by_its_title(availability, monkeypatch):
    minutes = CorpusInfo("minutes", "Council minutes", "City archive", "built", 1, 1, "2026-11-23", "ready")
    monkeypatch.setattr("app.capabilities.availability.installed", lambda instance: (minutes,))
    modules = dict(availability().modules(RunOptions(corpora=("vital", "minutes"))))
    assert modules["answerer"] == "passages of Wikipedia extracts (offline), Council minutes, read by the local model"


@pytest.mark.parametrize(
    ("source", "settings", "answerer", "search", "corpora"),
    [
        ("minutes", {}, "retriever-reader", "corpus", ("minutes",)),
        ("minutes", {"STRATEGY": "evidence-pursuit"}, "web-search", "corpus", ("minutes",)),
        ("web", {"SEARCH": "brave"}, "web-search", "brave", ()),
        ("web", {"SEARCH": "corpus"}, "web-search", "searxng", ()),
    ],
)
def test_the_operator_can_set_another_source_as_the_default(availability, source, settings, answerer, search, corpora):
    options = availability(SOURCE=source, **settings).capabilities().defaults()
    assert (options.answerer, options.search, options.corpora) == (answerer, search, corpora)


def test_every_source_that_is_not_there_names_the_command_or_setting_that_brings_it(availability):
    sources = named(availability().capabilities().sources)
    assert sources["simple-wikipedia"].mend == f"{FLASK} corpus fetch simple-wikipedia"
    assert "SEARXNG_URL" in sources["web"].mend


def test_the_corpora_searched_by_default_are_the_source_if_it_is_one():
    given = {"CORPORA": "vital,minutes"}
    named_by = {
        source: default_corpora(Settings.from_env({**given, "SOURCE": source})) for source in ("", "web", "own")
    }
    assert named_by == {"": ("vital", "minutes"), "web": ("vital", "minutes"), "own": ("own",)}


def test_the_options_are_computed_again_only_when_something_on_the_machine_has_changed(availability, tmp_path):
    here = availability(FLAN_T5=str(tmp_path / "t5"))
    first = here.capabilities()
    assert here.capabilities() is first
    (tmp_path / "corpora" / "mine").mkdir(parents=True)
    assert "mine" in named(here.capabilities().corpora)
    tiny_t5(tmp_path / "t5")
    assert named(here.capabilities().answerers)["flan-t5"].available
