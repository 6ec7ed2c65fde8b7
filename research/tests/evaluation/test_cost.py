"""The estimate of an evaluation's calls, tokens, money and hours, before it runs and after some rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.config.settings import Settings
from app.container.parts import language_models
from app.domain.model import Label, RunOptions
from research.evaluation.cost import Cost, calls_by_role, estimate
from research.evaluation.labels import Gold
from research.evaluation.predictions import Prediction, ResourceUse
from research.tests.evaluation.rows import row

GUIDED = RunOptions(preset="qacheck", answerer="reciter-reader", model="big")
PURSUIT = RunOptions("evidence-pursuit", "web-search", preset="papelo", model="big", search="searxng")
ROWS = [row(number, Gold.SUPPORTED, hops=2) for number in range(10)]


@pytest.fixture
def settings(tmp_path):
    """One language model at 2 per million tokens read and 8 per million written."""
    file = tmp_path / "models.toml"
    prices = "prompt_price = 2\ncompletion_price = 8"
    file.write_text(f'[[model]]\nname = "big"\nmodel = "big"\nbase_url = "http://127.0.0.1:9/v1"\n{prices}\n')
    return Settings.from_env({"MODELS_FILE": str(file)})


@pytest.mark.parametrize(("hops", "calls"), [(1, 7), (2, 12), (5, 26)])
def test_a_guided_run_takes_five_calls_a_hop_and_two_or_one_at_the_limit(hops, calls):
    """The claim verifier is also asked before the first question, and not after the last that may be asked."""
    assert sum(calls_by_role(GUIDED, hops).values()) == calls
    assert sum(calls_by_role(replace(GUIDED, answerer="retriever-reader"), hops).values()) == calls - 2 * hops


def test_each_ablation_of_a_pursuit_saves_the_calls_that_it_leaves_out():
    def calls(preset: str) -> dict[str, int]:
        return calls_by_role(replace(PURSUIT, preset=preset), 3)

    assert "choose" not in calls("multi-doc") and "reason" not in calls("no-late-verdict")
    assert calls("no-paraphrase")["answer"] < calls("papelo")["answer"] == 5
    assert calls_by_role(replace(PURSUIT, strategy="direct"), 3) == {"direct": 1}


def test_a_pursuit_that_recites_takes_a_second_call_for_an_answer_where_the_model_reads():
    reciting = replace(PURSUIT, answerer="reciter-reader")
    assert "read" not in calls_by_role(reciting, 3, read_by_model=False)
    assert calls_by_role(reciting, 3)["read"] == calls_by_role(reciting, 3)["recite"] == 5


def test_of_a_sites_own_mix_only_the_prompted_modules_are_estimated():
    local = {"question generator": "SmolLM2-135M-Instruct", "QA validator": "local rules", "reasoner": "local judge"}
    own = RunOptions(preset="own", model="big", modules=(("claim verifier", "big, prompted"), *local.items()))
    assert calls_by_role(own, 2) == {"verify": 2}


def test_money_and_hours_follow_from_tokens_calls_and_workers(settings):
    cost = estimate(GUIDED, ROWS, settings, workers=8)
    assert (cost.rows, cost.calls) == (10, 120)
    assert cost.cost == pytest.approx((cost.prompt_tokens * 2 + cost.completion_tokens * 8) / 1e6)
    assert cost.hours == pytest.approx(120 / 8 / 3600)
    assert 40_000 < cost.prompt_tokens < 150_000  # ten demonstrations a call


def test_rows_that_are_made_are_the_estimate_of_the_others(settings):
    spent = ResourceUse(seconds=36.0, calls=7, prompt_tokens=1000, completion_tokens=100, cost=0.5)
    made = [Prediction(f"r{at}", "SUPPORTED", Label.SUPPORTED, spent=spent) for at in range(5)]
    cost = estimate(GUIDED, ROWS, settings, workers=2, made=made)
    assert (cost.calls, cost.prompt_tokens, cost.cost) == (70, 10_000, 5.0)
    assert cost.hours == pytest.approx(10 * 36 / 2 / 3600) and "as the 5 rows" in str(cost)


def test_nothing_is_estimated_where_no_server_is_asked(settings):
    assert estimate(RunOptions(), ROWS, settings, workers=1) is None
    assert estimate(replace(GUIDED, model="flan-t5"), ROWS, settings, workers=1) is None


def test_nothing_is_estimated_for_a_model_that_this_process_runs(tmp_path):
    settings = Settings.from_env({"LOCAL_MODEL": str(tmp_path / "model.gguf")})
    (model,) = language_models(settings)
    assert estimate(replace(GUIDED, model=model.name), ROWS, settings, workers=1) is None


def test_costs_add_up_and_an_unknown_price_is_said():
    one, other = Cost(1, 2, 3, 4, None, 1.0), Cost(1, 2, 3, 4, 0.25, None)
    assert one + other == Cost(2, 4, 6, 8, 0.25, 1.0)
    assert "no price is set" in str(one) and "0.25 in money" in str(other)
