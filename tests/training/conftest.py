"""A tiny base model and one judge trained on it, shared by the training tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.training.adapter_training import AdapterSettings
from research.training.judge_examples import Example, Family, Member
from research.training.pairs import NOT_ENOUGH, NOT_SUPPORTED, REFUTED, SUPPORTED
from tests.tiny import tiny_llama

PARIS = (("paris", "paris is the capital of france"),)
CLAIMS = (
    ("paris is the capital of france", SUPPORTED),
    ("paris is the capital of england", REFUTED),
    ("london is in england", NOT_ENOUGH),
    ("paris is not the capital of france", NOT_SUPPORTED),
)
SETTINGS = AdapterSettings(first_layer=0, rank=4, learning_rate=1e-2, warmup_steps=4, batch_size=4)
EPOCHS = 60
"""As many passes as the toy needs to be learned by heart."""


def toy_families() -> list[Family]:
    """Return the toy claims about one piece of evidence, as training reads them."""
    from app.text.sentences import select_sentences

    evidence = tuple(select_sentences("", PARIS))
    return [Family(evidence, (Member("toy", claim, (), label),)) for claim, label in CLAIMS]


def toy_examples() -> list[Example]:
    """Return an example of each label, with the judge's prompts for CLAIMS and PARIS."""
    from app.text.sentences import judge_prompt, select_sentences

    return [Example("toy", judge_prompt(claim, select_sentences(claim, PARIS)), label) for claim, label in CLAIMS]


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny base model."""
    return tiny_llama(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="session")
def trained(llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a calibrated judge trained on the toy examples."""
    from research.training.calibration import calibrate
    from research.training.judge import train

    out = tmp_path_factory.mktemp("trained")
    train([toy_families()] * EPOCHS, toy_examples(), llama, out, SETTINGS)
    calibrate(llama, out, toy_examples())
    return out
