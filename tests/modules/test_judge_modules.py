"""The verifier and the reasoner over a scripted judge: what they make of its probabilities."""

import pytest

from app.domain.model import Answer, Claim, Hop, HopStatus, Label, LabelSet, Passage, Question, Span
from app.modules.claim_verifier.local import JudgeClaimVerifier
from app.modules.judging.evidence import passages_of
from app.modules.judging.gaps import gap
from app.modules.reasoner.local import JudgeReasoner
from tests.judges import ScriptedJudge

BOOKISH = Claim("The Metamorphosis is a novella.")
CLAIM = Claim("The author of The Metamorphosis was born in Prague.")
BOOK = Passage("The Metamorphosis is a novella by Franz Kafka. It was published in 1915.", "The Metamorphosis", "test")
KAFKA = Passage("Franz Kafka was a writer. He was born in Prague.", "Franz Kafka", "test")


def hop(number: int, question: str, text: str, passage: Passage) -> Hop:
    start = passage.text.index(text)
    answer = Answer(text, Span(passage, start, start + len(text)), (passage,))
    return Hop(number, Question(question), answer, HopStatus.KEPT)


FIRST = hop(1, "Who wrote The Metamorphosis?", "Franz Kafka", BOOK)
SECOND = hop(3, "Where was Franz Kafka born?", "Prague", KAFKA)


def test_the_verifier_is_satisfied_by_a_judge_who_decides_over_evidence_without_gaps():
    judgement = JudgeClaimVerifier(ScriptedJudge(0.8, 0.1, 0.1), 0.6).is_sufficient(BOOKISH, (FIRST,))
    assert judgement.holds and judgement.confidence == pytest.approx(0.8)


def test_the_verifier_counts_a_refutation_as_enough():
    assert JudgeClaimVerifier(ScriptedJudge(0.1, 0.8, 0.1), 0.6).is_sufficient(BOOKISH, (FIRST,)).holds


def test_the_verifier_names_what_no_evidence_mentions_and_is_stricter_over_it():
    judgement = JudgeClaimVerifier(ScriptedJudge(0.8, 0.1, 0.1), 0.6).is_sufficient(CLAIM, (FIRST,))
    assert not judgement.holds
    assert judgement.reason == "Nothing kept so far mentions Prague."


def test_a_name_that_was_held_against_an_answer_is_no_gap():
    vienna = Claim("The author of The Metamorphosis was born in Vienna.")
    assert gap(vienna, (FIRST, SECOND), passages_of(vienna, (FIRST, SECOND))) == ""
    assert JudgeClaimVerifier(ScriptedJudge(0.1, 0.5, 0.4), 0.6).is_sufficient(vienna, (FIRST, SECOND)).holds


def test_an_unsure_judge_satisfies_nobody():
    judgement = JudgeClaimVerifier(ScriptedJudge(0.4, 0.3, 0.3), 0.6).is_sufficient(BOOKISH, (FIRST,))
    assert not judgement.holds and judgement.confidence == pytest.approx(0.6)


def test_the_verifier_waits_for_the_other_side_of_a_comparison_however_sure_the_judge_is():
    sure = JudgeClaimVerifier(ScriptedJudge(0.99, 0.01, 0.0), 0.6)
    older = Claim("Franz Kafka was born before The Metamorphosis.")
    judgement = sure.is_sufficient(older, (SECOND,))
    assert not judgement.holds
    assert judgement.reason == "Nothing was asked yet about The Metamorphosis, which the claim compares."
    assert sure.is_sufficient(older, (FIRST, SECOND)).holds


@pytest.mark.parametrize(("supported", "enough"), [(0.8, False), (0.95, True)])
def test_the_verifier_is_stricter_over_a_clause_that_nothing_speaks_of(supported, enough):
    claim = Claim("The Metamorphosis is a novella, which critics widely disliked.")
    judgement = JudgeClaimVerifier(ScriptedJudge(supported, 0.0, 1 - supported), 0.6).is_sufficient(claim, (FIRST,))
    assert judgement.holds is enough
    if not enough:
        assert judgement.reason == "Nothing kept so far speaks of this part: “critics widely disliked”."


def test_the_judge_reads_each_cited_passage_once():
    judge = ScriptedJudge(0.8, 0.1, 0.1)
    JudgeClaimVerifier(judge, 0.6).is_sufficient(CLAIM, (FIRST, SECOND, SECOND))
    ((claim, passages),) = judge.asked
    assert claim == CLAIM.text
    assert passages == [(BOOK.title, BOOK.text), (KAFKA.title, KAFKA.text)]


def test_a_name_in_a_kept_question_is_no_gap():
    asked = hop(1, "Is Prague where Franz Kafka was born?", "Franz Kafka", BOOK)
    assert gap(Claim("Franz Kafka was born in Prague."), (asked,), []) == ""


def test_a_name_that_was_only_looked_up_is_not_tied_to_the_claim():
    """That there is a Warsaw says nothing of who was born there."""
    claim = Claim("Franz Kafka and The Metamorphosis both came from Warsaw.")
    warsaw = Passage("Warsaw is the capital of Poland.", "Warsaw", "test")
    known = (FIRST, hop(2, "Who was Franz Kafka?", "a writer", KAFKA))
    asked = (*known, hop(4, "What is Warsaw?", "the capital of Poland", warsaw))
    assert gap(claim, asked, passages_of(claim, asked)) == "ties Warsaw to the claim"
    judgement = JudgeClaimVerifier(ScriptedJudge(0.8, 0.1, 0.1), 0.6).is_sufficient(claim, asked)
    assert (judgement.holds, judgement.reason) == (False, "Nothing kept so far ties Warsaw to the claim.")
    polish, curie = Claim("Marie Curie was Polish."), Passage("Marie Curie, a Polish chemist.", "Marie Curie", "test")
    known_polish = (hop(1, "Who was Marie Curie?", "a Polish chemist", curie),)
    assert gap(polish, known_polish, passages_of(polish, known_polish)) == ""
    tied = Passage("Warsaw is where The Metamorphosis was printed.", "Warsaw", "test")
    asked = (*known, hop(4, "What is Warsaw?", "where The Metamorphosis was printed", tied))
    assert gap(claim, asked, passages_of(claim, asked)) == ""


@pytest.mark.parametrize(
    ("probabilities", "label"),
    [
        ((0.8, 0.1, 0.1), Label.SUPPORTED),
        ((0.1, 0.8, 0.1), Label.REFUTED),
        ((0.2, 0.2, 0.6), Label.NOT_ENOUGH_EVIDENCE),
    ],
)
def test_the_reasoner_gives_the_judges_label_with_its_probability(probabilities, label):
    verdict = JudgeReasoner(ScriptedJudge(*probabilities), 0.6).conclude(BOOKISH, (FIRST,), LabelSet.THREE.labels)
    assert verdict.label is label
    assert verdict.confidence == pytest.approx(max(probabilities))


@pytest.mark.parametrize(
    ("judged", "label", "confidence"),
    [
        ((0.8, 0.1, 0.1), Label.NOT_ENOUGH_EVIDENCE, None),
        ((0.95, 0.0, 0.05), Label.SUPPORTED, 0.95),
        ((0.1, 0.8, 0.1), Label.REFUTED, 0.8),
    ],
    ids=["rather sure", "very sure", "against it"],
)
def test_only_a_very_sure_weighing_supports_a_claim_over_a_name_that_no_evidence_mentions(judged, label, confidence):
    verdict = JudgeReasoner(ScriptedJudge(*judged), 0.6).conclude(CLAIM, (FIRST,), LabelSet.THREE.labels)
    assert (verdict.label, verdict.confidence) == (label, confidence)
    assert (verdict.missing == "No evidence was found that mentions Prague.") is (confidence is None)


def test_what_a_claim_denies_is_left_open_by_a_judge_who_read_over_the_not():
    denied = Claim("The Metamorphosis is not a long book.")
    assert gap(denied, (FIRST,), passages_of(denied, (FIRST,))) == "settles what the claim denies"
    elsewhere = Claim("Franz Kafka was not born in Vienna.")
    assert gap(elsewhere, (SECOND,), passages_of(elsewhere, (SECOND,))) == ""


def test_the_reasoner_does_not_decide_for_a_judge_below_the_bound():
    verdict = JudgeReasoner(ScriptedJudge(0.5, 0.2, 0.3), 0.6).conclude(CLAIM, (FIRST,), LabelSet.THREE.labels)
    assert verdict.label is Label.NOT_ENOUGH_EVIDENCE


def test_a_name_that_no_answer_stands_beside_is_quoted_from_the_cited_page():
    """Who reads that the Danube flows through Vienna wants to see Vienna."""
    claim = Claim("The Metamorphosis appeared in Leipzig.")
    book = Passage("The Metamorphosis is by Franz Kafka. Leipzig saw it first.", "The Metamorphosis", "test")
    asked = hop(1, "Who wrote The Metamorphosis?", "Franz Kafka", book)
    verdict = JudgeReasoner(ScriptedJudge(0.95, 0.0, 0.05), 0.6).conclude(claim, (asked,), LabelSet.THREE.labels)
    assert [(sentence.text, sentence.hops) for sentence in verdict.rationale[:2]] == [
        ("The Metamorphosis: “The Metamorphosis is by Franz Kafka.”", (1,)),
        ("The Metamorphosis also says: “Leipzig saw it first.”", (1,)),
    ]


def test_what_is_missing_is_the_question_about_the_other_side():
    claim = Claim("Franz Kafka and Gregor Samsa were both born in Prague.")
    samsa = hop(1, "Who was Gregor Samsa?", "Gregor Samsa", Passage("Gregor Samsa is a salesman.", "Gregor Samsa", "t"))
    verdict = JudgeReasoner(ScriptedJudge(0.7, 0.1, 0.2), 0.6).conclude(claim, (samsa, SECOND), LabelSet.THREE.labels)
    assert verdict.label is Label.NOT_ENOUGH_EVIDENCE
    assert verdict.missing == "The claim compares, and nothing that was found answers “Where was Gregor Samsa born?”."


@pytest.mark.parametrize(
    ("judged", "label", "confidence"),
    [((0.4, 0.1, 0.5), Label.SUPPORTED, 0.525), ((0.3, 0.1, 0.6), Label.REFUTED, 0.55)],
    ids=["borne out by half", "mostly open"],
)
def test_between_two_labels_a_quarter_of_what_is_left_open_counts_as_supported(judged, label, confidence):
    verdict = JudgeReasoner(ScriptedJudge(*judged), 0.6).conclude(CLAIM, (FIRST,), LabelSet.TWO.labels)
    assert (verdict.label, verdict.missing) == (label, None)
    assert verdict.confidence == pytest.approx(confidence)


def test_the_rationale_quotes_what_each_answer_stands_in_and_says_what_was_compared():
    verdict = JudgeReasoner(ScriptedJudge(0.9, 0.05, 0.05), 0.6).conclude(CLAIM, (FIRST, SECOND), LabelSet.THREE.labels)
    assert [(sentence.text, sentence.hops) for sentence in verdict.rationale] == [
        ("The Metamorphosis: “The Metamorphosis is a novella by Franz Kafka.”", (1,)),
        ("Franz Kafka: “He was born in Prague.”", (3,)),
        ("The claim says Prague, and so does hop 3.", (3,)),
        ("Together this supports the claim.", (1, 3)),
    ]


def test_what_is_missing_names_what_no_evidence_mentions():
    verdict = JudgeReasoner(ScriptedJudge(0.1, 0.1, 0.8), 0.6).conclude(CLAIM, (FIRST,), LabelSet.THREE.labels)
    assert verdict.missing == "No evidence was found that mentions Prague."


class JudgeOf:
    """Says of each pair what is written for the page that its evidence is from; of several pages what is left."""

    def __init__(self, otherwise, **by_title):
        self.otherwise, self.by_title = otherwise, by_title

    def classify(self, pairs):
        return [
            self.by_title[passages[0][0].split()[0]] if len(passages) == 1 else self.otherwise for _, passages in pairs
        ]


SURE, DENIED, UNSURE = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05), (0.4, 0.3, 0.3)


def test_evidence_conflicts_when_one_hop_supports_and_another_refutes_beyond_doubt():
    reasoner = JudgeReasoner(JudgeOf(UNSURE, The=SURE, Franz=DENIED), 0.6)
    verdict = reasoner.conclude(CLAIM, (FIRST, SECOND), LabelSet.FOUR.labels)
    assert verdict.label is Label.CONFLICTING_EVIDENCE
    assert verdict.rationale[-1].text == "Hop 1 supports the claim and hop 3 does not agree with it."
    assert verdict.rationale[-1].hops == (1, 3)


@pytest.mark.parametrize(
    ("judge", "labels"),
    [
        (JudgeOf(SURE, The=SURE, Franz=(0.3, 0.5, 0.2)), LabelSet.FOUR),
        (JudgeOf(SURE, The=SURE, Franz=DENIED), LabelSet.THREE),
    ],
    ids=["one of the two is in doubt", "three labels"],
)
def test_otherwise_the_evidence_is_weighed_together(judge, labels):
    verdict = JudgeReasoner(judge, 0.6).conclude(CLAIM, (FIRST, SECOND), labels.labels)
    assert verdict.label is Label.SUPPORTED
