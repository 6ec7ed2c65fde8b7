"""What the servers of a load serve: the real application, whose runs ask a scripted model that takes 300 ms a call.

No setting leads here: gunicorn is told to serve `load_app()`, and `flask worker` is started of this application.
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
"""The environment variable with the number of hops that a run keeps; the processes of a load read it and no others."""

CALL_SECONDS = 0.3


class ScriptedModel(FakeContainer):
    """QACheck's loop with its real prompts: the model asks, recites, reads and judges, with head starts as usual."""

    def strategy_for(self, options: RunOptions) -> Strategy:
        """A model of its own for each run, which counts its calls. Nothing is kept of a run that is over."""
        model = Scripted(CALL_SECONDS, int(os.environ.get(HOPS, "5")))
        return question_guided(model, ReciterReader(model), speculative=True)


def load_app(commands: bool = False) -> Flask:
    """What gunicorn serves; with `commands`, what `flask worker` is a command of."""
    return create_app(container=ScriptedModel(), commands=commands)
