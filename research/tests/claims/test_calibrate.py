"""The calibration of the judge: what it learns from runs, and that no claim decides its own bound."""

from __future__ import annotations

import random

from app.modules.local import LABELS
from research.claims.calibrate import bound_of, calibration, features, left_out


def run(number: int, label: int, transcript: list[float], sources: list[float]) -> dict:
    return {"label": LABELS[label].value, "group": f"g{number // 2}", "readings": [transcript, sources]}


def sure_of(place: int, how: float) -> list[float]:
    rest = (1 - how) / 2
    return [how if at == place else rest for at in range(3)]


def made_up(count: int = 60) -> list[dict]:
    """Runs whose second reading is right and whose transcript says anything."""
    chance = random.Random(7)
    return [
        run(at, at % 2, sure_of(chance.randrange(2), 0.9), sure_of(at % 2 if at % 10 else 1 - at % 2, 0.8))
        for at in range(count)
    ]


def test_a_reading_that_is_right_more_often_weighs_more():
    found = calibration(made_up())
    assert found["sources"] > found["transcript"]


def test_a_bound_is_the_lowest_with_enough_right_verdicts_and_there_may_be_none():
    runs = made_up()
    logs, labels = features(runs)
    found = left_out(runs, logs, labels)
    low = bound_of(0, found, labels)
    decided = (found[:, 0] >= low) & (found[:, 0] > found[:, 1])
    assert 0.5 <= low < 1.0 and (labels[decided] == 0).mean() >= 0.9
    assert bound_of(0, found, 1 - labels) == 1.0
