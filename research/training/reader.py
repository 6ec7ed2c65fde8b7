"""Fine-tune the reader: question and passage -> the span that answers, and whether there is one.

A curriculum of two epochs: first short windows with few unanswerable questions, then longer windows, all unanswerable
questions of SQuAD 2.0 and questions about the corpus. The lowest layers are frozen, which saves a quarter of the time.
A trained reader can continue with the second epoch alone (`CONTINUED`). Training is seeded, resumes from its checkpoint
and ends after the given minutes at the latest; the learning rate falls to zero by then.
"""

from __future__ import annotations

import json
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from app.backends.local.reader import pack
from app.backends.local.reader_windows import Window, as_batch, windows
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import BertForQuestionAnswering

from research.training.checkpoints import CHECKPOINT, best_device, resume, save_checkpoint
from research.training.squad import Example, answer_tokens, cut, data_hash, elsewhere

log = logging.getLogger(__name__)

Item = tuple[Window, int, int]
"""A window and the positions of the answer's first and last token in it; -1, -1 where there is no answer."""


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """Settings of a training run, stored in training.json."""

    seed: int = 7
    minutes: float = 25.0
    """Time limit."""
    learning_rate: float = 2e-4
    head_rate: float = 5.0
    """Factor on the learning rate for the span heads."""
    answerable_weight: float = 1.0
    """Weight of the answerability loss; that of the span loss is 1."""
    warmup_steps: int = 40
    batch_size: int = 16
    frozen_layers: int = 4
    first_questions: int = 5000
    """Answerable questions of the first epoch; 0 leaves it out."""
    first_words: tuple[int, int] = (25, 50)
    """Least and most words of a text in the first epoch."""
    answerable_questions: int | None = None
    """Maximum of SQuAD's answerable questions in the second epoch; None: all."""
    second_words: tuple[int, int] = (40, 85)
    elsewhere: int = 1400
    """Questions that are paired with a paragraph without their answer."""
    corpus_questions: int = 2600
    checkpoint_every: int = 20


CONTINUED = ReaderSettings(
    learning_rate=1.5e-4,
    head_rate=2.0,
    answerable_weight=2.0,
    first_questions=0,
    answerable_questions=5500,
    second_words=(60, 110),
    elsewhere=900,
    corpus_questions=1000,
)
"""For a trained reader: longer windows, all unanswerable questions, and more weight on answerability."""


def train(
    examples: Sequence[Example],
    model: BertForQuestionAnswering,
    tokenizer: Tokenizer,
    out: Path,
    settings: ReaderSettings = ReaderSettings(),
    clock: Callable[[], float] = time.monotonic,
    start: str = "",
) -> dict:
    """Train `model` in place on the examples that are not held out; return the figures for training.json.

    `out` gets a checkpoint; `save` writes the weights. `clock` measures the time against `minutes`. `start` names the
    weights of `model`. Raises InvalidInput for a checkpoint of other data, settings or weights.
    """
    for part in (model.bert.embeddings, *model.bert.encoder.layer[: settings.frozen_layers]):
        part.requires_grad_(False)
    seen = [one for one in examples if not one.held_out]
    batches = _batches(_epochs(seen, settings), tokenizer, settings)
    data = data_hash(examples)
    name = f"{data} {start} {asdict(settings) | {'minutes': None}}"
    steps, seconds = _run(model.to(best_device()), batches, settings, out / CHECKPOINT, name, clock)
    return {
        "settings": asdict(settings),
        "data_hash": data,
        "questions": len(seen),
        "windows_seen": steps * settings.batch_size,
        "steps": steps,
        "of_steps": len(batches),
        "minutes": round(seconds / 60, 1),
    }


def _run(
    model: BertForQuestionAnswering,
    batches: Sequence[Sequence[Item]],
    settings: ReaderSettings,
    checkpoint: Path,
    name: str,
    clock: Callable[[], float],
) -> tuple[int, float]:
    """Train on the batches after the checkpoint's; return the steps and seconds of the whole run.

    The learning rate rises over the warm-up and falls to zero with the batches or the minutes, whichever end first.
    """
    optimiser = _optimiser(model, settings)
    progress = resume(checkpoint, model, {"optimiser": optimiser}, name)
    step, started, losses = int(progress.get("step", 0)), clock() - progress.get("seconds", 0.0), []
    model.train()
    for batch in batches[step:]:
        seconds = clock() - started
        share = max((step + 1) / len(batches), seconds / (60 * settings.minutes))
        if share > 1:
            break
        step += 1
        scale = min(1.0, step / settings.warmup_steps) * (1 - share)
        losses.append(_learn(model, optimiser, batch, scale, settings.answerable_weight))
        if step % settings.checkpoint_every == 0:
            recent = torch.tensor(losses[-settings.checkpoint_every :]).mean(dim=0).tolist()
            log.info("step %d of %d, span %.3f, answerable %.3f, %.0f s", step, len(batches), *recent, seconds)
            save_checkpoint(checkpoint, model, {"optimiser": optimiser}, {"step": step, "seconds": seconds}, name)
    return step, clock() - started


def save(model: BertForQuestionAnswering, tokenizer: Tokenizer, out: Path) -> None:
    """Write int8 weights, configuration and tokenizer: all that the reader loads except decision.json."""
    out.mkdir(parents=True, exist_ok=True)
    save_file(pack({name: weight.detach() for name, weight in model.state_dict().items()}), out / "model.safetensors")
    model.config.save_pretrained(out)
    tokenizer.save(str(out / "tokenizer.json"))


def _epochs(seen: Sequence[Example], settings: ReaderSettings) -> list[list[Example]]:
    """Return the examples of the two epochs, with their texts cut."""
    rng = random.Random(settings.seed)
    squad = [one for one in seen if one.source == "squad"]
    corpus = [one for one in seen if one.source == "corpus"]
    other = list(elsewhere(squad, settings.elsewhere, rng))
    answerable = [one for one in squad if one.place]
    first = rng.sample(answerable, min(len(answerable), settings.first_questions))
    if first:
        first += other[: len(other) // 2]
    if settings.answerable_questions is not None:
        sampled = rng.sample(answerable, min(len(answerable), settings.answerable_questions))
        squad = sampled + [one for one in squad if not one.place]
    second = squad + other + rng.sample(corpus, min(len(corpus), settings.corpus_questions))
    return [
        [cut(one, rng.randint(*words), rng) for one in part]
        for part, words in ((first, settings.first_words), (second, settings.second_words))
    ]


def _batches(epochs: Sequence[Sequence[Example]], tokenizer: Tokenizer, settings: ReaderSettings) -> list[list[Item]]:
    """Return the shuffled batches of each epoch in turn; a batch has windows of similar length, to reduce padding."""
    rng = random.Random(settings.seed)
    batches = []
    for epoch in epochs:
        items = [item for one in epoch for item in items_of(one, tokenizer)]
        items.sort(key=lambda item: len(item[0].token_ids) * rng.uniform(0.93, 1.07))
        size = settings.batch_size
        groups = [items[at : at + size] for at in range(0, len(items), size)]
        rng.shuffle(groups)
        batches += groups
    return batches


def items_of(example: Example, tokenizer: Tokenizer) -> list[Item]:
    """Return the example's windows; one without the whole answer counts as unanswerable."""
    items = []
    for window in windows(tokenizer, example.question, example.title, example.text):
        first, last = answer_tokens(window, example.place) or (-1, -1)
        items.append((window, first, last))
    return items


def _optimiser(model: BertForQuestionAnswering, settings: ReaderSettings) -> torch.optim.Optimizer:
    """Return AdamW with weight decay on the matrices only, and a higher learning rate for the heads."""
    body = [weight for weight in model.bert.parameters() if weight.requires_grad]
    rate = settings.learning_rate
    groups = [
        {"params": [weight for weight in body if weight.ndim == 2], "lr": rate, "weight_decay": 0.01},
        {"params": [weight for weight in body if weight.ndim < 2], "lr": rate, "weight_decay": 0.0},
        {"params": list(model.qa_outputs.parameters()), "lr": settings.head_rate * rate, "weight_decay": 0.0},
    ]
    for group in groups:
        group["full_rate"] = group["lr"]
    return torch.optim.AdamW(groups, fused=True)


def _learn(
    model: BertForQuestionAnswering,
    optimiser: torch.optim.Optimizer,
    batch: Sequence[Item],
    scale: float,
    answerable_weight: float,
) -> tuple[float, float]:
    """Take one step at `scale` times the full learning rates; return the unweighted span and answerability losses."""
    span, answerable = losses_of(model, batch)
    for group in optimiser.param_groups:
        group["lr"] = group["full_rate"] * scale
    optimiser.zero_grad()
    (span + answerable_weight * answerable).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    return span.item(), answerable.item()


def losses_of(model: BertForQuestionAnswering, batch: Sequence[Item]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the span loss and the answerability loss, both cross-entropies.

    The span loss is over the passage's tokens of answerable windows. The logit of answerability is the sum of the two
    logits of [CLS], as at inference.
    """
    tensors = as_batch([window for window, _, _ in batch], pad=model.config.pad_token_id)
    inputs = {name: tensor.to(model.device) for name, tensor in tensors.items()}
    inside = inputs.pop("answerable_tokens")
    firsts, lasts = (
        torch.tensor(places, device=model.device) for places in zip(*[item[1:] for item in batch], strict=True)
    )
    output = model(**inputs)
    has_answer = firsts >= 0
    answerable = functional.binary_cross_entropy_with_logits(
        output.start_logits[:, 0] + output.end_logits[:, 0], has_answer.float()
    )
    span = output.start_logits.new_zeros(())
    if has_answer.any():
        floor = torch.finfo(output.start_logits.dtype).min
        for logits, places in ((output.start_logits, firsts), (output.end_logits, lasts)):
            within = logits.masked_fill(~inside, floor)[has_answer]
            span = span + functional.cross_entropy(within, places[has_answer])
    return span, answerable


def save_card(card: dict, out: Path) -> None:
    (out / "training.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
