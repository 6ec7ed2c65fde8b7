"""What a claim denies is asked about as if it were said."""

import pytest

from app.domain.model import Claim
from app.modules.question_generator.denial import affirmed, is_denied
from app.modules.question_generator.rules import proposals


@pytest.mark.parametrize(
    ("denied", "said"),
    [
        ("The Louvre is not in Berlin.", "The Louvre is in Berlin."),
        ("The Louvre isn't in Berlin.", "The Louvre is in Berlin."),
        ("Jane Austen did not write Frankenstein.", "Jane Austen wrote Frankenstein."),
        ("A penguin doesn't fly.", "A penguin flies."),
        ("Franz Kafka was never in Vienna.", "Franz Kafka was in Vienna."),
        ("Franz Kafka did not always write.", "Franz Kafka did not always write."),
        ("Tosca is not only an opera.", "Tosca is not only an opera."),
    ],
)
def test_a_denial_is_taken_out_with_the_verb_put_right(denied, said):
    assert affirmed(denied) == said


def test_a_denied_claim_is_asked_what_its_opposite_is_asked():
    for denied, said in (
        ("The Louvre is not in Berlin.", "The Louvre is in Berlin."),
        ("Jane Austen did not write Frankenstein.", "Jane Austen wrote Frankenstein."),
    ):
        assert proposals(Claim(denied), ())[:1] == proposals(Claim(said), ())[:1]


def test_a_value_is_denied_by_a_word_in_its_own_clause():
    claim = "The Louvre, which was never a church, is in Paris and not in Berlin."
    assert [is_denied(claim, value) for value in ("Paris", "Berlin", "church", "Rome")] == [False, True, True, False]
