"""The verifier and the reasoner over a scripted judge: labels, bounds, rationale and confidence."""

import pytest

from app.domain.model import Answer, Claim, Hop, HopStatus, Label, LabelSet, Passage, Question, Sentence, Span
from app.domain.ports import Bounds
from app.modules.claim_verifier import JudgeClaimVerifier
from app.modules.reasoner import NOT_ENOUGH_AS_SUPPORTED, OPPOSED, JudgeReasoner
from tests.judges import ScriptedJudge, over

CLAIM = Claim("The author of The Metamorphosis was born in Prague.")
BOOK = Passage("The Metamorphosis is a novella by Franz Kafka. It was published in 1915.", "The Metamorphosis", "test")
KAFKA = Passage("Franz Kafka was a writer. He was born in Prague.", "Franz Kafka", "test")


def hop(number: int, question: str, text: str, passage: Passage) -> Hop:
    start = passage.text.index(text)
    answer = Answer(text, Span(passage, start, start + len(text)), (passage,))
    return Hop(number, Question(question), answer, HopStatus.KEPT)


BOUNDS = Bounds(supported=0.6, refuted=0.6)
FIRST = hop(1, "Who wrote The Metamorphosis?", "Franz Kafka", BOOK)
SECOND = hop(3, "Where was Franz Kafka born?", "Prague", KAFKA)


@pytest.mark.parametrize("judged", [(0.8, 0.1, 0.1), (0.1, 0.8, 0.1)], ids=["supported", "refuted"])
def test_evidence_for_either_side_is_sufficient(judged):
    judgement = JudgeClaimVerifier(over(ScriptedJudge(*judged)), BOUNDS).is_sufficient(CLAIM, (FIRST, SECOND))
    assert judgement.holds and judgement.confidence == pytest.approx(0.8)


def test_below_the_bound_evidence_is_not_sufficient():
    judgement = JudgeClaimVerifier(over(ScriptedJudge(0.4, 0.3, 0.3)), BOUNDS).is_sufficient(CLAIM, (FIRST, SECOND))
    assert not judgement.holds and judgement.confidence == pytest.approx(0.6)


@pytest.mark.parametrize(("judged", "label"), [((0.7, 0.2, 0.1), None), ((0.2, 0.7, 0.1), Label.REFUTED)])
def test_a_claim_may_need_more_to_be_supported_than_to_be_refuted(judged, label):
    judge, bounds = over(ScriptedJudge(*judged)), Bounds(supported=0.8, refuted=0.6)
    assert JudgeClaimVerifier(judge, bounds).is_sufficient(CLAIM, (FIRST, SECOND)).holds is bool(label)
    verdict = JudgeReasoner(judge, bounds).conclude(CLAIM, (FIRST, SECOND), LabelSet.THREE.labels)
    assert verdict.label is (label or Label.NOT_ENOUGH_EVIDENCE)


def test_the_judge_reads_selected_sentences_and_all_evidence_with_the_pairs():
    judge = ScriptedJudge(0.8, 0.1, 0.1)
    JudgeClaimVerifier(over(judge), BOUNDS).is_sufficient(CLAIM, (FIRST, SECOND))
    assert len(judge.pairs) == 2
    assert judge.asked == [(), [(FIRST.question.text, "Franz Kafka"), (SECOND.question.text, "Prague")]]


def test_a_claim_whose_name_no_passage_mentions_stays_open_and_names_it():
    about_other = Claim("The author of The Metamorphosis was born in Canberra.")
    sure = over(ScriptedJudge(0.9, 0.05, 0.05))
    verdict = JudgeReasoner(sure, BOUNDS).conclude(about_other, (FIRST, SECOND), LabelSet.THREE.labels)
    assert (verdict.label, verdict.missing) == (Label.NOT_ENOUGH_EVIDENCE, "No passage that was read names Canberra.")
    assert not JudgeClaimVerifier(sure, BOUNDS).is_sufficient(about_other, (FIRST, SECOND)).holds


def test_a_number_that_no_passage_mentions_does_not_keep_the_claim_open():
    early = Claim("The Metamorphosis was published in 1812.")
    verdict = JudgeReasoner(over(ScriptedJudge(0.05, 0.9, 0.05)), BOUNDS).conclude(
        early, (FIRST,), LabelSet.THREE.labels
    )
    assert verdict.label is Label.REFUTED


class TwoReadings:
    """Confident about the selected sentences; returns `whole` for all evidence."""

    def __init__(self, whole):
        self.whole = whole

    def classify(self, pairs, asked=()):
        return [(0.9, 0.05, 0.05), self.whole][: len(pairs)]


def test_one_confident_reading_does_not_overrule_the_other():
    agreed = over(TwoReadings((0.9, 0.05, 0.05))).probabilities(CLAIM, (FIRST, SECOND))
    opposed = over(TwoReadings((0.05, 0.9, 0.05))).probabilities(CLAIM, (FIRST, SECOND))
    assert agreed[Label.SUPPORTED] == pytest.approx(0.9)
    assert max(opposed.values()) < 0.5


@pytest.mark.parametrize(
    ("judged", "label", "confidence"),
    [
        ((0.8, 0.1, 0.1), Label.SUPPORTED, 0.8),
        ((0.1, 0.8, 0.1), Label.REFUTED, 0.8),
        ((0.2, 0.2, 0.6), Label.NOT_ENOUGH_EVIDENCE, None),
        ((0.5, 0.2, 0.3), Label.NOT_ENOUGH_EVIDENCE, None),
    ],
    ids=["supported", "refuted", "open", "below the bound"],
)
def test_a_label_has_its_probability_and_an_open_verdict_has_none(judged, label, confidence):
    verdict = JudgeReasoner(over(ScriptedJudge(*judged)), BOUNDS).conclude(
        CLAIM, (FIRST, SECOND), LabelSet.THREE.labels
    )
    assert (verdict.label, verdict.confidence) == (label, confidence)
    assert (verdict.missing is None) is (confidence is not None)


def test_missing_evidence_names_the_subject_of_the_claim():
    verdict = JudgeReasoner(over(ScriptedJudge(0.1, 0.1, 0.8)), BOUNDS).conclude(
        CLAIM, (FIRST, SECOND), LabelSet.THREE.labels
    )
    assert verdict.missing == "Nothing that was read about Metamorphosis and Prague says whether the claim is true."


@pytest.mark.parametrize(
    ("judged", "label"),
    [((0.45, 0.05, 0.5), Label.SUPPORTED), ((0.3, 0.1, 0.6), Label.REFUTED)],
    ids=["almost half supported", "mostly open"],
)
def test_with_two_labels_a_share_of_the_open_probability_counts_as_supported(judged, label):
    verdict = JudgeReasoner(over(ScriptedJudge(*judged)), BOUNDS).conclude(CLAIM, (FIRST, SECOND), LabelSet.TWO.labels)
    supported = judged[0] + NOT_ENOUGH_AS_SUPPORTED * judged[2]
    assert (verdict.label, verdict.missing) == (label, None)
    assert verdict.confidence == pytest.approx(max(supported, 1 - supported))


class JudgeBySentence:
    """Supports a claim with high probability if the evidence contains the word."""

    def __init__(self, word):
        self.word = word

    def classify(self, pairs, asked=()):
        return [(0.9, 0.05, 0.05) if self.word in lines[0][1] else (0.5, 0.3, 0.2) for _, lines in pairs]


def test_the_rationale_quotes_the_decisive_sentence_and_then_those_of_the_answers():
    reasoner = JudgeReasoner(over(JudgeBySentence("born")), Bounds(0.5, 0.5))
    verdict = reasoner.conclude(CLAIM, (FIRST, SECOND), LabelSet.THREE.labels)
    assert [(sentence.text, sentence.hops) for sentence in verdict.rationale] == [
        ("Franz Kafka: “He was born in Prague.”", (3,)),
        ("The Metamorphosis: “The Metamorphosis is a novella by Franz Kafka.”", (1,)),
        ("This supports the claim.", (1, 3)),
    ]


def test_a_decisive_sentence_that_also_answers_is_quoted_once():
    reasoner = JudgeReasoner(over(JudgeBySentence("novella")), Bounds(0.5, 0.5))
    verdict = reasoner.conclude(CLAIM, (FIRST, SECOND), LabelSet.THREE.labels)
    assert sum("novella" in sentence.text for sentence in verdict.rationale) == 1


BORN = Passage("Ann was born in 1809. Bob was born in 1879.", "Lives", "test")
ANN, BOB = hop(1, "When was Ann born?", "1809", BORN), hop(2, "When was Bob born?", "1879", BORN)


def test_a_computed_order_overrules_the_judge_and_is_stated():
    judge = ScriptedJudge(0.9, 0.05, 0.05)
    verdict = JudgeReasoner(over(judge), BOUNDS).conclude(
        Claim("Bob was born before Ann."), (ANN, BOB), LabelSet.THREE.labels
    )
    assert verdict.label is Label.REFUTED
    assert verdict.rationale[0].text == "1879 is after 1809."
    assert not judge.pairs


def test_a_computed_order_is_not_stated_if_it_does_not_decide_the_verdict():
    verdict = JudgeReasoner(over(ScriptedJudge(0.9, 0.05, 0.05)), BOUNDS).conclude(
        Claim("Bob was born before Ann in Canberra."), (ANN, BOB), LabelSet.THREE.labels
    )
    assert verdict.label is Label.NOT_ENOUGH_EVIDENCE
    assert "1879 is after 1809." not in [sentence.text for sentence in verdict.rationale]


class JudgeOf:
    """Returns probabilities for a single page by the first word of its title, and `otherwise` for several pages."""

    def __init__(self, otherwise, **by_title):
        self.otherwise, self.by_title = otherwise, by_title

    def classify(self, pairs, asked=()):
        return [
            self.by_title[passages[0][0].split()[0]] if len(passages) == 1 else self.otherwise for _, passages in pairs
        ]


SURE, DENIED, UNSURE = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05), (0.4, 0.3, 0.3)


def test_evidence_conflicts_when_one_hop_supports_and_another_refutes():
    reasoner = JudgeReasoner(over(JudgeOf(UNSURE, The=SURE, Franz=DENIED)), BOUNDS)
    verdict = reasoner.conclude(CLAIM, (FIRST, SECOND), LabelSet.FOUR.labels)
    assert verdict.label is Label.CONFLICTING_EVIDENCE
    assert verdict.rationale[0] == Sentence(OPPOSED, (1, 3))


def test_only_the_conflicting_hops_are_quoted_and_the_supporting_one_first():
    other = hop(2, "When was The Metamorphosis published?", "1915", BOOK)
    reasoner = JudgeReasoner(over(JudgeOf(UNSURE, The=DENIED, Franz=SURE)), BOUNDS)
    verdict = reasoner.conclude(CLAIM, (FIRST, other, SECOND), LabelSet.FOUR.labels)
    assert verdict.rationale == (
        Sentence("One answer supports the claim, another does not agree with it.", (3, 1)),
        Sentence("Franz Kafka: “He was born in Prague.”", (3,)),
        Sentence("The Metamorphosis: “The Metamorphosis is a novella by Franz Kafka.”", (1,)),
    )


@pytest.mark.parametrize(
    ("judge", "labels"),
    [
        (JudgeOf(SURE, The=SURE, Franz=(0.3, 0.5, 0.2)), LabelSet.FOUR),
        (JudgeOf(SURE, The=DENIED, Franz=SURE), LabelSet.THREE),
    ],
    ids=["one of the two is below the bound", "three labels"],
)
def test_evidence_without_conflict_is_judged_together(judge, labels):
    verdict = JudgeReasoner(over(judge), BOUNDS).conclude(CLAIM, (FIRST, SECOND), labels.labels)
    assert verdict.label is Label.SUPPORTED
