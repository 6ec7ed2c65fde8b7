"""How fast the judge reads ten 120-word passages in each way of computing it, and how often the label is the same.

    .venv/bin/python -m benchmarks.judge_speed [--claims 20] [--threads 1] [--way int8]
    .venv/bin/python -m benchmarks.judge_speed --data FOLDER [--pairs 1000] [--way int8]

Each of our own claims (twins.jsonl) is judged against ten articles; with `--data`, development claims of data sets
against ten articles and against their own evidence (judge_pairs.py). One way comes after the other, so that whatever
else the machine does falls on all. "CPU" is the time that the process itself computed. docs/judge.md keeps the tables.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from app.backends.corpora import vital_articles
from app.backends.entailment import MAX_TOKENS, EntailmentJudge, is_unsure
from app.backends.int8_llama import in_int8
from app.backends.packed_batch import packed
from app.language.evidence_text import content_words, judge_prompt
from app.settings import load_settings
from app.wiring import SHIPPED
from benchmarks.judge_pairs import PASSAGES, first_words, nearest, pairs
from benchmarks.twins import TWINS

Logits = Callable[[list[list[int]]], torch.Tensor]
"""[texts, classes] from texts of token ids."""


@dataclass
class Way:
    """One way of computing the judge's logits, the seconds that each batch took, and its probabilities."""

    name: str
    logits: Logits
    cpu: list[float] = field(default_factory=list)
    judged: list[torch.Tensor] = field(default_factory=list)

    def judge(self, texts: list[list[int]]) -> None:
        """Count one batch's time, and keep its probabilities."""
        began = time.process_time()
        with torch.inference_mode():
            logits = self.logits(texts)
        self.cpu.append(time.process_time() - began)
        self.judged.append(logits.softmax(dim=-1))

    def labels(self, batch: int) -> torch.Tensor:
        """The likeliest class of each text of a batch."""
        return self.judged[batch].argmax(dim=1)


def main() -> None:
    """Print the table after each ten pairs, so that a run cut short says something, too."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--claims", type=int, default=20)
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--data", type=Path, help="folder with the data sets' development files")
    arguments.add_argument("--pairs", type=int, default=1000, help="so many of those in --data")
    arguments.add_argument("--way", choices=list(WAYS), action="append", help="compare this one alone; may be repeated")
    options = arguments.parse_args()
    base = load_settings().instance / "models" / "smollm2-135m"
    tokenizer, model, _ = EntailmentJudge(base, SHIPPED / "judge", options.threads).load()
    every = [Way(name, WAYS[name](model)) for name in ("padded", *(options.way or list(WAYS)[1:]))]
    forms: list[str] = []
    for tens in ten_by_ten(pairs(options.data)[: options.pairs] if options.data else own_pairs(options.claims)):
        forms.append(tens[0][0])
        for way in every:
            way.judge(tokenizer([prompt for _, prompt in tens], truncation=True, max_length=MAX_TOKENS)["input_ids"])
        print(table(every, forms), flush=True)


def padded(model: Any) -> Logits:
    """In float32 from one row a text, as long as the longest."""
    plain = copy.deepcopy(model)
    plain.set_attn_implementation("sdpa")
    return lambda texts: padded_logits(plain, texts)


def dynamic_int8(model: Any) -> Logits:
    """As PyTorch does it by itself, padded."""
    plain = copy.deepcopy(model)
    plain.set_attn_implementation("sdpa")
    int8 = torch.ao.quantization.quantize_dynamic(plain, {torch.nn.Linear}, dtype=torch.qint8)
    return lambda texts: padded_logits(int8, texts)


def int8_alone(model: Any) -> Logits:
    """As JUDGE_INT8 does it at first."""
    quick = in_int8(model)
    return lambda texts: packed_logits(quick, texts)


def int8_and_float32(model: Any) -> Logits:
    """As JUDGE_INT8 does it: once more in float32 where that leaves the label open."""
    quick = in_int8(model)

    def logits(texts: list[list[int]]) -> torch.Tensor:
        found = packed_logits(quick, texts)
        unsure = [at for at, row in enumerate(found.softmax(dim=-1).tolist()) if is_unsure(row)]
        if unsure:
            found[unsure] = packed_logits(model, [texts[at] for at in unsure])
        return found

    return logits


WAYS: dict[str, Callable[[Any], Logits]] = {
    "padded": padded,
    "packed": lambda model: lambda texts: packed_logits(model, texts),
    "dynamic-int8": dynamic_int8,
    "int8-alone": int8_alone,
    "int8": int8_and_float32,
}
"""The first is what the others are compared with; "packed" is what ships, "int8" what JUDGE_INT8 sets."""


def padded_logits(model: Any, texts: list[list[int]]) -> torch.Tensor:
    """From one row a text, as long as the longest."""
    rows = [torch.tensor(text) for text in texts]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=model.config.pad_token_id)
    real = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
    return model(input_ids=ids, attention_mask=real).logits


def packed_logits(model: Any, texts: list[list[int]]) -> torch.Tensor:
    """As the shipped judge computes them."""
    ends = torch.tensor([len(text) for text in texts]).cumsum(0) - 1
    return model.score(model.model(**packed(texts)).last_hidden_state[0, ends])


def own_pairs(claims: int) -> Iterator[tuple[str, str]]:
    """Ten prompts for each of the first claims of ours: the articles that share most words with it."""
    articles = [first_words(article.text) for article in vital_articles()]
    words = [content_words(text) for text in articles]
    for line in TWINS.read_text(encoding="utf-8").splitlines()[:claims]:
        claim = json.loads(line)["true"]
        for text in nearest(claim, articles, words):
            yield "ten", judge_prompt(claim, [text])


def ten_by_ten(found: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """As many as one claim has passages."""
    source = iter(found)
    while tens := list(islice(source, PASSAGES)):
        yield tens


def table(every: list[Way], forms: list[str]) -> str:
    """Markdown, a row for each way; times and same labels apart for each form of batch."""
    first, kinds = every[0], sorted(set(forms), reverse=True)
    heads = ["way"]
    heads += [f"{what}, {kind}" for kind in kinds for what in ("CPU s a batch", "times faster", "same label")]
    heads += ["mean difference", "largest difference of a probability"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for way in every:
        told = [way.name]
        for kind in kinds:
            of_kind = [at for at, form in enumerate(forms) if form == kind]
            spent, before = (sum(each.cpu[at] for at in of_kind) for each in (way, first))
            same = [bool(label) for at in of_kind for label in way.labels(at) == first.labels(at)]
            told += [f"{spent / len(of_kind):.2f}", f"{before / spent:.2f}", f"{sum(same)} of {len(same)}"]
        apart = (torch.cat(way.judged) - torch.cat(first.judged)).abs().amax(dim=1)
        lines.append(f"| {' | '.join(told)} | {apart.mean():.4f} | {apart.max():.6f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
