"""Determine which options are available, from the settings, loaded components, model files and corpora.

The result is kept until something that it was computed from changes, so a new corpus or a failed component shows at
once. No request goes to another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from app.backends.corpus.registry import CorpusInfo, installed, scope_of
from app.backends.corpus.wikipedia import HOST, LIVE, OFF
from app.backends.http import destination_of
from app.backends.hub import is_path, shown_name, why_missing
from app.backends.llm.registry import ModelSettings, unavailable_reason
from app.backends.local.base_model import local_model_of
from app.backends.web_search.registry import PROVIDERS, ProviderSearch, with_failover
from app.capabilities.options import (
    FACT_CHECKS,
    NO_FACT_CHECKS,
    SOURCE_TITLES,
    WEB,
    WEB_SEARCH,
    Capabilities,
    Choice,
    Group,
    default_corpora,
    options_of_source,
)
from app.components import CORPUS, MODEL, Components
from app.config import FLASK, make
from app.config.settings import Settings
from app.domain.messages import Words
from app.domain.model import ANSWERERS, CORPUS_SEARCH, QACHECK, RANGES, RunOptions
from app.modules.answerers import kind_of
from app.presets import GUIDED_PRESETS, OWN, PROMPTED_PURSUIT, PURSUIT_PRESETS, ROLES, GuidedPreset
from app.strategies import GUIDED, PURSUIT, STRATEGIES

LOCAL_PURSUIT = "local"
"""The default preset of a pursuit if PRESET starts with local; PROMPTED_PURSUIT otherwise."""
SEQ2SEQ = "flan-t5"
QUESTIONERS = ("question_seq2seq", "next_question_seq2seq")

Fault = tuple[str, str]
"""Why something is not available, and the command or setting that makes it available."""
NO_MODEL = Words("No language model is set up."), "LOCAL_MODEL, OPENAI_API_KEY and OPENAI_MODEL, or MODELS_FILE"
NO_CORPUS = Words("No corpus on this machine can be searched, and live Wikipedia is off."), make("corpus")
NO_SEARCH = Words("No search engine is set up, and no corpus can be searched."), "SEARXNG_URL"


class Inventory(NamedTuple):
    """What this machine has at one moment. Everything that can be chosen follows from it and from the settings."""

    faults: dict[str, Fault]
    """Why components and models cannot be used, by the name of what needs them."""
    corpora: tuple[CorpusInfo, ...]
    models: tuple[tuple[ModelSettings, str], ...]
    """The language models, each with the reason why it is not available, "" if it is."""


class Availability:
    """Computes the available options."""

    def __init__(
        self,
        settings: Settings,
        parts: Components,
        models: Sequence[ModelSettings],
        engines: Sequence[ProviderSearch] = (),
        discover_models: Callable[[], Sequence[ModelSettings]] = tuple,
    ) -> None:
        """`discover_models` returns the models of servers that were found on this machine."""
        self.settings = settings
        self._parts, self._models, self._discover_models = parts, models, discover_models
        self._engines = with_failover(engines)
        self._kept: tuple[Inventory, Capabilities] | None = None
        roles = {role: kind for role in ROLES if (kind := getattr(settings, role))}
        own = (
            {OWN: GUIDED_PRESETS[settings.preset]._replace(title=Words("This site's own mix"), **roles)}
            if roles
            else {}
        )
        self.presets: Mapping[str, GuidedPreset] = own | GUIDED_PRESETS
        """The presets of the question-guided strategy, with the site's own where a setting replaces a module."""

    def capabilities(self) -> Capabilities:
        models = (*self._models, *self._discover_models())
        reasons = tuple((each, unavailable_reason(each) or "") for each in models)
        now, kept = Inventory(self._faults(), tuple(installed(self.settings.instance)), reasons), self._kept
        if kept is None or kept[0] != now:
            self._kept = kept = now, self._computed(now)
        return kept[1]

    def _computed(self, now: Inventory) -> Capabilities:
        faults = dict(now.faults)
        corpora = tuple(self._corpora(now, faults))
        if not any(each.available for each in corpora):
            faults["corpus"] = faults.get(CORPUS, NO_CORPUS)
            if not self._engines:
                faults["search"] = NO_SEARCH
        models = tuple(self._language_models(now, faults))
        if not any(each.available for each in models):
            faults["language model"] = NO_MODEL
        has_questioner = "question_seq2seq" not in faults
        pursuits = [preset.resolved(has_questioner) for preset in PURSUIT_PRESETS.values()]
        kinds = {name: kind_of(name) for name in ANSWERERS}
        destination = destination_of(self.settings.fact_check_url)
        return Capabilities(
            strategies=tuple(_offer(faults, name, kind.title, kind.needs) for name, kind in STRATEGIES.items()),
            presets=tuple(_offer(faults, name, each.title, each.needs) for name, each in self.presets.items()),
            answerers=tuple(_offer(faults, name, kind.title, kind.needs) for name, kind in kinds.items()),
            models=models,
            corpora=corpora,
            pursuits=tuple(
                _offer(
                    faults, each.name, Words("{title}. {changes}", title=each.title, changes=each.changes), each.needs
                )
                for each in pursuits
            ),
            searches=tuple(self._searches(faults)),
            fact_checks=replace(FACT_CHECKS, destination=destination)
            if self.settings.fact_check_api_key
            else NO_FACT_CHECKS,
            default_strategy=self.settings.strategy,
            default_options=self._defaults(GUIDED, models),
            default_pursuit=self._defaults(PURSUIT, models),
            modules=self.modules,
            roles=tuple(self._roles(faults)),
        )

    def _faults(self) -> dict[str, Fault]:
        failed = (part for part in self._parts.all() if part.state == "failed")
        faults: dict[str, Fault] = {
            part.name: (
                Words("The {name} could not be loaded: {message}", name=part.name, message=part.message),
                part.fix,
            )
            for part in failed
        }
        if missing := why_missing(self.settings.flan_t5):
            faults[SEQ2SEQ] = missing, f"{FLASK} models fetch flan-t5, or FLAN_T5, a folder with the model"
        for setting in QUESTIONERS:
            name = getattr(self.settings, setting) or ""
            if why_missing(name):
                fetch = f"{FLASK} models fetch {setting.replace('_', '-')}"
                fix = fetch if name and not is_path(name) else setting.upper()
                faults[setting] = Words("It needs a model that is fine-tuned to ask questions."), fix
        return faults

    def _corpora(self, now: Inventory, faults: Mapping[str, Fault]) -> Iterable[Choice]:
        default = default_corpora(self.settings)
        for info in now.corpora:
            needs = (CORPUS,) if info.name in default else ()
            choice = _offer(faults, info.name, info.title, needs, scope=scope_of(info), built_at=info.built_at)
            yield choice if info.state == "ready" else choice.unavailable(info.message, info.fix)
        language = self.settings.wikipedia
        if language != OFF:
            title = SOURCE_TITLES[LIVE]
            if language != "en":
                title = Words("Wikipedia, live ({language})", language=language)
            scope = Words("the whole articles of Wikipedia, as they are now")
            yield Choice(LIVE, title, destination=HOST.format(language), scope=scope)

    def _language_models(self, now: Inventory, faults: Mapping[str, Fault]) -> Iterable[Choice]:
        """Yield the language models; the title of each names its host."""
        for model, reason in now.models:
            named = "" if model.model in ("", model.name) else f"{model.model} "
            where = (
                Words("runs in Hopcheck itself")
                if model.gguf
                else Words("{named}at {host}", named=named, host=model.host)
            )
            title = (
                Words("{model} ({server} on this machine)", model=model.model, server=model.found_by)
                if model.found_by
                else Words("{model} ({where})", model=model.name, where=where)
            )
            about = {"destination": model.destination, "found": bool(model.found_by)}
            choice = _offer(faults, model.name, title, (model.name,) if model.gguf else (), **about)
            if reason:
                fix: str = Words("the setting that the reason names, and a restart")
                if model.gguf:
                    local = self.settings.local_model or ""
                    fix = f"{FLASK} models fetch {local}" if local.startswith("hub:") else "LOCAL_MODEL, a GGUF file"
                choice = choice.unavailable(reason, fix)
            yield choice
        yield _offer(
            faults,
            SEQ2SEQ,
            Words("FLAN-T5 ({model}), on this machine", model=shown_name(self.settings.flan_t5)),
            (SEQ2SEQ,),
        )

    def _searches(self, faults: Mapping[str, Fault]) -> Iterable[Choice]:
        """Yield the search of corpora and every engine, whose destination names all hosts that may get a query."""
        yield _offer(faults, CORPUS_SEARCH, Words("The corpora, searched as the web is"), ("corpus",))
        for provider in PROVIDERS:
            choice, engine = Choice(provider.name, provider.title), self._engines.get(provider.name)
            set_up = replace(choice, destination=engine.destination) if engine else None
            yield set_up or choice.unavailable(Words("It is not set up."), provider.setting)

    def _roles(self, faults: Mapping[str, Fault]) -> Iterable[Group]:
        """Yield the implementations of each module except the answerer."""
        for role, local_name in self._local_names().items():
            name = role.replace(" ", "_")
            needs = () if name == "qa_validator" else (MODEL,)
            choices = [
                _offer(faults, "local", Words(local_name[:1].upper() + local_name[1:]), needs),
                _offer(faults, "prompted", Words("A language model, prompted"), ("language model",)),
            ]
            if name == "reasoner":
                choices.append(_offer(faults, SEQ2SEQ, Words("FLAN-T5, end to end"), (SEQ2SEQ,)))
            yield Group(Words(role[:1].upper() + role[1:]), name.upper(), tuple(choices))

    def _defaults(self, strategy: str, models: Sequence[Choice]) -> RunOptions:
        """Return the default options for a strategy, with the first available model that a setting names."""
        settings = self.settings
        model = next((choice.name for choice in models if choice.available and not choice.found), None)
        engine = next(iter(self._engines), None)
        search = settings.search or engine or CORPUS_SEARCH
        if settings.source == WEB and search == CORPUS_SEARCH:
            search = engine or PROVIDERS[0].name
        preset = OWN if OWN in self.presets else settings.preset
        if strategy == PURSUIT:
            preset = LOCAL_PURSUIT if settings.preset.startswith("local") else PROMPTED_PURSUIT
        options = RunOptions(
            strategy=strategy,
            answerer=WEB_SEARCH if strategy == PURSUIT else settings.answerer,
            preset=preset,
            model=model,
            corpora=settings.corpora,
            search=search,
            **{name: getattr(settings, each.setting) for name, each in RANGES.items() if each.setting},
        )
        return replace(options, **options_of_source(settings.source, options)) if settings.source else options

    def modules(self, options: RunOptions) -> tuple[tuple[str, str], ...]:
        """Return the (role, implementation) pairs of a run with these options, for its report."""
        named = self._implementations(options)
        return tuple((role, named[role]) for role in STRATEGIES[options.strategy].roles if role in named)

    def _implementations(self, options: RunOptions) -> dict[str, str]:
        model, local, answerer = f"{options.model}, prompted", self._local_names(), self._answerer_name(options)
        if options.strategy == PURSUIT:
            if options.preset not in PURSUIT_PRESETS:
                return {}
            names = [getattr(self.settings, each) or "" for each in QUESTIONERS]
            preset = PURSUIT_PRESETS[options.preset].resolved(not why_missing(names[0]))
            first, later = (f"{shown_name(name)}, fine-tuned" for name in names)
            return preset.modules(model, local, (first, later), answerer)
        if options.preset not in self.presets:
            return {"asker": model}
        others = {"prompted": model, SEQ2SEQ: shown_name(self.settings.flan_t5), QACHECK: f"{model} as in QACheck"}
        kinds = dict(zip(local, self.presets[options.preset].kinds, strict=True))
        named = {role: local[role] if kind == "local" else others[kind] for role, kind in kinds.items()}
        return {"asker": model, "answerer": answerer, **named}

    def catalogue(self) -> tuple[Group, ...]:
        """Return all options in groups, as `models list` and the page show them."""
        capabilities = self.capabilities()
        return (
            Group(Words("Sources"), "SOURCE", capabilities.sources),
            Group(Words("Methods (recipes)"), "", capabilities.recipes),
            Group(Words("Strategies"), "STRATEGY", capabilities.strategies),
            Group(Words("Mixes of modules"), "PRESET", capabilities.presets),
            *capabilities.roles,
            Group(Words("Answerers"), "ANSWERER", capabilities.answerers),
            Group(Words("Language models"), "OPENAI_MODEL", capabilities.models),
            Group(Words("Ways of pursuing evidence"), "", capabilities.pursuits),
            Group(Words("Search engines"), "SEARCH", capabilities.searches),
            Group(Words("Fact-checks"), "", (capabilities.fact_checks,)),
            Group(Words("Corpora"), "CORPORA", capabilities.corpora),
        )

    def _local_names(self) -> dict[str, str]:
        roles = [role.replace("_", " ").replace("qa ", "QA ") for role in ROLES]
        models = {role: local_model_of(role).described(self.settings) for role in roles}
        return models | {"QA validator": "local rules"}

    def _answerer_name(self, options: RunOptions) -> str:
        if options.answerer not in ANSWERERS:
            return ""
        titles = {each.name: each.title for each in self.capabilities().corpora} | SOURCE_TITLES
        titled = replace(options, corpora=tuple(titles.get(name, name) for name in options.corpora))
        settings = replace(self.settings, flan_t5=shown_name(self.settings.flan_t5))
        return kind_of(options.answerer).describe(titled, settings)


def _offer(faults: Mapping[str, Fault], name: str, title: str, needs: Sequence[str], **about: object) -> Choice:
    """Return the choice, unavailable for the fault of the first of its needs that has one."""
    choice = Choice(name, title, needs_model="language model" in needs, **about)  # type: ignore[arg-type]
    fault = next((faults[each] for each in needs if each in faults), None)
    return choice.unavailable(*fault) if fault else choice
