"""Gold evidence as the context of kept hops that a reasoner is handed in a run.

A question-answer pair is a hop as it stands. A passage has no question, and none is made up for it: its hop asks
nothing and answers nothing, it cites the passage. The judge then reads the passage alone, and no comparison of answers
has anything to compare.
"""

from __future__ import annotations

from app.domain.model import Answer, Context, Hop, HopStatus, Passage, Question, Span
from app.evaluation.datasets import Row

SOURCE = "the data set's gold evidence"


def context_of(row: Row) -> Context:
    """The kept hops, numbered from 1. A question without an answer brings none, as in a run."""
    answered = [(question, Answer(answer, answerer="gold")) for question, answer in row.answers if answer]
    cited = [
        ("", Answer("", Span(Passage(text, title, SOURCE), 0, 0), answerer="gold")) for title, text in row.passages
    ]
    return tuple(
        Hop(number, Question(question), answer, HopStatus.KEPT, "gold evidence")
        for number, (question, answer) in enumerate([*answered, *cited], 1)
    )
