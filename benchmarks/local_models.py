"""How fast the reader reads ten 120-word passages in each runtime, and how often it gives the same answers.

    python -m benchmarks.local_models [--questions 100] [--threads 1] [--only int8]

The questions are ours (retrieval_questions.jsonl); the passages are the right article and nine that share most words
with the question, the first 120 words of each. All runtimes read the same windows in one process, one after the other
for every question, so whatever else the machine does falls on all of them. "CPU" is the time that the process itself
computed. The ONNX files are made anew in a temporary folder, which needs `onnx`. docs/local-models-reader.md keeps a
table.
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
from app.backends.local.reader import Decision, SpanReader, best_spans, is_plausible
from app.backends.local.reader_windows import Window, windows
from app.text.sentences import content_words

ROOT = Path(__file__).resolve().parent.parent
READER = ROOT / "app" / "models" / "reader"
QUESTIONS = Path(__file__).with_name("retrieval_questions.jsonl")
WORDS, PASSAGES = 120, 10

Model = Callable[..., Any]
Asked = tuple[str, list[Article]]
Given = tuple[int, int, int] | None
"""An answer: the passage's place, first and last character; None for no answer."""


@dataclass
class Runtime:
    """A way of computing the reader's logits. `groups` cuts ten windows into batches of so many."""

    name: str
    model: Model
    groups: int = PASSAGES
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    answers: list[Given] = field(default_factory=list)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--questions", type=int, default=100)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--only", default="", help="Beside full precision only the runtimes with this in their names")
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
    """Each question with its right article first, then those that share most words with it, all cut to WORDS words."""
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
    """Full precision first: what the others are compared with."""
    exported, fused = folder / "reader.onnx", folder / "fused.onnx"
    export(model, exported)
    fuse(exported, fused)
    return [
        Runtime("PyTorch, float32, one batch", model),
        Runtime("PyTorch, float32, one by one", model, groups=1),
        Runtime("PyTorch, dynamic int8", dynamic(model)),
        Runtime("onnxruntime, float32, fused", session(fused, threads)),
        Runtime("onnxruntime, int8 (u8)", session(quantised(fused, folder / "u8.onnx", "QUInt8", False), threads)),
        Runtime("onnxruntime, int8 (s8)", session(quantised(fused, folder / "s8.onnx", "QInt8", False), threads)),
        Runtime("onnxruntime, int7 (s8)", session(quantised(fused, folder / "s7.onnx", "QInt8", True), threads)),
    ]


def dynamic(model: Any) -> Model:
    """The body's matrices in int8, the span heads as they are; activations get their scale batch by batch."""
    torch.backends.quantized.engine = "x86"
    copied = copy.deepcopy(model)
    each_row = torch.ao.quantization.per_channel_dynamic_qconfig
    copied.bert = torch.ao.quantization.quantize_dynamic(copied.bert, {torch.nn.Linear: each_row})
    return copied


class _Logits(torch.nn.Module):
    """The model with plain tensors in and out, as an export wants it."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> Any:
        output = self.model(input_ids=ids, attention_mask=mask, token_type_ids=types)
        return output.start_logits, output.end_logits


def export(model: Any, path: Path) -> None:
    """An ONNX file in float32 that takes any number of windows of any length."""
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
    """Attention, GELU and layer norms each as one operator of onnxruntime."""
    from onnxruntime.transformers.optimizer import optimize_model

    optimize_model(str(path), model_type="bert", num_heads=12, hidden_size=384).save_model_to_file(str(out))


def quantised(path: Path, out: Path, kind: str, reduced: bool) -> Path:
    """The same with int8 matrices, one scale a column; `reduced` uses 7 of the 8 bits, which AVX2 adds exactly."""
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
    """The ONNX file as something that is called as the PyTorch model is."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    running = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def model(**batch: torch.Tensor) -> SimpleNamespace:
        starts, ends = running.run(None, {name: tensor.numpy() for name, tensor in batch.items()})
        return SimpleNamespace(start_logits=torch.from_numpy(starts), end_logits=torch.from_numpy(ends))

    model.config = SimpleNamespace(pad_token_id=0)  # type: ignore[attr-defined]
    return model


def measure(
    runtime: Runtime, read: Sequence[Window], question: str, articles: Sequence[Article], decision: Decision
) -> None:
    """Read once, and keep the times and the answer that the reader would give."""
    cpu, wall = time.process_time(), time.perf_counter()
    groups = [read[at : at + runtime.groups] for at in range(0, len(read), runtime.groups)]
    found = [best for group in groups for best in best_spans(runtime.model, group)]  # type: ignore[arg-type]
    runtime.cpu.append(time.process_time() - cpu)
    runtime.wall.append(time.perf_counter() - wall)
    rated = [
        (decision.probability(best, window.passage), (window.passage, best.start, best.end))
        for window, best in zip(read, found, strict=True)
        if is_plausible(question, articles[window.passage].text[best.start : best.end])
    ]
    score, answer = max(rated)
    runtime.answers.append(answer if score >= decision.threshold else None)


def report(measured: Sequence[Runtime]) -> None:
    """The table: median seconds a question, how many times faster than the first runtime, the share of its answers."""
    first = measured[0]
    print("| runtime | CPU s | wall s | times faster (CPU) | same answers |\n|---|---|---|---|---|")
    for one in measured:
        ratio = statistics.median(slow / fast for slow, fast in zip(first.cpu, one.cpu, strict=True))
        same = sum(a == b for a, b in zip(first.answers, one.answers, strict=True)) / len(first.answers)
        cpu, wall = statistics.median(one.cpu), statistics.median(one.wall)
        print(f"| {one.name} | {cpu:.2f} | {wall:.2f} | {ratio:.2f} | {100 * same:.1f}% |")


if __name__ == "__main__":
    main()
