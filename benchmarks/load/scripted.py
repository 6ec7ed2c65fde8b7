"""The application under load: the real one with a scripted model that takes 300 ms a call.

gunicorn serves `load_app()`, and `flask worker` runs on `load_app(commands=True)`.
"""

from __future__ import annotations

import os

from flask import Flask

from app import create_app
from app.domain.model import RunOptions
from app.domain.ports import Strategy
from app.modules.answerers.reciter_reader import ReciterReader
from benchmarks.critical_path import Scripted, question_guided
from tests.fakes import FakeContainer

APP = "benchmarks.load.scripted:load_app"
HOPS = "LOAD_HOPS"
"""The environment variable with the number of hops that a run keeps, read by load tests only."""

CALL_SECONDS = 0.3


class ScriptedModel(FakeContainer):
    """QACheck's loop with its real prompts and speculative calls over a scripted model."""

    def strategy_for(self, options: RunOptions) -> Strategy:
        """Return a strategy with a model of its own, since a model stores its calls."""
        model = Scripted(CALL_SECONDS, int(os.environ.get(HOPS, "5")))
        return question_guided(model, ReciterReader(model), speculative=True)


def load_app(commands: bool = False) -> Flask:
    """Return the application; `commands` adds its commands, such as `flask worker`."""
    return create_app(container=ScriptedModel(), commands=commands)
