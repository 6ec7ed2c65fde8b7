"""What remains of a claim: which rewriting is taken, and how question, answer and verdict use it."""

from __future__ import annotations

import pytest

from app.domain.messages import Code
from app.domain.model import Answer, Claim, Hop, HopStatus, LabelSet, Passage, Question, Span
from app.modules.local import LocalClaimVerifier, LocalJudge, LocalQuestionGenerator, LocalReader, LocalReasoner
from app.modules.qa_validator import RuleBasedValidator
from app.modules.remaining_claim import ClaimReducer
from tests.fake_model import EQUAL, ScriptedModel

CLAIM = Claim("Conakry is the capital of a country that borders Senegal on its northern side.")
REST = "Guinea borders Senegal on its northern side."
GUINEA = Passage("Guinea is a country in West Africa. Its capital is Conakry.", "Guinea", "test")
SENEGAL = Passage("Senegal borders Mauritania to the north and Guinea to the southeast.", "Senegal", "test")


def hop(number: int, question: str, text: str | None, passage: Passage, status: HopStatus = HopStatus.KEPT) -> Hop:
    return Hop(number, Question(question), Answer(text, Span(passage, 0, len(passage.text)), (passage,)), status)


FIRST = hop(1, "Of which country is Conakry the capital?", "Guinea", GUINEA)
SECOND = hop(2, "On which side of Senegal is Guinea?", "southeast", SENEGAL)


CONFIRMING = ScriptedModel(otherwise=(0.9, 0.1, 0.0))


def reducer(*said: str, judge: ScriptedModel = CONFIRMING) -> ClaimReducer:
    return ClaimReducer(ScriptedModel({"Remaining:": said}), judge)


def test_a_kept_answer_takes_the_place_of_what_it_answers():
    remaining = reducer(f" {REST}")(CLAIM, (FIRST,))
    assert (remaining.claim.text, remaining.hops, remaining.settled) == (REST, (), (FIRST,))


@pytest.mark.parametrize(
    "said",
    [
        "same",
        "",
        CLAIM.text,
        "Guinea borders Senegal on its northern",  # cut off
        "Guinea borders Mali on its northern side.",  # a name from nowhere
        "Conakry is the capital of Guinea.",  # only the answer again
    ],
)
def test_a_rewriting_that_says_nothing_new_or_adds_a_name_leaves_the_claim_as_it_is(said):
    remaining = reducer(said)(CLAIM, (FIRST,))
    assert (remaining.claim, remaining.hops, remaining.settled) == (CLAIM, (FIRST,), ())


def test_a_rewriting_that_does_not_follow_from_claim_and_answer_leaves_the_claim_as_it_is():
    brahms = Claim("Johannes Brahms was born in Hamburg.")
    born = hop(1, "Where was Johannes Brahms born?", "Germany", Passage("Brahms was German.", "Brahms", "test"))
    said = "Germany is a city in Hamburg."
    judge = ScriptedModel(readings={f"Claim: {said}\nSource: Known": (0.03, 0.97, 0.0)}, otherwise=(0.9, 0.1, 0.0))
    assert reducer(said)(brahms, (born,)).settled == (born,)
    assert reducer(said, judge=judge)(brahms, (born,)).claim == brahms


@pytest.mark.parametrize("said", ["Fewer than 565,039 people live in Kumasi.", "Kumasi covers more than 46,007 km2."])
def test_a_comparison_keeps_the_amount_of_the_other_side(said):
    claim = Claim("Kumasi is larger than Antwerp, a city of many people.")
    found = reducer(said)(claim, (hop(1, "How large is Antwerp?", "565,039 people on 46,007 km2", GUINEA),))
    assert found.claim.text == said


@pytest.mark.parametrize("status", [HopStatus.SET_ASIDE, HopStatus.FAILED])
def test_only_kept_answers_are_put_in(status):
    assert not reducer(REST)(CLAIM, (hop(1, "Of which country?", "Guinea", GUINEA, status),)).settled


def test_an_answer_that_its_own_passage_does_not_confirm_is_not_put_in():
    doubting = ScriptedModel(otherwise=(0.3, 0.7, 0.0))
    assert not reducer(REST, judge=doubting)(CLAIM, (FIRST,)).settled
    (prompt,) = doubting.prompts
    assert prompt.startswith(f"Claim: {FIRST.question.text} Guinea\nSource: Guinea: {GUINEA.text}\n")
    without_citation = Hop(1, FIRST.question, Answer("Guinea"), HopStatus.KEPT)
    assert not reducer(REST)(CLAIM, (without_citation,)).settled


def test_each_answer_is_put_into_what_the_one_before_left():
    model = ScriptedModel({"Remaining:": [REST, "Guinea lies southeast of Senegal on its northern side."]})
    remaining = ClaimReducer(model, CONFIRMING)(CLAIM, (FIRST, SECOND))
    assert remaining.settled == (FIRST, SECOND)
    assert CLAIM.text in model.prompts[0] and REST in model.prompts[1] and CLAIM.text not in model.prompts[1]


def test_the_next_question_and_its_answer_are_about_what_remains():
    model = ScriptedModel({"Question:": " On which side of Senegal is Guinea?", "Answer:": " southeast"})
    LocalQuestionGenerator(model, reducer(REST)).next_question(CLAIM, (FIRST,), ())
    LocalReader(model, reducer(REST)).read(SECOND.question, (SENEGAL,), CLAIM, (FIRST,))
    for prompt in model.prompts:
        assert prompt.startswith(f"Claim: {REST}\n") and "Conakry" not in prompt


def test_the_verdict_is_about_what_remained_before_the_last_answer():
    model = ScriptedModel()
    LocalJudge(model, EQUAL, reducer(REST)).readings(CLAIM, (FIRST, SECOND))
    for prompt in model.prompts:
        assert prompt.startswith(f"Claim: {REST}\n") and SENEGAL.text in prompt and GUINEA.text not in prompt


def test_the_explanation_is_of_what_remained_and_for_all_steps():
    said = "Guinea lies southeast of Senegal, not on its northern side."
    model = ScriptedModel({"Explanation:": f" {said}"}, {f"Claim: {said}": (0.9, 0.1, 0.0)}, (0.05, 0.9, 0.05))
    verdict = LocalReasoner(LocalJudge(model, EQUAL, reducer(REST))).conclude(
        CLAIM, (FIRST, SECOND), LabelSet.THREE.labels
    )
    assert (verdict.rationale[0].text, verdict.rationale[0].hops) == (said, (1, 2))
    (prompt,) = (each for each in model.prompts if each.endswith("Explanation:"))
    assert prompt.startswith(f"Claim: {REST}\n") and GUINEA.text not in prompt


def test_a_step_that_does_not_decide_says_what_remains_and_the_next_that_it_is_about_it():
    judge = LocalJudge(ScriptedModel(), EQUAL, reducer(REST))
    assert LocalClaimVerifier(judge).is_sufficient(CLAIM, (FIRST,)).reason == Code.REMAINS(claim=REST)
    why = RuleBasedValidator(reducer(REST)).is_useful(CLAIM, (FIRST,), SECOND).reason
    assert why == Code.ABOUT_REMAINING(claim=REST)
    judge = LocalJudge(ScriptedModel(), EQUAL, reducer("same"))
    assert LocalClaimVerifier(judge).is_sufficient(CLAIM, (FIRST,)).reason == Code.NOT_DECIDED()
