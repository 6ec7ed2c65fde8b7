"""`flask --app app runs ...`: what the operator can do about published reports."""

from __future__ import annotations

import click
from flask import Flask, current_app
from flask.cli import AppGroup

from app.cli_errors import told_in_one_line
from app.runs.publishing import Publishing

runs = AppGroup("runs", help="Reports that their owners have published (PUBLISHING=on).")

MOST_SHOWN = 1000


def register(app: Flask) -> None:
    """Make the commands known to `flask --app app`."""
    app.cli.add_command(runs)


@runs.command("published")
def published() -> None:
    """List what is published, the last first: when, its id, its label and its claim."""
    with told_in_one_line():
        found = _publishing().listed(limit=MOST_SHOWN)
    for each in found:
        click.echo(f"{each.published_at:%Y-%m-%d %H:%M}  {each.id}  {each.label}  {' '.join(each.claim.split())}")
    if len(found) == MOST_SHOWN:
        click.echo("There may be more.", err=True)


@runs.command("take-down")
@click.argument("run_id")
def take_down(run_id: str) -> None:
    """Take the report RUN_ID out of the gallery for good. Its owner cannot publish it again and is told why."""
    with told_in_one_line():
        taken = _publishing().take_down(run_id)
    if not taken:
        raise click.ClickException("There is no such report, or it was taken down already.")
    click.echo("Taken down. Whoever has its link can still read it.")


@runs.command("allow")
@click.argument("run_id")
def allow(run_id: str) -> None:
    """Let the owner publish the report RUN_ID again, which was taken down."""
    with told_in_one_line():
        allowed = _publishing().allow(run_id)
    if not allowed:
        raise click.ClickException("There is no such report that was taken down.")
    click.echo("Its owner may publish it again.")


def _publishing() -> Publishing:
    return current_app.extensions["hopcheck"].runs.publishing
