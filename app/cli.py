"""The command line: `flask --app app check "CLAIM"` checks a claim right here and stores the run like any other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from flask import Flask, current_app
from flask.cli import with_appcontext

from app import (
    cli_cache,
    cli_corpus,
    cli_doctor,
    cli_evaluate,
    cli_models,
    cli_runs,
    cli_setup,
    cli_tokens,
    cli_train,
    cli_worker,
)
from app.capabilities import Capabilities
from app.cli_check_file import check_file, go_on
from app.cli_errors import told_in_one_line
from app.cli_telling import Say, printable, tell, tell_verdict
from app.domain.events import TERMINAL
from app.domain.model import LabelSet, RunOptions
from app.domain.report import Report, fold
from app.run_request import RunRequest, resolve_options
from app.runs.export import run_as_dict
from app.runs.service import Runs, StoredEvent
from app.settings import MOST_HOPS

OWNER = "command line"
WAIT_SECONDS = 5.0

_EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
_WRITABLE = click.Path(dir_okay=False, writable=True, path_type=Path)


def register(app: Flask) -> None:
    """Make the commands known to `flask --app app`."""
    app.cli.add_command(check)
    cli_runs.register(app)
    cli_setup.register(app)
    cli_corpus.register(app)
    cli_train.register(app)
    cli_models.register(app)
    cli_cache.register(app)
    cli_doctor.register(app)
    cli_evaluate.register(app)
    cli_tokens.register(app)
    cli_worker.register(app)


@click.command()
@click.argument("claim", required=False)
@click.option("--file", "claims_file", type=_EXISTING, help="Check a batch: the claims of a CSV, JSONL or text file.")
@click.option("--batch", help="Go on with an earlier batch, by the id that it told.")
@click.option("--out", type=_WRITABLE, help="Where a batch's results go: a .csv file, or JSON Lines.")
@click.option("--speaker", default="", help="Who made the claim.")
@click.option(
    "--date", "said_on", default="", help="The day it was made on, like 2020-10-31: nothing later is evidence."
)
@click.option(
    "--strategy", help="How to check: question-guided, evidence-pursuit, or a baseline; STRATEGY if not given."
)
@click.option("--preset", help="Mix of modules, or way of pursuing evidence; PRESET when not given.")
@click.option("--answerer", help="Who answers the questions; ANSWERER when not given, web-search in a pursuit.")
@click.option("--search", help="Search engine of web-search, or corpus; SEARCH when not given.")
@click.option("--dated", is_flag=True, help="Of what web-search finds, leave out what has no date.")
@click.option("--no-fact-checks", is_flag=True, help="Of what web-search finds, leave out what fact-checkers wrote.")
@click.option("--model", help="Language model for what prompts one; the first that is set up when not given.")
@click.option("--corpora", help="Corpora to search, with commas between; CORPORA when not given.")
@click.option("--fresh", is_flag=True, help="Ask everything anew, also what the cache knows.")
@click.option("--labels", type=click.Choice([each.value for each in LabelSet]), help="Labels; three, or the preset's.")
@click.option("--max-hops", type=click.IntRange(1, MOST_HOPS), help="Questions asked at most; MAX_HOPS when not given.")
@click.option("--json", "as_json", is_flag=True, help="Print the run as one JSON object; hops go to standard error.")
@with_appcontext
def check(
    claim: str | None,
    claims_file: Path | None,
    batch: str | None,
    out: Path | None,
    speaker: str,
    said_on: str,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Check CLAIM hop by hop, or all claims of a file. Exits 0 with a verdict, 2 on bad input, 1 on failure.

    `flask --app app models list` says what can be chosen here.
    """
    if sum(each is not None for each in (claim, claims_file, batch)) != 1:
        raise click.UsageError("Give one claim, a file of claims, or a batch to go on with.")
    if claim is None:
        return _check_batch(claims_file, batch, out, chosen)
    _check_claim(claim, speaker, said_on, as_json, chosen)


def _check_batch(claims_file: Path | None, batch: str | None, out: Path | None, chosen: dict[str, Any]) -> None:
    runs = current_app.extensions["hopcheck"].runs
    with told_in_one_line():
        if claims_file is None:
            whole = go_on(runs, batch or "", out)
        else:
            here = current_app.extensions["hopcheck"].wiring.capabilities()
            options = resolve_options(_raw(**chosen), here)
            _tell_destination(options, here)
            whole = check_file(runs, claims_file, options, OWNER, out)
    if not whole:
        raise click.ClickException("Not every claim came to a verdict.")


def _check_claim(claim: str, speaker: str, said_on: str, as_json: bool, chosen: dict[str, Any]) -> None:
    runs = current_app.extensions["hopcheck"].runs

    def say(line: str) -> None:
        click.echo(printable(line), err=as_json)

    with told_in_one_line():
        here = current_app.extensions["hopcheck"].wiring.capabilities()
        sent = RunRequest.resolve({"claim": claim, "speaker": speaker, "date": said_on, **_raw(**chosen)}, here)
        _tell_destination(sent.options, here)
        run_id = runs.start(sent.claim, sent.options, OWNER)
        report = _follow(runs, run_id, say)
        stored = runs.report(run_id) if as_json else None
    if stored:
        click.echo(json.dumps(run_as_dict(stored), ensure_ascii=False))
    elif report.verdict:
        tell_verdict(report.verdict, report, say)
    if not report.verdict:
        raise click.ClickException(printable(report.problem))


def _raw(corpora: str | None, dated: bool, no_fact_checks: bool, **chosen: Any) -> dict[str, Any]:
    """What was chosen, as RunRequest.resolve takes it."""
    given = {name: value for name, value in chosen.items() if value is not None}
    if corpora is not None:
        given["corpora"] = tuple(name.strip() for name in corpora.split(",") if name.strip())
    return {**given, "undated": not dated, "fact_checks": not no_fact_checks}


def _tell_destination(options: RunOptions, capabilities: Capabilities) -> None:
    """Say who gets what was typed before it is sent anywhere."""
    if host := capabilities.destination(options):
        click.echo(f"The claim, questions and evidence are sent to {host}.", err=True)
    if host := capabilities.searched_at(options):
        click.echo(f"The claim and questions are searched for at {host}, and the pages found are opened.", err=True)


def _follow(runs: Runs, run_id: str, say: Say, wait: float = WAIT_SECONDS) -> Report:
    """Say what happens until the run has ended, and return its report. Ctrl-C ends the run."""
    seen: list[StoredEvent] = []
    try:
        while not (seen and isinstance(seen[-1].event, TERMINAL)):
            news = runs.follow(run_id, seen[-1].seq if seen else 0, wait)
            for stored in news:
                seen.append(stored)
                tell(stored.event, say)
            if not news:
                runs.wake(run_id)  # if its database failed for a while, nobody else may be there to take it up
    except KeyboardInterrupt:
        runs.interrupt(run_id, "It was stopped at the keyboard.")
        raise
    return fold((stored.event, stored.seconds) for stored in seen)
