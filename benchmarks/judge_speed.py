"""How fast the judge reads ten 120-word passages in full precision and in int8, and how often the label is the same.

    .venv/bin/python -m benchmarks.judge_speed [--claims 20] [--threads 1]

Each of our own claims (twins.jsonl) is judged against ten articles, one after the other in both runtimes, so that
whatever else the machine does falls on both. "CPU" is the time that the process itself computed. docs/judge.md keeps a
table.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, field

import torch

from app.backends.corpora import vital_articles
from app.backends.entailment import EntailmentJudge
from app.language.evidence_text import content_words, judge_prompt
from app.settings import load_settings
from app.wiring import SHIPPED
from benchmarks.twins import TWINS

WORDS, PASSAGES = 120, 10


@dataclass
class Runtime:
    """One way of computing the judge's logits."""

    name: str
    model: torch.nn.Module
    cpu: float = 0.0
    wall: float = 0.0
    labels: list[int] = field(default_factory=list)

    def judge(self, inputs: dict[str, torch.Tensor]) -> None:
        """Count one batch's time, and keep its likeliest classes."""
        cpu, wall = time.process_time(), time.perf_counter()
        with torch.inference_mode():
            logits = self.model(**inputs).logits
        self.cpu += time.process_time() - cpu
        self.wall += time.perf_counter() - wall
        self.labels += logits.argmax(dim=-1).tolist()


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--claims", type=int, default=20)
    arguments.add_argument("--threads", type=int, default=1)
    options = arguments.parse_args()
    settings = load_settings()
    tokenizer, model, _ = EntailmentJudge(
        settings.instance / "models" / "smollm2-135m", SHIPPED / "judge", options.threads
    ).load()
    int8 = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
    runtimes = [Runtime("float32", model), Runtime("PyTorch, dynamic int8", int8)]
    articles = [" ".join(article.text.split()[:WORDS]) for article in vital_articles()]
    claims = [json.loads(line)["true"] for line in TWINS.read_text(encoding="utf-8").splitlines()][: options.claims]
    for claim in claims:
        wanted = content_words(claim)
        best = sorted(articles, key=lambda text: -len(wanted & content_words(text)))[:PASSAGES]
        prompts = [judge_prompt(claim, [text]) for text in best]
        inputs = tokenizer(prompts, padding=True, return_tensors="pt")
        for runtime in runtimes:
            runtime.judge({name: inputs[name] for name in ("input_ids", "attention_mask")})
    first = runtimes[0]
    print("| runtime | CPU s a claim | wall s a claim | times faster | same label |\n|---|---|---|---|---|")
    for runtime in runtimes:
        same = sum(one == other for one, other in zip(runtime.labels, first.labels, strict=True)) / len(first.labels)
        seconds = f"{runtime.cpu / len(claims):.2f} | {runtime.wall / len(claims):.2f}"
        print(f"| {runtime.name} | {seconds} | {first.cpu / runtime.cpu:.2f} | {same:.1%} |")


if __name__ == "__main__":
    main()
