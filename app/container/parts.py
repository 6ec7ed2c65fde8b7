"""What the container uses to build a run: clients of language models, and the policy of speculation."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace

from app.backends.added import discovered_in
from app.backends.llm.openai_client import SEED, OpenAIChat, Sampling
from app.backends.llm.registry import SERVERS, LocalServers, ModelSettings, configured_models
from app.backends.local.inference_queue import Inference
from app.backends.local.llama_cpp import ChatTransport, gguf_path
from app.backends.local.seq2seq import Seq2Seq
from app.capabilities.availability import SEQ2SEQ
from app.capabilities.options import reads_documents
from app.components import Loader
from app.config.settings import Settings
from app.domain.errors import InvalidInput, ModelUnavailable, SettingsError
from app.domain.messages import Words
from app.domain.model import CORPUS_SEARCH, QACHECK, RANGES, RunOptions
from app.domain.ports import TextGenerator
from app.modules.answerers import kind_of
from app.presets import GuidedPreset, is_faithful

log = logging.getLogger(__name__)


def loads_of(part: object) -> Iterator[Callable[[], object]]:
    """Yield the `load` of each model in this part of a strategy and in the parts inside it."""
    if load := getattr(part, "load", None):
        yield load
    elif is_dataclass(part):
        for each in fields(part):
            yield from loads_of(getattr(part, each.name))


def open_corpora(names: Sequence[str], open_corpus: Callable[[str], None]) -> None:
    """Open each of these corpora. Raises ModelUnavailable, the first one's, if none can be opened."""
    failed: list[ModelUnavailable] = []
    for name in names:
        try:
            open_corpus(name)
        except ModelUnavailable as error:
            log.warning("the corpus %s cannot be opened: %s", name, error)
            failed.append(error)
    if failed and len(failed) == len(names):
        raise failed[0]


# Models in this process share its cores, so speculative calls only help for calls to servers (docs/how-it-works.md).

MAX_PREFETCHED_PAGES = 3
"""Pages opened while a document is chosen; the whole process fetches four at once."""


@dataclass(frozen=True)
class SpeculationPolicy:
    """Decides which calls of a run are speculative. `model` is None for a run without a language model."""

    overlap: str  # the setting OVERLAP: "remote", "all" or "off"
    in_process: Collection[str] = frozenset()  # the names of the language models that this process runs

    def for_modules(self, modules: GuidedPreset, model: TextGenerator | None) -> bool:
        """Return whether to start the next question and answer before the validator has judged the last answer.

        Worthwhile only if the claim verifier, the question generator or the QA validator prompts a model on a server.
        """
        kinds = modules.kinds[:-1]
        return bool({"prompted", QACHECK} & set(kinds)) and self._may_overlap(model)

    def for_answers(self, options: RunOptions, model: TextGenerator | None) -> bool:
        """Return whether to answer questions in parallel: only if the answerer calls a server or the web."""
        asks_the_model = kind_of(options.answerer).asks_model
        return self.prefetched_pages(options) > 0 or (asks_the_model and self._may_overlap(model))

    def prefetched_pages(self, options: RunOptions) -> int:
        """Return how many pages to open while a document is chosen; none for the local corpora."""
        of_the_web = reads_documents(options) and options.search != CORPUS_SEARCH
        return MAX_PREFETCHED_PAGES if of_the_web and self.overlap != "off" else 0

    def _may_overlap(self, model: TextGenerator | None) -> bool:
        if model is None or isinstance(model, Seq2Seq) or model.name in self.in_process:
            return False
        return self.overlap == "all" or (self.overlap == "remote" and model.destination is not None)


RESAMPLED_TEMPERATURE = 0.5
"""The temperature at which a prompt whose reply is of no use is sent again (docs/reproduce.md)."""


class LanguageModels:
    """Keeps one client of each model, which remembers what its server accepts."""

    def __init__(self, settings: Settings, inference: Inference, seq2seq: Seq2Seq) -> None:
        """Make the clients without calling anything. Raises SettingsError for an invalid MODELS_FILE."""
        self._seconds = settings.call_seconds
        self._instance, self._threads, self._inference = settings.instance, settings.torch_threads, inference
        self.loaders: list[Loader] = []
        self.in_process: set[str] = set()
        """The names of the models that this process runs."""
        self.configured = _models_of_settings(settings)
        self._discovered: dict[str, tuple[ModelSettings, OpenAIChat]] = {}
        self._making_client = threading.Lock()
        self._models: dict[str, TextGenerator] = {SEQ2SEQ: seq2seq}
        self._models |= {each.name: self._client_of(each) for each in self.configured}
        # Hopcheck's own port may be that of a server to look for.
        searched = [each for each in SERVERS if settings.local_servers and each.port != settings.port]
        self._servers = LocalServers(searched, self.configured)

    def found(self) -> tuple[ModelSettings, ...]:
        """Return the models of servers that run on this machine."""
        return self._servers.models()

    def discovered(self) -> tuple[ModelSettings, ...]:
        """Return the models that were added or fetched up to now, then those of servers that run on this machine."""
        try:
            added = discovered_in(self._instance, self._models)
        except SettingsError as error:
            log.error("%s", error)
            added = ()
        return *added, *self.found()

    def look_for(self, name: str | None) -> None:
        """Look for servers now if no model of that name is known: another process may have found it."""
        if name and name not in self._models and name not in {each.name for each in self.discovered()}:
            self._servers.look(again=True)

    def of(self, options: RunOptions) -> TextGenerator:
        """Return the model of a run that has one, with the run's sampling; FLAN-T5 decodes greedily.

        Raises InvalidInput for a found model whose server has ended.
        """
        model = self._models.get(options.model or "") or self._client_of_discovered(options.model)
        chosen = Sampling(options.model_seed, options.temperature, options.max_tokens)
        faithful = is_faithful(options.strategy, options.preset)
        return model.sampled(chosen, faithful) if isinstance(model, OpenAIChat) else model

    def resampled(self, options: RunOptions, number: int) -> TextGenerator:
        """Return the model of a run with the `number`-th other seed and at least RESAMPLED_TEMPERATURE."""
        seed = (SEED if options.model_seed is None else options.model_seed) + number
        warmer = max(options.temperature or 0, RESAMPLED_TEMPERATURE)
        return self.of(replace(options, model_seed=seed % (RANGES["model_seed"].maximum + 1), temperature=warmer))

    def _client_of_discovered(self, name: str | None) -> TextGenerator:
        found = next((each for each in self.discovered() if each.name == name), None)
        if found is None:
            raise InvalidInput(
                Words("The language model {name!r} is no longer found on this machine.", name=name), "model"
            )
        with self._making_client:
            held = self._discovered.get(found.name)
            if held is None or held[0] != found:
                held = self._discovered[found.name] = found, self._client_of(found)
        return held[1]

    def _client_of(self, model: ModelSettings) -> OpenAIChat:
        file = ChatTransport(model.gguf, self._threads, self._inference) if model.gguf else None
        if file:
            self.in_process.add(model.name)
            self.loaders.append((model.name, file.open))
        return OpenAIChat(model, self._seconds, transport=file)


def language_models(settings: Settings) -> tuple[ModelSettings, ...]:
    """Return the language models of the settings, then those that were added or fetched. Raises SettingsError."""
    named = _models_of_settings(settings)
    return *named, *discovered_in(settings.instance, (each.name for each in named))


def _models_of_settings(settings: Settings) -> tuple[ModelSettings, ...]:
    return configured_models(
        settings.openai_api_key,
        settings.openai_base_url,
        settings.openai_model,
        settings.models_file,
        settings.keys,
        gguf_path(settings.local_model, settings.instance) if settings.local_model else None,
    )
