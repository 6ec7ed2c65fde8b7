"""The question generator over a scripted model: its transcript, filters, look-ups, and when it ends."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.domain.errors import CallFailed
from app.domain.model import Answer, Claim, Hop, HopStatus, Passage, Question, Span
from app.modules.prompting import template
from app.modules.question_generator import OPENINGS, LocalQuestionGenerator

CLAIM = Claim("The author of Middlemarch was born in the same country as Emily Brontë.")
FIRST, SECOND = "Who wrote Middlemarch?", "Where was George Eliot born?"
BOOK = Passage("Middlemarch is a novel by George Eliot.", "Middlemarch", "test")
SISTERS = Passage("Emily Brontë was a writer.", "Emily Brontë (writer)", "test")
TOWN = Passage("Nuneaton is a town.", "Nuneaton", "test")


class Scripted:
    """A Completer that replies by the last line of the prompt, and records the prompts."""

    def __init__(self, **replies: str) -> None:
        """`Where` follows "Question: Where", `question` follows "Question:", and `verdict` a whole transcript."""
        self.replies = replies
        self.prompts: list[str] = []

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        self.prompts.append(prompt)
        opening = prompt.rpartition("\n")[2].removeprefix("Question:").strip()
        return self.replies.get(opening or ("question" if prompt.endswith("Question:") else "verdict"), "")


def kept(number: int, question: str, answer: str, cited: Passage | None = None, *looked_at: Passage) -> Hop:
    span = Span(cited, 0, 1) if cited else None
    retrieved = (cited, *looked_at) if cited else looked_at
    return Hop(number, Question(question), Answer(answer, span, retrieved), HopStatus.KEPT)


def set_aside(number: int, question: str, *looked_at: Passage) -> Hop:
    return Hop(number, Question(question), Answer(None, retrieved=looked_at), HopStatus.SET_ASIDE)


def ask(model: Scripted, context: Sequence[Hop] = (), vain: Sequence[Hop] = (), claim: Claim = CLAIM) -> str | None:
    question = LocalQuestionGenerator(model).next_question(claim, tuple(context), vain)
    return question and question.text


def test_the_model_continues_a_transcript_of_the_run_in_order() -> None:
    model = Scripted(question=f" {SECOND}")
    assert ask(model, [kept(2, FIRST, "George\nEliot")], [set_aside(1, "Who is Mia Holm?")]) == SECOND
    transcript = (
        f"Claim: {CLAIM.text}\n"
        "Question: Who is Mia Holm?\nAnswer: not found\n"
        "Question: Who wrote Middlemarch?\nAnswer: George Eliot\n"
    )
    assert model.prompts == [transcript, f"{transcript}Question:"]


def test_a_hop_that_failed_before_it_had_a_question_is_not_in_the_transcript() -> None:
    model, failed = Scripted(question=f" {FIRST}"), Hop(1, Question(""), status=HopStatus.FAILED)
    assert ask(model, vain=[failed]) == FIRST
    assert model.prompts == [f"Claim: {CLAIM.text}\nQuestion:"]


def test_a_claim_with_line_breaks_becomes_one_line() -> None:
    model = Scripted()
    ask(model, claim=Claim("$known {x}\nQuestion: What?"))
    assert model.prompts[0] == "Claim: $known {x} Question: What?\nQuestion:"


def test_without_the_adapter_demonstrations_come_first() -> None:
    model, demonstrations = Scripted(question=f" {FIRST}"), f"{template('transcript').template}\n\n"
    assert LocalQuestionGenerator(model, demonstrations).next_question(CLAIM, (), ()) == Question(FIRST)
    assert model.prompts == [f"{demonstrations}Claim: {CLAIM.text}\nQuestion:"]


def test_a_verdict_after_a_kept_answer_ends_the_questions() -> None:
    model = Scripted(verdict="Verdict: true", question=f" {SECOND}")
    assert ask(model, [kept(1, FIRST, "George Eliot")]) is None
    assert len(model.prompts) == 1


@pytest.mark.parametrize("vain", [[], [set_aside(2, "Who is Mia Holm?")]], ids=["no hop", "last hop set aside"])
def test_a_verdict_is_not_requested_without_a_new_answer(vain: list[Hop]) -> None:
    model = Scripted(verdict="Verdict: true", question=f" {FIRST}")
    context = [kept(1, "Who was Emily Brontë?", "a writer")] if vain else []
    assert ask(model, context, vain) == FIRST


@pytest.mark.parametrize("repeated", [FIRST, "Who is the author of Middlemarch?"])
def test_a_repeated_question_is_retried_with_another_opening_word(repeated: str) -> None:
    model = Scripted(question=f" {repeated}", Where=" was Emily Brontë born?")
    assert ask(model, vain=[set_aside(1, FIRST)]) == "Where was Emily Brontë born?"
    assert model.prompts[-1].endswith("Question: Where")


@pytest.mark.parametrize(
    "written",
    ["Who wrote Macbeth?", "Which zebras eat cheese?", "Middlemarch is a novel.", "Middlemarch?", ""],
    ids=["a strange name", "nothing of the claim", "no question", "no sentence", "nothing"],
)
def test_a_text_that_asks_nothing_about_the_claim_is_rejected(written: str) -> None:
    model = Scripted(question=f" {written}")
    assert ask(model) == "What is Middlemarch?"  # a name of the claim is looked up instead
    assert len(model.prompts) == len(OPENINGS)


def test_names_are_known_only_from_kept_answers_and_cited_titles() -> None:
    model = Scripted(question=f" {SECOND}")
    assert ask(model, [kept(1, FIRST, "George Eliot")]) == SECOND
    eliot = Passage("Mary Ann Evans wrote under a pen name.", "George Eliot", "test")
    assert ask(model, [kept(1, FIRST, "Mary Ann Evans", eliot)]) == SECOND
    assert ask(model, vain=[set_aside(1, FIRST, eliot)]) is None


def test_retrieved_articles_named_in_the_claim_are_looked_up() -> None:
    """Not the cited one, nor one that the claim does not name."""
    context = [kept(1, FIRST, "George Eliot", BOOK, TOWN, SISTERS)]
    assert ask(Scripted(), context) == "What is Emily Brontë?"
    assert ask(Scripted(), context, [set_aside(2, "What is Emily Brontë?")]) is None


def test_repeated_questions_end_the_generation() -> None:
    model = Scripted(question=f" {FIRST}", Where=" was Emily Brontë born?")
    vain: list[Hop] = []
    while question := ask(model, vain=vain):
        vain.append(set_aside(len(vain) + 1, question, SISTERS))
    assert [hop.question.text for hop in vain] == [FIRST, "Where was Emily Brontë born?", "What is Emily Brontë?"]


def test_a_failed_model_call_is_raised() -> None:
    class Broken:
        def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
            raise CallFailed("The language model is gone")

    with pytest.raises(CallFailed):
        LocalQuestionGenerator(Broken()).next_question(CLAIM, (), (set_aside(1, FIRST, SISTERS),))


def test_warming_evaluates_the_beginning_of_every_prompt() -> None:
    model = Scripted()
    LocalQuestionGenerator(model, "demonstrations\n").warm()
    assert model.prompts[0].startswith("demonstrations\nClaim: ") and model.prompts[0].endswith("Question:")
