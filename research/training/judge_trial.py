"""Compare judges on the same examples before hours go into one: base, rank, layers, with and without the questions.

python -m research.training.judge_trial --data DATA --base instance/models/smollm2-135m --out FOLDER --examples 4000
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from research.claims.data import read_claims
from research.evaluation.metrics import auc
from research.training.adapter import add_adapter, load_adapter, save_adapter
from research.training.checkpoints import resume, save_checkpoint
from research.training.judge_examples import (
    Example,
    gold_example,
    mixture,
    older_examples,
)

CLASSES = ("SUPPORTED", "REFUTED", "NOT_ENOUGH_EVIDENCE")
BATCH, ROWS = 16, 8
MAX_TOKENS = 320


def held_out(data: Path, per_source: int = 80, split: str = "dev") -> list[Example]:
    """Gold examples of the split's vital claims, and held-out rows of the older sets."""
    rng = random.Random(0)
    claims = [row for row in read_claims(data / "vital_claims.jsonl") if row.split == split]
    by: dict[str, list[Example]] = {}
    for row in rng.sample(claims, len(claims)):
        by.setdefault(f"vital-{row.style}", []).append(gold_example(row))
    for example, held in older_examples(data, random.Random(7)):
        if held and not example.source.endswith(("-lacking", "-swapped")):
            by.setdefault(example.source, []).append(example)
    return [one for found in by.values() for one in rng.sample(found, min(per_source, len(found)))]


def build(base: str, rank: int, first_layer: int) -> tuple[torch.nn.Module, AutoTokenizer]:
    """A classifier over `base`: an adapter where rank > 0, else every weight is trained."""
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForSequenceClassification.from_pretrained(
        base,
        num_labels=3,
        dtype=torch.float32,
        ignore_mismatched_sizes=True,
        pad_token_id=tokenizer.pad_token_id,
        attn_implementation="eager",
    )
    if not rank:
        return model, tokenizer
    model = model.bfloat16()
    add_adapter(model.model, rank, first_layer)
    model.score.float().requires_grad_(True)
    return model, tokenizer


def loss_of(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy; label -1 (NOT_SUPPORTED) counts -log(1 - p(SUPPORTED))."""
    log_p = functional.log_softmax(logits.float(), dim=-1)
    known = -log_p.gather(1, labels.clamp(min=0).unsqueeze(1)).squeeze(1)
    return torch.where(labels >= 0, known, -torch.logsumexp(log_p[:, 1:], dim=-1)).mean()


def batches(examples: Sequence[Example], rng: random.Random) -> list[list[Example]]:
    """Batches of similar length in random order."""
    order = sorted(examples, key=lambda one: len(one.prompt) * rng.uniform(0.85, 1.15))
    groups = [order[at : at + BATCH] for at in range(0, len(order), BATCH)]
    rng.shuffle(groups)
    return groups


def forward(model: torch.nn.Module, tokenizer: AutoTokenizer, prompts: Sequence[str]) -> torch.Tensor:
    """Logits [n, 3]."""
    inputs = tokenizer(list(prompts), padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
    if not hasattr(model, "score"):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(**inputs).logits
    hidden = model.model(**{k: inputs[k] for k in ("input_ids", "attention_mask")}, use_cache=False).last_hidden_state
    last = inputs["attention_mask"].sum(1) - 1
    return model.score(hidden[torch.arange(len(last)), last].float())


def measure(model: torch.nn.Module, tokenizer: AutoTokenizer, examples: Sequence[Example]) -> dict:
    """Per source: rows, three-way accuracy, AUC of supported against refuted or not supported, false ones supported."""
    model.eval()
    order = sorted(range(len(examples)), key=lambda at: len(examples[at].prompt))
    rows = np.zeros((len(examples), 3))
    with torch.inference_mode():
        for start in range(0, len(order), ROWS):
            part = order[start : start + ROWS]
            rows[part] = torch.softmax(
                forward(model, tokenizer, [examples[i].prompt for i in part]).float(), -1
            ).numpy()
    model.train()
    found = {}
    for source in sorted({one.source for one in examples}):
        at = [i for i, one in enumerate(examples) if one.source == source]
        clear = [i for i in at if examples[i].label in CLASSES]
        two = [i for i in at if examples[i].label != "NOT_ENOUGH_EVIDENCE"]
        supported = [examples[i].label == "SUPPORTED" for i in two]
        false = [i for i in two if examples[i].label != "SUPPORTED"]
        found[source] = {
            "n": len(at),
            "three_way": round(float(np.mean([CLASSES[rows[i].argmax()] == examples[i].label for i in clear])), 3),
            "auc": round(auc(rows[two, 0].tolist(), supported), 3) if len(set(supported)) == 2 else None,
            "false_supported": round(float(np.mean([rows[i].argmax() == 0 for i in false])), 3) if false else None,
        }
    return found


def run(options: argparse.Namespace) -> None:
    """Train on the first `examples` of the mixture and measure at the given shares; resumes from its checkpoint."""
    torch.manual_seed(7)
    torch.set_num_threads(options.threads)
    claims = read_claims(options.data / "vital_claims.jsonl")
    rng = random.Random(7)
    order: list[list[Example]] = []
    for epoch in mixture(options.data, claims, options.epochs, 7):
        order += batches(epoch, rng)
    if options.examples:
        order = order[: options.examples // BATCH]
    if options.without_questions:
        order = [[_without_questions(one) for one in group] for group in order]
    dev = held_out(options.data)
    if options.without_questions:
        dev = [_without_questions(one) for one in dev]
    model, tokenizer = build(str(options.base), options.rank, options.first_layer)
    if options.start:
        model.score.weight.data = load_adapter(model.model, options.start).float()
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=options.learning_rate, weight_decay=0.01)
    options.out.mkdir(parents=True, exist_ok=True)
    checkpoint = options.out / "checkpoint.pt"
    name = json.dumps({k: str(v) for k, v in vars(options).items() if k not in ("threads", "minutes")}, sort_keys=True)
    progress = resume(checkpoint, model, {"optimiser": optimiser}, name)
    done, seconds = int(progress.get("step", 0)), progress.get("seconds", 0.0)
    measured_at = {round(len(order) * share) for share in (0.25, 0.5, 0.75, 1.0)}
    started, losses = time.monotonic() - seconds, []
    model.train()
    for step, group in enumerate(order[done:], done + 1):
        share = max(step / len(order), (time.monotonic() - started) / (60 * options.minutes))
        if share >= 1:
            break
        rate = options.learning_rate * min(1.0, step / 40) * max(0.0, 1 - share)
        for part in optimiser.param_groups:
            part["lr"] = rate
        optimiser.zero_grad()
        for start in range(0, len(group), ROWS):
            rows = group[start : start + ROWS]
            labels = torch.tensor([CLASSES.index(one.label) if one.label in CLASSES else -1 for one in rows])
            loss = loss_of(forward(model, tokenizer, [one.prompt for one in rows]), labels) * (len(rows) / len(group))
            loss.backward()
            losses.append(loss.item())
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        if step % 10 == 0:
            taken = time.monotonic() - started
            recent = sum(losses[-20:]) / 10
            print(f"step {step} of {len(order)}, loss {recent:.3f}, {taken:.0f} s", flush=True)
        if step % 100 == 0:
            taken = time.monotonic() - started
            save_checkpoint(checkpoint, model, {"optimiser": optimiser}, {"step": step, "seconds": taken}, name)
            if options.rank:
                save_adapter(model.model, options.out / "adapter", "SEQ_CLS", model.score.weight)
        if step in measured_at:
            record = {"step": step, "examples": step * BATCH, "seconds": round(time.monotonic() - started)}
            record["held_out"] = measure(model, tokenizer, dev)
            with (options.out / "curve.jsonl").open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(json.dumps(record), flush=True)
    if options.rank:
        save_adapter(model.model, options.out / "adapter", "SEQ_CLS", model.score.weight)


def _without_questions(one: Example) -> Example:
    kept = [line for line in one.prompt.split("\n") if not line.startswith("Question: ")]
    return Example(one.source, "\n".join(kept), one.label)


def main() -> None:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--base", type=str, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--examples", type=int, default=0, help="0: all of the mixture")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rank", type=int, default=16, help="0: train every weight")
    parser.add_argument("--first-layer", type=int, default=10)
    parser.add_argument("--learning-rate", type=float, default=4e-4)
    parser.add_argument("--minutes", type=float, default=60.0, help="the learning rate falls to zero by then")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--start", type=Path, help="adapter whose weights are the first ones")
    parser.add_argument("--without-questions", action="store_true")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
