"""The named presets of evidence pursuit are distinct, and the local one needs no other model."""

from __future__ import annotations

from dataclasses import replace

from app.domain.model import LabelSet
from app.presets import PURSUIT_PRESETS


def test_no_two_presets_are_identical() -> None:
    done = [replace(row, name="", title="", changes="") for row in PURSUIT_PRESETS.values()]
    assert len(set(done)) == len(done)


def test_only_the_published_system_has_two_labels() -> None:
    """Other presets include "not enough evidence"."""
    assert [name for name, row in PURSUIT_PRESETS.items() if row.labels is LabelSet.TWO] == ["paper"]


def test_the_local_preset_needs_no_language_model_and_no_fine_tuned_one() -> None:
    local = PURSUIT_PRESETS["local"]
    assert not (local.needs_model or local.needs_first_seq2seq or local.needs_next_seq2seq)
