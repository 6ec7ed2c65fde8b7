"""The joined decision: signals that can be counted by hand, and probabilities that follow the weights."""

import json

import pytest

from app.config.settings import ROOT
from app.domain.errors import ModelUnavailable
from app.modules.judging.calibrated import BIAS, JUDGE, SIGNALS, JoinedJudge, Joint, joined, signals
from tests.judges import ScriptedJudge

PARIS = [("Paris", "Paris is the capital of France. It hosted the Olympics in 1924.")]
NONE = dict.fromkeys((BIAS, JUDGE, *SIGNALS), 0.0)
TRUSTING = Joint(NONE | {JUDGE: 1.0}, NONE | {JUDGE: 1.0})


def told(claim, passages=PARIS):
    return dict(zip(SIGNALS, signals(claim, passages), strict=True))


def test_a_claim_that_stands_in_its_evidence_lacks_nothing():
    found = told("Paris is the capital of France.")
    assert found["words_missing"] == found["names_missing"] == 0
    assert found["pairs_shared"] == 1


def test_a_name_or_number_that_no_evidence_mentions_is_missing():
    assert told("Paris is the capital of Spain.")["names_missing"] == 1
    assert told("Paris is the capital of Spain.")["words_missing"] == pytest.approx(1 / 3)
    assert told("Paris hosted the Olympics in 1900.")["names_missing"] == 1
    assert told("Paris hosted the Olympics in 1924.")["names_missing"] == 0


def test_missing_words_count_once_more_where_there_is_one_passage_only():
    claim, other = "Paris is the capital of Spain.", ("Rome", "Rome is big.")
    assert told(claim)["words_missing_on_a_page"] == told(claim)["words_missing"] == pytest.approx(1 / 3)
    several = told(claim, [*PARIS, other])
    assert (several["words_missing"], several["words_missing_on_a_page"]) == (pytest.approx(1 / 3), 0)


def test_a_denial_is_noted_and_whether_the_claim_is_alone_with_it():
    assert told("Paris isn't the capital of Spain.")["negated_alone"] == 1
    shared = told("Paris is not a port.", [("Paris", "Paris is no port.")])
    assert (shared["negated"], shared["negated_alone"]) == (1, 0)


@pytest.mark.parametrize("claim", ["", "😀😀", "Лев Толстой", "孔子", "word " * 10_000])
@pytest.mark.parametrize("passages", [[], [("", "")], [("😀", "word " * 10_000)]])
def test_odd_claims_and_passages_give_signals_within_their_bounds(claim, passages):
    assert all(0 <= value <= 4 for value in signals(claim, passages))


def test_with_the_judge_alone_trusted_its_probabilities_come_back():
    rows = JoinedJudge(ScriptedJudge(0.7, 0.2, 0.1), TRUSTING).classify([("Paris is big.", PARIS)])
    assert rows == [pytest.approx((0.7, 0.2, 0.1))]


def test_what_the_evidence_lacks_makes_support_unlikelier_and_leaves_a_whole():
    doubting = Joint(NONE | {JUDGE: 1.0, "names_missing": -2.0}, NONE | {JUDGE: 1.0})
    judge = JoinedJudge(ScriptedJudge(0.7, 0.2, 0.1), doubting)
    right, wrong = judge.classify([(f"Paris is the capital of {name}.", PARIS) for name in ("France", "Spain")])
    assert right[0] == pytest.approx(0.7)
    assert wrong[0] < 0.3
    assert sum(wrong) == pytest.approx(1)
    assert wrong[1] / wrong[2] == pytest.approx(2)


def test_a_temperature_below_one_makes_the_likeliest_likelier_and_keeps_the_order():
    cold = Joint(TRUSTING.supported, TRUSTING.refuted, temperature=0.5)
    assert joined(cold, (0.6, 0.3, 0.1), [0.0] * len(SIGNALS)) == pytest.approx((36 / 46, 9 / 46, 1 / 46))


def test_a_judge_that_is_wholly_sure_still_leaves_numbers():
    assert joined(TRUSTING, (1.0, 0.0, 0.0), [0.0] * len(SIGNALS)) == pytest.approx((1, 0, 0), abs=1e-5)


def test_the_weights_that_ship_are_about_these_signals():
    assert Joint.read(ROOT / "app" / "models" / "judge" / "joined.json").supported["names_missing"] < 0


@pytest.mark.parametrize(
    "text", ["", "[]", '{"supported": {}}', json.dumps({"supported": NONE, "refuted": {BIAS: 1}, "temperature": 1})]
)
def test_weights_that_are_missing_damaged_or_about_other_signals_are_named(tmp_path, text):
    (tmp_path / "joined.json").write_text(text)
    with pytest.raises(ModelUnavailable, match=r"joined\.json.*git checkout"):
        Joint.read(tmp_path / "joined.json")
