"""The commands of `flask --app app`."""

from __future__ import annotations

from importlib.util import find_spec

import click
from flask import Flask

from app.cli import check, corpus, mcp, models, runs
from app.config import FLASK

COMMANDS = (
    check.check,
    corpus.corpus,
    mcp.mcp,
    models.doctor,
    models.models,
    models.prepare,
    runs.cache,
    runs.runs,
    runs.tokens,
    runs.worker,
)


def register(app: Flask) -> None:
    """Add all commands, those of `research` where it is installed, and name them as they work when pasted."""
    context = click.get_current_context(silent=True)
    if context and (root := context.find_root()).info_name in ("flask", "python -m flask"):
        root.info_name = FLASK
    for command in COMMANDS:
        app.cli.add_command(command)
    if find_spec("research"):
        from research import commands

        for command in commands.COMMANDS:
            app.cli.add_command(command)
