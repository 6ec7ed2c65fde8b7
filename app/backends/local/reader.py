"""The extractive reader: a question and some passages -> the span that answers it, or no answer.

Each passage is read in one or more windows (reader_windows.py). For each window, a 12-layer BERT (MiniLM) of 33 million
weights predicts the first and last token of the answer. The sum of the two logits of [CLS] is the logit that the
window contains an answer; in BERT's reader for SQuAD 2.0 (Devlin et al., 2019, section 4.3) it is the score of no
answer. Trained by research/training/reader.py.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from app.backends.local.inference_queue import Inference, LazyModel
from app.backends.local.loading import fingerprint
from app.backends.local.reader_windows import Window, as_batch, tokenizer_from, windows
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.instrumentation import Call, cached_call, report_usage
from app.domain.model import Answer, Passage, Question, Span, Usage
from app.text.sentences import content_words

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor
    from transformers import BertForQuestionAnswering

MAX_WINDOWS = 16
"""Maximum number of windows read for a question: enough for ten passages, some of which need two windows."""
MAX_ANSWER_TOKENS = 24
_WHO_OR_WHERE = re.compile(r"\s*(who|whose|whom|where)\b", re.IGNORECASE)
FILES = ("config.json", "model.safetensors", "tokenizer.json", "decision.json")
LIBRARIES = ("torch", "transformers.models.bert.modeling_bert")


@dataclass(frozen=True, slots=True)
class ReaderCalibration:
    """The coefficients in decision.json, fitted on held-out articles, that decide whether a best span is the answer.

    p = sigmoid(answerable * a + span * s + rank * r + bias), where a is the window's `answerable_logit`, s the
    `span_log_probability` of its best span, and r the passage's rank (0 for the best). If p is below `threshold` for
    all windows, there is no answer.
    """

    answerable: float
    span: float
    rank: float
    bias: float
    threshold: float

    def probability(self, found: BestSpan, rank: int) -> float:
        """Return the probability that a window's best span is the answer. `rank` is that of its passage."""
        logit = (
            self.answerable * found.answerable_logit
            + self.span * found.span_log_probability
            + self.rank * rank
            + self.bias
        )
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))


@dataclass(frozen=True, slots=True)
class BestSpan:
    """The best span of a window: characters [start, end) of the passage's text."""

    start: int
    end: int
    answerable_logit: float
    """The logit that the window contains an answer."""
    span_log_probability: float
    """Log probability of this span among all spans of the window."""


class LoadedReader(NamedTuple):
    """The contents of the reader's files."""

    model: BertForQuestionAnswering
    tokenizer: Tokenizer
    decision: ReaderCalibration
    version: str


class SpanReader:
    """Implements `Reader` over the weights in `folder`, loaded at the first question."""

    def __init__(self, folder: Path, threads: int, inference: Inference | None = None) -> None:
        """`inference` is the process's queue; without it the reader creates its own. `threads` limits PyTorch."""
        self._folder, self._threads = folder, threads
        self._inference = inference or Inference()
        self._loaded = LazyModel(self._inference, self._read_files, libraries=LIBRARIES)

    def load(self) -> LoadedReader:
        """Load the files at the first call, and return their contents.

        Raises ModelUnavailable when files are missing or damaged.
        """
        return self._loaded()

    def read(self, question: Question, passages: Sequence[Passage]) -> Answer:
        """Return the most probable span over all passages (best first), or an Answer whose text is None.

        `score` is the probability that the best span answers the question, even below the threshold.
        Raises ModelUnavailable, and CallFailed when the model's output is not a number or the call takes too long.
        """
        version = self.load().version
        texts = [[passage.title, passage.text] for passage in passages]
        call = Call(version, {"question": question.text, "passages": texts})
        reply = cached_call(call, lambda: self._compute_reply(question, passages))
        return answer_of(reply, passages)

    def _compute_reply(self, question: Question, passages: Sequence[Passage]) -> dict[str, Any]:
        """Return the reply as `answer_of` reads it."""
        decision = self.load().decision
        rated = [
            (decision.probability(best, rank=window.passage_index), window, best)
            for window, best in self.read_windows(question, passages)
            if is_plausible(question.text, passages[window.passage_index].text[best.start : best.end])
        ]
        if not rated:
            return {"span": None, "score": 0.0}
        score, window, best = max(rated, key=lambda row: row[0])
        span = (window.passage_index, best.start, best.end) if score >= decision.threshold else None
        return {"span": span, "score": score}

    def read_windows(self, question: Question, passages: Sequence[Passage]) -> list[tuple[Window, BestSpan]]:
        """Return the windows that were read, each with its best span, however improbable. Raises as `read` does."""
        loaded = self.load()
        chosen = _windows_to_read(loaded.tokenizer, question.text, passages)
        if not chosen:
            return []
        found = self._inference.run(lambda: best_spans(loaded.model, chosen), alone=False)
        report_usage(Usage(1, sum(len(window.token_ids) for window in chosen)))
        return list(zip(chosen, found, strict=True))

    def _read_files(self) -> LoadedReader:
        fix = f"git checkout -- {self._folder}"
        missing = [name for name in FILES if not (self._folder / name).is_file()]
        if missing:
            raise ModelUnavailable(f"The reader's {', '.join(missing)} cannot be found", fix=fix)
        try:
            return _load_files(self._folder, self._threads)
        except Exception as error:
            raise ModelUnavailable(f"The reader's files are damaged ({type(error).__name__})", fix=fix) from error


def answer_of(reply: dict[str, Any], passages: Sequence[Passage]) -> Answer:
    """Return the answer in a cached reply: `span`, as (index of the passage, start, end) or None, and `score`."""
    cited = Span(passages[reply["span"][0]], *reply["span"][1:]) if reply["span"] else None
    return Answer(cited.text if cited else None, cited, tuple(passages), score=reply["score"])


def is_plausible(question: str, answer: str) -> bool:
    """Return False if the answer to a "who" or "where" question has no letters.

    Where a birthplace is missing, the model picks years of birth.
    """
    return not _WHO_OR_WHERE.match(question) or any(letter.isalpha() for letter in answer)


def _load_files(folder: Path, threads: int) -> LoadedReader:
    import torch
    from safetensors.torch import load_file
    from transformers import BertConfig, BertForQuestionAnswering
    from transformers.initialization import no_init_weights

    torch.set_num_threads(threads)
    config = BertConfig.from_pretrained(folder)
    with no_init_weights():  # no random values for weights that are about to be replaced
        model = BertForQuestionAnswering(config)
    model.load_state_dict(unpack(load_file(folder / "model.safetensors")), assign=True)
    tokenizer = tokenizer_from(folder / "tokenizer.json")
    decision = ReaderCalibration(**json.loads((folder / "decision.json").read_text(encoding="utf-8")))
    version = f"reader {fingerprint(*(folder / name for name in FILES))}"
    return LoadedReader(model.eval(), tokenizer, decision, version)


def _windows_to_read(tokenizer: Tokenizer, question: str, passages: Sequence[Passage]) -> list[Window]:
    every = [w for index, p in enumerate(passages) for w in windows(tokenizer, question, p.title, p.text, index)]
    return limit_windows(every, question, passages)


def limit_windows(every: list[Window], question: str, passages: Sequence[Passage]) -> list[Window]:
    """Return at most MAX_WINDOWS windows: those that share the most words with the question.

    Without the limit a book-length page would take minutes.
    """
    if len(every) <= MAX_WINDOWS:
        return every
    question_words = content_words(question)

    def shared_words(window: Window) -> int:
        ranges = [each for each in window.word_ranges if each is not None]
        text = passages[window.passage_index].text[ranges[0][0] : ranges[-1][1]]
        return len(question_words & content_words(text))

    return sorted(every, key=shared_words, reverse=True)[:MAX_WINDOWS]


def best_spans(model: BertForQuestionAnswering, group: Sequence[Window]) -> list[BestSpan]:
    """Return the best span of every window, in one forward pass. Raises CallFailed when a logit is not a number."""
    import torch

    batch = as_batch(group, pad=model.config.pad_token_id)
    answerable_tokens = batch.pop("answerable_tokens")
    with torch.inference_mode():
        output = model(**batch)
    starts, ends = output.start_logits, output.end_logits
    if not (torch.isfinite(starts).all() and torch.isfinite(ends).all()):
        raise CallFailed("The reader's output is not a number.")
    answerable_logits = starts[:, 0] + ends[:, 0]  # token 0 is [CLS]
    scores, positions = span_scores(starts, ends, answerable_tokens).flatten(1).max(dim=1)
    tokens = answerable_tokens.shape[1]
    spans = []
    for window, position, logit, score in zip(
        group, positions.tolist(), answerable_logits.tolist(), scores.tolist(), strict=True
    ):
        first, last = divmod(position, tokens)
        spans.append(BestSpan(window.word_ranges[first][0], window.word_ranges[last][1], logit, score))
    return spans


def span_scores(starts: Tensor, ends: Tensor, allowed_tokens: Tensor) -> Tensor:
    """Return log p(first token) + log p(last token) as [windows, first, last]; -inf for invalid spans.

    `starts` and `ends` are logits and `allowed_tokens` is bool, all [windows, tokens]; only allowed tokens get a
    probability. A span is invalid if it ends before it starts or has more than MAX_ANSWER_TOKENS tokens.
    """
    import torch

    floor = torch.finfo(starts.dtype).min
    first = torch.log_softmax(starts.masked_fill(~allowed_tokens, floor), dim=-1)
    last = torch.log_softmax(ends.masked_fill(~allowed_tokens, floor), dim=-1)
    pairs = first[:, :, None] + last[:, None, :]
    tokens = starts.shape[1]
    every_pair = torch.ones(tokens, tokens, dtype=torch.bool)
    right_length = every_pair.triu() & every_pair.tril(MAX_ANSWER_TOKENS - 1)
    valid = allowed_tokens[:, :, None] & allowed_tokens[:, None, :] & right_length
    return pairs.masked_fill(~valid, float("-inf"))


# The weights in the repository are quantized to int8, with one scale per row of a matrix.

SCALE = ".scale"
"""Suffix of the name of a matrix's scales."""


def pack(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Quantize every matrix [rows, columns] to int8 with float32 scales [rows]; vectors are unchanged."""
    import torch

    packed = {}
    for name, weight in weights.items():
        if weight.ndim != 2:
            packed[name] = weight.float().contiguous()
            continue
        scale = weight.float().abs().amax(dim=1).clamp(min=1e-8) / 127
        packed[name] = torch.round(weight.float() / scale[:, None]).to(torch.int8)
        packed[name + SCALE] = scale
    return packed


def unpack(packed: dict[str, Tensor]) -> dict[str, Tensor]:
    """Dequantize the output of `pack` to float32. Raises KeyError when a matrix has no scales."""
    import torch

    return {
        name: weight.float() * packed[name + SCALE][:, None] if weight.dtype == torch.int8 else weight.clone()
        for name, weight in packed.items()
        if not name.endswith(SCALE)
    }
