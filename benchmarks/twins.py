"""Measure the judge on sixty pairs of a true and a false claim, with their articles as evidence.

    .venv/bin/python -m benchmarks.twins [--errors]

A pair is right if both claims get their label. docs/judge.md quotes the figures. The claims in twins.jsonl were written
for this test, from articles that no judge was trained on.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from app.backends.corpus.registry import vital_articles
from app.config.settings import load_settings
from app.container.container import Container
from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Label, LabelSet, Passage, Question, Span
from app.modules.reasoner import JudgeReasoner
from research.training.pairs import is_held_out

TWINS = Path(__file__).with_name("twins.jsonl")
GOLD = (("true", Label.SUPPORTED), ("false", Label.REFUTED))


def context_of(titles: list[str], texts: dict[str, str]) -> Context:
    """Return a kept hop that cites it for each article. Raises ValueError if the judge was trained on one."""
    if trained := [title for title in titles if not is_held_out(title)]:
        raise ValueError(f"the judge was trained on {trained}")
    spans = (Span(Passage(texts[title], title, "vital"), 0, 0) for title in titles)
    return tuple(Hop(at, Question(""), Answer("", span), HopStatus.KEPT) for at, span in enumerate(spans, 1))


def main() -> None:
    """Judge all claims with two and with three labels; with `--errors`, print those with a wrong label."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--errors", action="store_true", help="print every claim with a wrong label")
    options = arguments.parse_args()
    container = Container(load_settings())
    reasoner = JudgeReasoner(container.judge, container.sufficient)
    texts = {article.title: article.text for article in vital_articles()}
    twins = [json.loads(line) for line in TWINS.read_text(encoding="utf-8").splitlines()]
    for labels in (LabelSet.TWO, LabelSet.THREE):
        right: list[list[bool]] = []
        for twin in twins:
            context = context_of(twin["titles"], texts)
            verdicts = [reasoner.conclude(Claim(twin[kind]), context, labels.labels) for kind, _ in GOLD]
            right.append([verdict.label is gold for verdict, (_, gold) in zip(verdicts, GOLD, strict=True)])
            for verdict, (kind, gold) in zip(verdicts, GOLD, strict=True):
                if options.errors and verdict.label is not gold:
                    print(f"  {verdict.label} {verdict.confidence:.2f}, not {gold}: {twin[kind]}")
        claims, pairs = sum(map(sum, right)), sum(map(all, right))
        print(f"{labels} labels: {claims} of {2 * len(twins)} claims right, {pairs} of {len(twins)} pairs right")


if __name__ == "__main__":
    main()
