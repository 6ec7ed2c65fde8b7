"""What an evidence pursuit can be made of here: its presets, the search engines, and how both are named in a report."""

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

# Why something cannot be had and what makes it so, in words that several choices share; the heavy parts by name.

NO_MODEL = "No language model is set up.", "OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE"
FETCH_FLAN_T5 = "flask --app app models fetch flan-t5, or FLAN_T5, a folder with the model"
JUDGE, GENERATOR, CORPUS, RERANKER, READER = (
    "judge",
    "question generator",
    "corpus and retriever",
    "reranker",
    "reader",
)
"""The heavy parts of the embedded default."""


def broken(choice: Choice, part: Component) -> Choice:
    """The choice, not to be had for a part of it could not be loaded."""
    return choice.without(f"The {part.name} could not be loaded: {part.message}", part.fix)


def pursuits(settings: Settings, parts: Components, usable: bool) -> Iterator[Choice]:
    """Every preset, with the reason why not where it cannot be had; `usable`: some language model can be had."""
    for preset in PURSUIT_PRESETS.values():
        choice = Choice(preset.name, f"{preset.title}. {preset.changes}", needs_model=preset.needs_model)
        local = (JUDGE, GENERATOR, READER) if preset.others == "local" else ()
        if part := parts.first_failed(*local):
            choice = broken(choice, part)
        elif preset.needs_model and not usable:
            choice = choice.without(*NO_MODEL)
        elif missing := _missing_questioner(settings, preset):
            choice = choice.without("It needs a model that is fine-tuned to ask questions.", missing)
        yield choice


def _missing_questioner(settings: Settings, preset: PursuitPreset) -> str:
    """The setting that does not name a fine-tuned model on this machine although the preset needs one, or ""."""
    if preset.needs_first_seq2seq and why_missing(settings.question_seq2seq or ""):
        return "QUESTION_SEQ2SEQ"
    if preset.needs_next_seq2seq and why_missing(settings.next_question_seq2seq or ""):
        return "NEXT_QUESTION_SEQ2SEQ"
    return ""


def searches(engines: Sequence[ProviderSearch], corpora: bool) -> tuple[Choice, ...]:
    """The corpora first, for they are always here; then every engine, set up or not. `corpora`: some is indexed.

    The destination of an engine is every host that may get a query when it is chosen: the others step in for it.
    """
    here = Choice(CORPUS_SEARCH, "The corpora of this machine, searched as the web is")
    if not corpora:
        here = here.without("No corpus is indexed on this machine.", "make corpus")
    set_up = with_failover(engines)
    others = (
        Choice(provider.name, provider.title, destination=set_up[provider.name].destination)
        if provider.name in set_up
        else Choice(provider.name, provider.title).without("It is not set up.", provider.setting)
        for provider in PROVIDERS
    )
    return here, *others


def pursuit_at_work(
    settings: Settings, options: RunOptions, local: Mapping[str, str], answerer: str
) -> tuple[tuple[str, str], ...]:
    """The (role, implementation) pairs of a pursuit; `local` names the local part of each role, `answerer` its own."""
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
