"""Raw input becomes a claim and options in the same way for every caller."""

from dataclasses import replace

import pytest

from app.capabilities.options import Capabilities
from app.domain.errors import InvalidInput
from app.domain.model import Claim, RunOptions
from app.run_request import RunRequest, raw_options, resolve_options
from tests.fakes import AWAY, scripted_container

CLAIM = "Hamlet was written by Shakespeare."


@pytest.fixture
def here() -> Capabilities:
    return scripted_container(language_models=(AWAY,), usual=RunOptions(max_hops=7)).capabilities()


def test_omitted_fields_come_from_the_settings(here):
    sent = RunRequest.resolve({"claim": f" {CLAIM} ", "speaker": "A teacher", "date": "31/10/2020"}, here)
    assert sent.claim == Claim(CLAIM, "A teacher", "2020-10-31")
    assert sent.options == RunOptions(max_hops=7, modules=here.modules(RunOptions()))


def test_choices_without_effect_are_removed_from_the_options(here):
    assert resolve_options({"model": "big", "search": "brave", "undated": False}, here) == resolve_options({}, here)


@pytest.mark.parametrize(("given", "of_the_site", "seed"), [({}, None, 42), ({}, 7, 7), ({"model_seed": 3}, 7, 3)])
def test_the_seed_is_the_given_one_else_that_of_the_settings_else_that_of_the_preset(given, of_the_site, seed):
    site = scripted_container(language_models=(AWAY,), usual=RunOptions(model_seed=of_the_site)).capabilities()
    raw = {"strategy": "evidence-pursuit", "preset": "paper", "model": "big", **given}
    assert resolve_options(raw, site).model_seed == seed


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("max_hops", value) for value in (0, 11, True, None)),
        *(("labels", "five"), ("preset", "none"), ("model_seed", -1), ("model_seed", True)),
        *(("temperature", 2.5), ("temperature", "hot"), ("max_tokens", 0)),
    ],
)
def test_invalid_fields_are_named(here, field, value):
    with pytest.raises(InvalidInput) as refused:
        resolve_options({field: value}, here)
    assert refused.value.field == field


def test_resubmitted_options_are_unchanged_and_may_take_effect_again(here):
    direct = resolve_options({"strategy": "direct", "model": "big"}, here)
    assert resolve_options(raw_options(direct), here) == direct
    changed = resolve_options({**raw_options(direct), "strategy": "question-guided", "preset": "prompted"}, here)
    assert replace(changed, modules=()) == RunOptions(preset="prompted", model="big", max_hops=7)
