"""A claim that lost its letter case is read as the corpus spells its words; a failed search leaves it as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.errors import CallFailed
from app.domain.model import Claim, Passage, RunOptions
from app.modules.claim_preparation import with_usual_case
from app.strategies.question_guided import QuestionGuided
from tests.fakes import TWO_HOPS, scripted_strategy

PAINTING = Passage("It is said that the Mona Lisa was painted by Leonardo da Vinci.", "Mona Lisa", "test")


class Finds:
    """Retrieves one passage, and records the queries."""

    def __init__(self) -> None:
        self.asked = []

    def retrieve(self, query, k, before=None):
        self.asked.append(query)
        return (PAINTING,)


@pytest.mark.parametrize(
    ("written", "read", "searches"),
    [
        ("the mona lisa was painted by leonardo da vinci.", "The Mona Lisa was painted by Leonardo da Vinci.", 1),
        ("THE MONA LISA WAS PAINTED BY LEONARDO DA VINCI.", "The Mona Lisa was painted by Leonardo da Vinci.", 1),
        ("The Mona lisa is old.", "The Mona lisa is old.", 0),
        ("NASA", "NASA", 0),
    ],
)
def test_only_a_claim_without_letter_case_is_searched_and_restored(written, read, searches):
    finds = Finds()
    assert with_usual_case(finds, Claim(written, "Ann", "2020-10-31")) == Claim(read, "Ann", "2020-10-31")
    assert len(finds.asked) == searches


def test_a_search_that_fails_leaves_the_claim_as_it_is():
    def fails(claim: Claim) -> Claim:
        raise CallFailed("The index is away.")

    strategy = scripted_strategy(TWO_HOPS)
    assert isinstance(strategy, QuestionGuided)
    claim, options = Claim("hamlet is a play."), RunOptions()
    assert list(replace(strategy, prepare=fails).run(claim, options)) == list(
        scripted_strategy(TWO_HOPS).run(claim, options)
    )
