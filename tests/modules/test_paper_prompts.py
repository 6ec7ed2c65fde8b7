"""The faithful prompts, character by character where the papers print their form, and how their replies are read."""

from __future__ import annotations

import pytest

from app.domain.errors import UnparseableOutput
from app.domain.model import Answer, Claim, Hop, HopStatus, Label, LabelSet, Passage, Question, SearchHit
from app.domain.ports import Ask, Decide, FreeAnswer
from app.modules import paper_prompts as paper
from app.modules.baselines import ChainOfThoughtClassifier
from tests.text_generators import playing

CLAIM = Claim("The author of Hamlet was born in England.", "Ada Stone", "2020-10-31")
TWO, FOUR = LabelSet.TWO.labels, LabelSet.FOUR.labels


def hop(number: int, question: str, answer: str) -> Hop:
    return Hop(number, Question(question), Answer(answer), HopStatus.KEPT)


WROTE = hop(1, "Who wrote Hamlet?", "William Shakespeare")
BORN = hop(3, "Where was William Shakespeare born?", "Stratford-upon-Avon")
CONTEXT = (WROTE, BORN)


def case_of(prompt: str) -> str:
    """What stands behind the ten demonstrations, which are separated by blank lines."""
    *shown, case = prompt.split("\n\n")
    assert len(shown) == 10
    return case


def demonstrations(prompt: str) -> list[str]:
    return prompt.split("\n\n")[:-1]


PAIRS = """\
We already know the following:
Question 1 = Who wrote Hamlet?
Answer 1 = William Shakespeare
Question 2 = Where was William Shakespeare born?
Answer 2 = Stratford-upon-Avon
"""


def test_a1_asks_whether_the_claim_can_be_decided():
    prompt = paper.verifier_prompt(CLAIM, CONTEXT)
    assert case_of(prompt) == (
        "Claim = The author of Hamlet was born in England.\n" + PAIRS + "Can we know whether the claim is true or "
        "false now? Yes or no?\nPrediction ="
    )
    endings = {shown.rpartition("Prediction = ")[2] for shown in demonstrations(prompt)}
    assert endings == {"Yes, we can know.", "No, we cannot know."}


def test_a2_asks_for_a_first_question():
    assert case_of(paper.question_prompt(CLAIM, ())) == (
        "Claim = The author of Hamlet was born in England.\n"
        "To verify the above claim, we can first ask a simple question:\nQuestion ="
    )


def test_a2_asks_for_the_next_question_by_its_number():
    assert case_of(paper.question_prompt(CLAIM, CONTEXT)) == (
        "Claim = The author of Hamlet was born in England.\n"
        + PAIRS
        + "To verify the claim, what is the next question "
        "we need to know the answer to?\nQuestion 3 ="
    )


def test_a3_asks_for_additional_knowledge():
    assert case_of(paper.validator_prompt(CLAIM, (WROTE,), BORN)) == (
        "Claim = The author of Hamlet was born in England.\n"
        "We already know the following:\n"
        "Question = Who wrote Hamlet?\nAnswer = William Shakespeare\n"
        "Now we further know:\n"
        "Question = Where was William Shakespeare born?\nAnswer = Stratford-upon-Avon\n"
        "Does the QA pair have additional knowledge useful for verifying the claim?\nThe answer:"
    )


def test_a4_shows_contexts_and_asks_whether_the_claim_is_true_or_false():
    prompt = paper.reasoner_prompt(CLAIM, CONTEXT, TWO)
    assert case_of(prompt) == (
        "Contexts:\n"
        "Q1: Who wrote Hamlet?\nA1: William Shakespeare\n"
        "Q2: Where was William Shakespeare born?\nA2: Stratford-upon-Avon\n"
        "Claim = The author of Hamlet was born in England.\n"
        "Is this claim true or false?\nAnswer:"
    )
    endings = [shown.rpartition("Therefore, ")[2] for shown in demonstrations(prompt)]
    assert sorted(set(endings)) == ["the final answer is: False.", "the final answer is: True."]
    assert not any("[" in shown or "Evidence" in shown for shown in demonstrations(prompt))


@pytest.mark.parametrize("holds", [True, False])
def test_the_papers_output_form_is_read_as_yes_or_no(holds):
    said = "Yes, we can know." if holds else "No, we cannot know."
    assert paper.QACheckVerifier(playing(said)).is_sufficient(CLAIM, CONTEXT).holds is holds


def test_the_reply_of_a4_is_a_label_and_a_sentence_for_each_pair():
    said = "Hamlet is by Shakespeare. He was born in Stratford-upon-Avon. Therefore, the final answer is: True."
    verdict = paper.QACheckReasoner(playing(said)).conclude(CLAIM, CONTEXT, TWO)
    assert verdict.label is Label.SUPPORTED
    assert [(each.text, each.hops) for each in verdict.rationale] == [
        ("Hamlet is by Shakespeare.", (1,)),
        ("He was born in Stratford-upon-Avon.", (3,)),
    ]


def test_a_repeated_question_ends_the_questions_since_the_same_prompt_repeats_it():
    questioner = paper.QACheckQuestioner(playing("Who wrote Hamlet?"))
    assert questioner.next_question(CLAIM, (), ()) == Question("Who wrote Hamlet?")
    assert questioner.next_question(CLAIM, (WROTE,), ()) is None


def test_chain_of_thought_has_ten_demonstrations():
    model = playing("Hamlet is by Shakespeare.\ntrue")
    assert ChainOfThoughtClassifier(model).verdict_on(CLAIM, TWO).label is Label.SUPPORTED
    case = case_of(model.prompts[0])
    assert case.startswith("Claim = The author of Hamlet") and "Let's think step-by-step" in case


# Of Papelo's Appendix B the shared text quotes parts of the forms; these are compared as they are quoted.


def test_papelos_first_prompt_has_speaker_date_and_a_json_list():
    model = playing('["Who wrote Hamlet?", "Where was he born?"]')
    assert paper.PapeloPursuer(model).first_questions(CLAIM, 1) == (Question("Who wrote Hamlet?"),)
    assert "we aren't sure whether this claim is true or false" in model.prompts[0]
    assert "by Ada Stone on 2020-10-31" in model.prompts[0] and "JSON list of strings" in model.prompts[0]


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("[[False]]", Decide(False)),
        ("We need one more. Where is Stratford?", Ask(Question("Where is Stratford?"))),
    ],
)
def test_papelos_next_prompt_numbers_pairs_from_zero(said, step):
    model = playing(said)
    assert paper.PapeloPursuer(model).next_step(CLAIM, CONTEXT, ()) == step
    assert "\nQuestion 0: Who wrote Hamlet? Answer: William Shakespeare\nQuestion 1: Where" in model.prompts[0]
    assert "[[True]] or [[False]]" in model.prompts[0]


HITS = (
    SearchHit("Hamlet", "a.example", "A play by Shakespeare.", "https://a.example/1", "2019-01-02"),
    SearchHit("", "", "A prince.", "https://b.example/1"),
)


def test_papelos_documents_are_numbered_from_zero_with_title_site_and_date():
    model = playing("Document 1 answers it best.")
    assert paper.PapeloChooser(model).choose(WROTE.question, HITS) == HITS[1]
    shown = (
        "\nDocument 0 (Hamlet, from a.example, published 2019-01-02): A play by Shakespeare.\nDocument 1: A prince.\n"
    )
    assert shown in model.prompts[0]


def test_a_reply_that_names_no_document_is_the_answer_itself():
    assert paper.PapeloChooser(playing("It was William Shakespeare.")).choose(WROTE.question, HITS) == FreeAnswer(
        "It was William Shakespeare."
    )


def test_papelos_answer_is_the_whole_reply():
    model = playing("The text does not say.\nIt may be Shakespeare.")
    passage = Passage("A play.", "Hamlet", "a.example", "https://a.example/1", "2019-01-02")
    answer = paper.PapeloReader(model).read(WROTE.question, (passage,))
    assert answer.text == "The text does not say. It may be Shakespeare." and answer.cited.passage == passage
    assert "Document 0 (Hamlet, from a.example, published 2019-01-02): A play." in model.prompts[0]
    assert "Based on the above information, please answer the following question" in model.prompts[0]


def test_papelos_verdict_is_one_of_two_marks_or_of_four():
    two, four = (paper.verdict_prompt(CLAIM, CONTEXT, labels) for labels in (TWO, FOUR))
    assert "(A) fully supported by the evidence or (B) contradicted by it" in two and "[[A]] or [[B]]" in two
    assert "(C) insufficient information or (D) conflicting evidence" in four and "[[C]] or [[D]]" in four
    assert paper.PapeloReasoner(playing("He was. [[A]]")).conclude(CLAIM, CONTEXT, TWO).label is Label.SUPPORTED
    assert paper.PapeloReasoner(playing("[[D]]")).conclude(CLAIM, CONTEXT, FOUR).label is Label.CONFLICTING_EVIDENCE


@pytest.mark.parametrize("said", ["[[A]] or [[B]]", "It is supported.", "[[C]]"])
def test_two_marks_none_or_one_that_was_not_asked_for_is_no_verdict(said):
    with pytest.raises(UnparseableOutput):
        paper.PapeloReasoner(playing(said)).conclude(CLAIM, CONTEXT, TWO)
