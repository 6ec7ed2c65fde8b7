"""The five roles of the local model: questions, answers with citations, two readings, verdict and rationale."""

from __future__ import annotations

import pytest

from app.domain.errors import ModelUnavailable
from app.domain.messages import Code
from app.domain.model import Answer, Claim, Hop, HopStatus, Label, LabelSet, Passage, Question, Sentence, Span
from app.domain.ports import Bounds
from app.modules.claim_preparation import ClaimSorter
from app.modules.local import (
    NOT_ENOUGH_AS_SUPPORTED,
    Calibration,
    LocalClaimVerifier,
    LocalJudge,
    LocalQuestionGenerator,
    LocalReader,
    LocalReasoner,
    citation,
    exchanged,
    has_equal_sides,
)
from tests.fake_model import EQUAL, ScriptedModel, judge_of

CLAIM = Claim("The author of The Metamorphosis was born in Prague.")
BOOK = Passage("The Metamorphosis is a novella by Franz Kafka. It was published in 1915.", "The Metamorphosis", "test")
KAFKA = Passage("Franz Kafka was a writer. He was born in Prague.", "Franz Kafka", "test")
THREE = LabelSet.THREE.labels


def hop(number: int, question: str, text: str, passage: Passage) -> Hop:
    start = passage.text.index(text)
    answer = Answer(text, Span(passage, start, start + len(text)), (passage,))
    return Hop(number, Question(question), answer, HopStatus.KEPT)


FIRST = hop(1, "Who wrote The Metamorphosis?", "Franz Kafka", BOOK)
SECOND = hop(3, "Where was Franz Kafka born?", "Prague", KAFKA)
VAIN = Hop(2, Question("Is it a play?"), Answer(None, retrieved=(KAFKA,)), HopStatus.SET_ASIDE)


@pytest.mark.parametrize(
    ("kinds", "reason"),
    [
        ((0.1, 0.88, 0.02), Code.OPINION()),
        ((0.1, 0.02, 0.88), Code.PREDICTION()),
        ((0.3, 0.65, 0.05), None),
        ((0.9, 0.05, 0.05), None),
    ],
)
def test_a_claim_is_called_an_opinion_or_a_prediction_only_where_the_model_is_sure(kinds, reason):
    model = ScriptedModel(otherwise=kinds)
    assert ClaimSorter(model).why_uncheckable(CLAIM) == reason
    assert model.prompts[0].endswith(f"Sentence: {CLAIM.text}\nKind:")


# Questions


def asked(model: ScriptedModel, context=(), set_aside=(), claim=CLAIM) -> str | None:
    question = LocalQuestionGenerator(model).next_question(claim, context, set_aside)
    return question.text if question else None


def test_the_next_question_continues_the_transcript_of_all_hops_in_their_order():
    model = ScriptedModel({"Question:": " Where was Franz Kafka born?"})
    assert asked(model, (FIRST,), (VAIN,)) == "Where was Franz Kafka born?"
    (prompt,) = model.prompts
    assert prompt.index(FIRST.question.text) < prompt.index(VAIN.question.text)
    assert "Answer: not found\nVerdict: open\nQuestion:" in prompt


@pytest.mark.parametrize("written", ["Who wrote The Metamorphosis?", "", "Kafka wrote it."])
def test_a_repeated_question_or_none_is_replaced_by_searches_of_other_kinds_until_none_is_left(written):
    model = ScriptedModel({"Question:": written})
    vain: list[Hop] = []
    while question := asked(model, (FIRST,), vain):
        vain.append(Hop(len(vain) + 2, Question(question), Answer(None), HopStatus.SET_ASIDE))
    texts = [each.question.text for each in vain]
    assert len(texts) >= 2 and len(set(texts)) == len(texts)
    assert any(CLAIM.text.rstrip(".") in text for text in texts)
    assert any("Prague" in text and CLAIM.text.rstrip(".") not in text for text in texts)


def test_a_hop_that_failed_before_it_had_a_question_is_not_in_the_transcript():
    model = ScriptedModel({"Question:": " Who wrote it?"})
    asked(model, set_aside=(Hop(1, Question(""), status=HopStatus.FAILED),))
    assert model.prompts == [f"Claim: {CLAIM.text}\nQuestion:"]


# Answers


def read(said: str, *passages: Passage, context=()) -> Answer:
    return LocalReader(ScriptedModel({"Answer:": said})).read(SECOND.question, passages, CLAIM, context)


def test_an_answer_is_cited_where_it_stands_in_the_sentence_nearest_to_the_question():
    text = "Prague is old. Franz Kafka was born in Prague in 1883."
    answer = read(" Prague", Passage(text, "Franz Kafka", "test"))
    assert answer.text == answer.cited.text == "Prague" and answer.cited.start == text.rindex("Prague")


def test_an_answer_in_other_words_cites_a_whole_sentence():
    answer = read(" yes, in Bohemia", KAFKA)
    assert answer.text == "yes, in Bohemia" and answer.cited.text == "He was born in Prague."


@pytest.mark.parametrize("said", [" not found", "Not found.", ""])
def test_an_answer_that_was_not_found_has_no_text_and_keeps_what_was_read(said):
    answer = read(said, KAFKA)
    assert (answer.text, answer.cited, answer.retrieved) == (None, None, (KAFKA,))


def test_not_found_in_other_letters_is_no_other_answer():
    model = ScriptedModel({"Answer:": (" not found", " Not found")}, otherwise=(0.95, 0.0, 0.05))
    assert LocalReader(model).read(SECOND.question, (KAFKA,), CLAIM, ()).text is None


@pytest.mark.parametrize(("confirmed", "text"), [(0.9, "Prague"), (0.8, None)])
def test_another_answer_than_not_found_is_taken_if_its_passage_confirms_it(confirmed, text):
    model = ScriptedModel({"Answer:": (" not found", " Prague")}, otherwise=(confirmed, 0.0, 1 - confirmed))
    answer = LocalReader(model).read(SECOND.question, (KAFKA,), CLAIM, ())
    assert answer.text == text and f"{SECOND.question.text} Prague\nSource: " in model.prompts[-1]


def test_a_short_description_is_cited_only_where_the_text_itself_does_not_have_the_answer():
    described = Passage(
        "German-language writer (1883–1924). Kafka was born in Prague in 1883.", "K", "test", described=36
    )
    assert citation("1883", "When was Kafka born?", [described]).start > 36
    assert citation("1924", "When did Kafka die?", [described]).start < 36


def test_only_the_passages_that_the_model_read_can_be_cited():
    many = [Passage(f"Nothing of it, number {number}.", f"T{number}", "test") for number in range(4)]
    answer = read(" Prague", *many, KAFKA)
    assert answer.cited.passage in many[:2] and len(answer.retrieved) == 5


# Readings


def test_a_verdict_needs_the_transcript_and_the_sources_alone():
    """A question that presupposes the claim misleads the first reading."""
    misled = {"Question:": (0.9, 0.05, 0.05)}
    unsure = LocalJudge(ScriptedModel(readings=misled, otherwise=(0.05, 0.9, 0.05)), EQUAL)
    agreed = LocalJudge(ScriptedModel(readings=misled, otherwise=(0.9, 0.05, 0.05)), EQUAL)
    assert not LocalClaimVerifier(unsure).is_sufficient(CLAIM, (FIRST,)).holds
    assert LocalClaimVerifier(agreed).is_sufficient(CLAIM, (FIRST,)).holds


@pytest.mark.parametrize(
    ("other_way_round", "label"),
    [(0.999, Label.NOT_ENOUGH_EVIDENCE), (0.96, Label.SUPPORTED), (0.3, Label.SUPPORTED)],
)
def test_a_claim_that_is_much_truer_with_two_of_its_names_exchanged_is_not_supported(other_way_round, label):
    spain = Passage("Madrid is the capital of Spain.", "Madrid", "test")
    asked_for = hop(1, "Of which country is Madrid the capital?", "Spain", spain)
    readings = {"Claim: Madrid is": (other_way_round, 1 - other_way_round, 0.0)}
    model = ScriptedModel(readings=readings, otherwise=(0.95, 0.05, 0.0))
    verdict = LocalReasoner(LocalJudge(model, EQUAL)).conclude(
        Claim("Spain is the capital of Madrid."), (asked_for,), THREE
    )
    assert verdict.label is label


@pytest.mark.parametrize(
    ("by_both", "by_the_sentence", "label"),
    [(0.8, 0.6, Label.NOT_ENOUGH_EVIDENCE), (0.8, 0.75, Label.SUPPORTED), (0.9, 0.1, Label.SUPPORTED)],
)
def test_a_claim_of_which_the_readings_are_not_sure_is_supported_only_where_the_cited_sentence_says_it(
    by_both, by_the_sentence, label
):
    city = Passage("Istanbul is in Turkey. Its port was a capital once.", "Istanbul", "test")
    asked_for = hop(1, "Of which country is Istanbul the capital?", "Turkey", city)
    alone = "Istanbul: Istanbul is in Turkey.\nVerdict:"
    readings = {alone: (by_the_sentence, 1 - by_the_sentence, 0.0), "Claim: Turkey is": (0.1, 0.9, 0.0)}
    model = ScriptedModel(readings=readings, otherwise=(by_both, 1 - by_both, 0.0))
    claim = Claim("Istanbul is the capital of Turkey.")
    assert LocalReasoner(LocalJudge(model, EQUAL)).conclude(claim, (asked_for,), THREE).label is label


def test_a_cited_sentence_that_says_a_claim_neither_way_round_does_not_take_its_verdict():
    more = Passage("Ada Stone was a painter. She taught in Zurich.", "Ada Stone", "test")
    painter = hop(1, "Who was Ada Stone?", "painter", more)
    readings = {"Claim: Zurich taught": (0.5, 0.5, 0.0), "a painter.\nVerdict:": (0.1, 0.9, 0.0)}
    model = ScriptedModel(readings=readings, otherwise=(0.95, 0.05, 0.0))
    claim = Claim("Ada Stone taught in Zurich.")
    assert LocalReasoner(LocalJudge(model, EQUAL)).conclude(claim, (painter,), THREE).label is Label.SUPPORTED


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("Madrid is in Spain.", ["Spain is in Madrid."]),
        (
            "In Oslo, Ibsen met Grieg.",
            ["In Ibsen, Oslo met Grieg.", "In Grieg, Ibsen met Oslo.", "In Oslo, Grieg met Ibsen."],
        ),
        ("Madrid had 3 million inhabitants in 2020.", []),
        ("New York is larger than York.", []),
        ("Ann, Bob, Cy and Dee met.", []),
        ("bees make honey.", []),
    ],
)
def test_each_two_names_of_two_or_three_are_exchanged_and_no_numbers(text, others):
    assert exchanged(text) == others


def test_more_than_two_answers_must_decide_with_a_higher_probability():
    third = hop(4, "When was The Metamorphosis published?", "1915", BOOK)
    verifier = LocalClaimVerifier(judge_of(0.79, 0.2, 0.01, calibration=EQUAL))
    assert verifier.is_sufficient(CLAIM, (FIRST, SECOND)).holds
    assert not verifier.is_sufficient(CLAIM, (FIRST, SECOND, third)).holds


def test_the_second_reading_has_no_questions_and_of_several_hops_only_the_cited_passages():
    model = ScriptedModel()
    more = Passage("Prague lies in Bohemia.", "Prague", "test")
    second = Hop(3, SECOND.question, Answer("Prague", SECOND.answer.cited, (KAFKA, more)), HopStatus.KEPT)
    LocalJudge(model, EQUAL).readings(CLAIM, (FIRST, second))
    _, sources = model.prompts
    assert "Question:" not in sources and BOOK.text in sources and KAFKA.text in sources and more.text not in sources


def test_the_readings_are_combined_by_their_weights_and_the_bias_but_never_above_the_sources():
    likely, unsure = (0.8, 0.1, 0.1), (0.4, 0.4, 0.2)
    bounds = Bounds(0.6, 0.6)
    mean = Calibration(0.5, 0.5, (0.0, 0.0, 0.0), bounds)
    biased = Calibration(0.0, 1.0, (0.0, -1.0, 0.0), bounds).combine(unsure, unsure)
    assert sum(mean.combine(likely, unsure)) == pytest.approx(1.0)
    assert unsure[0] < mean.combine(unsure, likely)[0] < likely[0]
    assert mean.combine(likely, unsure)[0] == unsure[0]
    assert biased[0] == unsure[0] and biased[1] < unsure[1]


def test_a_missing_calibration_names_its_fix(tmp_path):
    with pytest.raises(ModelUnavailable) as raised:
        Calibration.read(tmp_path / "calibration.json")
    assert raised.value.fix.startswith("git checkout")


# Verdicts


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
def test_a_label_has_its_probability_and_an_open_verdict_has_none_but_says_what_is_missing(judged, label, confidence):
    verdict = LocalReasoner(judge_of(*judged)).conclude(CLAIM, (FIRST, SECOND), THREE)
    assert verdict.label is label and verdict.confidence == (confidence and pytest.approx(confidence))
    assert bool(verdict.missing) is (confidence is None)


@pytest.mark.parametrize("judged", [(0.45, 0.05, 0.5), (0.3, 0.1, 0.6)])
def test_with_two_labels_a_share_of_the_open_probability_counts_as_supported(judged):
    verdict = LocalReasoner(judge_of(*judged)).conclude(CLAIM, (FIRST, SECOND), LabelSet.TWO.labels)
    supported = judged[0] + NOT_ENOUGH_AS_SUPPORTED * judged[2]
    assert verdict.label is (Label.SUPPORTED if supported >= 0.5 else Label.REFUTED)
    assert verdict.confidence == pytest.approx(max(supported, 1 - supported))


def headline(explanation: str, found_true: float = 0.9) -> str:
    """Return the first sentence of a refuted claim's rationale; the quotes make the explanation true by that much."""
    readings = {f"Claim: {explanation}": (found_true, 1 - found_true, 0.0)}
    model = ScriptedModel({"Explanation:": f" {explanation}"}, readings, otherwise=(0.05, 0.9, 0.05))
    return LocalReasoner(LocalJudge(model, EQUAL)).conclude(CLAIM, (FIRST, SECOND), THREE).rationale[0].text


def test_an_explanation_that_the_quotes_make_true_is_the_headline():
    assert headline("Franz Kafka was born in Prague.") == "Franz Kafka was born in Prague."


@pytest.mark.parametrize(
    ("explanation", "found_true"),
    [
        ("Franz Kafka was born in Prague.", 0.3),
        ("Franz Kafka was born in Vienna.", 0.9),
        ("Franz Kafka was born in 1899.", 0.9),
        ("Franz Kafka was born in Prague, not in Prague.", 0.9),
        ("Franz Kafka was born in", 0.9),
        ("", 0.9),
    ],
    ids=["the quotes do not say it", "a new name", "a new number", "equal sides", "cut off", "none"],
)
def test_any_other_explanation_is_replaced_by_the_deciding_quote(explanation, found_true):
    assert headline(explanation, found_true) == "Franz Kafka: “He was born in Prague.”"


def test_a_claim_that_one_source_supports_gets_the_quote_of_its_answer_and_no_other_words():
    model = ScriptedModel(otherwise=(0.9, 0.05, 0.05))
    verdict = LocalReasoner(LocalJudge(model, EQUAL)).conclude(CLAIM, (SECOND,), THREE)
    assert verdict.label is Label.SUPPORTED
    assert [each.text for each in verdict.rationale] == ["Franz Kafka: “He was born in Prague.”"]
    assert not any(prompt.endswith("Explanation:") for prompt in model.prompts)


def test_sides_are_equal_where_the_second_says_nothing_new():
    assert has_equal_sides("It is 300,000 km/s, not 300,000 km/s.")
    assert not has_equal_sides("He made 30 films, not 12.")


def conflict(labels: LabelSet) -> Label:
    readings = {
        f"{FIRST.question.text}\nAnswer": (0.9, 0.05, 0.05),
        f"{SECOND.question.text}\nAnswer": (0.05, 0.9, 0.05),
    }
    one_source = {f"{BOOK.text}\nVerdict": (0.9, 0.05, 0.05), f"{KAFKA.text}\nVerdict": (0.05, 0.9, 0.05)}
    model = ScriptedModel(readings=one_source | readings)
    verdict = LocalReasoner(LocalJudge(model, EQUAL)).conclude(CLAIM, (FIRST, SECOND), labels.labels)
    assert (verdict.rationale[0] == Sentence(Code.OPPOSED(), (1, 3))) is (verdict.label is Label.CONFLICTING_EVIDENCE)
    return verdict.label


def test_evidence_conflicts_when_one_hop_supports_and_another_refutes_and_the_label_is_allowed():
    assert conflict(LabelSet.FOUR) is Label.CONFLICTING_EVIDENCE
    assert conflict(LabelSet.THREE) is not Label.CONFLICTING_EVIDENCE
