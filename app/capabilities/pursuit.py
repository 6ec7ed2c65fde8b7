"""The options of evidence pursuit: presets and search engines, and their names in a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from app.backends.local.loading import why_missing
from app.backends.web_search.registry import PROVIDERS, with_failover
from app.backends.web_search.search import ProviderSearch
from app.capabilities.options import CORPUS_SEARCH, Choice
from app.components import Component, Components
from app.config.settings import Settings
from app.domain.model import RunOptions
from app.presets import PURSUIT_PRESETS, PursuitPreset

NO_MODEL = "No language model is set up.", "OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE"
FETCH_FLAN_T5 = "flask --app app models fetch flan-t5, or FLAN_T5, a folder with the model"
JUDGE, GENERATOR, CORPUS, RERANKER, READER = (
    "judge",
    "question generator",
    "corpus and retriever",
    "reranker",
    "reader",
)
"""The names of the components of the default configuration."""


def broken(choice: Choice, part: Component) -> Choice:
    """Return the choice as unavailable because one of its components could not be loaded."""
    return choice.unavailable(f"The {part.name} could not be loaded: {part.message}", part.fix)


def pursuits(settings: Settings, parts: Components, usable: bool) -> Iterator[Choice]:
    """Yield every preset, with the reason where it is unavailable; `usable`: some language model is available."""
    for preset in PURSUIT_PRESETS.values():
        choice = Choice(preset.name, f"{preset.title}. {preset.changes}", needs_model=preset.needs_model)
        local = (JUDGE, GENERATOR, READER) if preset.others == "local" else ()
        if part := parts.first_failed(*local):
            choice = broken(choice, part)
        elif preset.needs_model and not usable:
            choice = choice.unavailable(*NO_MODEL)
        elif missing := _missing_questioner(settings, preset):
            choice = choice.unavailable("It needs a model that is fine-tuned to ask questions.", missing)
        yield choice


def _missing_questioner(settings: Settings, preset: PursuitPreset) -> str:
    """Return the setting whose fine-tuned model the preset needs and this machine lacks, or ""."""
    if preset.needs_first_seq2seq and why_missing(settings.question_seq2seq or ""):
        return "QUESTION_SEQ2SEQ"
    if preset.needs_next_seq2seq and why_missing(settings.next_question_seq2seq or ""):
        return "NEXT_QUESTION_SEQ2SEQ"
    return ""


def searches(engines: Sequence[ProviderSearch], corpora: bool) -> tuple[Choice, ...]:
    """Return the corpora and then every engine, configured or not. `corpora`: whether one is indexed.

    The destination of an engine names every host that may get a query, since other engines replace a failed one.
    """
    here = Choice(CORPUS_SEARCH, "The corpora of this machine, searched as the web is")
    if not corpora:
        here = here.unavailable("No corpus is indexed on this machine.", "make corpus")
    set_up = with_failover(engines)
    others = (
        Choice(provider.name, provider.title, destination=set_up[provider.name].destination)
        if provider.name in set_up
        else Choice(provider.name, provider.title).unavailable("It is not set up.", provider.setting)
        for provider in PROVIDERS
    )
    return here, *others


def pursuit_at_work(
    settings: Settings, options: RunOptions, local: Mapping[str, str], answerer: str
) -> tuple[tuple[str, str], ...]:
    """Return the (role, implementation) pairs of a pursuit; `local` maps roles to their local implementation."""
    preset = PURSUIT_PRESETS.get(options.preset)
    if preset is None:
        return ()
    model = f"{options.model}, prompted"
    first = {"llm": model, "local": local["question generator"], "seq": f"{settings.question_seq2seq}, fine-tuned"}
    then = first | {"local": "local judge and rules", "seq": f"{settings.next_question_seq2seq}, fine-tuned"}
    prompted = preset.others == "llm"
    return (
        ("first question", first[preset.first]),
        *([] if preset.variant.all_at_once else [("next step", then[preset.then])]),
        ("answerer", answerer),
        *([("paraphraser", model if prompted else first["local"])] if preset.variant.padding == "paraphrase" else []),
        ("reasoner", model if prompted else local["reasoner"]),
    )
