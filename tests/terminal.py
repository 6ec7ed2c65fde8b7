"""Run commands of `flask --app app` in this process."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import click
from click.testing import Result
from flask import Flask

from app import cli


def terminal(*commands: click.Command, **services: Any) -> Callable[..., Result]:
    """Return a function that runs one of these commands, or any, in an application with only these services."""
    app = Flask("app")
    app.extensions["hopcheck"] = SimpleNamespace(**services)
    for each in commands:
        app.cli.add_command(each)
    if not commands:
        cli.register(app)
    return lambda *words, **options: app.test_cli_runner().invoke(args=words, **options)
