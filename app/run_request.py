"""Convert raw input to a claim and run options, for the form, command line, API, batches and evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from app.capabilities.options import Capabilities
from app.domain.errors import InvalidInput
from app.domain.messages import Words
from app.domain.model import DEFAULTS, RANGES, Claim, LabelSet, RunOptions
from app.presets import defaults_of
from app.text.claims import parse_claim

CLAIM_FIELDS = ("claim", "speaker", "date")


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A claim, and the options of a run that can be started here."""

    claim: Claim
    options: RunOptions

    @classmethod
    def resolve(cls, raw: Mapping[str, Any], capabilities: Capabilities) -> RunRequest:
        """Return the claim and options in `raw`, with keys CLAIM_FIELDS, `recipe`, `source` and RunOptions' fields.

        Raises InvalidInput, which names the field, for invalid input and for options that are unavailable here.
        """
        claim = parse_claim(*(raw.get(name) or "" for name in CLAIM_FIELDS))
        return cls(claim, resolve_options(raw, capabilities))


def resolve_options(raw: Mapping[str, Any], capabilities: Capabilities) -> RunOptions:
    """Return the options in `raw`, with defaults for missing fields and without choices that have no effect.

    `labels` may be text, and `corpora` any sequence; `source` stands for an answerer and what it searches; `recipe`
    for options that are not given. Raises InvalidInput, which names the field.
    """
    given = {name: value for name, value in raw.items() if name not in CLAIM_FIELDS}
    if (recipe := given.pop("recipe", None)) is not None:
        given = capabilities.with_recipe(recipe, given)
    labels, source = given.pop("labels", None), given.pop("source", None)
    if "corpora" in given:
        given["corpora"] = tuple(dict.fromkeys(given["corpora"]))
    if source is not None:
        given = capabilities.with_source(source, given)
    options = replace(capabilities.defaults(given.get("strategy")), **given)
    preset_values = defaults_of(options.strategy, options.preset)
    if given.get("answerer") is None and "answerer" in preset_values:  # in place of the setting ANSWERER
        options = replace(options, answerer=preset_values["answerer"])
    if options.model_seed is None:  # neither given nor set in MODEL_SEED
        options = replace(options, model_seed=preset_values.get("model_seed"))
    for name, limits in RANGES.items():
        # A default may be None, which is in no range.
        if (number := getattr(options, name)) not in limits and number != getattr(DEFAULTS, name):
            raise InvalidInput(str(limits), name)
    preset_labels = preset_values.get("labels", LabelSet.THREE)
    options = replace(options, labels=preset_labels if labels is None else label_set(labels))
    options = capabilities.effective(options)
    capabilities.check(options)
    return replace(options, modules=capabilities.modules(options))


def raw_options(options: RunOptions) -> dict[str, Any]:
    """Return the options as input for `resolve_options`, without choices that had no effect."""
    values = {name: value for name, value in asdict(options).items() if name != "modules"}
    return {name: value for name, value in values.items() if value not in (None, "", ())}


def label_set(name: str) -> LabelSet:
    """Return the label set of that name. Raises InvalidInput for an unknown one."""
    try:
        return LabelSet(name)
    except ValueError:
        known = ", ".join(LabelSet)
        raise InvalidInput(
            Words("There is no label set of that name; choose one of: {known}.", known=known), "labels"
        ) from None
