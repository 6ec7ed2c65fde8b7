"""`flask --app app prepare`: making once what the first claim needs. One command does all of it, the database too."""

from __future__ import annotations

import click
from flask import Flask, current_app
from flask.cli import with_appcontext
from flask_migrate import upgrade

from app.domain.errors import ModelUnavailable
from app.preparing import Step, steps
from app.preparing import prepare as carry_out
from app.runs.schema_version import is_newest
from app.settings import Settings


def register(app: Flask) -> None:
    """Make the command known to `flask --app app`."""
    app.cli.add_command(prepare)


@click.command()
@with_appcontext
def prepare() -> None:
    """Make what the first claim needs: unpacked weights, corpus index, database. What is made already stays."""
    settings = current_app.extensions["hopcheck"].settings
    try:
        carry_out([*steps(settings), database(settings)], click.echo)
    except ModelUnavailable as error:
        raise click.ClickException(str(error)) from None


def database(settings: Settings) -> Step:
    """The tables, brought to the newest version; the same as `flask --app app db upgrade`."""
    return Step("Bring the database up to date", lambda: is_newest(settings.database_url), lambda say: upgrade())
