"""The named presets of evidence pursuit differ from each other, and the local one needs no other model."""

from __future__ import annotations

from dataclasses import replace

from app.domain.model import LabelSet
from app.presets import PURSUIT_PRESETS


def test_no_two_presets_do_the_same() -> None:
    done = [replace(row, name="", title="", changes="") for row in PURSUIT_PRESETS.values()]
    assert len(set(done)) == len(done)


def test_only_the_published_system_is_of_two_classes() -> None:
    """People get labels that may say that the evidence is not enough."""
    assert [name for name, row in PURSUIT_PRESETS.items() if row.labels is LabelSet.TWO] == ["paper"]


def test_the_local_preset_needs_no_language_model_and_no_fine_tuned_one() -> None:
    local = PURSUIT_PRESETS["local"]
    assert not (local.needs_model or local.needs_first_seq2seq or local.needs_next_seq2seq)
