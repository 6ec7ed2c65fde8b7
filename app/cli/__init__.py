"""The commands of `flask --app app`."""

from __future__ import annotations

from flask import Flask

from app.cli import check, corpus, evaluate, mcp, models, runs, train, worker


def register(app: Flask) -> None:
    """Add all commands to the application."""
    app.cli.add_command(check.check)
    runs.register(app)
    models.register_setup(app)
    corpus.register(app)
    train.register(app)
    models.register(app)
    runs.register_cache(app)
    models.register_doctor(app)
    evaluate.register(app)
    runs.register_tokens(app)
    worker.register(app)
    mcp.register(app)
