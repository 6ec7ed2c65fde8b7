"""Train the sentence selector: claim and the sentences taken so far -> the next deciding sentence, or none.

The upper layers of the packaged cross-encoder are trained further. Of each claim's candidates (sentences of its leads
and of neighbours.py) the deciding ones must score highest; "no further sentence" has the score 0. The loss is the
negative log of the right candidates' share of the softmax over candidates and 0.

python -m research.training.selector --data DATA --neighbours instance/training/neighbours.json --out FOLDER
"""

from __future__ import annotations

import argparse
import json
import logging
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertForSequenceClassification

from app.backends.local.reranker import packaged_reranker
from app.domain.model import Passage
from app.modules.judging import selector_query
from research.claims.data import CLAIMS_FILE, NOT_ENOUGH, VitalClaim, read_claims, split_lead
from research.training.adapter_training import AdapterSettings, Task, data_hash, train_adapter, weights_hash
from research.training.checkpoints import resume
from research.training.judge_examples import Neighbours
from research.training.minilm import CONFIG, matrices, weights_of

FROZEN = 6
"""Number of lower layers that are not trained, which halves the weights to ship and saves a third of the time."""
CANDIDATES = 10
MAX_TOKENS = 160
WEIGHTS = "weights.safetensors"

Sentence = tuple[str, str]
"""(title, sentence)."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A query, the candidates' texts, and the indices of the right ones; empty if no further sentence is needed."""

    query: str
    candidates: tuple[str, ...]
    right: tuple[int, ...]


def choices_of(row: VitalClaim, neighbours: Neighbours, rng: random.Random) -> list[Choice]:
    """Return training choices for a claim: the first sentence, and sometimes the one after a right one."""
    texts = dict(row.leads)
    deciding = {} if row.label == NOT_ENOUGH else row.deciding_sentences()
    if row.label != NOT_ENOUGH and not all(deciding.values()):
        return []  # the deciding sentences are not known
    right = [(title, split_lead(texts[title])[at]) for title, found in deciding.items() for at in found]
    other_sentences = [
        (title, one) for title, text in row.leads for one in split_lead(text) if (title, one) not in right
    ]
    others = [(title, one) for title, one in neighbours.get(row.id, ())]
    choices = []
    # In 6% of the claims the deciding sentences are left out of the candidates, so that "none" is right.
    shown = [] if rng.random() < 0.06 else right
    choices.append(_choice(row.claim, [], shown, other_sentences, others, rng))
    if right and rng.random() < (0.9 if len(right) > 1 else 0.3):
        taken = rng.choice(right)
        choices.append(
            _choice(row.claim, [taken], [one for one in right if one != taken], other_sentences, others, rng)
        )
    return choices


def _choice(
    claim: str,
    taken: Sequence[Sentence],
    right: Sequence[Sentence],
    other_sentences: Sequence[Sentence],
    others: Sequence[Sentence],
    rng: random.Random,
) -> Choice:
    own = rng.sample(list(other_sentences), min(len(other_sentences), CANDIDATES // 2))
    more = list(others[: CANDIDATES - len(own) - len(right)])
    texts = [f"{title}. {one}" for title, one in [*right, *own, *more]]
    query = selector_query(claim, [Passage(text, title, "") for title, text in taken])
    return Choice(query, tuple(texts), tuple(range(len(right))))


def build() -> tuple[BertForSequenceClassification, Tokenizer]:
    """Return the cross-encoder in PyTorch with trainable upper layers, and its tokenizer."""
    folder = packaged_reranker()
    model = BertForSequenceClassification(BertConfig(**CONFIG, num_labels=1))
    model.load_state_dict(weights_of(folder / "model.onnx"), strict=True)
    for part in (model.bert.embeddings, *model.bert.encoder.layer[:FROZEN]):
        part.requires_grad_(False)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
    tokenizer.no_padding()
    return model, tokenizer


def scores_of(model: BertForSequenceClassification, rows: Sequence[Any]) -> torch.Tensor:
    """Return the logits [rows] in float32."""
    width = max(len(row.ids) for row in rows)

    def padded(values: Sequence[Sequence[int]]) -> torch.Tensor:
        return torch.tensor([[*one, *[0] * (width - len(one))] for one in values])

    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = model(
            input_ids=padded([row.ids for row in rows]),
            attention_mask=padded([row.attention_mask for row in rows]),
            token_type_ids=padded([row.type_ids for row in rows]),
        )
    return found.logits[:, 0].float()


def loss_of(scores: torch.Tensor, right: Sequence[int]) -> torch.Tensor:
    """Return the loss of one choice (see the module); `scores` is [candidates], `right` may be empty."""
    whole = torch.logsumexp(torch.cat([scores, scores.new_zeros(1)]), dim=0)
    return whole - (torch.logsumexp(scores[list(right)], dim=0) if right else scores.new_zeros(()))


@contextmanager
def as_int8(model: BertForSequenceClassification) -> Iterator[None]:
    """Compute with int8 weights inside the block; gradients go to the full ones (straight-through estimator)."""
    full = {weight: weight.data for weight in model.parameters() if weight.requires_grad and weight.ndim == 2}
    for weight, data in full.items():
        scale = data.abs().max() / 127
        weight.data = torch.round(data / scale) * scale
    try:
        yield
    finally:
        for weight, data in full.items():
            weight.data = data


def _backward(model: BertForSequenceClassification, tokenizer: Tokenizer, group: Sequence[Choice]) -> float:
    total = 0.0
    with as_int8(model):
        for one in group:
            rows = [tokenizer.encode(one.query, text) for text in one.candidates]
            loss = loss_of(scores_of(model, rows), one.right) / len(group)
            loss.backward()
            total += loss.item()
    return total


def measure(model: BertForSequenceClassification, tokenizer: Tokenizer, held_out: Sequence[Choice]) -> dict[str, float]:
    """Return the shares of choices with the right best candidate and with the right "none" decision, and the loss."""
    first, none, loss = [], [], 0.0
    for one in held_out:
        with as_int8(model):
            scores = scores_of(model, [tokenizer.encode(one.query, text) for text in one.candidates])
        loss += loss_of(scores, one.right).item()
        if one.right:
            first.append(int(scores.argmax()) in one.right)
        none.append(bool(scores.max() > 0) == bool(one.right))
    return {"first": sum(first) / len(first), "none": sum(none) / len(none), "loss": loss / len(held_out)}


def export(model: BertForSequenceClassification, path: Path) -> None:
    """Write the trained weights in the packaged ONNX file's form: int8 matrices with one scale each.

    app/backends/local/reranker.py replaces the packaged weights with them.
    """
    graph = onnx.load(packaged_reranker() / "model.onnx").graph
    names = {place: node.input[1].removesuffix("_quantized") for node, place in matrices(graph)}
    weights: dict[str, torch.Tensor] = {}
    for name, weight in model.named_parameters():
        if not weight.requires_grad:
            continue
        if weight.ndim < 2:
            weights[name] = weight.detach().float().contiguous()
            continue
        scale = weight.detach().float().abs().max() / 127
        stored = names[name]
        weights[f"{stored}_scale"] = scale
        weights[f"{stored}_zero_point"] = torch.zeros((), dtype=torch.int8)
        weights[f"{stored}_quantized"] = torch.round(weight.detach().float() / scale).to(torch.int8).T.contiguous()
    save_file(weights, path)


def main() -> None:
    """Train the selector and export its weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--neighbours", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=50)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--start", type=Path, help="checkpoint of an earlier run to start from")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    rng = random.Random(options.seed)
    claims = read_claims(options.data / CLAIMS_FILE)
    neighbours = json.loads(options.neighbours.read_text(encoding="utf-8"))
    seen = [one for row in claims if row.split == "train" for one in choices_of(row, neighbours, rng) if one.candidates]
    dev = [one for row in claims if row.split == "dev" for one in choices_of(row, neighbours, random.Random(row.id))]
    held_out = random.Random(0).sample(dev, 250)
    rng.shuffle(seen)
    settings = AdapterSettings(minutes=options.minutes, learning_rate=options.learning_rate, batch_size=12)
    order = [seen[at : at + settings.batch_size] for at in range(0, len(seen), settings.batch_size)]
    model, tokenizer = build()
    if options.start:
        resume(options.start, model, {})
    start = options.start and weights_hash(options.start)
    task = Task(
        f"{data_hash(seen)} {start} {asdict(settings) | {'minutes': None}}",
        order,
        lambda group: _backward(model, tokenizer, group),
        lambda: measure(model, tokenizer, held_out),
    )
    logging.info("before: %s", measure(model, tokenizer, held_out[:80]))
    train_adapter(model, task, settings, options.out)
    export(model, options.out / WEIGHTS)


if __name__ == "__main__":
    main()
