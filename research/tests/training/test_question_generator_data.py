"""Claims with questions as training examples: both formats, each model's inputs and targets, and faulty lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.domain.model import Answer, Claim, Hop, HopStatus, Question
from app.modules.pursuit import Seq2SeqPursuer
from research.tests.evaluation.rows import written
from research.training.question_generator_data import Asked, data_hash, first_examples, next_examples, read_asked

PLAIN = {"claim": "C.", "hops": [{"question": "Q1?", "answer": "A1"}, {"question": "Q2?"}, {"question": "Q3?"}]}
AVERITEC = {
    "claim": "D.",
    "label": "REFUTED",
    "questions": [
        {
            "question": "Q1?",
            "answers": [
                {"answer": "No answer could be found.", "answer_type": "Unanswerable"},
                {"answer": "No", "answer_type": "Boolean", "boolean_explanation": "It never was."},
            ],
        },
        {"question": "", "answers": [{"answer": "A stray answer", "answer_type": "Extractive"}]},
        {"question": "Q2?", "answers": []},
    ],
}


def test_both_formats_give_claims_with_questions_and_answers_in_order(tmp_path: Path) -> None:
    """An explanation is part of its answer; an unanswered question is kept without an answer."""
    plain, averitec = read_asked(written(tmp_path / "asked.jsonl", PLAIN, "", AVERITEC))
    assert plain == Asked("C.", (("Q1?", "A1"), ("Q2?", None), ("Q3?", None)))
    assert averitec == Asked("D.", (("Q1?", "No. It never was"), ("Q2?", None)))


def test_one_model_learns_the_first_question_and_the_other_each_next_one(tmp_path: Path) -> None:
    """In the wording of the paper's appendix; an unanswered question is a target but not part of an input."""
    asked = read_asked(written(tmp_path / "asked.jsonl", PLAIN, AVERITEC))
    assert [(each.source, each.target) for each in first_examples(asked)] == [
        ("question: C.", "Q1?"),
        ("question: D.", "Q1?"),
    ]
    assert [(each.source, each.target) for each in next_examples(asked)] == [
        ("question: Claim: C. Question: Q1? Answer: A1", "Q2?"),
        ("question: Claim: C. Question: Q1? Answer: A1", "Q3?"),
        ("question: Claim: D. Question: Q1? Answer: No. It never was", "Q2?"),
    ]


class Recorder:
    """A Completer that records the prompts."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def complete(self, prompt: str, max_tokens: int, stop: tuple[str, ...] = ()) -> str:
        self.prompts.append(prompt)
        return "A question?"


def test_inference_uses_the_same_input_format_as_training() -> None:
    claim, answer = Claim("A claim\nof two lines."), Answer("An answer.\nAnd more.", answerer="test")
    kept = Hop(1, Question("A question?"), answer, HopStatus.KEPT)
    (asked,) = [Asked("A claim of two lines.", (("A question?", "An answer. And more."), ("Next?", None)))]
    first, later = Recorder(), Recorder()
    pursuer = Seq2SeqPursuer(first, later)
    pursuer.first_questions(claim, 1)
    pursuer.next_step(claim, (kept,), ())
    assert first.prompts == [next(first_examples([asked])).source]
    assert later.prompts == [next(next_examples([asked])).source]


def test_published_rows_without_questions_are_skipped(tmp_path: Path) -> None:
    nothing = {"claim": "E.", "questions": []}, {"claim": "", "questions": AVERITEC["questions"]}
    assert [each.claim for each in read_asked(written(tmp_path / "asked.jsonl", *nothing, PLAIN))] == ["C."]
    with pytest.raises(InvalidInput, match="holds no question"):
        read_asked(written(tmp_path / "asked.jsonl", *nothing))


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"claim": "C."}, "a row has one of the two"),
        (PLAIN | {"questions": []}, "both hops and questions"),
        (PLAIN | {"claim": " "}, "no claim"),
        (PLAIN | {"hops": []}, "hops that are no list of objects"),
        (PLAIN | {"hops": ["Q1?"]}, "hops that are no list of objects"),
        (PLAIN | {"hops": [{"answer": "A1"}]}, "no question"),
        (PLAIN | {"hops": [{"question": "Q1?", "answer": 1}]}, "no answer"),
        (AVERITEC | {"questions": "Q1?"}, "questions that are no list"),
        (AVERITEC | {"questions": [{"question": "Q1?", "answers": [{"answer": None}]}]}, "no answer"),
    ],
)
def test_a_faulty_row_is_reported_with_its_line(tmp_path: Path, row, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=rf"asked\.jsonl, line 2: .*{sentence}"):
        read_asked(written(tmp_path / "asked.jsonl", PLAIN, row, AVERITEC))


def test_the_hash_depends_on_rows_and_order() -> None:
    one, other = Asked("C.", (("Q1?", "A1"),)), Asked("C.", (("Q1?", None),))
    assert len({data_hash(rows) for rows in ([one], [other], [one, other], [other, one])}) == 4
