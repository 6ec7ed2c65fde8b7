"""The options for a run: strategies, mixes of modules, answerers, language models, corpora and search engines.

Page, command line and API offer the same choices. A choice that is not available has the reason, and a command or
setting that makes it available.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from app.domain.errors import InvalidInput
from app.domain.model import CORPUS_SEARCH, QACHECK, RunOptions
from app.presets import PURSUIT

BASELINES = ("direct", "chain-of-thought")
"""Strategies that ask a language model about the claim alone (QACheck, Table 1)."""


RETRIEVER_READER, WEB_SEARCH = "retriever-reader", "web-search"
"""The answerers that use corpora and search engines."""


def searches_corpora(options: RunOptions) -> bool:
    """Return whether a run with these options searches the corpora."""
    return options.answerer == RETRIEVER_READER or (options.answerer == WEB_SEARCH and options.search == CORPUS_SEARCH)


PROMPTED = "prompted"
"""The preset in which one language model has every module."""
OWN = "own"
"""The preset that the settings define module by module."""


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

    def unavailable(self, reason: str, fix: str) -> Choice:
        """Return the choice as unavailable."""
        return replace(self, available=False, reason=reason, mend=fix)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of choices."""

    title: str
    setting: str  # the setting of the default choice; "" for none
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Mix:
    """The implementation of each module: "local", "prompted", "qacheck" or, for the reasoner, "flan-t5"."""

    claim_verifier: str
    question_generator: str
    qa_validator: str
    reasoner: str

    @property
    def needs_model(self) -> bool:
        """Return whether some module prompts a language model."""
        kinds = {self.claim_verifier, self.question_generator, self.qa_validator, self.reasoner}
        return bool(kinds & {"prompted", QACHECK})


MIXES = {
    "local": Mix("local", "local", "local", "local"),
    PROMPTED: Mix("prompted", "prompted", "prompted", "prompted"),
    "local+flan-t5": Mix("local", "local", "local", "flan-t5"),
    "prompted+flan-t5": Mix("prompted", "prompted", "prompted", "flan-t5"),
    QACHECK: Mix(QACHECK, QACHECK, QACHECK, QACHECK),
}
"""The presets: all modules local or all prompted, each also with FLAN-T5 as the reasoner (QACheck, section 3.5), and
all with the prompts that QACheck prints."""

TITLES = {
    "local": "Local models",
    "prompted": "A language model, prompted",
    "local+flan-t5": "Local models, FLAN-T5 as the reasoner",
    "prompted+flan-t5": "A language model, prompted, with FLAN-T5 as the reasoner",
    QACHECK: "A language model, prompted as QACheck prints it, to reproduce its figures",
    OWN: "This site's own mix",
}


def find_choice(choices: Sequence[Choice], name: str | None, field: str) -> Choice:
    """Return the choice of that name. Raises InvalidInput, for `field`, if it is unknown or unavailable."""
    for choice in choices:
        if choice.name == name and choice.available:
            return choice
        if choice.name == name:
            raise InvalidInput(f"{choice.title} is not available here. {choice.reason}", field)
    known = ", ".join(choice.name for choice in choices) or "none, for none is set up"
    raise InvalidInput(f"There is no {field.replace('_', ' ')} {name!r}; choose one of: {known}.", field)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """All options on this machine. Computed once per request, because computing them opens files."""

    strategies: tuple[Choice, ...]
    presets: tuple[Choice, ...]  # of the strategy question-guided
    answerers: tuple[Choice, ...]
    models: tuple[Choice, ...]
    corpora: tuple[Choice, ...]
    pursuits: tuple[Choice, ...] = ()  # presets of evidence pursuit
    searches: tuple[Choice, ...] = ()
    default_options: RunOptions = field(default_factory=RunOptions)
    default_pursuit: RunOptions = field(default_factory=lambda: RunOptions(PURSUIT, WEB_SEARCH))
    modules: Callable[[RunOptions], tuple[tuple[str, str], ...]] = lambda options: ()
    """Name the implementation of each role in a run with these options, for its report."""

    def defaults(self, strategy: str | None = None) -> RunOptions:
        """Return the default options of a run with that strategy."""
        strategy = strategy or self.default_options.strategy
        return replace(self.default_pursuit if strategy == PURSUIT else self.default_options, strategy=strategy)

    def presets_of(self, strategy: str) -> tuple[Choice, ...]:
        """Return the presets of this strategy."""
        return self.pursuits if strategy == PURSUIT else self.presets

    def check(self, options: RunOptions) -> None:
        """Raise InvalidInput, naming the field, for options that cannot run together here."""
        strategy = find_choice(self.strategies, options.strategy, "strategy")
        at_work = [strategy]
        if options.strategy not in BASELINES:
            at_work.append(find_choice(self.presets_of(options.strategy), options.preset, "preset"))
            at_work.append(find_choice(self.answerers, options.answerer, "answerer"))
            if options.answerer == WEB_SEARCH:
                find_choice(self.searches, options.search, "search")
            if searches_corpora(options):
                self._check_corpora(options.corpora)
        needing = next((choice for choice in at_work if choice.needs_model), None)
        if needing and not options.model:
            raise InvalidInput(f"{needing.title} needs a language model; choose one.", "model")
        if needing:
            find_choice(self.models, options.model, "model")

    def effective(self, options: RunOptions) -> RunOptions:
        """Return the options without choices that have no effect, such as a model that is not used."""
        if options.strategy in BASELINES:
            options = replace(options, answerer="")
        if options.answerer != WEB_SEARCH:
            options = replace(options, search=None, undated=True, fact_checks=True)
        if not self.needs_model(options):
            options = replace(options, model=None, model_seed=None, temperature=None, max_tokens=None)
        return replace(
            options,
            corpora=options.corpora if searches_corpora(options) else (),
        )

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
        """Return the host that gets the search queries, which may contain the claim, or None for this machine."""
        return _destination(self.searches, options.search) if options.answerer == WEB_SEARCH else None

    def _check_corpora(self, names: Sequence[str]) -> None:
        if not names:
            raise InvalidInput("Choose at least one corpus to search.", "corpora")
        for name in names:
            find_choice(self.corpora, name, "corpora")


def _destination(choices: Sequence[Choice], name: str | None) -> str | None:
    return next((choice.destination for choice in choices if choice.name == name), None)
