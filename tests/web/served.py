"""What test_serving.py has gunicorn serve: the application of the environment's settings over slow scripted runs."""

from __future__ import annotations

import time

from flask import Flask

from app import create_app
from app.extensions import db
from tests.runs.steady import SteadyWiring


def slow_app() -> Flask:
    """Each step of a run takes half a second."""
    app = create_app(wiring=SteadyWiring(before_step=lambda step: time.sleep(0.5)))
    with app.app_context():
        db.create_all()
    return app
