"""FLAN-T5 as the reasoner: it chooses the label, and the rationale quotes the evidence."""

from __future__ import annotations

import pytest

from app.domain.errors import UnparseableOutput
from app.domain.model import Label, LabelSet
from app.modules.reasoner import FlanT5Reasoner
from tests.modules.prompted.cases import AUTHOR, BIRTH, CLAIM, ESSAY, REFUSAL
from tests.text_generators import playing

THREE = LabelSet.THREE.labels


@pytest.mark.parametrize("label", THREE)
def test_the_label_is_chosen_and_its_probability_kept(label: Label) -> None:
    """Every label of the set is possible; only "not enough" names missing evidence."""
    words = {Label.SUPPORTED: "true", Label.REFUTED: "false", Label.NOT_ENOUGH_EVIDENCE: "not enough evidence"}
    verdict = FlanT5Reasoner(playing(words[label], probability=0.6)).conclude(CLAIM, (AUTHOR, BIRTH), THREE)
    assert (verdict.label, verdict.confidence) == (label, 0.6)
    assert bool(verdict.missing) == (label is Label.NOT_ENOUGH_EVIDENCE)


def test_the_rationale_quotes_each_hop_and_ends_with_a_conclusion() -> None:
    verdict = FlanT5Reasoner(playing("true")).conclude(CLAIM, (AUTHOR, BIRTH), THREE)
    assert [sentence.hops for sentence in verdict.rationale] == [(1,), (3,), (1, 3)]
    assert verdict.rationale[0].text == "Emma: “Emma is a novel by Jane Austen.”"


def test_the_question_comes_last_in_the_prompt() -> None:
    """A prompt that is too long loses its beginning, which is evidence."""
    model = playing("true")
    FlanT5Reasoner(model).conclude(CLAIM, (AUTHOR, BIRTH), LabelSet.TWO.labels)
    lines = model.prompts[0].splitlines()
    assert lines[-3:] == [f"Claim: {CLAIM.text}", "Is this claim true or false?", "Answer:"]


@pytest.mark.parametrize("text", ["Yes", "**Yes**, we can know.", "Unknown", "", REFUSAL, ESSAY])
def test_an_unknown_label_is_an_error(text: str) -> None:
    with pytest.raises(UnparseableOutput):
        FlanT5Reasoner(playing(text)).conclude(CLAIM, (AUTHOR,), THREE)
