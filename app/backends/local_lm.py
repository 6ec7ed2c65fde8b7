"""A small language model in this process: any GGUF file, run by llama.cpp through the package `xllamacpp`.

The server object keeps the keys and values of what it last read, one slot for each of a few prompt families, so a long
run of demonstrations is computed once and only the new lines at its end cost time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.backends.checksums import MEND
from app.backends.fingerprint import fingerprint
from app.backends.inference import Inference
from app.backends.loaded import Loaded
from app.backends.smollm2 import packaged_gguf
from app.domain.calls import Call, remembered
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.model import Usage
from app.domain.progress import used

CONTEXT_TOKENS = 3072
"""Prompt and completion of one slot; ten demonstrations take under 900, a claim of 500 emoji under 2,100."""

PROMPT_FAMILIES = 3
"""Slots: for first questions, for follow-ups and for other wordings, so that no prefix pushes another one out."""

SILENT = -1
"""llama.cpp's log level below which nothing is written to stderr."""


class LocalLM:
    """Implements `Completer` over one GGUF file. Loaded at the first call, once; computes in the inference queue."""

    def __init__(self, path: Path | None = None, threads: int = 1, inference: Inference | None = None) -> None:
        """`path` is a GGUF file, None for the packaged SmolLM2; `threads` bounds the cores one inference takes.

        `inference` is the process's queue; left out, the model has one for itself and no deadline.
        """
        self._path = path
        self._threads = threads
        self._inference = inference or Inference()
        self._engine = Loaded(self._inference, self._start)

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        """The greedy continuation of `prompt`, without the stop string that ended it.

        Raises ModelUnavailable when the file cannot be loaded, CallFailed when the engine turns the prompt down or the
        call takes too long.
        """
        server, name = self._engine()
        request = {"prompt": prompt, "n_predict": max_tokens, "temperature": 0, "stop": list(stop)}
        return remembered(Call(name, request), lambda: self._completed(server, request))

    def load(self) -> None:
        """Load the model now rather than at the first call. Raises ModelUnavailable."""
        self._engine()

    def _completed(self, server: Any, request: dict[str, Any]) -> str:
        reply = self._inference.run(lambda: server.handle_completions({**request, "cache_prompt": True}))
        if "choices" not in reply:
            raise CallFailed(f'The language model gave no text: "{_complaint(reply)}".')
        usage = reply.get("usage", {})
        used(Usage(1, usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)))
        return reply["choices"][0]["text"]

    def _start(self) -> tuple[Any, str]:
        """llama.cpp's server over the file, and the name of this very model."""
        path = self._path or packaged_gguf()
        mend = "QUESTION_MODEL, the path of a GGUF file" if self._path else MEND
        if not path.is_file():
            raise ModelUnavailable(f"The language model's file {path} is missing", mend=mend)
        try:
            import xllamacpp
        except ModuleNotFoundError as error:
            raise ModelUnavailable("The package xllamacpp is not installed", mend="make install") from error
        except ImportError as error:
            # It is there and what it leans on is not: on a bare Debian, "libgomp.so.1: cannot open shared object file".
            told = f"The package xllamacpp does not start ({error})"
            raise ModelUnavailable(told, mend="apt-get install libgomp1, or the library that it names") from error
        params = parameters(path, self._threads)
        try:
            return xllamacpp.Server(params), f"{path.name} {fingerprint(path)}"
        except (RuntimeError, OSError) as error:
            # A wrong header or a cut file raises here; llama.cpp does not abort the process over it.
            raise ModelUnavailable(f"The language model's file {path} is damaged", mend=mend) from error


def parameters(path: Path, threads: int) -> Any:
    """How llama.cpp is to run the file: greedy calls of a few prompt families, one slot each, and nothing on stderr."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.verbosity = SILENT
    params.n_parallel = PROMPT_FAMILIES
    params.n_ctx = PROMPT_FAMILIES * CONTEXT_TOKENS
    params.cache_ram_mib = 0
    params.fit_params = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    return params


def _complaint(reply: dict) -> str:
    error = reply.get("error", reply)
    return str(error.get("message", "no reason given") if isinstance(error, dict) else error)
