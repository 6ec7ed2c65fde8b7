"""The commands `datasets`, `evaluate`, `results` and `train` of `flask --app app`."""

from __future__ import annotations

from research.commands import evaluate, train

COMMANDS = (evaluate.datasets, evaluate.evaluate, evaluate.results, train.train)
