"""`flask --app app cache ...`: what the replies of language models that are kept take, and forgetting them."""

from __future__ import annotations

import click
from flask import Flask, current_app
from flask.cli import AppGroup

from app.cli_errors import told_in_one_line
from app.runs.call_log import MEGABYTE, CallLog

cache = AppGroup("cache", help="The replies of language models that are kept, so that none is paid for twice.")


def register(app: Flask) -> None:
    """Make the commands known to `flask --app app`."""
    app.cli.add_command(cache)


@cache.command("show")
def show() -> None:
    """How many replies are kept, and what they take of CACHE_MB."""
    with told_in_one_line():
        count, size = _calls().size()
    limit = current_app.extensions["hopcheck"].settings.cache_mb
    click.echo(f"{count:,} {'reply' if count == 1 else 'replies'}, {size / MEGABYTE:.1f} of {limit:,} MB (CACHE_MB)")


@cache.command("purge")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(yes: bool) -> None:
    """Forget every reply. The next calls are made, and paid for, again."""
    with told_in_one_line():
        count, _ = _calls().size()
        if not yes:
            click.confirm(f"Forget {count:,} {'reply' if count == 1 else 'replies'}?", abort=True)
        click.echo(f"{_calls().purge():,} forgotten")


def _calls() -> CallLog:
    return current_app.extensions["hopcheck"].calls
