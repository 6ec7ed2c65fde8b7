"""The commands of `flask --app app`."""

from __future__ import annotations

from flask import Flask

from app.cli import check, corpus, evaluate, mcp, models, runs, train

COMMANDS = (
    check.check,
    corpus.corpus,
    evaluate.datasets,
    evaluate.evaluate,
    evaluate.results,
    mcp.mcp,
    models.doctor,
    models.models,
    models.prepare,
    runs.cache,
    runs.runs,
    runs.tokens,
    runs.worker,
    train.train,
)


def register(app: Flask) -> None:
    """Add all commands to the application."""
    for command in COMMANDS:
        app.cli.add_command(command)
