"""The named presets of evidence pursuit: one for each row of the paper's table, each different in what it says."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from app.domain.model import LabelSet
from app.pursuit_presets import PURSUIT_PRESETS
from app.strategies.evidence_pursuit import Variant

PAPER = PURSUIT_PRESETS["seq+llm"]
ROWS = {
    "paper": {"labels"},
    "llm+llm": {"first"},
    "seq+seq": {"then"},
    "all-at-once": {"first", "variant"},
    "four-class": {"labels"},
    "no-late-verdict": {"variant"},
    "no-long-doc": {"long_document"},
    "multi-doc": {"multi_document"},
    "no-metadata": {"metadata"},
    "no-paraphrase": {"variant"},
    "repeat": {"variant"},
    "inflate-to-ten": {"variant"},
    "local": {"first", "then", "others"},
}


def test_there_is_a_preset_for_every_row_and_no_other() -> None:
    assert set(PURSUIT_PRESETS) == {"seq+llm", *ROWS}


@pytest.mark.parametrize("name", ROWS)
def test_a_preset_differs_from_the_papers_system_in_what_it_is_named_for_and_in_nothing_else(name: str) -> None:
    row = PURSUIT_PRESETS[name]
    told = {"name", "title", "changes"}
    differing = {each.name for each in fields(row) if getattr(row, each.name) != getattr(PAPER, each.name)}
    assert differing == told | ROWS[name]


def test_no_two_presets_do_the_same() -> None:
    done = [replace(row, name="", title="", changes="") for row in PURSUIT_PRESETS.values()]
    assert len(set(done)) == len(done)


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("seq+llm", Variant(5, False, "paraphrase", True, 0)),
        ("all-at-once", Variant(all_at_once=True)),
        ("no-late-verdict", Variant(late_verdict=False)),
        ("no-paraphrase", Variant(padding="none")),
        ("repeat", Variant(padding="repeat")),
        ("inflate-to-ten", Variant(inflate_to=10)),
    ],
)
def test_what_a_run_does_differently_is_the_strategys_variant(name: str, variant: Variant) -> None:
    assert PURSUIT_PRESETS[name].variant == variant


def test_only_the_published_system_is_of_two_classes() -> None:
    """People get labels that may say that the evidence is not enough."""
    assert [name for name, row in PURSUIT_PRESETS.items() if row.labels is LabelSet.TWO] == ["paper"]


def test_each_says_what_must_be_there_for_it() -> None:
    needs = {
        name: (row.needs_model, row.needs_first_seq2seq, row.needs_next_seq2seq)
        for name, row in PURSUIT_PRESETS.items()
    }
    assert needs.pop("local") == (False, False, False)
    assert needs.pop("llm+llm") == needs.pop("all-at-once") == (True, False, False)
    assert needs.pop("seq+seq") == (True, True, True)
    assert set(needs.values()) == {(True, True, False)}
