"""The judge's training pairs: labels that the evidence bears out, and a split that no article crosses."""

import json
import random

import pytest

from app.backends.corpus.registry import Article
from research.training.article_pairs import pairs_from_articles
from research.training.pairs import (
    NOT_ENOUGH,
    NOT_SUPPORTED,
    REFUTED,
    SOURCES,
    SUPPORTED,
    is_held_out,
    pairs_from_data,
    read_rows,
)

NAMES = (
    "Ada Bruno Cleo Dario Elsa Fritz Gwen Hugo Iris Jonas Kira Lars Mona Nils Olga Pavel Rosa Sven Tilda Uwe".split()
)


def articles() -> list[Article]:
    made = []
    for at, name in enumerate(NAMES * 3):
        title, other = f"{name} Stone{at}", f"{NAMES[at % 20 - 1]} Stone{at - 1}"
        life = f"Swiss painter ({1800 + at}–{1860 + at})"
        text = f"{life}. {title} was a Swiss painter from Basel. {title} was taught by {other} in the northern town."
        made.append(Article(title, text, life, "People"))
    return made


@pytest.fixture(scope="module")
def made():
    return pairs_from_articles(articles(), 400, random.Random(1))


def test_held_out_pairs_come_from_held_out_articles_only(made):
    for pair in made:
        assert all(is_held_out(title) == pair.held_out for title, _ in pair.passages)


def test_a_refuted_twin_says_what_its_passage_does_not(made):
    twins = [pair for pair in made if pair.source == "vital-twin"]
    refuted = [pair for pair in twins if pair.label == REFUTED]
    assert len(refuted) > 50
    assert all(pair.claim not in pair.passages[0][1] for pair in refuted)


def test_a_comparison_of_two_lives_is_labelled_by_their_years(made):
    born = {article.title: int(article.description[-10:-6]) for article in articles()}
    decided = [pair for pair in made if pair.source == "vital-lives" and pair.label != NOT_ENOUGH]
    assert decided
    for pair in decided:
        first, word, second = (
            pair.claim.rstrip(".")
            .replace(" was born before ", "|before|")
            .replace(" was born after ", "|after|")
            .split("|")
        )
        holds = born[first] < born[second] if word == "before" else born[first] > born[second]
        assert (pair.label == SUPPORTED) == holds


def test_a_bridge_without_one_of_its_passages_is_not_enough(made):
    bridges = [pair for pair in made if pair.source == "vital-bridge"]
    assert all((pair.label == NOT_ENOUGH) == (len(pair.passages) == 1) for pair in bridges)


def test_the_same_seed_makes_the_same_pairs(made):
    assert pairs_from_articles(articles(), 400, random.Random(1)) == made


def test_a_broken_line_is_named_by_its_number(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": 1}\n{"id": \n')
    with pytest.raises(ValueError, match=r"rows\.jsonl, line 2"):
        list(read_rows(file))


def test_a_left_out_paragraph_turns_a_supported_claim_into_not_enough(tmp_path):
    evidence = [{"title": "A", "text": "First."}, {"title": "B", "text": "Second."}]
    for source in SOURCES:
        rows = [
            {"id": f"{source}{at}", "claim": f"Claim {at}", "label": "SUPPORTED", "evidence": evidence}
            for at in range(40)
        ]
        (tmp_path / f"{source}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lacking = [pair for pair in pairs_from_data(tmp_path, random.Random(3)) if pair.label == NOT_ENOUGH]
    assert any(len(pair.passages) == 1 for pair in lacking)


def test_a_swapped_claim_says_a_name_that_its_evidence_lacks_and_is_merely_not_supported(tmp_path):
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


def test_claims_that_are_partly_supported_train_nothing(tmp_path):
    row = {"id": "x", "claim": "A.", "label": "PARTIALLY_SUPPORTED", "evidence": [{"title": "A", "text": "B."}]}
    for source in SOURCES:
        (tmp_path / f"{source}.jsonl").write_text(json.dumps(row) + "\n")
    assert pairs_from_data(tmp_path, random.Random(3)) == []
