"""The composition root: builds the models, back ends and strategies that settings and options name.

Models and back ends are shared by all runs. Models load at their first use, or in `warm`, which runs in a background
thread after the start of the server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import signature
from threading import BoundedSemaphore, Lock

from app.backends.added import with_added_keys
from app.backends.corpus.bm25 import Java
from app.backends.corpus.registry import CorpusRegistry
from app.backends.corpus.wikipedia import live_wikipedia
from app.backends.fact_checks import FactCheckSearch, FactCheckTools
from app.backends.fetch.pages import WebPages
from app.backends.hub import why_missing
from app.backends.local.base_model import LOCAL_MODELS, SHIPPED, local_model_of
from app.backends.local.inference_queue import Inference
from app.backends.local.llama_cpp import LocalLM
from app.backends.local.reranker import CrossEncoderReranker
from app.backends.local.seq2seq import Seq2Seq
from app.backends.web_search.registry import configured_searches, with_failover
from app.capabilities.availability import QUESTIONERS, Availability
from app.capabilities.options import Capabilities, Group, default_corpora, searches_corpora
from app.components import CORPUS, MODEL, RERANKER, Component, Components, start_loading
from app.config.settings import Settings
from app.container.parts import LanguageModels, SpeculationPolicy, loads_of, open_corpora
from app.domain import ports
from app.domain.errors import CallFailed
from app.domain.messages import Message
from app.domain.model import CORPUS_SEARCH, QACHECK, Claim, Label, Origin, Page, RunOptions, SearchHit
from app.modules import local, paper_prompts, prompted, pursuit
from app.modules.answerers import AnswererParts, kind_of
from app.modules.answerers.web_search import DocumentSettings
from app.modules.calculation import ClaimCalculator
from app.modules.claim_extraction import LocalClaimExtractor, PromptedClaimExtractor
from app.modules.claim_preparation import ClaimSorter, with_likeliest_name, with_usual_case
from app.modules.qa_validator import RuleBasedValidator
from app.modules.remaining_claim import ClaimReducer
from app.presets import GUIDED_PRESETS, PAPER_BEAMS, PURSUIT_PRESETS, GuidedPreset, PursuitPreset, is_faithful
from app.strategies import PURSUIT, STRATEGIES
from app.strategies.fact_checks import WithFactChecks
from app.text.claims import Candidate, language_of
from app.text.sentences import load as load_sentences

PAPELO = "papelo"
"""The kind of the reasoner with the prompt that the Papelo paper prints."""
MAX_PAGES_AT_ONCE = 2
"""Pages that visitors name, fetched at the same time: each holds a thread of the server for up to half a minute."""
REMAINING, CALCULATION = 1, 2
"""Adapters of the first local model, by number."""
VERIFIER_PROMPTS = {"prompted": prompted.sufficiency_prompts, QACHECK: paper_prompts.verifier_prompts}
VALIDATOR_PROMPTS = {"prompted": prompted.usefulness_prompts, QACHECK: paper_prompts.validator_prompts}
REASONERS: dict[str, Callable[[ports.TextGenerator], ports.Reasoner]] = {
    "flan-t5": prompted.FlanT5Reasoner,
    "prompted": prompted.PromptedReasoner,
    QACHECK: paper_prompts.QACheckReasoner,
    PAPELO: paper_prompts.PapeloReasoner,
}
CLASSIFIERS = {"direct": paper_prompts.DirectClassifier, "chain-of-thought": paper_prompts.ChainOfThoughtClassifier}
FACT_CHECK_SECONDS = 6.0
"""Limit of the lookup of published fact-checks, for which a verdict may wait."""
FIRST_CALL_SECONDS = 1.0
"""Time from the start of a run to its first call of a language model."""


class Container:
    """All modules and back ends of this process."""

    def __init__(self, settings: Settings) -> None:
        """Build the models and back ends without loading them.

        Raises SettingsError for an invalid MODELS_FILE or SEARXNG_URL.
        """
        threads = settings.torch_threads
        inference = Inference(settings.call_seconds)
        self._settings = settings
        self._registry = corpus_registry(settings)
        self._reranker = CrossEncoderReranker(threads=threads, inference=inference)
        self._local_models = {
            each: LocalLM(*each.files(settings), threads=threads, inference=inference, fix=each.fix(settings))
            for each in LOCAL_MODELS.values()
        }
        self._model, judging = next(iter(self._local_models.values())), local_model_of("reasoner")
        reduce = ClaimReducer(self._model.using(REMAINING), self._model)
        self._own_validator = RuleBasedValidator(reduce)
        self._reader: ports.Reader = local.LocalReader(self._model, reduce)
        self.generator = local.LocalQuestionGenerator(self._model, reduce)
        self._sorter = ClaimSorter(self._model.using(None))
        self.judge = local.LocalJudge(
            self._local_models[judging],
            local.Calibration.read(SHIPPED / judging.folder / "calibration.json"),
            reduce,
            ClaimCalculator(self._model.using(CALCULATION)),
        )
        self._fine_tuned = {
            role: Seq2Seq(name, inference, threads, fix=f"{role.upper()} with the folder of a model", beams=PAPER_BEAMS)
            for role in QUESTIONERS
            if (name := getattr(settings, role))
        }
        self._seq2seq = Seq2Seq(settings.flan_t5, inference, threads)
        self._models = LanguageModels(settings, inference, self._seq2seq)
        self._speculation = SpeculationPolicy(settings.overlap, self._models.in_process)
        self._components = self._slow_components(inference)
        self._reading = BoundedSemaphore(MAX_PAGES_AT_ONCE)
        self._pages = WebPages(robots=settings.fetch_robots)
        self._changing = Lock()
        self._set_up(settings)

    def _set_up(self, settings: Settings) -> None:
        """Make search engines and fact-checks, which keep connections and failures until the keys change."""
        engines = configured_searches(settings.by_name(), settings.call_seconds)
        self._searches = with_failover(engines)
        fact_checkers = FactCheckTools(settings.fact_check_api_key or "", settings.fact_check_url)
        self._fact_checks = FactCheckSearch(fact_checkers, min(settings.call_seconds, FACT_CHECK_SECONDS))
        models = self._models
        self._known = Availability(settings, self._components, models.configured, engines, models.discovered)

    @property
    def _availability(self) -> Availability:
        """What can be chosen, with the keys that the operator has added or removed, also in another process."""
        settings = with_added_keys(self._settings)
        with self._changing:
            if settings != self._known.settings:
                self._set_up(settings)
            return self._known

    def _slow_components(self, inference: Inference) -> Components:
        """Return the components that load slowly; the model first, because it loads while Java starts."""
        return Components(
            [
                (MODEL, partial(inference.load, self._warm_model)),
                (CORPUS, partial(open_corpora, default_corpora(self._settings), self._registry.open)),
                (RERANKER, self._reranker.load),
                *self._models.loaders,
            ]
        )

    def _warm_model(self) -> None:
        """Load the models and compute what the prompts begin with, so that the first visitor does not wait for it."""
        for model in self._local_models.values():
            model.load()
        self.generator.warm()
        self._sorter.why_uncheckable(Claim("Warsaw lies in Poland."))

    def warm(self) -> None:
        """Load every component that is not loaded. Blocks, so call it off the request path."""
        self._models.found()  # the first call waits for the search for local servers
        language_of("Warsaw lies in Poland.")  # loads the language identifier
        self._components.warm()

    def components(self) -> tuple[Component, ...]:
        return self._components.all()

    @property
    def ready(self) -> bool:
        return self._components.ready

    def judge_name(self) -> str:
        """Return the judging model's name with a fingerprint of its files. Loads it; may raise ModelUnavailable."""
        return self._local_models[local_model_of("reasoner")].version

    def capabilities(self) -> Capabilities:
        return self._availability.capabilities()

    def catalogue(self) -> tuple[Group, ...]:
        return self._availability.catalogue()

    def strategy_for(self, options: RunOptions) -> ports.Strategy:
        """Build the strategy for these options. Raises InvalidInput for unknown or unavailable options."""
        self._models.look_for(options.model)
        capabilities = self.capabilities()
        capabilities.check(options)
        load_sentences()  # before the first call of a model, which is not to wait for imports
        model = self._models.of(options) if options.model and capabilities.needs_model(options) else None
        build = STRATEGIES[options.strategy].build
        parts = (self._pursuit_parts if options.strategy == PURSUIT else self._guided_parts)(options, model)
        parts["answerer"] = lambda: kind_of(options.answerer).build(self._answerer_parts(options, model))
        strategy = build(**{name: parts[name]() for name in signature(build).parameters})
        return WithFactChecks(strategy, self._fact_checks.look_up) if options.look_up_fact_checks else strategy

    def _guided_parts(self, options: RunOptions, model: ports.TextGenerator | None) -> dict[str, Callable[[], object]]:
        """Return how each part of a run is built, by its name."""
        modules = self._availability.presets.get(options.preset, GUIDED_PRESETS["local"])  # a baseline uses none
        return {
            "classifier": lambda: CLASSIFIERS[options.strategy](self._models.of(options)),
            "verifier": lambda: self._verifier(modules.claim_verifier, options),
            "generator": lambda: self._questioner(modules.question_generator, options),
            "validator": lambda: self._validator(modules.qa_validator, options),
            "reasoner": lambda: self._reasoner(modules.reasoner, options),
            "why_uncheckable": lambda: self._claim_sorter(modules, options),
            "prepare": lambda: self._case_restorer(modules, options),
            "speculative": lambda: self._speculation.for_modules(modules, model),
            "as_published": lambda: is_faithful(options.strategy, options.preset),
        }

    def _case_restorer(self, modules: GuidedPreset, options: RunOptions) -> Callable[[Claim], Claim] | None:
        """Return what restores the letter case for the local modules, which were trained on usual spelling."""
        if "local model" not in modules.needs or not searches_corpora(options):
            return None
        return partial(with_usual_case, self._registry.over(options.corpora))

    def _claim_sorter(self, modules: GuidedPreset, options: RunOptions) -> Callable[[Claim], Message | None] | None:
        """Return what finds opinions and predictions, where the local model asks and "can't tell" may be said."""
        may_stay_open = Label.NOT_ENOUGH_EVIDENCE in options.labels.labels
        is_local = modules.question_generator == "local" and may_stay_open
        return self._sorter.why_uncheckable if is_local else None

    def loading_strategy_for(self, options: RunOptions) -> ports.Strategy:
        """Return the strategy for these options, and start to load its models and indexes in threads.

        With a language model, loading starts FIRST_CALL_SECONDS later, so that it does not delay the first call.
        """
        strategy = self.strategy_for(options)
        corpora = options.corpora if searches_corpora(options) else ()
        indexes = (partial(self._registry.open, name) for name in corpora)
        start_loading([*dict.fromkeys(loads_of(strategy)), *indexes], FIRST_CALL_SECONDS if options.model else 0.0)
        return strategy

    def page_at(self, url: str) -> Page:
        """Return the page that a visitor names.

        Raises CallFailed if it cannot be read, or while MAX_PAGES_AT_ONCE others are being read.
        """
        if not self._reading.acquire(blocking=False):
            raise CallFailed("Other pages are being read just now; please try again in a moment.")
        try:
            return self._pages.read(SearchHit("", "", "", url))
        finally:
            self._reading.release()

    def claims_of(self, found: Sequence[Candidate], options: RunOptions) -> tuple[Candidate, ...] | None:
        """Return the sentences as claims that stand alone; None where the options use no language model.

        Raises what the model raises.
        """
        finder = self._claim_finder(options)
        return finder.decontextualise(found) if finder else None

    def rewritten(self, sentence: Candidate, before: str) -> tuple[Candidate, ...]:
        """Return the claims of a sentence that follows the text `before`, rewritten by the local model.

        Raises what the model raises.
        """
        return LocalClaimExtractor(self._model.using(None)).decontextualise(sentence, before)

    def statement_of(self, question: str, options: RunOptions) -> str | None:
        """Return the claim behind a question; None where it has none or the options use no language model."""
        finder = self._claim_finder(options)
        return finder.statement(question) if finder else None

    def names_for(self, claim: Claim, options: RunOptions) -> str | None:
        """Return the claim with a name in place of the pronoun at its start; None where no corpus has one."""
        return with_likeliest_name(self._registry.over(options.corpora), claim) if searches_corpora(options) else None

    def _claim_finder(self, options: RunOptions) -> PromptedClaimExtractor | None:
        return PromptedClaimExtractor(self._models.of(options)) if self.capabilities().needs_model(options) else None

    def _pursuit_parts(self, options: RunOptions, model: ports.TextGenerator | None) -> dict[str, Callable[[], object]]:
        own_questioner = self._settings.question_seq2seq
        preset = PURSUIT_PRESETS[options.preset].resolved(not why_missing(own_questioner or ""))
        has_later = preset.then != preset.first and not preset.variant.all_at_once
        kind = ("prompted" if preset.own_wording else PAPELO) if preset.others == "llm" else "local"
        return {
            "pursuer": lambda: self._pursuer(preset.first, preset, options),
            "paraphraser": lambda: self._paraphraser(preset, options),
            "reasoner": lambda: self._reasoner(kind, options),
            "variant": lambda: preset.variant,
            "speculative": lambda: self._speculation.for_answers(options, model),
            "later": lambda: self._pursuer(preset.then, preset, options) if has_later else None,
        }

    def _pursuer(self, kind: str, preset: PursuitPreset, options: RunOptions) -> ports.Pursuer:
        if kind == "local":
            return pursuit.LocalPursuer(self.generator, local.LocalClaimVerifier(self.judge), self.judge)
        if kind == "llm":
            prompting = pursuit.PromptedPursuer if preset.own_wording else paper_prompts.PapeloPursuer
            return prompting(self._models.of(options))
        first, then = QUESTIONERS
        then = then if then in preset.needs else first
        return pursuit.Seq2SeqPursuer(self._fine_tuned[first], self._fine_tuned[then])

    def _paraphraser(self, preset: PursuitPreset, options: RunOptions) -> ports.Paraphraser:
        if preset.others == "local":
            return pursuit.LocalParaphraser(self._model.using(None))
        prompting = pursuit.PromptedParaphraser if preset.own_wording else paper_prompts.PapeloParaphraser
        return prompting(self._models.of(options))

    def _verifier(self, kind: str, options: RunOptions) -> ports.ClaimVerifier:
        if kind == "local":
            return local.LocalClaimVerifier(self.judge)
        return prompted.PromptedClaimVerifier(self._models.of(options), VERIFIER_PROMPTS[kind])

    def _questioner(self, kind: str, options: RunOptions) -> ports.QuestionGenerator:
        if kind == QACHECK:
            return paper_prompts.QACheckQuestioner(self._models.of(options), partial(self._models.resampled, options))
        return prompted.PromptedQuestioner(self._models.of(options)) if kind == "prompted" else self.generator

    def _validator(self, kind: str, options: RunOptions) -> ports.QAValidator:
        if kind == "local":
            return self._own_validator
        return prompted.PromptedValidator(self._models.of(options), VALIDATOR_PROMPTS[kind])

    def _reasoner(self, kind: str, options: RunOptions) -> ports.Reasoner:
        if kind == "local":
            return local.LocalReasoner(self.judge)
        return REASONERS[kind](self._seq2seq if kind == "flan-t5" else self._models.of(options))

    def _answerer_parts(self, options: RunOptions, model: ports.TextGenerator | None) -> AnswererParts:
        preset = PURSUIT_PRESETS[options.preset if options.strategy == PURSUIT else "local"]
        as_qacheck = options.strategy != PURSUIT and options.preset == QACHECK
        return AnswererParts(
            model=model,
            as_papelo=not preset.own_wording,
            reader=self._reader,
            recitation_reader=self._reader if self._settings.read_with == "local" and not as_qacheck else None,
            reranker=self._reranker,
            seq2seq=self._seq2seq,
            retriever=lambda: self._registry.over(options.corpora),
            documents=lambda: self._documents(options),
            document_settings=DocumentSettings(
                preset.long_document, preset.multi_document, preset.metadata, options.undated, options.fact_checks
            ),
            prefetched_pages=self._speculation.prefetched_pages(options),
        )

    def _documents(self, options: RunOptions) -> tuple[ports.WebSearch, ports.PageReader, Origin]:
        """Return the search engine, the page reader and the origin of passages for these options."""
        if options.search == CORPUS_SEARCH:
            search = self._registry.search(options.corpora)
            return search, search, Origin.CORPUS
        return self._searches[options.search or ""], self._pages, Origin.WEB


def corpus_registry(settings: Settings) -> CorpusRegistry:
    """Return the corpora of this machine, and live Wikipedia where it is offered."""
    live = live_wikipedia(settings.wikipedia, settings.contact, settings.call_seconds, settings.instance / "locks")
    return CorpusRegistry(settings.instance, Java(settings.java_home, settings.java_memory), live)
