"""`flask --app app prepare` and `flask --app app corpus ...`: making once what the first claim needs.

One command does all of it, the database too: starting Python again for each part would cost the first page a second.
"""

from __future__ import annotations

from collections.abc import Iterable

import click
from flask import Flask, current_app
from flask.cli import AppGroup, with_appcontext
from flask_migrate import upgrade

from app.backends.bm25 import checked
from app.backends.corpora import CORPORA, VITAL
from app.preparing import Step, corpus_index, index_folder, steps
from app.preparing import prepare as carry_out
from app.reasoning.errors import ModelUnavailable
from app.settings import Settings

corpus = AppGroup("corpus", help="The corpora that evidence comes from.")


def register(app: Flask) -> None:
    """Make the commands known to `flask --app app`."""
    app.cli.add_command(prepare)
    app.cli.add_command(corpus)


@click.command()
@with_appcontext
def prepare() -> None:
    """Make what the first claim needs: unpacked weights, corpus index, database. What is made already stays."""
    _carry_out([*steps(_settings()), database()])


def database() -> Step:
    """The tables, brought to the newest version; the same as `flask --app app db upgrade`."""
    return Step("Bring the database up to date", lambda: False, lambda say: upgrade())


@corpus.command("build")
@click.argument("name", type=click.Choice(list(CORPORA)), required=False)
@click.option("--if-needed", is_flag=True, help="Leave an index that is whole and up to date.")
def build(name: str | None, if_needed: bool) -> None:
    """Build the index of the corpus NAME (the one in use when not given) anew."""
    _carry_out([corpus_index(_settings(), CORPORA[name or VITAL.name])], anew=not if_needed)


@corpus.command("list")
def listing() -> None:
    """Every corpus, where its text is from, and how its index stands."""
    for each in CORPORA.values():
        try:
            state = f"{checked(index_folder(_settings(), each.name)).count:,} passages"
        except ModelUnavailable as error:
            state = str(error)
        click.echo(f"{each.name}\t{each.title} ({each.source})\t{state}")


def _carry_out(todo: Iterable[Step], anew: bool = False) -> None:
    try:
        carry_out(todo, click.echo, anew)
    except ModelUnavailable as error:
        raise click.ClickException(str(error)) from None


def _settings() -> Settings:
    return current_app.extensions["hopcheck"].settings
