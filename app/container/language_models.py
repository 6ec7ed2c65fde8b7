"""The language models of this process by name: configured ones, those found on this machine, and FLAN-T5."""

from __future__ import annotations

from app.backends.llm.local_servers import SERVERS, LocalServers
from app.backends.llm.openai_client import OpenAIChat, Sampling
from app.backends.llm.registry import ModelSettings, configured_models
from app.backends.local.inference_queue import Inference
from app.backends.local.llama_cpp import ChatTransport, gguf_path
from app.backends.local.seq2seq import Seq2Seq
from app.capabilities.availability import SEQ2SEQ
from app.components import Loader
from app.config.settings import Settings
from app.domain.errors import InvalidInput
from app.domain.model import RunOptions
from app.domain.ports import TextGenerator
from app.presets import is_faithful


class LanguageModels:
    """Keeps one client of each model, which remembers what its server accepts."""

    def __init__(self, settings: Settings, inference: Inference, seq2seq: Seq2Seq) -> None:
        """Make the clients without calling anything. Raises SettingsError for an invalid MODELS_FILE."""
        self._seconds = settings.call_seconds
        self.configured = language_models(settings)
        files = {
            each.name: ChatTransport(each.gguf, settings.torch_threads, inference)
            for each in self.configured
            if each.gguf
        }
        self.loaders: list[Loader] = [(name, file.open) for name, file in files.items()]
        self._models: dict[str, TextGenerator] = {SEQ2SEQ: seq2seq}
        self._models |= {
            each.name: OpenAIChat(each, self._seconds, transport=files.get(each.name)) for each in self.configured
        }
        # Hopcheck's own port may be that of a server to look for.
        searched = [each for each in SERVERS if settings.local_servers and each.port != settings.port]
        self._servers = LocalServers(searched, self.configured)

    def found(self) -> tuple[ModelSettings, ...]:
        """Return the models of servers that run on this machine."""
        return self._servers.models()

    def look_for(self, name: str | None) -> None:
        """Look for servers now if no model of that name is known: another process may just have found it."""
        if name and name not in self._models and name not in {each.name for each in self.found()}:
            self._servers.look(again=True)

    def of(self, options: RunOptions) -> TextGenerator:
        """Return the model of a run that has one, with the run's sampling; FLAN-T5 decodes greedily.

        Raises InvalidInput for a found model whose server has ended.
        """
        model = self._models.get(options.model or "") or self._client_of_found(options.model)
        chosen = Sampling.of(options.model_seed, options.temperature, options.max_tokens)
        faithful = is_faithful(options.strategy, options.preset)
        return model.sampled(chosen, faithful) if isinstance(model, OpenAIChat) else model

    def _client_of_found(self, name: str | None) -> TextGenerator:
        found = next((each for each in self.found() if each.name == name), None)
        if found is None:
            raise InvalidInput(f"The language model {name!r} is no longer found on this machine.", "model")
        return self._models.setdefault(found.name, OpenAIChat(found, self._seconds))


def language_models(settings: Settings) -> tuple[ModelSettings, ...]:
    """Return the configured language models. Raises SettingsError."""
    return configured_models(
        settings.openai_api_key,
        settings.openai_base_url,
        settings.openai_model,
        settings.models_file,
        settings.keys,
        gguf_path(settings.local_model, settings.instance) if settings.local_model else None,
    )
