"""Determine the available options from the settings, loaded components, model files and corpora.

They are computed at each call, without a request to another machine; a new corpus or a failed component shows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from app.backends.corpus.registry import installed, scope_of
from app.backends.corpus.wikipedia import HOST, LIVE, OFF
from app.backends.http import destination_of
from app.backends.hub import is_path, shown_name, why_missing
from app.backends.llm.registry import ModelSettings, unavailable_reason
from app.backends.web_search.registry import PROVIDERS, ProviderSearch, with_failover
from app.capabilities.options import (
    BASELINES,
    FACT_CHECKS,
    GUIDED,
    MIXES,
    NO_FACT_CHECKS,
    OWN,
    PURSUIT,
    SOURCE_TITLES,
    TITLES,
    WEB,
    WEB_SEARCH,
    Capabilities,
    Choice,
    Group,
    Mix,
    default_corpora,
    options_of_source,
)
from app.components import CORPUS, MODEL, RERANKER, Components
from app.config import FLASK
from app.config.settings import Settings
from app.domain.model import ANSWERERS, CORPUS_SEARCH, QACHECK, RunOptions
from app.modules.answerers import Need, kind_of
from app.presets import PROMPTED_PURSUIT, PURSUIT_PRESETS, PursuitPreset

LOCAL_PURSUIT = "local"
"""The default preset of a pursuit if PRESET starts with local; PROMPTED_PURSUIT otherwise."""
SEQ2SEQ = "flan-t5"
NO_MODEL = "No language model is set up.", "LOCAL_MODEL, OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE"
"""The reason and the fix where no language model is available, for Choice.unavailable."""
NO_CORPUS = "No corpus on this machine can be searched, and live Wikipedia is off.", "make corpus"
FETCH_FLAN_T5 = f"{FLASK} models fetch flan-t5, or FLAN_T5, a folder with the model"
LOCAL_MODEL_NAME = "Qwen2.5-Coder-1.5B with Hopcheck's adapter"
_LOCAL_ROLES = ("claim_verifier", "question_generator", "reasoner")
"""The roles that the local model plays; the local validator needs none."""


def unless_failed(choice: Choice, parts: Components, *names: str) -> Choice:
    """Return the choice, as unavailable if one of its components `names` could not be loaded."""
    part = parts.first_failed(*names)
    return choice.unavailable(f"The {part.name} could not be loaded: {part.message}", part.fix) if part else choice


def pursuit_choices(settings: Settings, parts: Components, has_model: bool) -> Iterator[Choice]:
    """Yield every preset of a pursuit; `has_model` says whether a language model is available."""
    for preset in (row.resolved(_has_model_files(settings.question_seq2seq)) for row in PURSUIT_PRESETS.values()):
        choice = Choice(preset.name, f"{preset.title}. {preset.changes}", needs_model=preset.needs_model)
        if preset.others == "local":
            choice = unless_failed(choice, parts, MODEL, RERANKER)
        if preset.needs_model and not has_model:
            choice = choice.unavailable(*NO_MODEL)
        elif missing := _missing_questioner(settings, preset):
            choice = choice.unavailable("It needs a model that is fine-tuned to ask questions.", missing)
        yield choice


def _missing_questioner(settings: Settings, preset: PursuitPreset) -> str:
    """Return the fix for the fine-tuned model that the preset needs and this machine lacks; "" if none is lacking."""
    needs = {"question_seq2seq": preset.needs_first_seq2seq, "next_question_seq2seq": preset.needs_next_seq2seq}
    for setting, is_needed in needs.items():
        name = getattr(settings, setting)
        if is_needed and not _has_model_files(name):
            is_on_hub = name and not is_path(name)
            return f"{FLASK} models fetch {setting.replace('_', '-')}" if is_on_hub else setting.upper()
    return ""


def _has_model_files(name: str | None) -> bool:
    return not why_missing(name or "")


@dataclass(frozen=True)
class Availability:
    """Computes the available options."""

    settings: Settings
    parts: Components
    models: Sequence[ModelSettings]
    engines: Sequence[ProviderSearch] = ()
    discover_models: Callable[[], Sequence[ModelSettings]] = tuple
    """Return the models of servers that were found on this machine."""

    def capabilities(self) -> Capabilities:
        """Return every option, with the reason where one is unavailable."""
        models = self._models()
        has_model = any(model.available for model in models)
        return Capabilities(
            strategies=self._strategies(has_model),
            presets=tuple(self._preset(name, mix, has_model) for name, mix in self.mixes().items()),
            answerers=tuple(self._answerer(name, has_model) for name in ANSWERERS),
            models=models,
            corpora=tuple(self._corpora()),
            pursuits=tuple(pursuit_choices(self.settings, self.parts, has_model)),
            searches=self._searches(),
            fact_checks=self._fact_checks(),
            default_strategy=self.settings.strategy,
            default_options=self._defaults(GUIDED, models),
            default_pursuit=self._defaults(PURSUIT, models),
            modules=self.modules,
        )

    def mixes(self) -> dict[str, Mix]:
        """Return the mix of each preset by name, with the site's own when a setting replaces a module."""
        replaced = {
            role: getattr(self.settings, role)
            for role in ("claim_verifier", "question_generator", "qa_validator", "reasoner")
            if getattr(self.settings, role)
        }
        own = {OWN: replace(MIXES[self.settings.preset], **replaced)} if replaced else {}
        return own | MIXES

    def _defaults(self, strategy: str, models: Sequence[Choice]) -> RunOptions:
        """Return the default options for a strategy, with the first available model that a setting names."""
        model = next((choice.name for choice in models if choice.available and not choice.found), None)
        engine = next((engine.name for engine in self.engines), None)
        if self.settings.source == WEB:
            chosen = None if self.settings.search == CORPUS_SEARCH else self.settings.search
            search = chosen or engine or PROVIDERS[0].name
        else:
            search = self.settings.search or engine or CORPUS_SEARCH
        preset = OWN if OWN in self.mixes() else self.settings.preset
        if strategy == PURSUIT:
            preset = LOCAL_PURSUIT if self.settings.preset.startswith("local") else PROMPTED_PURSUIT
        options = RunOptions(
            strategy=strategy,
            answerer=WEB_SEARCH if strategy == PURSUIT else self.settings.answerer,
            max_hops=self.settings.max_hops,
            preset=preset,
            model=model,
            corpora=self.settings.corpora,
            search=search,
            model_seed=self.settings.model_seed,
            temperature=self.settings.model_temperature,
            max_tokens=self.settings.model_max_tokens,
        )
        source = self.settings.source
        return replace(options, **options_of_source(source, options)) if source else options

    def modules(self, options: RunOptions) -> tuple[tuple[str, str], ...]:
        """Return the (role, implementation) pairs of a run with these options, for its report."""
        model = f"{options.model}, prompted"
        if options.strategy in BASELINES:
            return (("asker", model),)
        if options.strategy == PURSUIT:
            if options.preset not in PURSUIT_PRESETS:
                return ()
            preset = PURSUIT_PRESETS[options.preset].resolved(_has_model_files(self.settings.question_seq2seq))
            names = self.settings.question_seq2seq, self.settings.next_question_seq2seq
            first, later = (f"{shown_name(name or '')}, fine-tuned" for name in names)
            return preset.modules(model, self._local_names(), (first, later), self._answerer_name(options))
        mix = self.mixes().get(options.preset)
        if mix is None:
            return ()
        others = {"prompted": model, SEQ2SEQ: shown_name(self.settings.flan_t5), QACHECK: f"{model} as in QACheck"}
        local = self._local_names()

        def implementation(role: str, kind: str) -> tuple[str, str]:
            return role, local[role] if kind == "local" else others[kind]

        return (
            implementation("claim verifier", mix.claim_verifier),
            implementation("question generator", mix.question_generator),
            ("answerer", self._answerer_name(options)),
            implementation("QA validator", mix.qa_validator),
            implementation("reasoner", mix.reasoner),
        )

    def catalogue(self) -> tuple[Group, ...]:
        """Return all options in groups, as `models list` and the page show them."""
        capabilities = self.capabilities()
        return (
            Group("Sources", "SOURCE", capabilities.sources),
            Group("Strategies", "STRATEGY", capabilities.strategies),
            Group("Mixes of modules", "PRESET", capabilities.presets),
            *self._roles(any(model.available for model in capabilities.models)),
            Group("Answerers", "ANSWERER", capabilities.answerers),
            Group("Language models", "OPENAI_MODEL", capabilities.models),
            Group("Ways of pursuing evidence", "", capabilities.pursuits),
            Group("Search engines", "SEARCH", capabilities.searches),
            Group("Fact-checks", "", (capabilities.fact_checks,)),
            Group("Corpora", "CORPORA", capabilities.corpora),
        )

    def _fact_checks(self) -> Choice:
        on = replace(FACT_CHECKS, destination=destination_of(self.settings.fact_check_url))
        return on if self.settings.fact_check_api_key else NO_FACT_CHECKS

    def _local_names(self) -> dict[str, str]:
        other = self.settings.question_model
        model = f"{other.stem} with Hopcheck's adapter" if other else LOCAL_MODEL_NAME
        return {
            "claim verifier": model,
            "question generator": model,
            "QA validator": "local rules",
            "reasoner": model,
        }

    def _answerer_name(self, options: RunOptions) -> str:
        if options.answerer not in ANSWERERS:
            return ""
        titles = {each.name: each.title for each in self._corpora()} | SOURCE_TITLES
        titled = replace(options, corpora=tuple(titles.get(name, name) for name in options.corpora))
        settings = replace(self.settings, flan_t5=shown_name(self.settings.flan_t5))
        return kind_of(options.answerer).describe(titled, settings)

    def _strategies(self, has_model: bool) -> tuple[Choice, ...]:
        titles = ("Baseline: a language model, asked directly", "Baseline: a language model that thinks step by step")
        baselines = (Choice(name, title, needs_model=True) for name, title in zip(BASELINES, titles, strict=True))
        guided = Choice(GUIDED, "One question at a time (QACheck)")
        pursuing = Choice(PURSUIT, "Evidence pursued by searching (Papelo)")
        return guided, pursuing, *(choice if has_model else choice.unavailable(*NO_MODEL) for choice in baselines)

    def _roles(self, has_model: bool) -> Iterator[Group]:
        """Yield the implementations of each module except the answerer."""
        prompted = Choice("prompted", "A language model, prompted", needs_model=True)
        prompted = prompted if has_model else prompted.unavailable(*NO_MODEL)
        for role, local_name in self._local_names().items():
            name = role.replace(" ", "_").lower()
            local = Choice("local", local_name[:1].upper() + local_name[1:])
            local = unless_failed(local, self.parts, MODEL) if name in _LOCAL_ROLES else local
            seq2seq = (self._with_seq2seq(Choice(SEQ2SEQ, "FLAN-T5, end to end")),) if name == "reasoner" else ()
            yield Group(role[:1].upper() + role[1:], name.upper(), (local, prompted, *seq2seq))

    def _with_seq2seq(self, choice: Choice) -> Choice:
        missing = why_missing(self.settings.flan_t5)
        return choice.unavailable(missing, FETCH_FLAN_T5) if missing else choice

    def _preset(self, name: str, mix: Mix, has_model: bool) -> Choice:
        choice = Choice(name, TITLES[name], needs_model=mix.needs_model)
        if any(getattr(mix, role) == "local" for role in _LOCAL_ROLES):
            choice = unless_failed(choice, self.parts, MODEL)
        if not choice.available:
            return choice
        if mix.needs_model and not has_model:
            return choice.unavailable(*NO_MODEL)
        return self._with_seq2seq(choice) if mix.reasoner == SEQ2SEQ else choice

    def _answerer(self, name: str, has_model: bool) -> Choice:
        """Return the answerer as an option, unavailable if one of its needs is not met."""
        kind = kind_of(name)
        choice = Choice(name, kind.title, needs_model=Need.MODEL in kind.needs)
        for need in kind.needs:
            if choice.available:
                choice = self._unless_unmet(choice, need, has_model)
        return choice

    def _unless_unmet(self, choice: Choice, need: Need, has_model: bool) -> Choice:
        """Return the choice, as unavailable if `need` is not met on this machine."""
        if need is Need.READER:
            return unless_failed(choice, self.parts, MODEL)
        if need is Need.CORPUS:
            choice = unless_failed(choice, self.parts, RERANKER)
            return self._unless_without_corpus(choice) if choice.available else choice
        if need is Need.MODEL and not has_model:
            return choice.unavailable(*NO_MODEL)
        if need is Need.FLAN_T5:
            return self._with_seq2seq(choice)
        if need is Need.SEARCH and not any(search.available for search in self._searches()):
            return choice.unavailable("No search engine is set up, and no corpus can be searched.", "SEARXNG_URL")
        return choice

    def _unless_without_corpus(self, choice: Choice) -> Choice:
        """Return the choice, as unavailable if every corpus is, live Wikipedia too."""
        if any(corpus.available for corpus in self._corpora()):
            return choice
        failed = unless_failed(choice, self.parts, CORPUS)
        return choice.unavailable(*NO_CORPUS) if failed.available else failed

    def _models(self) -> tuple[Choice, ...]:
        models = (self._language_model(each) for each in (*self.models, *self.discover_models()))
        seq2seq = Choice(SEQ2SEQ, f"FLAN-T5 ({shown_name(self.settings.flan_t5)}), on this machine")
        return *models, self._with_seq2seq(seq2seq)

    def _language_model(self, model: ModelSettings) -> Choice:
        """Return the option for a language model; its title names the host."""
        named = "" if model.model in ("", model.name) else f"{model.model} "
        where = "runs in Hopcheck itself" if model.gguf else f"{named}at {model.host}"
        title = f"{model.model} ({model.found_by} on this machine)" if model.found_by else f"{model.name} ({where})"
        choice = Choice(model.name, title, destination=model.destination, found=bool(model.found_by))
        if reason := unavailable_reason(model):
            fix = "the setting that the reason names, and a restart"
            if model.gguf:
                local = self.settings.local_model or ""
                fix = f"{FLASK} models fetch {local}" if local.startswith("hub:") else "LOCAL_MODEL, a GGUF file"
            return choice.unavailable(reason, fix)
        return unless_failed(choice, self.parts, model.name) if model.gguf else choice

    def _searches(self) -> tuple[Choice, ...]:
        """Return the search of corpora and every engine, configured or not; live Wikipedia counts as a corpus.

        The destination of an engine names every host that may get a query, since other engines replace a failed one.
        """
        corpora = Choice(CORPUS_SEARCH, "The corpora, searched as the web is")
        set_up = with_failover(self.engines)
        others = (
            Choice(provider.name, provider.title, destination=set_up[provider.name].destination)
            if provider.name in set_up
            else Choice(provider.name, provider.title).unavailable("It is not set up.", provider.setting)
            for provider in PROVIDERS
        )
        return self._unless_without_corpus(corpora), *others

    def _corpora(self) -> Iterator[Choice]:
        default = default_corpora(self.settings)
        for info in installed(self.settings.instance):
            choice = Choice(info.name, info.title, scope=scope_of(info), built_at=info.built_at)
            if info.state != "ready":
                choice = choice.unavailable(info.message, info.fix)
            elif info.name in default:
                choice = unless_failed(choice, self.parts, CORPUS)
            yield choice
        language = self.settings.wikipedia
        if language != OFF:
            title = SOURCE_TITLES[LIVE] + ("" if language == "en" else f" ({language})")
            scope = "the whole articles of Wikipedia, as they are now"
            yield Choice(LIVE, title, destination=HOST.format(language), scope=scope)
