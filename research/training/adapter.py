"""Train the adapter of the local model on tokenised transcripts, measure its verdicts, and write it for llama.cpp.

    python -m research.training.adapter train TOKENS BASE OUT --minutes 6
    python -m research.training.adapter convert OUT/adapter.safetensors adapter.gguf

`flask train adapter` does all of it. The first command is for a machine with a GPU and little else: it needs PyTorch,
transformers, numpy and safetensors; TOKENS comes from `flask train adapter --examples-only`. The second converts
either way. The adapter is stored as float16: Q8_0 has blocks of 32 values, and a row of a matrix B only has as many as
the rank.
"""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import linear, log_softmax

from app.domain.errors import HopcheckError, InvalidInput
from research.training.checkpoints import CHECKPOINT, best_device, replacing
from research.training.fine_tuning import Tuning, fine_tune, mean_loss
from research.training.gguf_base import ARCHITECTURE, adapter_name, load_base, sha256
from research.training.lora import SCALE, add_lora
from research.training.tokens import VERDICTS, Batches, Tokens, batches_of

log = logging.getLogger(__name__)

TUNING = Tuning(epochs=1, rank=16, learning_rate=2e-4, warmup_steps=40)
BATCH_TOKENS = {"cuda": 12_288, "cpu": 1_024}
WEIGHTS = "adapter.safetensors"


@dataclass(frozen=True, slots=True)
class Loss:
    """What a model returns to `fine_tune`."""

    loss: Tensor


class TranscriptModel(nn.Module):
    """A base with an adapter, and the loss of its continuations."""

    def __init__(self, base: nn.Module, rank: int, first_block: int = 0) -> None:
        super().__init__()
        self.layers = add_lora(base, rank, first_block)
        self.base = base

    def forward(self, tokens: Tensor, weights: Tensor, others: Tensor) -> Loss:
        """Return the mean negative log-likelihood of the tokens after the first, weighted; all arguments [n, length].

        Where `others` has a token, the likelihood is that of either.
        """
        states = self.base.model(input_ids=tokens).last_hidden_state[:, :-1]  # padding comes last: no mask is needed
        learned = weights[:, 1:] > 0
        likely = log_softmax(linear(states[learned], self.base.lm_head.weight).float(), -1)
        target, other, weight = tokens[:, 1:][learned], others[:, 1:][learned], weights[:, 1:][learned]
        found = likely.gather(1, target[:, None])[:, 0]
        either = torch.logaddexp(found, likely.gather(1, other.clamp(min=0)[:, None])[:, 0])
        return Loss(-(torch.where(other >= 0, either, found) * weight).sum() / weight.sum())

    @torch.inference_mode()
    def verdicts(self, tokens: Tensor, at: Tensor, words: Tensor) -> Tensor:
        """Return the probabilities [n, words] of the words at the place `at` [n] of each transcript."""
        states = self.base.model(input_ids=tokens).last_hidden_state
        before = states[torch.arange(len(at), device=at.device), at - 1]
        return linear(before, self.base.lm_head.weight[words]).float().softmax(-1)


def train(
    tokens: Tokens,
    base: Path,
    out: Path,
    tuning: Tuning = TUNING,
    batch_tokens: int | None = None,
    start: Path | None = None,
) -> dict[str, Any]:
    """Train an adapter of `base` and return its training.json.

    `start` is an earlier adapter to go on from. OUT gets the adapter as float16 safetensors and training.json; during
    training it has a checkpoint, from which the same call resumes. Raises InvalidInput for another base, start or
    checkpoint, CallFailed when the loss is not a number, OSError when something cannot be written.
    """
    device = best_device()
    size = batch_tokens or BATCH_TOKENS.get(device.type, BATCH_TOKENS["cpu"])
    is_fast = device.type == "cuda" or torch.cpu._is_avx512_bf16_supported()  # three times as fast there
    dtype = torch.bfloat16 if is_fast else torch.float32
    torch.manual_seed(tuning.seed)
    model = TranscriptModel(load_base(base, tokens.about["base"], device, dtype), tuning.rank, tuning.first_block)
    if start:
        _load_adapter(model, start)
    batches = batches_of(tokens, tokens.rows(held_out=False), size, tuning.seed)
    if not batches:
        raise InvalidInput("The data holds nothing to learn from.", "data")
    about = {
        "base": tokens.about["base"]["sha256"],
        "data_hash": tokens.about["data_hash"],
        "transcripts": sum(map(len, batches.groups)),
        "start": sha256(start) if start else None,
        "batch_tokens": size,
        "settings": {name: value for name, value in asdict(tuning).items() if name != "epochs"},  # those of the data
    }
    log.info("%d transcripts in %d steps on %s", about["transcripts"], len(batches), device)
    trained = fine_tune(model, batches, tuning, out / CHECKPOINT, json.dumps(about))
    held_out = batches_of(tokens, tokens.rows(held_out=True), size, 0)
    card = about | asdict(trained) | {"held_out_loss": mean_loss(model, held_out)}
    card["by_source"] = measure(model, tokens, held_out)
    with replacing(out) as fresh:
        save_adapter(model, fresh / WEIGHTS)
        (fresh / "training.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    (out / CHECKPOINT).unlink(missing_ok=True)
    return card


def measure(model: TranscriptModel, tokens: Tokens, batches: Batches) -> dict[str, dict[str, float | int | None]]:
    """Return the figures of the last verdict of each transcript, by source."""
    device = next(model.parameters()).device
    words = torch.from_numpy(tokens.words).to(device)
    rows: list[int] = []
    found: list[np.ndarray] = []
    for group in batches.groups:
        if with_verdict := [row for row in group if tokens.verdict_at[row] > 0]:
            at = torch.from_numpy(tokens.verdict_at[with_verdict].astype(np.int64)).to(device)
            batch = tokens.batch(with_verdict)["tokens"].to(device)
            found.append(model.verdicts(batch, at, words).cpu().numpy())
            rows += with_verdict
    if not rows:
        return {}
    likely, right, source = np.concatenate(found), tokens.right[rows], tokens.sources[rows]
    names = tokens.about["sources"]
    return {names[each]: figures(likely[source == each], right[source == each]) for each in np.unique(source)}


def figures(likely: np.ndarray, right: np.ndarray) -> dict[str, float | int | None]:
    """Return accuracy, AUC of true against the rest, and the share of other claims found true.

    Both arrays are [n, VERDICTS]: probabilities, and whether the word is right. None where a figure is undefined.
    """
    said, is_true = likely.argmax(1), right[:, VERDICTS.index("true")]
    true, rest = likely[is_true, 0], likely[~is_true, 0]
    pairs = (true[:, None] > rest) + 0.5 * (true[:, None] == rest)
    return {
        "n": len(said),
        "accuracy": round(float(right[np.arange(len(said)), said].mean()), 3),
        "auc": round(float(pairs.mean()), 3) if pairs.size else None,
        "false_true": round(float((said[~is_true] == 0).mean()), 3) if len(rest) else None,
    }


def save_adapter(model: TranscriptModel, path: Path) -> None:
    """Write the matrices in float16 under GGUF's names."""
    weights = {
        f"{adapter_name(name)}{side}": getattr(layer, side).detach().half().cpu().contiguous()
        for name, layer in model.layers.items()
        for side in "ab"
    }
    rank = next(iter(model.layers.values())).a.shape[0]
    save_file(weights, path, metadata={"alpha": str(SCALE * rank)})


def _load_adapter(model: TranscriptModel, path: Path) -> None:
    weights, alpha = read_adapter(path)
    for name, layer in model.layers.items():
        for side in "ab":
            given, wanted = weights.get(f"{adapter_name(name)}{side}"), getattr(layer, side)
            if given is None or given.shape != tuple(wanted.shape) or alpha != SCALE * layer.a.shape[0]:
                raise InvalidInput(f"{path} is an adapter of another rank, scale or base.", "start")
            wanted.data.copy_(torch.from_numpy(given))


def read_adapter(path: Path) -> tuple[dict[str, np.ndarray], float]:
    """Return the matrices of an adapter and its alpha, from safetensors or GGUF.

    Raises InvalidInput when the file is neither.
    """
    try:
        if path.suffix == ".gguf":
            from gguf import GGUFReader

            reader = GGUFReader(path)
            weights = {each.name: np.array(each.data) for each in reader.tensors}
            return weights, float(reader.fields["adapter.lora.alpha"].contents())
        with safe_open(path, "numpy") as found:
            return {name: found.get_tensor(name) for name in found.keys()}, float(found.metadata()["alpha"])  # noqa: SIM118
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise InvalidInput(f"{path} cannot be read as an adapter ({error}).", "start") from error


def convert(path: Path, out: Path) -> None:
    """Write the adapter `path` to `out`, as GGUF or safetensors by the ending of its name."""
    weights, alpha = read_adapter(path)
    if out.suffix != ".gguf":
        save_file({name: torch.from_numpy(each) for name, each in weights.items()}, out, metadata={"alpha": str(alpha)})
        return
    from gguf import GGUFWriter

    partial = out.with_suffix(".partial")
    writer = GGUFWriter(partial, ARCHITECTURE)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    for name, each in sorted(weights.items()):
        writer.add_tensor(name, np.ascontiguousarray(each, np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.replace(out)


def table(card: dict[str, Any]) -> str:
    """Return the figures of training.json as lines of text."""
    lines = [f"trained on {card['transcripts']} transcripts in {card['steps']} steps, {card['minutes']} minutes"]
    for source, row in card["by_source"].items():
        lines.append(f"{source:28} " + "  ".join(f"{name} {value}" for name, value in row.items()))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the options of this file's two commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train")
    for name in ("tokens", "base", "out"):
        training.add_argument(name, type=Path)
    training.add_argument("--minutes", type=float, default=TUNING.minutes)
    training.add_argument("--rank", type=int, default=TUNING.rank)
    training.add_argument("--learning-rate", type=float, default=TUNING.learning_rate)
    training.add_argument("--seed", type=int, default=TUNING.seed)
    training.add_argument("--batch-tokens", type=int)
    training.add_argument("--start", type=Path)
    converting = commands.add_parser("convert")
    for name in ("adapter", "out"):
        converting.add_argument(name, type=Path)
    options = vars(parser.parse_args(arguments))
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        if options.pop("command") == "convert":
            convert(options["adapter"], options["out"])
            return
        tokens, base, out = Tokens.load(options.pop("tokens")), options.pop("base"), options.pop("out")
        start, batch_tokens = options.pop("start"), options.pop("batch_tokens")
        tuning = Tuning(epochs=1, warmup_steps=TUNING.warmup_steps, **options)
        print(table(train(tokens, base, out, tuning, batch_tokens, start)))
    except HopcheckError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
