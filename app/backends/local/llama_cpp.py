"""Text and chat completion with llama.cpp.

One base model with an adapter of ours plays all local modules; LOCAL_MODEL names another file for the prompted ones.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from itertools import takewhile
from pathlib import Path
from typing import Any

from app.backends.http import HttpResult
from app.backends.hub import HUB_PREFIX
from app.backends.local.inference_queue import Inference, LazyModel
from app.backends.local.weight_files import FIX, fingerprint, require_gguf
from app.config import make
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import Call, cached_call, report_usage
from app.domain.model import Usage
from app.domain.ports import TranscriptModel

CONTEXT_TOKENS = 4096
"""Tokens of a prompt and its completion; a transcript of five questions takes about 1,800."""

SLOTS = 8
"""Prompts whose beginnings stay cached: the demonstrations of one task, and up to five a run (transcript, the second
reading, the rewriting of the claim, and the checks of answer and explanation), so that the next run finds the first.

They share one cache of CONTEXT_TOKENS, since one computes at a time; a long prompt displaces the others' prefixes."""

MAX_LOST_CHARACTERS = 300
"""End of a slot's prompt that may be replaced: the last question and answer, not the passages before them."""

BATCH_TOKENS = 128
"""Tokens of a prompt that are computed at once: more take more memory and, on a CPU, no less time."""

TOP_TOKENS = 12
"""Likeliest next tokens whose probabilities are asked for."""
MISSING_LOG_PROBABILITY = -20.0
"""Assumed for a word that is not among them."""

SILENT = -1
"""llama.cpp's log level that writes nothing to stderr."""


class Slots:
    """Chooses the slot of llama.cpp that computes a prompt, by the prompts that the slots hold.

    llama.cpp's own choice would often replace the end of a run's transcript by a second reading that shares only its
    beginning, and compute the transcript again for the next question.
    """

    def __init__(self, count: int) -> None:
        self._held: list[tuple[str, int | None]] = [("", None)] * count
        self._used = [0] * count
        self._calls = 0

    def choose(self, prompt: str, adapter: int | None) -> int:
        """Return the slot that shares most of the prompt and loses little of its own, else the one not used longest.

        What was computed with another adapter, or with none, is not shared.
        """
        self._calls += 1
        shared = [_shared(held, prompt) if used == adapter else 0 for held, used in self._held]
        fitting = [
            at for at, length in enumerate(shared) if length and len(self._held[at][0]) - length <= MAX_LOST_CHARACTERS
        ]
        slot = max(fitting, key=shared.__getitem__) if fitting else min(range(len(shared)), key=self._used.__getitem__)
        self._held[slot], self._used[slot] = (prompt, adapter), self._calls
        return slot


def _shared(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


class LocalLM:
    """Implements `TranscriptModel` over one GGUF file with one of its LoRA adapters, at first the first one.

    Loaded once, at the first call; computes in the inference queue.
    """

    def __init__(
        self, path: Path, *adapters: Path, threads: int = 1, inference: Inference | None = None, fix: str = FIX
    ) -> None:
        """`threads` limits the cores of one inference. `inference` is the process's queue, None for one of its own.

        `fix` says how a missing or damaged base is replaced.
        """
        self._path, self._adapters, self._threads, self._fix = path, adapters, threads, fix
        self._inference = inference or Inference()
        self._engine = LazyModel(self._inference, self._start)
        self._slots = Slots(SLOTS)
        self._adapter: int | None = 0

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = (), without: str = "") -> str:
        """Return the greedy continuation of `prompt`, without the stop string that ended it and the word `without`.

        Raises ModelUnavailable when a file cannot be loaded, CallFailed when the engine rejects the prompt or the call
        times out.
        """
        request: dict[str, Any] = {"prompt": prompt, "n_predict": max_tokens, "stop": list(stop)}
        if without:
            request["logit_bias"] = [[f" {without}", False]]
        text: str = self._call(lambda choice: choice["text"], **request)
        return text

    def probabilities(self, prompt: str, words: Sequence[str]) -> tuple[float, ...]:
        """Return the probability of each of `words` as the next one; they sum to 1. Raises as `complete` does."""
        found = self._call(_log_probabilities, prompt=prompt, n_predict=1, logprobs=TOP_TOKENS)
        logs = [found.get(word, MISSING_LOG_PROBABILITY) for word in words]
        total = sum(map(math.exp, logs))
        return tuple(math.exp(each) / total for each in logs)

    def using(self, adapter: int | None) -> TranscriptModel:
        """Return the same model with another of its adapters, by number, or with None."""
        other = copy(self)
        other._adapter = adapter
        return other

    def load(self) -> None:
        """Load the model before the first call. Raises ModelUnavailable."""
        self._engine()

    @property
    def version(self) -> str:
        """Return the name of the base with a fingerprint of all files. Loads them; may raise ModelUnavailable."""
        return self._engine()[1]

    def _call(self, read: Callable[[dict[str, Any]], Any], **request: Any) -> Any:
        """Return what `read` takes from llama.cpp's choice, stored or computed. Raises as `complete` does."""
        server, name = self._engine()
        scales = [{"id": at, "scale": float(at == self._adapter)} for at in range(len(self._adapters))]
        request |= {"temperature": 0, "lora": scales}
        return cached_call(Call(name, request), lambda: read(self._choice(server, request)))

    def _choice(self, server: Any, request: dict[str, Any]) -> dict[str, Any]:
        def complete() -> Any:
            slot = self._slots.choose(request["prompt"], self._adapter)
            return server.handle_completions({**request, "cache_prompt": True, "id_slot": slot})

        reply = self._inference.run(complete)
        if "choices" not in reply:
            error = reply.get("error", reply)
            message = error.get("message", "no reason given") if isinstance(error, dict) else error
            raise CallFailed(f'The language model gave no text: "{message}".')
        usage = reply.get("usage", {})
        report_usage(Usage(1, usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)))
        choice: dict[str, Any] = reply["choices"][0]
        return choice

    def _start(self) -> tuple[Any, str]:
        for adapter in self._adapters:
            require_gguf(adapter, f"git checkout -- {adapter}")
        server = start_server(self._path, lambda: parameters(self._path, self._threads, self._adapters), self._fix)
        return server, f"{self._path.name} {fingerprint(self._path, *self._adapters)}"


def _log_probabilities(choice: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for each in choice["logprobs"]["content"][0]["top_logprobs"]:
        word = each["token"].strip()  # " true" and "true" are two tokens
        found[word] = max(each["logprob"], found.get(word, MISSING_LOG_PROBABILITY))
    return found


CHAT_CONTEXT_TOKENS = 8192
"""Tokens of a prompt with demonstrations and its reply; also an upper bound of the memory for them."""
CHAT_SLOTS = 4
"""Prompts whose beginnings stay cached. They share one cache of CHAT_CONTEXT_TOKENS, as above."""


class ChatTransport:
    """Answers as `OpenAITransport` does, over one GGUF file in this process, with the file's chat template.

    llama.cpp reads OpenAI's parameters, `response_format` and `logprobs` among them, and "grammar" (GBNF).
    """

    def __init__(self, path: Path, threads: int, inference: Inference) -> None:
        self._path, self._threads, self._inference = path, threads, inference
        self._server = LazyModel(inference, self._start, path.stem)

    @property
    def address(self) -> str:
        return fingerprint(self._path)

    def open(self) -> Any:
        """Load the file once and return its server. Raises ModelUnavailable."""
        return self._server()

    def post(self, parameters: Mapping[str, Any], seconds: float) -> HttpResult:
        """Request a chat completion. The queue limits its time. Raises CallFailed after that, and ModelUnavailable."""
        server = self.open()
        request = {name: value for name, value in parameters.items() if name != "model"}
        if form := request.get("response_format"):
            request |= {"response_format": _closing(form, request["max_tokens"]), "max_tokens": -1}
            request.pop("grammar", None)  # llama.cpp accepts only one of the two
        reply = self._inference.run(lambda: server.handle_chat_completions(request))
        error = reply.get("error")
        status = 200 if error is None else error.get("code", 500) if isinstance(error, dict) else 500
        return HttpResult(status, content=json.dumps(reply).encode(), permanent=True)

    def _start(self) -> Any:
        def chat_parameters() -> Any:
            params = parameters(self._path, self._threads)
            params.n_ctx, params.n_parallel = CHAT_CONTEXT_TOKENS, CHAT_SLOTS
            params.enable_reasoning = 0  # thoughts take minutes on a CPU, and a grammar leaves no room for them
            return params

        return start_server(self._path, chat_parameters, "LOCAL_MODEL, the path of a GGUF file")


CHARACTERS_PER_TOKEN = 4
JSON_TOKENS = 32
"""Tokens of a reply in JSON for names and punctuation."""
MAX_TEXT_CHARACTERS = 1800
"""Longest text of a reply in JSON: llama.cpp's grammars repeat nothing more than 2,000 times."""
MAX_ITEMS = 10
"""Items of a list in such a reply."""
QUESTIONS = ("question", "questions")
"""Names of the values of a reply that are questions. Small models often write a statement or a heading instead."""
QUESTION_PATTERN = r'^[A-Z][^.:;!?{}"\\\x00-\x1F]{1,120}\?$'
"""One sentence. llama.cpp applies the pattern to the JSON of the reply, in which a quotation mark ends the text."""


def _closing(form: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """Return a response format that ends by itself as whole JSON of about `max_tokens` tokens.

    The grammar then limits the reply, not the number of tokens, which would cut it off in the middle.
    """
    described = form["json_schema"]
    schema = _bounded(described["schema"], max(JSON_TOKENS, max_tokens - JSON_TOKENS) * CHARACTERS_PER_TOKEN)
    return {**form, "json_schema": {**described, "schema": schema}}


def _bounded(schema: Mapping[str, Any], characters: int) -> dict[str, Any]:
    """Return the schema with limits for its texts and lists, which have `characters` together."""
    if properties := schema.get("properties"):
        share = characters // max(1, sum("enum" not in value for value in properties.values()))
        asking = {name: _as_question(value) if name in QUESTIONS else value for name, value in properties.items()}
        return {**schema, "properties": {name: _bounded(value, share) for name, value in asking.items()}}
    if "items" in schema:
        return {"maxItems": MAX_ITEMS, **schema, "items": _bounded(schema["items"], characters // MAX_ITEMS)}
    if "string" in schema.get("type", ()) and not {"enum", "pattern"} & schema.keys():
        return {"maxLength": min(characters, MAX_TEXT_CHARACTERS), **schema}
    return dict(schema)


def _as_question(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a text, or of a list of texts, each of which ends in a question mark."""
    if "items" in schema:
        return {**schema, "items": _as_question(schema["items"])}
    return {**schema, "pattern": QUESTION_PATTERN}


def one_of_grammar(options: Sequence[str]) -> str:
    """Return the grammar, as llama.cpp writes it (GBNF), of a text that is one of `options`."""
    return f"root ::= {' | '.join(json.dumps(option, ensure_ascii=False) for option in options)}"


def start_server(path: Path, params: Callable[[], Any], fix: str) -> Any:
    """Load a GGUF file and return llama.cpp's server for it. Raises ModelUnavailable with `fix`."""
    if not path.is_file():
        raise ModelUnavailable(f"The language model's file {path} is missing", fix=fix)
    try:
        import xllamacpp
    except ModuleNotFoundError as error:
        raise ModelUnavailable("The package xllamacpp is not installed", fix=make("install")) from error
    except ImportError as error:
        # A shared library is missing: on a minimal Debian, "libgomp.so.1: cannot open shared object file".
        problem = f"The package xllamacpp does not start ({error})"
        raise ModelUnavailable(problem, fix="apt-get install libgomp1, or the library that it names") from error
    try:
        return xllamacpp.Server(params())
    except (RuntimeError, OSError) as error:
        # llama.cpp raises for a wrong header or a truncated file; it does not abort the process.
        raise ModelUnavailable(f"The language model's file {path} is damaged", fix=fix) from error


HUB_FOLDER = Path("models", "hub")
"""The folder of fetched files in the instance folder."""


def gguf_path(name: str, instance: Path) -> Path:
    """Return the path of a GGUF file, given as a path or as hub:OWNER/REPOSITORY/FILE; it need not exist."""
    return instance / HUB_FOLDER / name.removeprefix(HUB_PREFIX) if name.startswith(HUB_PREFIX) else Path(name)


def why_no_gguf(path: Path) -> str:
    """Return a sentence that says why this is no file of a language model; "" when it looks like one."""
    try:
        with path.open("rb") as file:
            is_gguf = file.read(4) == b"GGUF"
    except OSError:
        return f"There is no file {path} on this machine."
    return "" if is_gguf else f"{path} is no GGUF file."


def parameters(path: Path, threads: int, adapters: Sequence[Path] = ()) -> Any:
    """Return llama.cpp's parameters, with SLOTS slots and without output on stderr.

    Its server also listens on a port of this machine, which a random key closes to other programs.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.api_keys = [secrets.token_urlsafe()]
    params.verbosity = SILENT
    params.n_parallel = SLOTS
    params.n_ctx = CONTEXT_TOKENS
    params.n_ubatch = BATCH_TOKENS
    params.kv_unified = True
    params.cache_ram_mib = 0
    params.no_extra_bufts = True  # repacked weights would take another gigabyte
    params.lora_adapters = [_adapter(each) for each in adapters]
    params.fit_params = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    return params


def _adapter(path: Path) -> Any:
    import xllamacpp

    found = xllamacpp.CommonAdapterLoraInfo()
    found.path, found.scale = str(path), 1.0
    return found
