"""The selector: its training choices, its loss, and that the bundled file scores like the trained model."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("onnx", reason="onnx reads the selector's base for training; it is in requirements-dev.txt")

import torch

from research.claims.data import VitalClaim
from research.training import selector

LEADS = (
    ("Emma", "Emma is a novel. It is by Jane Austen."),
    ("Jane Austen", "Jane Austen was a writer. She was born in 1775."),
)
BESIDE = {"c1": [["Emma Stone", "Emma Stone is an actor."], ["Bath", "Bath is a city."]]}


def claim(label: str = "SUPPORTED") -> VitalClaim:
    decisive = ("by Jane Austen", "born in 1775")
    text = "The author of Emma was born in 1775."
    return VitalClaim("c1", text, label, "", "g", "first", 2, LEADS, (), decisive, "", "train")


def test_a_claim_over_two_articles_needs_the_other_sentence_once_one_is_selected() -> None:
    first, second = selector.choices_of(claim(), BESIDE, random.Random(1))
    assert {first.candidates[at] for at in first.right} == {
        "Emma. It is by Jane Austen.",
        "Jane Austen. She was born in 1775.",
    }
    assert len(second.right) == 1 and "Austen" in second.query
    assert "Bath. Bath is a city." in first.candidates


def test_no_sentence_is_right_for_an_undecided_claim() -> None:
    (only,) = selector.choices_of(claim("NOT_ENOUGH_EVIDENCE"), BESIDE, random.Random(1))
    assert only.right == () and only.candidates


def test_the_loss_pushes_right_sentences_above_zero_and_others_below() -> None:
    good, bad = torch.tensor([4.0, -4.0, -4.0]), torch.tensor([-4.0, 4.0, -4.0])
    assert selector.loss_of(good, [0]) < 0.1 < 4 < selector.loss_of(bad, [0])
    assert selector.loss_of(bad - 6, []) < 0.2 < 3 < selector.loss_of(good, [])


@pytest.mark.models
def test_the_bundled_file_scores_like_the_trained_model(tmp_path) -> None:
    """onnxruntime also rounds activations to int8, so the logits differ by some tenths."""
    from app.backends.local.reranker import CrossEncoderReranker

    model, tokenizer = selector.build()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.requires_grad and weight.ndim == 2:
                weight.mul_(1.03)
    selector.export(model, tmp_path / "weights.safetensors")
    texts = ["Emma. It is by Jane Austen.", "Bath. Bath is a city."]
    with torch.inference_mode(), selector.as_int8(model):
        expected = selector.scores_of(model, [tokenizer.encode("Who wrote Emma?", text) for text in texts]).tolist()
    shipped = CrossEncoderReranker(threads=1, weights=tmp_path / "weights.safetensors")
    assert shipped.scores("Who wrote Emma?", texts) == pytest.approx(expected, abs=1.0)
