"""The options for a run: recipes, sources, strategies, presets, answerers, language models, corpora, search engines.

Page, command line and API offer the same choices. A choice that is not available has the reason, and a command or
setting that makes it available.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from app.config import FLASK
from app.config.settings import Settings
from app.domain.errors import InvalidInput
from app.domain.messages import Words
from app.domain.model import ANSWERERS, CORPUS_SEARCH, DEFAULTS, RANGES, TICKS, RunOptions
from app.presets import RECIPES, defaults_of
from app.strategies import BASELINES, GUIDED, PURSUIT

RETRIEVER_READER, WEB_SEARCH = "retriever-reader", "web-search"
"""The usual answerers over corpora and search engines."""


def reads_documents(options: RunOptions) -> bool:
    """Return whether a run with these options uses a search engine, or the corpora as one."""
    return ANSWERERS.get(options.answerer) == "documents"


def searches_corpora(options: RunOptions) -> bool:
    reads = ANSWERERS.get(options.answerer)
    return reads == "passages" or (reads == "documents" and options.search == CORPUS_SEARCH)


WEB = "web"
"""The source that is searched with a search engine. Every other source is the corpus of its name."""

VITAL, SIMPLE_WIKIPEDIA, LIVE_WIKIPEDIA = "vital", "simple-wikipedia", "wikipedia-live"
SOURCE_TITLES: dict[str, str] = {
    VITAL: Words("Wikipedia extracts (offline)"),
    LIVE_WIKIPEDIA: Words("Wikipedia, live"),
    SIMPLE_WIKIPEDIA: Words("Simple Wikipedia"),
    WEB: Words("The web"),
}
"""The titles of the sources that every installation can have."""


def options_of_source(name: str, options: RunOptions) -> dict[str, Any]:
    """Return answerer, corpora and search engine that the source `name` sets in these options."""
    if name == WEB:
        return {"answerer": WEB_SEARCH, "corpora": (), "search": options.search}
    answerer = WEB_SEARCH if options.strategy == PURSUIT or reads_documents(options) else RETRIEVER_READER
    return {"answerer": answerer, "corpora": (name,), "search": CORPUS_SEARCH}


def default_corpora(settings: Settings) -> tuple[str, ...]:
    """Return the corpora that are searched by default: SOURCE if it is a corpus, else CORPORA."""
    return (settings.source,) if settings.source and settings.source != WEB else settings.corpora


def source_of(options: RunOptions) -> str:
    """Return the source whose usual answerer and corpora these options have; "" for none."""
    if options.strategy in BASELINES:
        return ""
    if reads_documents(options) and options.search not in (None, CORPUS_SEARCH):
        return WEB
    usual = WEB_SEARCH if options.strategy == PURSUIT else RETRIEVER_READER
    is_one_corpus = searches_corpora(options) and len(options.corpora) == 1
    return options.corpora[0] if is_one_corpus and options.answerer == usual else ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One selectable option."""

    name: str
    title: str
    available: bool = True
    reason: str = ""
    """The reason why it is not available here."""
    mend: str = ""
    """The command or setting that makes it available."""
    destination: str | None = None
    """The host that gets users' text when this is chosen; null when nothing leaves the machine."""
    needs_model: bool = False
    """True if a language model must be chosen with it."""
    found: bool = False
    """True for a language model that was found on this machine and that no setting names."""
    scope: str = ""
    """How much a source holds, and of when."""
    built_at: str = ""
    """ISO time since which the corpus holds that."""
    about: str = ""
    """What a recipe does, in a sentence."""

    def unavailable(self, reason: str, fix: str) -> Choice:
        return replace(self, available=False, reason=reason, mend=fix)


FACT_CHECKS = Choice("fact-checks", Words("Published fact-checks"))
NO_FACT_CHECKS = FACT_CHECKS.unavailable(Words("No key is set up."), "FACT_CHECK_API_KEY")


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    setting: str  # the setting of the default choice; "" for none
    choices: tuple[Choice, ...]


def find_choice(choices: Sequence[Choice], name: str | None, field: str) -> Choice:
    """Return the choice of that name. Raises InvalidInput, for `field`, if it is unknown or unavailable."""
    for choice in choices:
        if choice.name == name and choice.available:
            return choice
        if choice.name == name:
            raise InvalidInput(
                Words("{title} is not available here. {reason}", title=choice.title, reason=choice.reason), field
            )
    known = ", ".join(choice.name for choice in choices) or Words("none, for none is set up")
    raise InvalidInput(
        Words(
            "There is no {kind} {name!r}; choose one of: {known}.",
            kind=Words(field.replace("_", " ")),
            name=name,
            known=known,
        ),
        field,
    )


@dataclass(frozen=True)
class Capabilities:
    """All options on this machine."""

    strategies: tuple[Choice, ...]
    presets: tuple[Choice, ...]  # of the strategy question-guided
    answerers: tuple[Choice, ...]
    models: tuple[Choice, ...]
    corpora: tuple[Choice, ...]
    pursuits: tuple[Choice, ...] = ()  # presets of evidence pursuit
    searches: tuple[Choice, ...] = ()
    fact_checks: Choice = NO_FACT_CHECKS
    default_strategy: str = GUIDED
    default_options: RunOptions = field(default_factory=RunOptions)  # of every strategy but evidence pursuit
    default_pursuit: RunOptions = field(default_factory=lambda: RunOptions(PURSUIT, WEB_SEARCH))
    roles: tuple[Group, ...] = ()  # the implementations of each module of the strategy question-guided
    modules: Callable[[RunOptions], tuple[tuple[str, str], ...]] = lambda options: ()
    """Name the implementation of each role in a run with these options, for its report."""

    @cached_property
    def sources(self) -> tuple[Choice, ...]:
        """Return what answers can come from: each corpus, and the web."""
        corpora = [replace(each, title=SOURCE_TITLES[VITAL]) if each.name == VITAL else each for each in self.corpora]
        if SIMPLE_WIKIPEDIA not in (each.name for each in corpora):
            command = f"{FLASK} corpus fetch {SIMPLE_WIKIPEDIA}"
            simple = Choice(SIMPLE_WIKIPEDIA, SOURCE_TITLES[SIMPLE_WIKIPEDIA])
            corpora.append(simple.unavailable(Words("It is not on this machine yet."), command))
        return *(self._answered(each, RETRIEVER_READER) for each in corpora), self._answered(self._web(), WEB_SEARCH)

    def _web(self) -> Choice:
        web, engine = (
            Choice(WEB, SOURCE_TITLES[WEB], scope=Words("the web pages that a search engine finds")),
            self._engine(),
        )
        if engine:
            return replace(web, destination=engine.destination)
        settings = (each.mend for each in self.searches if each.name != CORPUS_SEARCH)
        return web.unavailable(Words("No search engine is set up."), " or ".join(settings))

    def _answered(self, source: Choice, answerer: str) -> Choice:
        using = _named(self.answerers, answerer)
        return source if using.available or not source.available else source.unavailable(using.reason, using.mend)

    def _engine(self) -> Choice | None:
        """Return the search engine of the source WEB: the default one, else the first that is set up."""
        engines = [each for each in self.searches if each.available and each.name != CORPUS_SEARCH]
        usual = [each for each in engines if each.name == self.default_options.search]
        return next(iter(usual + engines), None)

    @cached_property
    def recipes(self) -> tuple[Choice, ...]:
        return tuple(map(self._recipe, RECIPES))

    def _recipe(self, name: str) -> Choice:
        """Return the recipe as a choice, unavailable like the first of its parts that is."""
        title, about, strategy, preset, source = RECIPES[name]
        modules = _named(self.presets_of(strategy), preset)
        parts = (
            _named(self.strategies, strategy),
            modules,
            _named(self.answerers, defaults_of(strategy, preset).get("answerer")),
            _named(self.sources, source),
            _named(self.models, self.default_options.model if modules.needs_model else None),
        )
        hosts = " and ".join(each.destination for each in parts if each.destination) or None
        choice = Choice(name, title, destination=hosts, needs_model=modules.needs_model, about=about)
        lacking = next((each for each in parts if not each.available), None)
        return choice.unavailable(lacking.reason, lacking.mend) if lacking else choice

    def with_recipe(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return the options `given` with those that the recipe sets where none are given.

        Raises InvalidInput for a recipe that is unknown, or unavailable with nothing given in place of its parts.
        """
        has_source = any(given.get(each) for each in ("source", "answerer", "corpora", "search"))
        is_changed = has_source or bool({"strategy", "preset"} & given.keys())
        find_choice([replace(each, available=is_changed or each.available) for each in self.recipes], name, "recipe")
        implied = {each: getattr(RECIPES[name], each) for each in ("strategy", "preset", "source")}
        if given.get("strategy", implied["strategy"]) != implied["strategy"]:
            del implied["preset"]
        if has_source or not implied["source"]:
            del implied["source"]
        return implied | given

    def with_source(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options `given` with those that the source `name` stands for.

        Raises InvalidInput for a source that is not available, and for given options that contradict it.
        """
        find_choice(self.sources, name, "source")
        engine = self._engine()
        chosen = RunOptions(
            strategy=given.get("strategy") or self.default_strategy,
            answerer=given.get("answerer") or "",
            search=given.get("search") or (engine.name if engine else None),
        )
        implied = options_of_source(name, chosen)
        for option, value in implied.items():
            wanted = given.get(option)
            # For the web the implied search is the given one, so that the search of corpora must be refused here.
            if wanted and (wanted != value or (name == WEB and wanted == CORPUS_SEARCH)):
                shown = ", ".join(wanted) if option == "corpora" else wanted
                problem = Words(
                    "The source {name} does not go with the {option} {shown}: leave one of them out.",
                    name=name,
                    option=option,
                    shown=shown,
                )
                raise InvalidInput(problem, "source")
        return {**given, **implied}

    def defaults(self, strategy: str | None = None) -> RunOptions:
        strategy = strategy or self.default_strategy
        return replace(self.default_pursuit if strategy == PURSUIT else self.default_options, strategy=strategy)

    def presets_of(self, strategy: str) -> tuple[Choice, ...]:
        return self.pursuits if strategy == PURSUIT else self.presets

    def check(self, options: RunOptions) -> None:
        """Raise InvalidInput, naming the field, for options that cannot run together here."""
        strategy = find_choice(self.strategies, options.strategy, "strategy")
        at_work = [strategy]
        if options.strategy not in BASELINES:
            at_work.append(find_choice(self.presets_of(options.strategy), options.preset, "preset"))
            at_work.append(find_choice(self.answerers, options.answerer, "answerer"))
            if reads_documents(options):
                find_choice(self.searches, options.search, "search")
            if searches_corpora(options):
                if not options.corpora:
                    raise InvalidInput(Words("Choose at least one corpus to search."), "corpora")
                for name in options.corpora:
                    find_choice(self.corpora, name, "corpora")
        needing = next((choice for choice in at_work if choice.needs_model), None)
        if needing and not options.model:
            raise InvalidInput(Words("{title} needs a language model; choose one.", title=needing.title), "model")
        if needing:
            find_choice(self.models, options.model, "model")

    def effective(self, options: RunOptions) -> RunOptions:
        """Return the options without choices that have no effect, such as a model that is not used."""
        if options.strategy in BASELINES:
            options = replace(options, answerer="")
        has = {None: True, "search": reads_documents(options), "language model": self.needs_model(options)}
        needs = {name: each.needs for name, each in (RANGES | TICKS).items()}
        needs |= {"search": "search", "model": "language model"}
        unused = {name: getattr(DEFAULTS, name) for name, need in needs.items() if not has[need]}
        options = replace(options, **unused)
        return options if searches_corpora(options) else replace(options, corpora=())

    def needs_model(self, options: RunOptions) -> bool:
        """Return whether these options use a language model. Unknown names use none."""
        if options.strategy in BASELINES:
            return True
        at_work = [choice for choice in self.presets_of(options.strategy) if choice.name == options.preset]
        at_work += [choice for choice in self.answerers if choice.name == options.answerer]
        return any(choice.needs_model for choice in at_work)

    def destination(self, options: RunOptions) -> str | None:
        """Return the host of the language model that gets the claim, or None if it stays on this machine."""
        return _destination(self.models, options.model) if self.needs_model(options) else None

    def searched_at(self, options: RunOptions) -> str | None:
        """Return the hosts that get the search queries, which may contain the claim, or None for this machine."""
        hosts = [_destination(self.searches, options.search)] if reads_documents(options) else []
        if searches_corpora(options):
            hosts += [_destination(self.corpora, name) for name in options.corpora]
        return " and ".join(dict.fromkeys(filter(None, hosts))) or None


def _named(choices: Sequence[Choice], name: str | None) -> Choice:
    """Return the choice of that name: an unavailable one if it is unknown, an available one for no name."""
    return next((each for each in choices if each.name == name), Choice(name or "", name or "", not name))


def _destination(choices: Sequence[Choice], name: str | None) -> str | None:
    return next((choice.destination for choice in choices if choice.name == name), None)
