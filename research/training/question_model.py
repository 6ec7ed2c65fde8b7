"""Train the question model: an adapter on SmolLM2 that asks the next question, says when to stop, and explains.

Each claim is one sequence; the loss covers only the parts that the model writes:

    Claim: ...
    Question: ...        trained: the whole line
    Answer: ...
    Verdict: true        trained: the word "Verdict:" (no further question is needed)
    Explanation: ...     trained: the sentence

python -m research.training.question_model --data DATA --base instance/models/smollm2-135m --out FOLDER
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from torch.nn import functional
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from research.claims.data import CLAIMS_FILE, Asked, VitalClaim, read_claims
from research.training.adapter import add_adapter, save_adapter
from research.training.adapter_training import (
    ROWS_AT_ONCE,
    AdapterSettings,
    Task,
    batches,
    data_hash,
    train_adapter,
    weights_hash,
)
from research.training.checkpoints import best_device, replacing

NOT_FOUND = "not found"
VERDICTS = {"SUPPORTED": "true", "REFUTED": "false", "NOT_ENOUGH_EVIDENCE": "unknown"}
SET_ASIDE_SHARE = 0.12
"""Share of the claims in which an unanswered question comes before the recorded ones."""
IRRELEVANT_SHARE = 0.12
"""Share of the claims in which an answered but irrelevant question comes before the recorded ones."""
MAX_MEASURED = 200
"""Maximum number of held-out claims on which the learning curve is measured."""
IGNORED = -100
DEFAULTS = AdapterSettings(epochs=2, rank=16, learning_rate=5e-4)

Part = tuple[str, bool]
"""A piece of the sequence, and whether the loss covers it."""


def parts_of(row: VitalClaim, rng: random.Random | None = None, others: Sequence[Asked] = ()) -> list[Part]:
    """Return the sequence of a claim.

    One of `others`, questions of other claims about the same article, may come first, answered or not.
    """
    parts: list[Part] = [(f"Claim: {row.claim}\n", False)]
    drawn = rng.random() if rng and others else 1.0
    if rng and drawn < SET_ASIDE_SHARE + IRRELEVANT_SHARE:
        other = rng.choice(others)
        answer = NOT_FOUND if drawn < SET_ASIDE_SHARE else other.answer or NOT_FOUND
        parts.append((f"Question: {other.question}\nAnswer: {answer}\n", False))
    for asked in row.questions:
        parts += [(f"Question: {asked.question}\n", True), (f"Answer: {asked.answer or NOT_FOUND}\n", False)]
    parts += [("Verdict:", True), (f" {VERDICTS[row.label]}\nExplanation:", False)]
    if row.style != "balanced":  # a balanced claim has the explanation of the claim that it was derived from
        parts.append((f" {row.explanation}<|im_end|>", True))
    return parts


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token ids and targets of a claim; the loss leaves out targets that are IGNORED."""

    ids: list[int]
    targets: list[int]


def encode(parts: Sequence[Part], tokenizer: PreTrainedTokenizerBase) -> Tokens:
    """Tokenise each piece separately, as generation does, so that no token spans two pieces."""
    ids: list[int] = []
    targets: list[int] = []
    for text, trained in parts:
        part = tokenizer(text, add_special_tokens=False)["input_ids"]
        ids += part
        targets += part if trained else [IGNORED] * len(part)
    return Tokens(ids, targets)


def examples_of(rows: Sequence[VitalClaim], tokenizer: PreTrainedTokenizerBase, rng: random.Random) -> list[Tokens]:
    """Return the claims' sequences; `rng` draws which begin with a question of another claim."""
    by_title: dict[str, list[Asked]] = {}
    for row in rows:
        by_title.setdefault(row.leads[0][0], []).extend(row.questions)
    sequences = []
    for row in rows:
        own = {asked.question for asked in row.questions}
        others = [asked for asked in by_title[row.leads[0][0]] if asked.question not in own]
        sequences.append(encode(parts_of(row, rng, others), tokenizer))
    return sequences


def loss_of(model: PreTrainedModel, rows: Sequence[Tokens]) -> tuple[torch.Tensor, int]:
    """Return the summed cross-entropy over the trained tokens, and their number."""
    width = max(len(row.ids) for row in rows)
    ids = torch.tensor([row.ids + [0] * (width - len(row.ids)) for row in rows], device=model.device)
    mask = torch.tensor([[1] * len(row.ids) + [0] * (width - len(row.ids)) for row in rows], device=model.device)
    padded = [row.targets + [IGNORED] * (width - len(row.targets)) for row in rows]
    targets = torch.tensor(padded, device=model.device)[:, 1:]
    hidden = model.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state[:, :-1]
    at = targets != IGNORED
    logits = model.lm_head(hidden[at])
    return functional.cross_entropy(logits.float(), targets[at], reduction="sum"), int(at.sum())


def _backward(model: PreTrainedModel, group: Sequence[Tokens]) -> float:
    count, total = sum(target != IGNORED for row in group for target in row.targets), 0.0
    for start in range(0, len(group), ROWS_AT_ONCE):
        loss = loss_of(model, group[start : start + ROWS_AT_ONCE])[0] / count
        loss.backward()
        total += loss.item()
    return total


def mean_loss(model: PreTrainedModel, rows: Sequence[Tokens]) -> float:
    """Return the mean cross-entropy per trained token."""
    total, count = 0.0, 0
    for start in range(0, len(rows), ROWS_AT_ONCE):
        loss, tokens = loss_of(model, rows[start : start + ROWS_AT_ONCE])
        total, count = total + loss.item(), count + tokens
    return total / count


def build(base: Path, settings: AdapterSettings) -> PreTrainedModel:
    """Return SmolLM2 in bfloat16 with an untrained adapter in float32."""
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.bfloat16, attn_implementation="eager")
    model.requires_grad_(False)
    add_adapter(model.model, settings.rank, settings.first_layer)
    return model.to(best_device())


def train(
    claims: Sequence[VitalClaim],
    base: Path,
    out: Path,
    settings: AdapterSettings = DEFAULTS,
    clock: Callable[[], float] = time.monotonic,
    threads: int = 2,
) -> dict:
    """Train on the claims of the train split, save to `out` and return the content of training.json.

    `out` gets the adapter as peft's files in float16, training.json, and the files of `train_adapter`.
    """
    torch.manual_seed(settings.seed)
    torch.set_num_threads(threads)
    tokenizer, rng = AutoTokenizer.from_pretrained(base), random.Random(settings.seed)
    seen = [row for row in claims if row.split == "train"]
    # Claims in visitors' style and claims with several questions are used twice.
    seen += [row for row in seen if row.style == "plain" or row.hops > 1]
    order = []
    for _ in range(settings.epochs):
        sequences = examples_of(seen, tokenizer, rng)
        order += batches(sequences, lambda one: len(one.ids), lambda _: 1, settings.batch_size, rng)
    dev = [row for row in claims if row.split == "dev"]
    chosen = random.Random(0).sample(dev, min(MAX_MEASURED, len(dev)))
    held_out = [encode(parts_of(row), tokenizer) for row in chosen]
    model = build(base, settings)
    data = data_hash(one for group in order for one in group)
    task = Task(
        name=f"{data} {weights_hash(base)} {asdict(settings) | {'minutes': None}}",
        order=order,
        backward=lambda group: _backward(model, group),
        measure=lambda: {"loss": round(mean_loss(model, held_out), 4)},
    )
    steps, seconds = train_adapter(model, task, settings, out, clock)
    card = {
        "settings": asdict(settings),
        "claims_per_epoch": len(seen),
        "minutes": round(seconds / 60, 1),
        "steps": steps,
    }
    with replacing(out) as fresh:
        save_adapter(model.model, base, fresh, "CAUSAL_LM")
        (fresh / "training.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card


def main() -> None:
    """Parse the options and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with vital_claims.jsonl")
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=2)
    for name in ("epochs", "rank", "first_layer", "learning_rate", "minutes"):
        value = getattr(DEFAULTS, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    options = vars(parser.parse_args())
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    data, base, out, threads = (options.pop(name) for name in ("data", "base", "out", "threads"))
    train(read_claims(data / CLAIMS_FILE), base, out, replace(DEFAULTS, **options), threads=threads)


if __name__ == "__main__":
    main()
