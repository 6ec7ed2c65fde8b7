"""Claims about numbers are decided by arithmetic over the answers, as the model writes it and only if it is sound."""

from __future__ import annotations

import pytest

from app.domain.model import Answer, Claim, Hop, HopStatus, Label, LabelSet, Passage, Question, Span
from app.modules.calculation import ClaimCalculator, Program, is_in, is_in_one_scale
from app.modules.local import LocalJudge, LocalReasoner
from tests.fake_model import EQUAL, ScriptedModel

CLAIM = Claim("Kurt Gödel was in his twenties when he published his incompleteness theorems.")


def hop(number: int, question: str, text: str, passage: str = "", at: int = 0) -> Hop:
    cited = Span(Passage(passage, "Somebody", "test"), at, at + len(text)) if passage else None
    return Hop(number, Question(question), Answer(text, cited), HopStatus.KEPT)


PUBLISHED, BORN = hop(1, "When were they published?", "in 1931"), hop(3, "When was Kurt Gödel born?", "1906")


def calculator(said: str) -> ClaimCalculator:
    return ClaimCalculator(ScriptedModel({"Calculation:": f" {said}"}))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("published = 1931; born = 1906; 20 <= published - born < 30", True),
        ("a = 1809; b = 1879; a > b", False),
        ("a = 1752; b = 850; abs(a - b - 900) <= 10 and not 3.4 > 13.7", True),
        ("died = -322; born = -384; died - born == 62 or 1 / 4 > 0.5", True),
    ],
)
def test_a_program_is_named_numbers_and_a_comparison_of_them(text, holds):
    assert (program := Program.read(text)) and program.holds is holds


@pytest.mark.parametrize(
    "text",
    [
        "none",
        "",
        "a = 1; b = 2; a + b",
        "a = 1; b = a + 1; a < b",
        "a = 1; a < b",
        "a.b = 1; 1 < 2",
        "a = b = 1; a == b",
        "a < 1; b = 2; b > 1",
        "1 / 0 > 2",
        "9 ** 9 ** 9 > 1",
        "a = 1e999; b = 1; a > b",
        "'a' < 'b'",
        "a = True; a == 1",
        "__import__('os').getpid() > 0",
        "abs(1, 2) > 0",
        "(" * 300 + "1 > 0" + ")" * 300,
    ],
)
def test_any_other_text_is_no_program(text):
    assert Program.read(text) is None


def test_the_calculation_is_the_verdict_and_its_first_reason():
    said = "published = 1931; goedel_born = 1906; 20 <= published - goedel_born < 30"
    judge = LocalJudge(ScriptedModel(otherwise=(0.05, 0.9, 0.05)), EQUAL, calculate=calculator(said))
    other = hop(2, "Who published them?", "Kurt Gödel")
    verdict = LocalReasoner(judge).conclude(CLAIM, (PUBLISHED, other, BORN), LabelSet.THREE.labels)
    assert verdict.label is Label.SUPPORTED and verdict.rationale[0].hops == (1, 3)
    written = "Calculated from the answers: 20 ≤ published (in 1931) − goedel born (1906) < 30, which is true."
    assert str(verdict.rationale[0].text) == written


@pytest.mark.parametrize(
    ("said", "answers", "written"),
    [
        (
            "beijing = 21.8; hebei = 75; beijing > hebei",
            ("21.8 million", "over 75 million"),
            "Beijing (21.8 million) > Hebei (over 75 million)",
        ),
        (
            "beijing = 21800000; hebei = 7.5e7; beijing > hebei",
            ("21,800,000 in 2020 to 2021", "75"),
            "Beijing (21,800,000) > Hebei (75)",
        ),
        ("a = -1323; b = -305; b - a > 500", ("c. 1323 BC", "from 305 to 282 BC"), "b (−305) − a (c. 1323 BC) > 500"),
    ],
)
def test_a_calculation_names_things_as_the_claim_does_and_shows_short_answers_as_they_are(said, answers, written):
    program = Program.read(said)
    assert program and program.written("Beijing has more people than Hebei.", answers) == written


@pytest.mark.parametrize(
    "said",
    [
        "none",
        "published = 1931; goedel_born = 1907; published - goedel_born < 30",  # no answer has 1907
        "published = 1931; goedel_born = 1931; published - goedel_born < 30",  # one answer for two values
        "published = 1931; goedel_born = 1906; published - goedel_born < 1234",  # neither has the claim 1234
        "Gödel was 25.",
        "",
    ],
)
def test_a_reply_that_is_no_calculation_or_has_a_number_from_nowhere_decides_nothing(said):
    assert calculator(said)(CLAIM, (PUBLISHED, BORN)) is None


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1969.3, "in March 1969"),
        (820, "around 820"),
        (800, "9th-century"),
        (1900, "the 20th century"),
        (-499, "the 5th century BC"),
        (17500000, "over 17.5 million"),
        (8460512, "8,460,512"),
        (-2500000, "2.5 million years ago"),
    ],
)
def test_an_answer_has_a_number_in_the_ways_in_which_people_write_it(number, text):
    assert is_in(number, text) and not is_in(number, "1234 of 5,678")


@pytest.mark.parametrize(
    ("again", "decides"),
    [(" a = 1906; b = 1931; a < b", True), (" none", True), (" a = 1931; b = 1906; a < b", False)],
)
def test_answers_in_reverse_order_must_not_give_the_opposite(again, decides):
    model = ScriptedModel({"Calculation:": (" a = 1906; b = 1931; b > a", again)})
    assert (ClaimCalculator(model)(CLAIM, (PUBLISHED, BORN)) is not None) is decides


def test_nothing_is_asked_before_two_answers_have_numbers():
    asked = calculator("a = 1931; b = 1906; a > b")
    assert asked(CLAIM, (PUBLISHED, hop(2, "Who published them?", "Kurt Gödel"))) is None
    assert asked.model.prompts == []


def test_an_era_that_follows_the_answer_in_its_passage_is_part_of_it():
    plato = hop(1, "When was Plato born?", "428", "Plato (428–348 BC) was a philosopher.", 7)
    aristotle = hop(2, "When was Aristotle born?", "384", "Aristotle (384 BC) was his student.", 11)
    asked = calculator("plato = -428; aristotle = -384; plato < aristotle")
    found = asked(Claim("Plato was born before Aristotle."), (plato, aristotle))
    assert found is not None and found.holds
    assert "Answer: 428–348 BC\n" in asked.model.prompts[0] and "Answer: 384 BC\n" in asked.model.prompts[0]


@pytest.mark.parametrize(
    ("numbers", "answers", "is_one"),
    [
        ((21800000, 7461000), ("21.8 million", "7,461,000"), True),
        ((21.8, 75), ("21.8 million", "over 75 million"), True),
        ((1400, 123), ("1.4 billion", "about 123 million"), True),
        ((-2500000, -100000), ("2.5 million years ago", "c. 100,000 BCE"), True),
        ((1900, 820), ("the 20th century", "around 820"), True),
        ((1295, 1564116), ("1.295 million km2", "1,564,116 square kilometres"), False),
        ((21.8, 7461000), ("21.8 million", "7,461,000"), False),
        ((3, 0), ("3 goals", "0 goals"), True),
    ],
)
def test_numbers_are_compared_in_one_scale(numbers, answers, is_one):
    assert is_in_one_scale(numbers, answers) is is_one
