"""The claim form: the submitted fields and their conversion to raw run options."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from werkzeug.datastructures import MultiDict

from app.capabilities.options import WEB, Capabilities, source_of
from app.domain.messages import Words
from app.domain.model import ANSWERERS, CORPUS_SEARCH, DEFAULTS, RANGES, TICKS, Claim, Label, RunOptions
from app.presets import RECIPES, Recipe, defaults_of, recipe_of
from app.run_request import CLAIM_FIELDS
from app.strategies import BASELINES, PURSUIT

SET_BY_SOURCE = ("answerer", "corpora", "search")
"""Fields that count only without `from_source`; an answerer that was chosen must go with it."""


if TYPE_CHECKING:
    _Options = object
else:
    _fields = [*((name, str, "") for name in RANGES), *((name, bool, getattr(DEFAULTS, name)) for name in TICKS)]
    _Options = dataclasses.make_dataclass("_Options", _fields, frozen=True)


@dataclass(frozen=True)
class ClaimForm(_Options):
    """The fields as typed, so that a form with an error is shown unchanged."""

    claim: str = ""
    speaker: str = ""
    date: str = ""
    from_source: str = ""
    """The name of the source; "" for what the fields SET_BY_SOURCE say."""
    source_chosen: str = ""
    """Not empty if the source holds although the method has a source or an answerer of its own."""
    answerer: str = ""
    recipe: str = ""
    """The name of the recipe; "" for this site's own method."""
    strategy: str = ""
    """The strategy, with which its preset replaces the recipe; "" for the recipe."""
    preset: str = ""
    """The preset, except of an evidence pursuit."""
    pursuit: str = ""
    """The preset of an evidence pursuit."""
    search: str = ""
    model: str = ""
    corpora: tuple[str, ...] = ()
    labels: str = ""
    fresh: bool = False
    is_answerer_chosen: bool = False
    """Whether another answerer than the usual one was submitted, so that it is not left to the source."""
    usual: RunOptions = DEFAULTS
    """This site's defaults."""

    @classmethod
    def from_options(cls, options: RunOptions, preset: str, pursuit: str) -> ClaimForm:
        """Return the form for a new visitor; `preset` is the default one, `pursuit` that of an evidence pursuit."""
        blank = cls(preset=preset, pursuit=pursuit, fresh=options.fresh, usual=options)
        # Empty, so that the chosen method's own strategy and default labels apply.
        return replace(cls.repeating(Claim(""), options, blank), strategy="", labels="", source_chosen="")

    @classmethod
    def repeating(cls, claim: Claim, options: RunOptions, blank: ClaimForm) -> ClaimForm:
        """Return the form that repeats an earlier run; `fresh` and options the run did not use come from `blank`."""
        is_pursuit, recipe = options.strategy == PURSUIT, recipe_of(options)
        used: dict[str, Any] = {
            name: getattr(options, name) or getattr(blank, name) for name in ("answerer", "search", "model", "corpora")
        }
        used |= {name: _written(getattr(options, name)) for name in RANGES}
        return replace(
            blank,
            claim=claim.text,
            speaker=claim.speaker or "",
            date=claim.date or "",
            from_source=source_of(options),
            source_chosen="yes",
            recipe=recipe,
            strategy="" if recipe else options.strategy,
            labels=options.labels.value,
            preset=blank.preset if is_pursuit else options.preset,
            pursuit=options.preset if is_pursuit else blank.pursuit,
            **used,
            **{name: getattr(options, name) for name in TICKS},
        )

    @classmethod
    def from_fields(cls, fields: MultiDict[str, str], blank: ClaimForm) -> ClaimForm:
        """Return the submitted form.

        Omitted fields are taken from `blank`, except `claim`, `from_source` and `fresh`, which are then empty; a form
        without `recipe` has the default strategy. An example's button submits its claim. Browsers omit unticked
        checkboxes, so the page always submits an empty `corpora` value as well: alone, it means that none is ticked. A
        method with a source or an answerer of its own gets it, unless the submitted source or answerer differs from
        what the page showed.
        """
        sent: dict[str, Any] = {"from_source": "", "strategy": "" if "recipe" in fields else blank.usual.strategy}
        sent |= {name: fields[name] for name in SINGLE_VALUE if name in fields}
        # The page always submits an empty value of a checkbox as well.
        sent |= {name: any(fields.getlist(name)) for name in TICKS if name in fields}
        form = replace(
            blank,
            claim=fields.get("sample") or fields.get("claim", ""),
            corpora=tuple(filter(None, fields.getlist("corpora"))) if "corpora" in fields else blank.corpora,
            fresh="fresh" in fields,
            is_answerer_chosen=fields.get("answerer", blank.answerer) != blank.answerer,
            **sent,
        )
        shown = fields.get("from_source", blank.from_source) == blank.from_source and not form.source_chosen
        if not shown or form.is_answerer_chosen:
            return form
        recipe, answerer = RECIPES.get(form.recipe), defaults_of(*form._method()).get("answerer")
        if recipe and recipe.source and not form.strategy and form.recipe != blank.recipe:
            return replace(form, from_source=recipe.source)
        return replace(form, from_source="", answerer=answerer) if answerer else form

    def raw(self) -> dict[str, Any]:
        """Return the fields as RunRequest.resolve accepts them, without `labels` if it is empty."""
        unchanged = (*CLAIM_FIELDS, "answerer", "labels", "corpora", "fresh", *TICKS)
        fields = {name: getattr(self, name) for name in unchanged if name != "labels" or self.labels}
        converted = {"model": self.model or None, "search": self.search or None}
        strategy, preset = self._method()
        is_recipe = self.recipe and not self.strategy
        fields |= {"recipe": self.recipe} if is_recipe else {"strategy": strategy, "preset": preset}
        numbers = {name: _number(text) for name in RANGES if (text := getattr(self, name)) or name not in MAY_BE_EMPTY}
        raw = {**fields, **converted, **numbers}
        if not self.from_source:
            return raw
        left_out = set(SET_BY_SOURCE) - ({"answerer"} if self.is_answerer_chosen else set())
        return {name: value for name, value in raw.items() if name not in left_out} | {"source": self.from_source}

    def hidden_fields(self) -> list[tuple[str, str]]:
        """Return all fields but the claim, for a form that submits the same choices unseen."""
        named = [(name, getattr(self, name)) for name in SINGLE_VALUE]
        named += [("corpora", name) for name in ("", *self.corpora)]
        named += [(name, "yes" if getattr(self, name) else "") for name in TICKS]
        return [*named, ("fresh", "yes")] if self.fresh else named

    def selected_model(self, capabilities: Capabilities) -> str | None:
        """Return the language model that gets the claim when the form is submitted unchanged, None for none."""
        answerer = "" if self.from_source else self.answerer
        strategy, preset = self._method()
        chosen = RunOptions(strategy=strategy, preset=preset, answerer=answerer)
        return self.model if capabilities.needs_model(chosen) else None

    def _method(self) -> tuple[str, str]:
        """Return strategy and preset."""
        if self.strategy:
            return self.strategy, self.pursuit if self.strategy == PURSUIT else self.preset
        chosen: Recipe | RunOptions = RECIPES.get(self.recipe, self.usual)
        return chosen.strategy, chosen.preset


MAY_BE_EMPTY = tuple(name for name in RANGES if getattr(DEFAULTS, name) is None)
"""Fields of numbers that have a usual value of the prompt or of the site."""


def _written(number: float | None) -> str:
    return "" if number is None else f"{number:g}" if isinstance(number, float) else str(number)


def _number(text: str) -> float | str:
    """Return the number; any other text as it is, which is in no range, so that it gets the range's message."""
    if not re.fullmatch(r"[0-9]{1,10}|[0-9]{0,3}\.[0-9]{1,10}", text.strip()):
        return text
    return float(text) if "." in text else int(text)


_TEXTS = (each.name for each in dataclasses.fields(ClaimForm) if each.type in (str, "str"))
SINGLE_VALUE = tuple(name for name in _TEXTS if name != "claim")


FROM_MEMORY = Words("a language model’s memory")


def memory_sources(capabilities: Capabilities) -> dict[str, str]:
    """Return FROM_MEMORY by name of each strategy and answerer whose answers come from a language model's memory."""
    named = (*BASELINES, *(each.name for each in capabilities.answerers))
    return {name: FROM_MEMORY for name in named if ANSWERERS.get(name, "memory") == "memory"}


def chosen_source(form: ClaimForm, capabilities: Capabilities) -> str:
    """Describe where answers come from according to the fields SET_BY_SOURCE and the strategy."""
    known = memory_sources(capabilities)
    if words := known.get(form.strategy) or known.get(form.answerer):
        return words
    titles = {each.name: each.title for each in capabilities.sources}
    if ANSWERERS.get(form.answerer) == "documents" and form.search not in ("", CORPUS_SEARCH):
        return titles[WEB]
    return Words.joined(", ", [titles[name] for name in form.corpora if name in titles]) or Words("none chosen")


_S, _R, _N = Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_EVIDENCE


@dataclass(frozen=True, slots=True)
class Example:
    """An example claim with its expected outcome."""

    claim: str
    label: Label
    hops: int  # needed to decide it
    pair: int = 0  # a true and a false claim with the same number form a pair; 0 for no pair


EXAMPLES = (
    Example("The Colosseum stands in the capital of Italy.", _S, 2, 1),
    Example("The Colosseum stands in the capital of Austria.", _R, 2, 1),
    Example("The director of Seven Samurai made 30 feature films.", _S, 2, 5),
    Example("The director of Seven Samurai made 12 feature films.", _R, 2, 5),
    Example("The Mona Lisa was painted by Leonardo da Vinci.", _S, 1, 2),
    Example("The Mona Lisa was painted by Michelangelo.", _R, 1, 2),
    Example("Isaac Newton was born before Albert Einstein.", _S, 2, 3),
    Example("Albert Einstein was born before Isaac Newton.", _R, 2, 3),
    Example("The Starry Night was painted by a Dutch artist.", _S, 1, 6),
    Example("The Starry Night was painted by a Norwegian artist.", _R, 1, 6),
    Example("The composer of Swan Lake was Russian.", _S, 2, 4),
    Example("The composer of Swan Lake was Austrian.", _R, 2, 4),
    Example("Leo Tolstoy kept a white parrot in his study.", _N, 1),
    Example("The author of Moby-Dick was left-handed.", _N, 2),
)

PAPER_CLAIMS = (
    "Lars Onsager won the Nobel prize when he was 30 years old.",
    "Ulrich Walter's employer is headquartered in Cologne.",
    "Winter's Tale was the creation of a French poet.",
    "Donald Trump and Joe Biden were born in the same state.",
    "Sunlight can reach the deepest part of the Black Sea.",
    "Superdrag and Collective Soul are both rock bands.",
)
"""The claims of QACheck's demonstration and figures (Pan et al. 2023); the corpus VITAL decides none of them."""


OUTCOMES_PATH = Path(__file__).parent / "samples.json"
"""The outcome of each example with the shipped models, written by `python -m research.measure.samples --write`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a real run of an example."""

    claim: str
    label: Label
    reason: str
    """The first sentence of the rationale, or what was missing."""
    steps: tuple[dict[str, str], ...]
    """Question, answer and the cited article's title of each kept hop."""


@lru_cache(maxsize=1)
def outcomes() -> tuple[Outcome, ...]:
    """Return the stored outcome of each example, in the order of EXAMPLES."""
    stored = json.loads(OUTCOMES_PATH.read_text(encoding="utf-8"))
    return tuple(Outcome(**{**each, "label": Label(each["label"]), "steps": tuple(each["steps"])}) for each in stored)


def featured_outcome() -> Outcome:
    """Return the outcome that the home page shows in full: a refuted claim with two steps."""
    return outcomes()[1]


def example_groups() -> list[tuple[Outcome, ...]]:
    """Return the outcomes of the examples: a group for each pair, and one for all examples without a pair."""
    by_claim = {each.claim: each for each in outcomes()}
    numbers = dict.fromkeys(each.pair for each in EXAMPLES)
    return [tuple(by_claim[each.claim] for each in EXAMPLES if each.pair == number) for number in numbers]
