"""The commands of `flask --app app`."""

from __future__ import annotations

import click
from flask import Flask

from app.cli import check, corpus, evaluate, mcp, models, runs, train
from app.config import FLASK

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
    """Add all commands to the application, and name them in help and errors as they work when pasted."""
    context = click.get_current_context(silent=True)
    if context and (root := context.find_root()).info_name in ("flask", "python -m flask"):
        root.info_name = FLASK
    for command in COMMANDS:
        app.cli.add_command(command)
