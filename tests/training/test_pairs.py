"""The judge's training pairs: labels that the evidence supports, and a split by article."""

import json
import random

import pytest

from research.training.pairs import (
    NOT_ENOUGH,
    NOT_SUPPORTED,
    SOURCES,
    pairs_from_data,
    read_rows,
)


def test_a_broken_line_is_reported_by_its_number(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": 1}\n{"id": \n')
    with pytest.raises(ValueError, match=r"rows\.jsonl, line 2"):
        list(read_rows(file))


def test_removing_a_paragraph_turns_a_supported_claim_into_not_enough(tmp_path):
    evidence = [{"title": "A", "text": "First."}, {"title": "B", "text": "Second."}]
    for source in SOURCES:
        rows = [
            {"id": f"{source}{at}", "claim": f"Claim {at}", "label": "SUPPORTED", "evidence": evidence}
            for at in range(40)
        ]
        (tmp_path / f"{source}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lacking = [pair for pair in pairs_from_data(tmp_path, random.Random(3)) if pair.label == NOT_ENOUGH]
    assert any(len(pair.passages) == 1 for pair in lacking)


def test_a_swapped_claim_has_a_name_missing_from_its_evidence_and_is_merely_unsupported(tmp_path):
    for source in SOURCES:
        rows = [
            {
                "id": f"{source}{at}",
                "claim": f"The teacher of Mona Stone{at} lived in Ulm{at}.",
                "label": "SUPPORTED",
                "evidence": [{"title": f"Stone{at}", "text": f"Mona Stone{at}."}, {"title": "B", "text": f"Ulm{at}."}],
            }
            for at in range(40)
        ]
        (tmp_path / f"{source}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    swapped = [p for p in pairs_from_data(tmp_path, random.Random(3)) if p.source.endswith("-swapped")]
    assert len(swapped) > 50
    for pair in swapped:
        evidence = " ".join(text for _, text in pair.passages)
        assert pair.label == NOT_SUPPORTED
        assert not all(word.strip(".") in evidence for word in pair.claim.split()[3:5] + pair.claim.split()[-1:])


def test_a_swapped_claim_is_never_the_claim_itself(tmp_path):
    evidence = [{"title": "A", "text": "The first."}, {"title": "B", "text": "The second."}]
    for source in SOURCES:
        rows = [
            {"id": f"{source}{at}", "claim": "The town of Ulm is old.", "label": "SUPPORTED", "evidence": evidence}
            for at in range(40)
        ]
        (tmp_path / f"{source}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert not [p for p in pairs_from_data(tmp_path, random.Random(3)) if p.source.endswith("-swapped")]


def test_partly_supported_claims_are_not_trained_on(tmp_path):
    row = {"id": "x", "claim": "A.", "label": "PARTIALLY_SUPPORTED", "evidence": [{"title": "A", "text": "B."}]}
    for source in SOURCES:
        (tmp_path / f"{source}.jsonl").write_text(json.dumps(row) + "\n")
    assert pairs_from_data(tmp_path, random.Random(3)) == []
