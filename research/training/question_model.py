"""Train the question model: an adapter on SmolLM2 that asks the next question, says when to stop, and explains.

One sequence a claim, read left to right; only what the model has to write is trained:

    Claim: ...
    Question: ...        trained: the word and the question
    Answer: ...
    Verdict: true        trained: the word (no further question is needed)
    Explanation: ...     trained: the sentence

python -m research.training.question_model --data DATA --base instance/models/smollm2-135m --out FOLDER
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn import functional
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerBase

from research.claims.data import Asked, VitalClaim, read_claims
from research.training.adapter import add_adapter, save_adapter
from research.training.checkpoints import resume, save_checkpoint

NOT_FOUND = "not found"
VERDICTS = {"SUPPORTED": "true", "REFUTED": "false", "NOT_ENOUGH_EVIDENCE": "unknown"}
BATCH, ROWS = 16, 8
SET_ASIDE_SHARE = 0.12
"""Share of the claims in which a question that found nothing comes before the recorded ones."""
IGNORED = -100

Part = tuple[str, bool]
"""A piece of the sequence and whether it is trained."""


def parts_of(row: VitalClaim, rng: random.Random | None = None, others: Sequence[Asked] = ()) -> list[Part]:
    """The sequence of a claim. `others` are questions about the same leads, one of which may come first, unanswered."""
    parts: list[Part] = [(f"Claim: {row.claim}\n", False)]
    if rng and others and rng.random() < SET_ASIDE_SHARE:
        parts.append((f"Question: {rng.choice(others).question}\nAnswer: {NOT_FOUND}\n", False))
    for asked in row.questions:
        parts += [(f"Question: {asked.question}\n", True), (f"Answer: {asked.answer or NOT_FOUND}\n", False)]
    parts += [("Verdict:", True), (f" {VERDICTS[row.label]}\nExplanation:", False)]
    if row.style != "balanced":  # those explain the twin that they were made from
        parts.append((f" {row.explanation}<|im_end|>", True))
    return parts


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token ids and targets of a claim; a target of -100 is not trained."""

    ids: list[int]
    targets: list[int]


def encode(parts: Sequence[Part], tokenizer: PreTrainedTokenizerBase) -> Tokens:
    """Tokenise piece by piece, as generation does, so that bounds between pieces are bounds between tokens."""
    ids, targets = [], []
    for text, trained in parts:
        part = tokenizer(text, add_special_tokens=False)["input_ids"]
        ids += part
        targets += part if trained else [IGNORED] * len(part)
    return Tokens(ids, targets)


def epoch_of(rows: Sequence[VitalClaim], tokenizer: PreTrainedTokenizerBase, rng: random.Random) -> list[list[Tokens]]:
    """Batches of similar length in random order."""
    by_title: dict[str, list[Asked]] = {}
    for row in rows:
        by_title.setdefault(row.leads[0][0], []).extend(row.questions)
    made = []
    for row in rows:
        own = {asked.question for asked in row.questions}
        others = [asked for asked in by_title[row.leads[0][0]] if asked.question not in own]
        made.append(encode(parts_of(row, rng, others), tokenizer))
    made.sort(key=lambda one: len(one.ids) * rng.uniform(0.85, 1.15))
    groups = [made[at : at + BATCH] for at in range(0, len(made), BATCH)]
    rng.shuffle(groups)
    return groups


def loss_of(model: torch.nn.Module, rows: Sequence[Tokens]) -> tuple[torch.Tensor, int]:
    """Summed cross-entropy over the trained tokens, and how many there are."""
    width = max(len(row.ids) for row in rows)
    ids = torch.tensor([row.ids + [0] * (width - len(row.ids)) for row in rows])
    mask = torch.tensor([[1] * len(row.ids) + [0] * (width - len(row.ids)) for row in rows])
    targets = torch.tensor([row.targets + [IGNORED] * (width - len(row.targets)) for row in rows])[:, 1:]
    hidden = model.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state[:, :-1]
    at = targets != IGNORED
    logits = model.lm_head(hidden[at])
    return functional.cross_entropy(logits.float(), targets[at], reduction="sum"), int(at.sum())


def held_out_loss(model: torch.nn.Module, rows: Sequence[Tokens]) -> float:
    """Mean cross-entropy a trained token."""
    model.eval()
    total, count = 0.0, 0
    with torch.inference_mode():
        for start in range(0, len(rows), ROWS):
            loss, tokens = loss_of(model, rows[start : start + ROWS])
            total, count = total + loss.item(), count + tokens
    model.train()
    return total / count


def build(base: str, rank: int, first_layer: int) -> torch.nn.Module:
    """SmolLM2 in bfloat16 with an adapter in float32."""
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.bfloat16, attn_implementation="eager")
    model.requires_grad_(False)
    add_adapter(model.model, rank, first_layer)
    return model


def run(options: argparse.Namespace) -> None:
    """Train for the given epochs; resumes from its checkpoint."""
    torch.manual_seed(7)
    torch.set_num_threads(options.threads)
    tokenizer = AutoTokenizer.from_pretrained(options.base)
    claims = read_claims(options.data / "vital_claims.jsonl")
    train = [row for row in claims if row.split == "train"]
    rng = random.Random(7)
    order = [group for _ in range(options.epochs) for group in epoch_of(train, tokenizer, rng)]
    dev = [row for row in claims if row.split == "dev"]
    measured = [encode(parts_of(row), tokenizer) for row in random.Random(0).sample(dev, 200)]
    model = build(options.base, options.rank, options.first_layer)
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=options.learning_rate, weight_decay=0.01)
    options.out.mkdir(parents=True, exist_ok=True)
    checkpoint = options.out / "checkpoint.pt"
    name = json.dumps({k: str(v) for k, v in vars(options).items() if k not in ("threads", "minutes")}, sort_keys=True)
    progress = resume(checkpoint, model, {"optimiser": optimiser}, name)
    done, before = int(progress.get("step", 0)), progress.get("seconds", 0.0)
    started, losses = time.monotonic() - before, []

    def save(step: int, taken: float) -> None:
        save_checkpoint(checkpoint, model, {"optimiser": optimiser}, {"step": step, "seconds": taken}, name)
        save_adapter(model.model, options.out / "adapter", "CAUSAL_LM")
        record = {"step": step, "claims": step * BATCH, "seconds": round(taken)}
        record["held_out_loss"] = round(held_out_loss(model, measured), 4)
        with (options.out / "curve.jsonl").open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)

    model.train()
    for step, group in enumerate(order[done:], done + 1):
        share = max(step / len(order), (time.monotonic() - started) / (60 * options.minutes))
        if share >= 1:
            break
        for part in optimiser.param_groups:
            part["lr"] = options.learning_rate * min(1.0, step / 40) * max(0.0, 1 - share)
        optimiser.zero_grad()
        count = sum(target != IGNORED for row in group for target in row.targets)
        losses.append(0.0)
        for start in range(0, len(group), ROWS):
            loss = loss_of(model, group[start : start + ROWS])[0] / count
            loss.backward()
            losses[-1] += loss.item()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        taken = time.monotonic() - started
        if step % 10 == 0:
            print(f"step {step} of {len(order)}, loss {sum(losses[-10:]) / 10:.3f}, {taken:.0f} s", flush=True)
        if step % 100 == 0:
            save(step, taken)
    save(len(losses) + done, time.monotonic() - started)


def main() -> None:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--base", type=str, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--first-layer", type=int, default=10)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--minutes", type=float, default=60.0, help="the learning rate falls to zero by then")
    parser.add_argument("--threads", type=int, default=1)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
