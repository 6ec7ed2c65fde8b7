"""Training the question model on a tiny base: which parts of a claim are trained, and saving an adapter."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

from app.domain.errors import InvalidInput
from research.claims.data import Asked, VitalClaim
from research.training.adapter import LoraLinear
from research.training.adapter_training import batches
from research.training.question_model import DEFAULTS, IGNORED, encode, parts_of, train

SETTINGS = replace(DEFAULTS, epochs=10, rank=2, first_layer=0, batch_size=4, learning_rate=1e-2, warmup_steps=4)


def claim(at: int, split: str = "train", style: str = "plain") -> VitalClaim:
    asked = (Asked("the capital of france ?", "paris", "france"), Asked("the capital of england ?", None, None))
    leads = (("france", "paris is the capital of france"),)
    text = "paris is the capital of france"
    return VitalClaim(str(at), text, "SUPPORTED", "place", str(at), style, 1, leads, asked, ("paris",), text, split)


@pytest.fixture(scope="module")
def saved(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    out = tmp_path_factory.mktemp("questions")
    return out, train([*map(claim, range(8)), claim(8, "dev"), claim(9, "test")], llama, out, SETTINGS)


def test_only_the_models_own_lines_are_trained() -> None:
    assert [text for text, trained in parts_of(claim(0)) if trained] == [
        "Question: the capital of france ?\n",
        "Question: the capital of england ?\n",
        "Verdict:",
        " paris is the capital of france<|im_end|>",
    ]
    assert ("Answer: not found\n", False) in parts_of(claim(0))


def test_the_explanation_of_a_balanced_claim_is_skipped_because_it_explains_the_twin() -> None:
    assert parts_of(claim(0, style="balanced"))[-1] == (" true\nExplanation:", False)


@pytest.mark.parametrize("answer", ["not found", "x"], ids=["found nothing", "beside the point"])
def test_another_first_question_may_be_inserted_and_is_not_trained(answer: str) -> None:
    other, rng = Asked("who ?", "x", "france"), random.Random(1)
    forms = [parts_of(claim(0), rng, [other]) for _ in range(100)]
    assert 1 < sum((f"Question: who ?\nAnswer: {answer}\n", False) in form for form in forms) < 40


def test_targets_are_the_ids_of_the_trained_parts(llama: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(llama)
    tokens = encode([("claim paris", False), (" london", True)], tokenizer)
    assert tokens.targets == [IGNORED, IGNORED, tokens.ids[2]]


def test_training_lowers_the_held_out_loss_and_the_adapter_loads_with_peft(llama: Path, saved) -> None:
    out, card = saved
    points = [json.loads(line)["held_out"]["loss"] for line in (out / "curve.jsonl").read_text().splitlines()]
    assert (card["steps"], card["claims_per_epoch"]) == (40, 16)  # plain claims count twice
    assert len(points) == 4 and points[-1] < points[0]
    weights = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(llama), out).state_dict()
    assert all(weight.abs().sum() > 0 for name, weight in weights.items() if "lora_B" in name)
    assert any("lora_B" in name and torch.is_floating_point(weight) for name, weight in weights.items())


def test_batches_contain_every_item_once_grouped_by_length() -> None:
    items = list(range(1, 101))
    groups = batches(items, lambda length: length, lambda _: 1, 10, random.Random(0))
    assert sorted(item for group in groups for item in group) == items
    assert max(max(group) / min(group) for group in groups if min(group) > 10) < 2
    assert groups != sorted(groups)


def test_an_untrained_adapter_computes_what_its_layer_computes_with_its_bias() -> None:
    """Qwen2's layers of queries, keys and values have one."""
    layer = torch.nn.Linear(6, 4)
    x = torch.randn(3, 6)
    assert torch.allclose(LoraLinear(layer, 2, 2.0)(x), layer(x))


def test_a_checkpoint_of_other_claims_is_refused_even_when_they_are_as_many(llama: Path, saved) -> None:
    out, _ = saved
    others = [replace(claim(at), claim="london is the capital of france") for at in range(8)]
    with pytest.raises(InvalidInput, match="is of other data"):
        train([*others, claim(8, "dev"), claim(9, "test")], llama, out, SETTINGS)
