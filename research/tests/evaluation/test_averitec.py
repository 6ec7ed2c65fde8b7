"""METEOR and AVeriTeC's score, against values derived by hand in the comments."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.model import Label, LabelSet
from research.evaluation.averitec import (
    THRESHOLDS,
    assignment_score,
    averitec_scores,
    pair_score,
    question_score,
    submission,
)
from research.evaluation.datasets import Row
from research.evaluation.labels import Gold
from research.evaluation.meteor import meteor, tokens
from research.evaluation.predictions import EvidencePair, Prediction


def test_texts_are_tokenized_like_nltk_sentence_by_sentence():
    assert tokens("Who won? He didn't.") == ("Who", "won", "?", "He", "did", "n't", ".")


def test_meteor_of_texts_that_differ_in_one_word():
    # Five tokens each ("Who wrote Hamlet ? X"), four of them match in one chunk. P = R = 4/5, so F = 4/5.
    # Penalty 0.5 * (1 chunk / 4 matches)^3 = 1/128. Score 4/5 * 127/128 = 0.79375.
    assert meteor("Who wrote Hamlet? Marlowe", "Who wrote Hamlet? Shakespeare") == pytest.approx(0.8 * 127 / 128)


def test_meteor_matches_wordnet_synonyms_and_penalizes_separate_chunks():
    # "the" matches exactly, "car" and "auto" are synonyms: 2 matches of 2 and of 3 tokens.
    # P = 1, R = 2/3, F = P*R / (0.9*P + 0.1*R) = (2/3) / (0.9 + 0.2/3) = 20/29.
    # "red" is between them in the reference: 2 chunks, penalty 0.5 * (2/2)^3 = 1/2. Score 10/29.
    # (Synonyms are looked up by stem in NLTK, so that "automobile", whose stem is no word, would not be found.)
    assert meteor("the car", "the red auto") == pytest.approx(10 / 29)


def test_meteor_matches_stems_and_is_zero_without_shared_words():
    # One match of one token each: P = R = F = 1, penalty 0.5 * (1/1)^3. Score 1/2.
    assert meteor("paintings", "painting") == pytest.approx(0.5)
    assert meteor("Basel", "Vienna") == 0


def test_meteors_synonyms_are_those_of_the_shared_tasks_wordnet_3_0():
    # One match of one token each, so 1/2 as above. WordNet 3.1 has the two words apart.
    assert meteor("knot", "mile") == pytest.approx(0.5)


def same_letters(candidate: str, reference: str) -> float:
    """A metric easy to compute by hand: the share of the reference's letters at the same place in the candidate."""
    return sum(a == b for a, b in zip(candidate, reference, strict=False)) / len(reference)


def test_the_optimal_assignment_is_used_and_unmatched_gold_counts_as_zero():
    # Shares: abcd/abcd = 1, abcd/abcx = 3/4; abyz/abcd = 1/2, abyz/abcx = 1/2; neither has a letter of zzzz but z of
    # abyz, in the last place: 1/4. Both orders of the first two: 1 + 1/2, or 3/4 + 1/2; abyz to zzzz: 1 + 1/4.
    # The best is 1 + 1/2, over 3 gold texts 1/2.
    assert assignment_score(["abyz", "abcd"], ["abcd", "abcx", "zzzz"], same_letters) == pytest.approx(0.5)
    # The greedy choice in order is worse here: abc/abx = 2/3 and abc/abc = 1, abd/abx = 2/3 and abd/abc = 2/3.
    # Handing gold out in its order gives abx to abc (2/3) and abc to abd (2/3); the best is abc to abc: (1 + 2/3) / 2.
    assert assignment_score(["abc", "abd"], ["abx", "abc"], same_letters) == pytest.approx((1 + 2 / 3) / 2)


def test_surplus_predictions_cost_nothing_and_no_predictions_score_zero():
    assert assignment_score(["zz", "ab", "ax"], ["ab"], same_letters) == 1
    assert assignment_score([], ["ab"], same_letters) == assignment_score(["ab"], [], same_letters) == 0


ASKED = (("abcd", ("efgh", "efxx")), ("ijkl", ()))
"""Two gold questions; the first has two answers, so it is two pairs, and the second has none."""


def row(label: Gold = Gold.REFUTED, number: int = 1) -> Row:
    return Row(f"averitec-dev-{number}", f"Claim {number}.", label, scored_questions=ASKED)


def predicted(label: Label | None, *pairs: tuple[str, str], number: int = 1) -> Prediction:
    pieces = tuple(EvidencePair(question, answer, "https://a.example", "Text.") for question, answer in pairs)
    return Prediction(f"averitec-dev-{number}", "", label, evidence=pieces)


def test_questions_are_scored_alone_and_with_their_answers():
    # Questions: abcd to abcd is 1, zzzz to ijkl is 0; over 2 gold questions 1/2.
    # Pairs: the gold ones are "abcd efgh", "abcd efxx" and "ijkl No answer could be found." (30 letters).
    # "abcd efgh" matches the first with 1; "zzzz zzzz" has the blank alone in common with the second: 1/9, and with the
    # third, 1/30. So 1 + 1/9 over 3 gold pairs.
    found = predicted(Label.REFUTED, ("abcd", "efgh"), ("zzzz", "zzzz"))
    assert question_score(row(), found, same_letters) == pytest.approx(1 / 2)
    assert pair_score(row(), found, same_letters) == pytest.approx((1 + 1 / 9) / 3)


def test_pairs_after_the_tenth_are_ignored():
    ten = [("zzzz", "zzzz")] * 10
    late = predicted(Label.REFUTED, *ten, ("abcd", "efgh"))
    assert question_score(row(), late, same_letters) == 0
    assert question_score(row(), predicted(Label.REFUTED, *ten[1:], ("abcd", "efgh")), same_letters) == 0.5


def test_a_claim_scores_at_a_level_when_label_and_evidence_are_good_enough():
    # Pairs of the first claim: "abcd efgh" alone, 1 over 3 gold pairs = 1/3, and its label is right.
    # The second has the same evidence and the wrong label, the third has failed: pairs (1/3 + 1/3 + 0) / 3 = 2/9,
    # questions (1/2 + 1/2 + 0) / 3 = 1/3. At 0.1 to 0.3 one claim of three scores, at 0.4 and 0.5 none.
    rows = [row(number=1), row(number=2), row(number=3)]
    pair = ("abcd", "efgh")
    found = [predicted(Label.REFUTED, pair), predicted(Label.SUPPORTED, pair, number=2), predicted(None, number=3)]
    scores = averitec_scores(rows, found, same_letters)
    assert scores["questions"] == pytest.approx(1 / 3) and scores["pairs"] == pytest.approx(2 / 9)
    assert scores["scores"] == {str(level): pytest.approx(1 / 3 if level < 1 / 3 else 0) for level in THRESHOLDS}


def test_evidence_equal_to_a_level_does_not_reach_it():
    whole = Row("1", "Claim.", Gold.REFUTED, scored_questions=(("ab", ("c",)), ("zz", ("z",))))
    found = predicted(Label.REFUTED, ("ab", "c"))  # "ab c" matches with 1, "zz z" shares the blank: (1 + 0) / 2 = 1/2
    assert pair_score(whole, found, same_letters) == 0.5
    assert averitec_scores([whole], [found], same_letters)["scores"] == {
        "0.1": 1, "0.2": 1, "0.25": 1, "0.3": 1, "0.4": 1, "0.5": 0
    }  # fmt: skip


def test_the_submission_has_the_ids_labels_and_pairs_of_the_shared_task():
    rows = [row(number=12), Row("one", "Claim.", Gold.SUPPORTED)]
    found = [predicted(Label.CONFLICTING_EVIDENCE, *[("Who?", "Ada.")] * 11, number=12), predicted(None)]
    first, failed = submission(rows, found)
    assert (first["claim_id"], first["claim"]) == (12, "Claim 12.")
    assert first["pred_label"] == "Conflicting Evidence/Cherrypicking" and len(first["evidence"]) == 10
    pair = {"question": "Who?", "answer": "Ada.", "url": "https://a.example", "scraped_text": "Text."}
    assert first["evidence"][0] == pair
    assert failed == {"claim_id": "one", "claim": "Claim.", "pred_label": "", "evidence": []}


def test_with_two_labels_an_abstention_scores_nothing_and_is_not_submitted():
    abstained = predicted(Label.NOT_ENOUGH_EVIDENCE, ("abcd", "efgh"), ("abcd", "efxx"))
    rows = [row(Gold.NOT_ENOUGH_EVIDENCE)]
    four, two = (averitec_scores(rows, [abstained], same_letters, labels) for labels in (LabelSet.FOUR, LabelSet.TWO))
    assert (four["scores"]["0.25"], two["scores"]["0.25"]) == (1, 0)
    assert submission(rows, [abstained], LabelSet.TWO)[0]["pred_label"] == ""


def test_claims_are_scored_by_type_and_justifications_by_level():
    # Both pairs of the first row are right: 2 of 3 gold pairs, 2/3, which is above 0.3. The second row has none: 0.
    # Its rationale is the justification, so its METEOR is 1 here, but its pairs are above no level.
    first = replace(row(), types=("Numerical Claim", "Quote Verification"), justification="abcd")
    second = replace(row(number=2), types=("Numerical Claim",), justification="abcd")
    found = replace(predicted(Label.REFUTED, ("abcd", "efgh"), ("abcd", "efxx")), rationale="abxx")
    none = replace(predicted(Label.SUPPORTED, number=2), rationale="abcd")
    scores = averitec_scores([first, second], [found, none], same_letters)
    assert scores["types"]["Quote Verification"] == {
        "n": 1,
        "accuracy": 1,
        "evidence": pytest.approx(2 / 3),
        "score": 1,
    }
    assert scores["types"]["Numerical Claim"] == {
        "n": 2,
        "accuracy": 0.5,
        "evidence": pytest.approx(1 / 3),
        "score": 0.5,
    }
    assert scores["justification"]["mean"] == pytest.approx((0.5 + 1) / 2)
    assert scores["justification"]["scores"]["0.25"] == pytest.approx(0.5 / 2)
