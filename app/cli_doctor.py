"""`flask --app app doctor`: what is wrong here, in plain words, and how to mend it."""

from __future__ import annotations

import json
from dataclasses import asdict

import click
from flask import Flask, current_app
from flask.cli import with_appcontext

from app.doctor.checks import CHECKS, ONLINE
from app.doctor.findings import State, examine, lines


def register(app: Flask) -> None:
    """Make the command known to `flask --app app`."""
    app.cli.add_command(doctor)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON list.")
@click.option("--online", is_flag=True, help="Also ask each language model for one word, which may cost a little.")
@with_appcontext
def doctor(as_json: bool, online: bool) -> None:
    """Look at everything that Hopcheck needs. Exits 0 when there is no problem, 1 when there is one."""
    found = list(examine(current_app.extensions["hopcheck"].settings, CHECKS + ONLINE if online else CHECKS))
    if as_json:
        click.echo(json.dumps([asdict(finding) for finding in found], ensure_ascii=False))
    else:
        for line in lines(found):
            click.echo(line)
    if any(finding.state is State.PROBLEM for finding in found):
        raise SystemExit(1)
