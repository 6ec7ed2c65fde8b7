"""Compare runtimes of the reader on ten 120-word passages: speed, and agreement of the answers.

    python -m benchmarks.local_models [--questions 100] [--threads 1] [--only int8]

The questions are our own (retrieval_questions.jsonl); the passages are the first 120 words of the right article and of
the nine that share most words with the question. For each question all runtimes read the same windows in turn in one
process, so other programs slow all of them. The ONNX files are exported to a temporary folder, which needs `onnx`.
docs/local-models-reader.md quotes the figures.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from app.backends.corpus.registry import Article, vital_articles
from app.backends.local.reader import ReaderCalibration, SpanReader, best_spans, is_plausible
from app.backends.local.reader_windows import Window, windows
from app.text.sentences import content_words

ROOT = Path(__file__).resolve().parent.parent
READER = ROOT / "app" / "models" / "reader"
QUESTIONS = Path(__file__).with_name("retrieval_questions.jsonl")
WORDS, PASSAGES = 120, 10

Model = Callable[..., Any]
Asked = tuple[str, list[Article]]
AnswerSpan = tuple[int, int, int] | None
"""An answer as (index of the passage, first character, end); None for no answer."""


@dataclass
class Runtime:
    """A way to compute the reader's logits, with its measurements in seconds."""

    name: str
    model: Model
    batch_size: int = PASSAGES
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    answers: list[AnswerSpan] = field(default_factory=list)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--questions", type=int, default=100)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--only", default="", help="Full precision and only the runtimes whose names contain this")
    chosen = options.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(chosen.threads)
    model, tokenizer, decision, name = SpanReader(READER, chosen.threads).load()
    asked = questions(chosen.questions)
    with tempfile.TemporaryDirectory() as folder:
        every = runtimes(model, Path(folder), chosen.threads)
        kept = [every[0], *(one for one in every[1:] if chosen.only in one.name)]
        for question, articles in asked:
            read = [w for at, a in enumerate(articles) for w in windows(tokenizer, question, a.title, a.text, at)]
            for runtime in kept:
                measure(runtime, read, question, articles, decision)
    print(f"{name}, {len(asked)} questions, {PASSAGES} passages of {WORDS} words, {chosen.threads} threads\n")
    report(kept)


def questions(count: int) -> list[Asked]:
    """Return questions, each with its right article and those that share most words, all cut to WORDS words."""
    articles = [article for article in vital_articles() if len(article.text.split()) >= WORDS]
    words = [content_words(f"{article.title} {article.text}") for article in articles]
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    right = {article.title: article for article in articles}
    asked = []
    for row in random.Random(0).sample(rows, min(count, len(rows))):
        wanted = content_words(row["question"])
        near = sorted(range(len(articles)), key=lambda at: -len(wanted & words[at]))
        first = [right[title] for title in row["titles"] if title in right]
        chosen = dict.fromkeys([*first[:1], *(articles[at] for at in near[: 2 * PASSAGES])])
        asked.append((row["question"], [_cut(article) for article in list(chosen)[:PASSAGES]]))
    return asked


def _cut(article: Article) -> Article:
    return replace(article, text=" ".join(article.text.split()[:WORDS]))


def runtimes(model: Any, folder: Path, threads: int) -> list[Runtime]:
    """Return the runtimes; the first, in full precision, is the reference."""
    exported, fused = folder / "reader.onnx", folder / "fused.onnx"
    export(model, exported)
    fuse(exported, fused)
    return [
        Runtime("PyTorch, float32, one batch", model),
        Runtime("PyTorch, float32, one by one", model, batch_size=1),
        Runtime("PyTorch, dynamic int8", dynamic(model)),
        Runtime("onnxruntime, float32, fused", session(fused, threads)),
        Runtime("onnxruntime, int8 (u8)", session(quantised(fused, folder / "u8.onnx", "QUInt8", False), threads)),
        Runtime("onnxruntime, int8 (s8)", session(quantised(fused, folder / "s8.onnx", "QInt8", False), threads)),
        Runtime("onnxruntime, int7 (s8)", session(quantised(fused, folder / "s7.onnx", "QInt8", True), threads)),
    ]


def dynamic(model: Any) -> Model:
    """Quantize the body's matrices to int8 without the span heads; activations are scaled per batch."""
    torch.backends.quantized.engine = "x86"
    copied = copy.deepcopy(model)
    each_row = torch.ao.quantization.per_channel_dynamic_qconfig
    copied.bert = torch.ao.quantization.quantize_dynamic(copied.bert, {torch.nn.Linear: each_row})
    return copied


class _Logits(torch.nn.Module):
    """The model with tensors as inputs and outputs, as the export requires."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> Any:
        output = self.model(input_ids=ids, attention_mask=mask, token_type_ids=types)
        return output.start_logits, output.end_logits


def export(model: Any, path: Path) -> None:
    """Write a float32 ONNX file that accepts any number of windows of any length."""
    names = ["input_ids", "attention_mask", "token_type_ids", "starts", "ends"]
    example = torch.ones(2, 16, dtype=torch.long)
    torch.onnx.export(
        _Logits(model),
        (example, example, torch.zeros_like(example)),
        str(path),
        dynamo=False,
        opset_version=17,
        input_names=names[:3],
        output_names=names[3:],
        dynamic_axes={name: {0: "windows", 1: "tokens"} for name in names},
    )


def fuse(path: Path, out: Path) -> None:
    """Fuse attention, GELU and layer norms into operators of onnxruntime."""
    from onnxruntime.transformers.optimizer import optimize_model

    optimize_model(str(path), model_type="bert", num_heads=12, hidden_size=384).save_model_to_file(str(out))


def quantised(path: Path, out: Path, kind: str, reduced: bool) -> Path:
    """Quantize the matrices to int8 with one scale per column; `reduced` uses 7 bits, which AVX2 adds exactly."""
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        path,
        out,
        weight_type=QuantType[kind],
        per_channel=True,
        reduce_range=reduced,
        extra_options={"DefaultTensorType": TensorProto.FLOAT},
    )
    return out


def session(path: Path, threads: int) -> Model:
    """Return the ONNX model as a callable with the PyTorch model's signature."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    inference = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def model(**batch: torch.Tensor) -> SimpleNamespace:
        starts, ends = inference.run(None, {name: tensor.numpy() for name, tensor in batch.items()})
        return SimpleNamespace(start_logits=torch.from_numpy(starts), end_logits=torch.from_numpy(ends))

    model.config = SimpleNamespace(pad_token_id=0)  # type: ignore[attr-defined]
    return model


def measure(
    runtime: Runtime, read: Sequence[Window], question: str, articles: Sequence[Article], decision: ReaderCalibration
) -> None:
    """Read once, and record the times and the answer that the reader would give."""
    cpu, wall = time.process_time(), time.perf_counter()
    batches = [read[at : at + runtime.batch_size] for at in range(0, len(read), runtime.batch_size)]
    found = [best for batch in batches for best in best_spans(runtime.model, batch)]  # type: ignore[arg-type]
    runtime.cpu.append(time.process_time() - cpu)
    runtime.wall.append(time.perf_counter() - wall)
    rated = [
        (decision.probability(best, window.passage_index), (window.passage_index, best.start, best.end))
        for window, best in zip(read, found, strict=True)
        if is_plausible(question, articles[window.passage_index].text[best.start : best.end])
    ]
    score, answer = max(rated)
    runtime.answers.append(answer if score >= decision.threshold else None)


def report(measured: Sequence[Runtime]) -> None:
    """Print the table: median seconds a question, speedup over the first runtime, agreement with its answers."""
    first = measured[0]
    print("| runtime | CPU s | wall s | times faster (CPU) | same answers |\n|---|---|---|---|---|")
    for one in measured:
        ratio = statistics.median(slow / fast for slow, fast in zip(first.cpu, one.cpu, strict=True))
        same = sum(a == b for a, b in zip(first.answers, one.answers, strict=True)) / len(first.answers)
        cpu, wall = statistics.median(one.cpu), statistics.median(one.wall)
        print(f"| {one.name} | {cpu:.2f} | {wall:.2f} | {ratio:.2f} | {100 * same:.1f}% |")


if __name__ == "__main__":
    main()
