"""The fine-tuned questioner, the local one, and the composite of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from app.backends.local.seq2seq import Seq2Seq
from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import MemoryStore, use_stores
from app.domain.model import Claim, Context, Hop, Judgement, Question
from app.domain.ports import Ask, Decide
from app.modules.local import LocalJudge, LocalQuestionGenerator
from app.modules.pursuit import LocalPursuer, Seq2SeqPursuer
from tests.fake_model import EQUAL, ScriptedModel
from tests.modules.prompted.cases import AUTHOR, BIRTH, CLAIM, IN_VAIN
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


def test_a_real_sequence_to_sequence_model_gives_a_question_or_an_error(tmp_path) -> None:
    model = Seq2Seq(str(tiny_t5(tmp_path / "tiny")))
    try:
        (question,) = Seq2SeqPursuer(model, model).first_questions(CLAIM, 1)
        assert question.text
    except UnparseableOutput as error:
        assert "no question" in str(error)


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
