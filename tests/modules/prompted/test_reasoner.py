"""Reasoners over a language model: prompted, with the label from the last line or else from a choice, and FLAN-T5."""

from __future__ import annotations

import pytest

from app.domain.errors import UnparseableOutput
from app.domain.model import Label, LabelSet, Sentence
from app.modules.output_parsing import MAX_RATIONALE_WORDS
from app.modules.prompted import FlanT5Reasoner, PromptedReasoner
from tests.modules.prompted.cases import AUTHOR, BIRTH, CLAIM, ESSAY, REFUSAL, hop
from tests.text_generators import playing

FOUR, THREE, TWO = LabelSet.FOUR.labels, LabelSet.THREE.labels, LabelSet.TWO.labels
REASONS = "Emma is by Jane Austen [1]. She was born in Steventon, Hampshire [2]."


def conclude(model, labels=THREE):
    return PromptedReasoner(model).conclude(CLAIM, (AUTHOR, BIRTH), labels)


def test_reasons_cite_hops_and_the_label_is_read_from_the_last_line() -> None:
    model = playing(f"{REASONS}\nLabel = true")
    verdict = conclude(model)
    assert verdict.label is Label.SUPPORTED
    assert verdict.rationale == (
        Sentence("Emma is by Jane Austen.", (1,)),
        Sentence("She was born in Steventon, Hampshire.", (3,)),
    )
    assert (verdict.missing, verdict.confidence, len(model.prompts)) == (None, None, 1)


def test_not_enough_evidence_says_what_is_missing() -> None:
    """In the model's words if it gave any, else by the names that no kept hop mentions."""
    found = conclude(playing("Emma is by Jane Austen [1].\nMissing = Where she was born.\nLabel = not enough evidence"))
    assert (found.label, found.missing) == (Label.NOT_ENOUGH_EVIDENCE, "Where she was born.")
    untold = conclude(playing("Emma is by Jane Austen [1].\nLabel = not enough evidence"))
    assert untold.missing


def test_conflicting_evidence_is_a_label_of_four_and_not_of_three() -> None:
    text = f"{REASONS}\nLabel = conflicting evidence"
    assert conclude(playing(text), FOUR).label is Label.CONFLICTING_EVIDENCE
    assert conclude(playing(text, "false"), THREE).label is Label.REFUTED
    assert conclude(playing(REASONS, "conflicting evidence"), FOUR).label is Label.CONFLICTING_EVIDENCE


@pytest.mark.parametrize("text", ["Yes", "**Yes**, we can know.", "Unknown", "", REFUSAL, ESSAY, REASONS])
def test_without_a_label_on_the_last_line_the_model_is_asked_to_choose(text: str) -> None:
    model = playing(text, "false", probability=0.7)
    verdict = conclude(model)
    assert (verdict.label, verdict.confidence) == (Label.REFUTED, 0.7)
    assert len(model.prompts) == 2 and model.prompts[1].endswith("\nLabel =")
    assert verdict.rationale
    assert not any("sorry" in sentence.text for sentence in verdict.rationale)
    assert sum(len(sentence.text.split()) for sentence in verdict.rationale) <= MAX_RATIONALE_WORDS


def test_an_answer_without_a_citation_is_quoted_with_its_question() -> None:
    model = playing("", "true")
    verdict = PromptedReasoner(model).conclude(CLAIM, (hop(1, "Who wrote Emma?", "Jane Austen"),), THREE)
    assert "Evidence 1" not in model.prompts[0].rpartition("\n\n")[2]
    assert verdict.rationale == (Sentence("Who wrote Emma? Jane Austen", (1,)),)


@pytest.mark.parametrize("reasoner", [PromptedReasoner, FlanT5Reasoner])
@pytest.mark.parametrize("text", ["Unknown", "", REFUSAL, ESSAY, "**Yes**, we can know."])
def test_a_model_that_never_names_a_label_gives_no_verdict(reasoner, text: str) -> None:
    with pytest.raises(UnparseableOutput):
        reasoner(playing(text)).conclude(CLAIM, (AUTHOR, BIRTH), THREE)


def test_two_labels_offer_no_third() -> None:
    model = playing(f"{REASONS}\nLabel = not enough evidence", "true")
    verdict = conclude(model, TWO)
    assert verdict.label is Label.SUPPORTED
    assert "not enough evidence" not in model.prompts[0].lower()
    assert "Is this claim true or false?" in model.prompts[0]


@pytest.mark.parametrize("label", THREE)
def test_flan_t5_chooses_the_label_and_its_probability_kept(label: Label) -> None:
    """Every label of the set is possible; only "not enough" names missing evidence."""
    words = {Label.SUPPORTED: "true", Label.REFUTED: "false", Label.NOT_ENOUGH_EVIDENCE: "not enough evidence"}
    verdict = FlanT5Reasoner(playing(words[label], probability=0.6)).conclude(CLAIM, (AUTHOR, BIRTH), THREE)
    assert (verdict.label, verdict.confidence) == (label, 0.6)
    assert bool(verdict.missing) == (label is Label.NOT_ENOUGH_EVIDENCE)


def test_the_rationale_of_flan_t5_quotes_each_hop_and_ends_with_a_conclusion() -> None:
    verdict = FlanT5Reasoner(playing("true")).conclude(CLAIM, (AUTHOR, BIRTH), THREE)
    assert [sentence.hops for sentence in verdict.rationale] == [(1,), (3,), (1, 3)]
    assert verdict.rationale[0].text == "Emma: “Emma is a novel by Jane Austen.”"


def test_the_question_comes_last_in_the_prompt_of_flan_t5() -> None:
    """A prompt that is too long loses its beginning, which is evidence."""
    model = playing("true")
    FlanT5Reasoner(model).conclude(CLAIM, (AUTHOR, BIRTH), LabelSet.TWO.labels)
    lines = model.prompts[0].splitlines()
    assert lines[-3:] == [f"Claim: {CLAIM.text}", "Is this claim true or false?", "Answer:"]
