"""`flask --app app cache ...`: what the replies of language models that are kept take, and forgetting them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click
from flask import Flask, current_app
from flask.cli import AppGroup

from app.reasoning.errors import HopcheckError
from app.runs.call_cache import MEGABYTE, CallCache

cache = AppGroup("cache", help="The replies of language models that are kept, so that none is paid for twice.")


def register(app: Flask) -> None:
    """Make the commands known to `flask --app app`."""
    app.cli.add_command(cache)


@cache.command("show")
def show() -> None:
    """How many replies are kept, and what they take of CACHE_MB."""
    with _complaining():
        count, size = _cache().size()
    limit = current_app.extensions["hopcheck"].settings.cache_mb
    click.echo(f"{count:,} {'reply' if count == 1 else 'replies'}, {size / MEGABYTE:.1f} of {limit:,} MB (CACHE_MB)")


@cache.command("purge")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(yes: bool) -> None:
    """Forget every reply. The next calls are made, and paid for, again."""
    with _complaining():
        count, _ = _cache().size()
        if not yes:
            click.confirm(f"Forget {count:,} {'reply' if count == 1 else 'replies'}?", abort=True)
        click.echo(f"{_cache().purge():,} forgotten")


@contextmanager
def _complaining() -> Iterator[None]:
    """A database that cannot be used is said in its own sentence."""
    try:
        yield
    except HopcheckError as error:
        raise click.ClickException(str(error)) from None


def _cache() -> CallCache:
    return current_app.extensions["hopcheck"].cache
