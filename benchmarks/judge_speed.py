"""How fast the judge reads ten 120-word passages in each way of computing it, and how often the label is the same.

    .venv/bin/python -m benchmarks.judge_speed [--claims 20] [--threads 1]

Each of our own claims (twins.jsonl) is judged against ten articles, one way after the other, so that whatever else the
machine does falls on all. "CPU" is the time that the process itself computed. docs/judge.md keeps a table.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from app.backends.corpora import vital_articles
from app.backends.entailment import EntailmentJudge
from app.backends.packed_batch import packed
from app.language.evidence_text import content_words, judge_prompt
from app.settings import load_settings
from app.wiring import SHIPPED
from benchmarks.rotated_int8 import in_int8
from benchmarks.twins import TWINS

WORDS, PASSAGES = 120, 10


@dataclass
class Way:
    """One way of computing the judge's logits [texts, classes] from texts of token ids."""

    name: str
    logits: Callable[[list[list[int]]], torch.Tensor]
    cpu: float = 0.0
    wall: float = 0.0
    judged: list[torch.Tensor] = field(default_factory=list)

    def judge(self, texts: list[list[int]]) -> None:
        """Count one batch's time, and keep its probabilities."""
        cpu, wall = time.process_time(), time.perf_counter()
        with torch.inference_mode():
            logits = self.logits(texts)
        self.cpu += time.process_time() - cpu
        self.wall += time.perf_counter() - wall
        self.judged += logits.softmax(dim=-1)


def main() -> None:
    """Print the table after each claim, so that a run cut short says something, too."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--claims", type=int, default=20)
    arguments.add_argument("--threads", type=int, default=1)
    options = arguments.parse_args()
    settings = load_settings()
    tokenizer, model, _ = EntailmentJudge(
        settings.instance / "models" / "smollm2-135m", SHIPPED / "judge", options.threads
    ).load()
    every = ways(model)
    for count, prompts in enumerate(batches(options.claims), start=1):
        for way in every:
            way.judge(tokenizer(prompts)["input_ids"])
        print(table(every, count), flush=True)


def ways(model: Any) -> list[Way]:
    """The plain way first: the others are compared with it."""
    plain = copy.deepcopy(model)
    plain.set_attn_implementation("sdpa")
    int8 = torch.ao.quantization.quantize_dynamic(plain, {torch.nn.Linear}, dtype=torch.qint8)
    turned = in_int8(copy.deepcopy(model))
    return [
        Way("float32, padded", lambda texts: padded_logits(plain, texts)),
        Way("float32, packed (shipped)", lambda texts: packed_logits(model, texts)),
        Way("dynamic int8, padded", lambda texts: padded_logits(int8, texts)),
        Way("dynamic int8, features turned, packed", lambda texts: packed_logits(turned, texts)),
    ]


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


def batches(claims: int) -> Iterator[list[str]]:
    """Ten prompts for each of the first claims: the articles that share most words with it."""
    articles = [" ".join(article.text.split()[:WORDS]) for article in vital_articles()]
    words = [content_words(text) for text in articles]
    for line in TWINS.read_text(encoding="utf-8").splitlines()[:claims]:
        claim = json.loads(line)["true"]
        wanted = content_words(claim)
        nearest = sorted(range(len(articles)), key=lambda at: -len(wanted & words[at]))[:PASSAGES]
        yield [judge_prompt(claim, [articles[at]]) for at in nearest]


def table(every: list[Way], claims: int) -> str:
    """Markdown, a row for each way."""
    first = every[0]
    lines = [
        "| way | CPU s a claim | wall s a claim | times faster | same label | largest difference of a probability |",
        "|---|---|---|---|---|---|",
    ]
    for way in every:
        one, other = torch.stack(first.judged), torch.stack(way.judged)
        same = int((one.argmax(dim=1) == other.argmax(dim=1)).sum())
        seconds = f"{way.cpu / claims:.2f} | {way.wall / claims:.2f} | {first.cpu / way.cpu:.2f}"
        lines.append(f"| {way.name} | {seconds} | {same} of {len(one)} | {(one - other).abs().max():.6f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
