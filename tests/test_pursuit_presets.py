"""The named presets of evidence pursuit are distinct, and the local one needs no other model."""

from __future__ import annotations

from app.domain.model import LabelSet
from app.presets import PURSUIT_PRESETS, defaults_of


def test_the_ablations_run_without_a_fine_tuned_model_and_the_published_system_does_not() -> None:
    needing = [name for name, row in PURSUIT_PRESETS.items() if row.resolved(False).needs_first_seq2seq]
    assert needing == ["seq+llm", "paper", "seq+seq"]
    assert PURSUIT_PRESETS["multi-doc"].resolved(True).first == "seq"


def test_a_preset_with_the_papers_prompts_has_the_papers_seed() -> None:
    assert defaults_of("evidence-pursuit", "papelo") == {"labels": LabelSet.TWO, "model_seed": 42}
    assert defaults_of("evidence-pursuit", "llm+llm") == {"labels": LabelSet.THREE}
    assert defaults_of("question-guided", "qacheck") == {"labels": LabelSet.TWO, "answerer": "reciter-reader"}


def test_the_local_preset_needs_no_language_model_and_no_fine_tuned_one() -> None:
    local = PURSUIT_PRESETS["local"]
    assert not (local.needs_model or local.needs_first_seq2seq or local.needs_next_seq2seq)
