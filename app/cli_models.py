"""`flask --app app models ...`: what can be chosen here, what cannot and why, and fetching models by name."""

from __future__ import annotations

import click
from flask import Flask, current_app
from flask.cli import AppGroup, with_appcontext

from app.backends.local.loading import fetch as fetch_model
from app.capabilities import Choice
from app.domain.errors import ModelUnavailable

FETCHED = {
    "flan-t5": "flan_t5",
    "reader": "reader",
    "judge": "judge",
    "question-seq2seq": "question_seq2seq",
    "next-question-seq2seq": "next_question_seq2seq",
}
"""What can be fetched, and the setting that names it."""

models = AppGroup("models", help="The models and modules that runs can be made of.")


def register(app: Flask) -> None:
    """Make the commands known to `flask --app app`."""
    app.cli.add_command(models)


@models.command("list")
@with_appcontext
def listing() -> None:
    """Every module's options: what is available, why not, and the command or setting that makes it so."""
    for group in current_app.extensions["hopcheck"].wiring.catalogue():
        click.echo(f"{group.title}{f'  ({group.setting})' if group.setting else ''}")
        for choice in group.choices:
            click.echo(_line(choice))
            for line in _details(choice):
                click.echo(f"                          {line}")


@models.command("fetch")
@click.argument("name", type=click.Choice(list(FETCHED)))
@with_appcontext
def fetch(name: str) -> None:
    """Download the model that the setting of that name names (FLAN_T5, READER, JUDGE, ...), for later runs to use."""
    model = getattr(current_app.extensions["hopcheck"].settings, FETCHED[name])
    if not model:
        raise click.UsageError(f"{FETCHED[name].upper()} is not set, so there is nothing to fetch.")
    click.echo(f"Fetching {model} ...")
    try:
        click.echo(f"{model} lies in {fetch_model(model)}")
    except ModelUnavailable as error:
        raise click.ClickException(str(error)) from None


def _line(choice: Choice) -> str:
    return f"  {'yes' if choice.available else 'no ':3} {choice.name:18}  {choice.title}"


def _details(choice: Choice) -> list[str]:
    """Who gets what people write, and why a choice cannot be had."""
    told = [f"sends claims to {choice.destination}"] if choice.destination else []
    if not choice.available:
        told.append(f"{choice.reason} Mend it with: {choice.mend}" if choice.mend else choice.reason)
    return told
