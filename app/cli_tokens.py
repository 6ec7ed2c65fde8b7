"""`flask --app app tokens ...`: tokens for the JSON API."""

from __future__ import annotations

import click
from flask import Flask, current_app
from flask.cli import AppGroup

from app.cli_errors import told_in_one_line
from app.web.api.tokens import line_of, new_token

tokens = AppGroup("tokens", help="Tokens for the JSON API.")


def register(app: Flask) -> None:
    """Make the commands known to `flask --app app`."""
    app.cli.add_command(tokens)


@tokens.command("new")
@click.argument("name")
def new(name: str) -> None:
    """Make a token for NAME and print it, which happens only this once, with the line that makes it known.

    The token goes to standard output, the rest to standard error. Nothing is written: adding the line is up to you.
    """
    token = new_token()
    with told_in_one_line():
        line = line_of(name, token)
    path = current_app.extensions["hopcheck"].settings.api_tokens
    where = f"to {path}" if path else "to a file, and name that file in API_TOKENS"
    click.echo("Whoever asks the API shows this token; it is printed only now:", err=True)
    click.echo(token)
    click.echo(f"Add this line {where}:\n{line}", err=True)
