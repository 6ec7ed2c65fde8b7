"""The modules of a pursuit: local, prompted and fine-tuned questioners, and the paraphrasers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from app.backends.local.seq2seq import Seq2Seq
from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import MemoryStore, use_stores
from app.domain.model import Claim, Context, Hop, Judgement, LabelSet, Question
from app.domain.ports import Ask, Decide
from app.modules.local import LocalJudge, LocalQuestionGenerator
from app.modules.prompted import reasoning_prompts
from app.modules.prompting import Delimiters, demonstrations
from app.modules.pursuit import (
    LocalParaphraser,
    LocalPursuer,
    PromptedParaphraser,
    PromptedPursuer,
    Seq2SeqPursuer,
    claim_as_question,
    first_prompts,
    keeps_meaning,
    prompt_for,
    step_prompts,
)
from app.text.wording import names
from app.web.forms import EXAMPLES
from tests.fake_model import EQUAL, ScriptedModel
from tests.modules.prompted.cases import AUTHOR, BIRTH, CLAIM, ESSAY, IN_VAIN, REFUSAL, hop
from tests.text_generators import playing
from tests.tiny import tiny_t5


def test_fine_tuned_models_get_the_input_format_of_their_training() -> None:
    """The claim alone, then the claim and each pair, never the speaker (Papelo, Appendix A)."""
    first, following = playing("Who wrote Emma?"), playing("Where was Jane Austen born?")
    pursuer, claim = Seq2SeqPursuer(first, following), Claim(CLAIM.text, "Jane Doe", "2020-10-31")
    assert pursuer.first_questions(claim, 5) == (Question("Who wrote Emma?"),)
    assert pursuer.next_step(claim, (AUTHOR, BIRTH), (IN_VAIN,)) == Ask(Question("Where was Jane Austen born?"))
    assert first.prompts == [f"question: {CLAIM.text}"]
    assert following.prompts == [
        f"question: Claim: {CLAIM.text} Question: Who wrote Emma? Answer: Jane Austen"
        " Question: Where was Jane Austen born? Answer: Steventon"
    ]


def test_a_fine_tuned_model_never_decides_and_may_omit_the_question_mark() -> None:
    assert Seq2SeqPursuer(playing("x"), playing("who is he")).next_step(CLAIM, (AUTHOR,), ()) == Ask(
        Question("who is he")
    )


def test_a_fine_tuned_model_that_writes_nothing_is_an_error() -> None:
    with pytest.raises(UnparseableOutput):
        Seq2SeqPursuer(playing(""), playing("")).first_questions(CLAIM, 1)


def test_the_number_of_beams_reaches_the_decoder_and_the_stored_call(tmp_path) -> None:
    folder, decoded, stored = str(tiny_t5(tmp_path / "tiny", "Who wrote Emma?")), [], []
    models = Seq2Seq(folder), Seq2Seq(folder, beams=5)
    for model in models:
        network = model.load().model
        generate = network.generate
        network.generate = lambda generate=generate, **given: decoded.append(given["num_beams"]) or generate(**given)
        with use_stores(MemoryStore(), on_call=lambda call, seconds: stored.append(call.key)):
            assert isinstance(model.complete("question: Emma", max_tokens=8), str)
    assert decoded == [1, 5] and len(set(stored)) == 2


@dataclass
class Verifier:
    """Finds any evidence sufficient, or none; has a judge with fixed probabilities."""

    sufficient: bool
    probabilities: tuple[float, float, float] = (0.8, 0.1, 0.1)
    asked: list[Context] = field(default_factory=list)

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        self.asked.append(context)
        return Judgement(self.sufficient, "")

    @property
    def judge(self) -> LocalJudge:
        return LocalJudge(ScriptedModel(otherwise=self.probabilities), EQUAL)


def local(verifier: Verifier, *written: str) -> LocalPursuer:
    model = ScriptedModel({"Question:": written})
    return LocalPursuer(LocalQuestionGenerator(model), verifier, verifier.judge)


@pytest.mark.parametrize(("probabilities", "holds"), [((0.9, 0.05, 0.05), True), ((0.05, 0.9, 0.05), False)])
def test_sufficient_evidence_decides_for_the_more_probable_side(probabilities, holds) -> None:
    assert local(Verifier(True, probabilities), "").next_step(CLAIM, (AUTHOR,), ()) == Decide(holds)


def test_without_a_pair_the_judge_is_not_called() -> None:
    verifier = Verifier(True)
    assert local(verifier, "Who wrote Emma?").next_step(CLAIM, (), (IN_VAIN,)) == Ask(Question("Who wrote Emma?"))
    assert verifier.asked == []


def test_with_nothing_left_to_ask_there_is_no_step() -> None:
    class NothingLeft:
        def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> None:
            return None

    verifier = Verifier(False)
    pursuer = LocalPursuer(NothingLeft(), verifier, verifier.judge)
    assert pursuer.next_step(CLAIM, (AUTHOR,), ()) is None
    assert pursuer.first_questions(CLAIM, 5) == ()


def test_first_questions_are_generated_one_after_another() -> None:
    written = "Who wrote Emma?", "Where was Jane Austen born?", ""
    found = [question.text for question in local(Verifier(False), *written).first_questions(CLAIM, 2)]
    assert found == ["Who wrote Emma?", "Where was Jane Austen born?"]


LIST = '["Who wrote Emma?", "Where was she born?", "When was Emma published?"]'
KNOWN = Claim(CLAIM.text, "Jane Doe", "2020-10-31")


def test_the_step_prompt_lists_every_question_so_far() -> None:
    """Answers between marks, unanswered questions by their text, and failed hops without a question left out."""
    prompt = step_prompts(CLAIM, (AUTHOR, BIRTH), (IN_VAIN, hop(4, "", None)))[0]
    mark = Delimiters.for_texts(["Jane Austen", "Steventon"]).name
    assert f"Question 1 = Who wrote Emma?\nAnswer 1 = [data {mark}] Jane Austen [end {mark}]" in prompt
    assert f"Answer 2 = [data {mark}] Steventon [end {mark}]" in prompt
    assert "- When was Emma filmed?\n" in prompt and "- \n" not in prompt
    assert "[[True]] or [[False]]" in prompt


def test_speaker_and_date_are_in_the_prompts_when_known() -> None:
    for prompt in (first_prompts(KNOWN)[0], step_prompts(KNOWN, (AUTHOR,), ())[0]):
        assert "the following claim by Jane Doe on 2020-10-31." in prompt
    assert "following claim.\n" in first_prompts(CLAIM)[0]
    assert "following claim by Jane Doe.\n" in first_prompts(Claim("X is Y.", "Jane Doe"))[0]
    assert "following claim on 2020-10-31.\n" in first_prompts(Claim("X is Y.", None, "2020-10-31"))[0]


def test_speaker_and_date_are_only_in_the_case_of_the_late_verdict_prompt() -> None:
    attribution = "The claim was made by Jane Doe on 2020-10-31."
    prompt = reasoning_prompts(KNOWN, (AUTHOR,), LabelSet.THREE.labels)[0]
    assert prompt.count(attribution) == 1 and attribution in prompt.rpartition("\n\n")[2]
    assert "The claim was made" not in reasoning_prompts(CLAIM, (AUTHOR,), LabelSet.THREE.labels)[0]


def test_a_very_long_speaker_is_truncated_to_a_few_words_on_one_line() -> None:
    prompt = first_prompts(Claim(CLAIM.text, "Lord\nSo and so " * 400, None))[0]
    assert len(prompt) < 600
    assert "claim by Lord So and so" in prompt


@pytest.mark.parametrize("text", [REFUSAL, ESSAY, "", "Unknown"])
def test_an_unusable_reply_is_retried_once_with_a_stricter_request(text: str) -> None:
    model = playing(text, LIST)
    assert PromptedPursuer(model).first_questions(CLAIM, 1) == (Question("Who wrote Emma?"),)
    assert "nothing else" in model.prompts[1] and "nothing else" not in model.prompts[0]
    model = playing(text, "[[False]]")
    assert PromptedPursuer(model).next_step(CLAIM, (AUTHOR,), ()) == Decide(False)
    model = playing(text, LIST)
    assert PromptedParaphraser(model).paraphrase(CLAIM, Question("Who?"), 4)


def test_four_wordings_are_requested_without_the_claim_and_the_question_itself_is_dropped() -> None:
    model = playing(
        '["Who is the author of Emma?", "Who wrote Emma?", "Who penned Emma?", "By whom is Emma?", "A?", "B?"]'
    )
    found = PromptedParaphraser(model).paraphrase(CLAIM, Question("Who wrote Emma?"), 4)
    assert [each.text for each in found] == ["Who is the author of Emma?", "Who penned Emma?", "By whom is Emma?", "A?"]
    assert "four" not in model.prompts[0] and "give 4 ways" in model.prompts[0]
    assert "Hampshire" not in model.prompts[0]


BORN = Question("Where was Jane Austen born?")


def wordings(*said: str, question: Question = BORN, n: int = 4, claim: Claim = CLAIM) -> list[str]:
    return [each.text for each in LocalParaphraser(playing(*said)).paraphrase(claim, question, n)]


@pytest.mark.parametrize(
    ("question", "wording"),
    [
        ("Where was Jane Austen born?", "What is the birthplace of Jane Austen?"),
        ("Where was Jane Austen born?", "In which city was Jane Austen born?"),
        ("Who wrote Emma?", "Who is the author of Emma?"),
        ("When was Emma published?", "In what year was Emma published?"),
        ("Where was Erdoğan born?", "In which city was Erdogan born?"),
    ],
)
def test_a_wording_with_the_same_names_and_the_same_question_is_accepted(question: str, wording: str) -> None:
    assert keeps_meaning(question, wording)


@pytest.mark.parametrize(
    ("question", "wording"),
    [
        ("Where was Jane Austen born?", "Where was she born?"),
        ("Where was Jane Austen born?", "In what year was Jane Austen born?"),
        ("Where was Jane Austen born?", "Who was Jane Austen?"),
        ("Who painted the Mona Lisa?", "In what year did Leonardo da Vinci paint the Mona Lisa?"),
        ("How many votes did Joe Biden receive in Georgia?", "How many votes did Joe Biden receive?"),
        ("Who won the election of 2020?", "Who won the election of 2016?"),
        ("Who founded Microsoft?", "What is the name of the company that founded Microsoft?"),
        ("When was the video taken?", "Which video was taken?"),
        ("Was Jane Austen praised by Walter Scott?", "Did Jane Austen praise Walter Scott?"),
        ("What did Macron say?", "What did Macron say about the climate?"),
        ("Where is Kilimanjaro?", "Which island is Kilimanjaro?"),
    ],
)
def test_a_wording_that_asks_something_else_is_rejected(question: str, wording: str) -> None:
    assert not keeps_meaning(question, wording)


def test_the_models_wordings_come_first_without_duplicates() -> None:
    found = wordings("What is the birthplace of Jane Austen?", "is the birthplace of Jane Austen?", "x", "x")
    assert found[:2] == [
        "What is the birthplace of Jane Austen?",
        "Is it true that the author of Emma was born in Hampshire?",
    ]


@pytest.mark.parametrize("said", ["", "x", "Who was Jane Austen?", "I cannot say."])
def test_without_an_accepted_wording_the_claims_own_wording_is_used(said: str) -> None:
    assert wordings(said)[0] == "Is it true that the author of Emma was born in Hampshire?"


def test_the_model_is_not_called_for_a_yes_no_question() -> None:
    """None of its wordings would be accepted."""
    model = playing("Is it so?")
    assert LocalParaphraser(model).paraphrase(CLAIM, Question("Was Jane Austen born in Hampshire?"), 4)
    assert model.prompts == []


def test_at_most_n_wordings_are_returned() -> None:
    assert len(wordings("What is the birthplace of Jane Austen?", n=1)) == 1


@pytest.mark.parametrize(
    ("claim", "question"),
    [
        ("The Nile is long.", "Is it true that the Nile is long?"),
        ("Turkey joined NATO in 1952.", "Is it true that Turkey joined NATO in 1952?"),
        ("US troops left.", "Is it true that US troops left?"),
        ("Bill Gates owns it.", "Is it true that Bill Gates owns it?"),
        ("Erdoğan was mayor!", "Is it true that Erdoğan was mayor?"),
        ("Земля круглая.", "Is it true that Земля круглая?"),
        ("Is\nit so?", "Is it true that is it so?"),
    ],
)
def test_a_claim_is_turned_into_a_question_in_its_own_words(claim: str, question: str) -> None:
    assert claim_as_question(Claim(claim)) == question


def test_demonstrations_keep_names_change_words_and_show_no_sample() -> None:
    for each in demonstrations("same_question"):
        assert names(each["question"]) == names(each["same"]) and each["question"] != each["same"]
    shown = " ".join(f"{each['question']} {each['same']}" for each in demonstrations("same_question"))
    for sample in EXAMPLES:
        assert not [name for name in names(sample.claim) if name in shown], sample.claim


def test_the_prompt_ends_where_the_other_wording_begins() -> None:
    assert prompt_for(Question("Who\nwrote Emma?")).endswith(
        "Question = Who wrote Emma?\nThe same question in other words ="
    )
