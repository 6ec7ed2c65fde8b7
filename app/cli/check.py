"""The command `check`: check a claim, or a file of claims as a batch, in this process and store the runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from flask.cli import with_appcontext

from app.batches.files import as_csv, as_jsonl, ignored_words, read_claims
from app.batches.service import BatchClaim, Batches, BatchState, Progress
from app.capabilities.options import Capabilities
from app.cli.output import (
    Writer,
    confirm_costs,
    escape_for_terminal,
    one_line_errors,
    print_event,
    print_line,
    print_verdict,
    range_type,
)
from app.domain.errors import InvalidInput
from app.domain.messages import Code
from app.domain.model import DEFAULTS, RANGES, TICKS, LabelSet, RunOptions
from app.domain.report import Report, reduce_events
from app.presets import RECIPES
from app.run_request import RunRequest, resolve_options
from app.runs.jobs import RESUBMIT_SECONDS
from app.runs.service import Runs, StoredEvent
from app.runs.transfer import run_as_dict
from app.strategies import ASKING
from app.web import services
from app.web.run_view import verdict_details

OWNER = "command line"
"""The owner of runs that this command starts."""
POLL_SECONDS = 0.5
"""Interval at which a batch is fed and its progress is read."""
_EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
_WRITABLE = click.Path(dir_okay=False, writable=True, path_type=Path)
_LABELS = click.Choice([each.value for each in LabelSet])


def _add_ticks(command: Callable) -> Callable:
    for name, tick in reversed(TICKS.items()):
        default = getattr(DEFAULTS, name)
        command = click.option(f"--{tick.flag}", name, flag_value=not default, default=default, help=tick.help)(command)
    return command


def _add_numbers(command: Callable) -> Callable:
    for name in (each.name for each in reversed(fields(RunOptions)) if each.name in RANGES):
        about = f"{RANGES[name].help}; default: {RANGES[name].setting.upper()}."
        command = click.option(f"--{name.replace('_', '-')}", type=range_type(name), help=about)(command)
    return command


@click.command()
@click.argument("claim", required=False)
@click.option("--file", "claims_file", type=_EXISTING, help="Check a batch: the claims of a CSV, JSONL or text file.")
@click.option("--batch", help="Resume the batch with this id, which --file prints at its start.")
@click.option("--yes", is_flag=True, help="With --file: call a language model on a server without asking first.")
@click.option("--out", type=_WRITABLE, help="File for a batch's results: CSV if named .csv, else JSON Lines.")
@click.option("--speaker", default="", help="Who made the claim.")
@click.option(
    "--date", default="", help="Date of the claim, like 2020-10-31: web pages of that day or later are no evidence."
)
@click.option("--strategy", help=f"Strategy: {', '.join(ASKING)}, or a baseline; default: STRATEGY.")
@click.option("--preset", help="Preset of modules, or of an evidence pursuit; default: PRESET.")
@click.option("--recipe", help=f"Method: {', '.join(RECIPES)}. Options given besides replace its own.")
@click.option("--source", help="Source of the answers: web, or a corpus; default: SOURCE.")
@click.option(
    "--answerer", help="Module that answers; default: the preset's, else ANSWERER, or web-search in a pursuit."
)
@click.option("--search", help="Search engine of web-search, or corpus for the corpora; default: SEARCH.")
@_add_ticks
@click.option("--model", help="Language model of the prompted modules; default: the first that is set up.")
@click.option("--corpora", help="Corpora to search, separated by commas; default: CORPORA.")
@click.option("--fresh", is_flag=True, help="Repeat every call instead of using cached replies.")
@click.option("--labels", type=_LABELS, help="Labels that the verdict may have; default: the preset's, else three.")
@_add_numbers
@click.option("--json", "as_json", is_flag=True, help="Print the run as one JSON object; hops go to standard error.")
@with_appcontext
def check(
    claim: str | None,
    claims_file: Path | None,
    batch: str | None,
    yes: bool,
    out: Path | None,
    speaker: str,
    date: str,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Check CLAIM hop by hop, or all claims of a file. Exits 0 with a verdict, 2 on bad input, 1 on failure.

    The command `models list` lists the values that can be chosen here.
    """
    if sum(each is not None for each in (claim, claims_file, batch)) != 1:
        raise click.UsageError("Give one claim, a file of claims, or a batch to resume.")
    _refuse_options_without_effect(claim, claims_file)
    if claim is not None:
        _check_claim(claim, speaker, date, as_json, chosen)
    elif claims_file is not None:
        _check_file(claims_file, out, not yes, chosen)
    elif batch is not None:
        _resume_batch(batch, out)


def _refuse_options_without_effect(claim: str | None, claims_file: Path | None) -> None:
    """Raise UsageError for given options without effect on a claim, a file or an earlier batch; `--yes` is allowed."""
    context = click.get_current_context()
    given = {
        each.name: each.opts[0]
        for each in context.command.params
        if context.get_parameter_source(each.name or "") is ParameterSource.COMMANDLINE
    }
    if claim is not None:
        subject, unused = "a single claim", given.keys() & {"out"}
    elif claims_file is not None:
        subject, unused = "--file", given.keys() & {"speaker", "date", "as_json"}
    else:
        subject, unused = "--batch", given.keys() - {"batch", "out", "yes"}
    if unused:
        flags = ", ".join(flag for name, flag in given.items() if name in unused)
        raise click.UsageError(f"No effect with {subject}: {flags}.")


@one_line_errors()
def _check_file(claims_file: Path, out: Path | None, confirm: bool, chosen: dict[str, Any]) -> None:
    batches, capabilities = services().batches, services().container.capabilities()
    options = resolve_options(_raw_options(**chosen), capabilities)
    _print_destination(options, capabilities)
    lines, ignored = read_claims(claims_file.read_bytes(), claims_file.name)
    if ignored:
        print_line(ignored_words(ignored), err=True)
    _print_estimate([line.claim.text for line in lines if not line.problem], options, confirm)
    _run_batch(batches, batches.start(lines, options, OWNER, claims_file.name), out)


@one_line_errors()
def _resume_batch(batch_id: str, out: Path | None) -> None:
    batches = services().batches
    batch = batches.get(batch_id)
    if batch is None or batch.state is BatchState.CANCELLED:
        raise InvalidInput("There is no batch with this id that could be resumed.", "batch")
    batches.resume(batch_id)
    _run_batch(batches, batch_id, out)


def _run_batch(batches: Batches, batch_id: str, out: Path | None) -> None:
    """Run the batch, print progress and write results; raise ClickException if a claim got no verdict.

    Any exception while it runs, including Ctrl-C, pauses it.
    """
    batch = batches.get(batch_id)
    if batch and batch.state is BatchState.GOING:
        print_line(f"Batch {batch_id} is running; if interrupted, resume it with --batch {batch_id}.", err=True)
    try:
        _run_until_complete(batches, batch_id)
    except BaseException:
        batches.pause(batch_id)
        raise
    _write_results(batches, batch_id, out)
    progress = batches.progress(batch_id)
    if progress.with_verdict != progress.total:
        raise click.ClickException("Not every claim got a verdict.")


def _run_until_complete(batches: Batches, batch_id: str) -> None:
    shown = None
    while True:
        batches.feed()
        for run_id in batches.unfinished(batch_id):
            batches.runs.wake(run_id)  # continues it if its process has ended
        progress = batches.progress(batch_id)
        if progress != shown:
            print_line(_progress_line(progress), err=True)
        shown = progress
        batch = batches.get(batch_id)
        if batch is None or batch.state is not BatchState.GOING:
            return
        if reason := batches.held_up(batch_id):
            raise click.ClickException(reason)
        time.sleep(POLL_SECONDS)


def _progress_line(progress: Progress) -> str:
    counts = ", ".join(f"{number} {name}" for name, number in sorted(progress.counts.items()))
    return f"{progress.done} of {progress.total} done: {counts}"


def _write_results(batches: Batches, batch_id: str, out: Path | None) -> None:
    """Write the results as CSV for a .csv file, else as JSON Lines; to standard output without a file."""
    write: Callable = as_csv if out and out.suffix.lower() == ".csv" else as_jsonl

    def details(claim: BatchClaim) -> dict[str, str]:
        run = batches.runs.report(claim.run_id) if claim.run_id else None
        return {"permalink": f"/runs/{run.id}", **verdict_details(run)} if run else {}

    written = write(batches.all_claims(batch_id), details)
    if out is None:
        for line in written:
            click.echo(line, nl=False)
        return
    with out.open("w", encoding="utf-8", newline="") as file:
        file.writelines(written)
    print_line(f"Results are in {out}.", err=True)


def _print_estimate(claims: Sequence[str], options: RunOptions, confirm: bool) -> None:
    cost: object = services().container.capabilities().destination(options) and "unknown without `research`"
    if find_spec("research"):
        from research.evaluation.cost import estimate, unlabelled

        settings = services().settings
        cost = estimate(options, unlabelled(claims), settings, settings.workers)
    if cost:
        print_line(f"Estimated: {cost}.", err=True)
        if confirm:
            confirm_costs()


def _check_claim(claim: str, speaker: str, date: str, as_json: bool, chosen: dict[str, Any]) -> None:
    runs = services().runs
    say = partial(print_line, err=as_json)
    with one_line_errors():
        capabilities = services().container.capabilities()
        run_request = RunRequest.resolve(
            {"claim": claim, "speaker": speaker, "date": date, **_raw_options(**chosen)}, capabilities
        )
        _print_destination(run_request.options, capabilities)
        run_id = runs.start(run_request.claim, run_request.options, OWNER)
        report = _follow(runs, run_id, say)
        stored = runs.report(run_id) if as_json else None
    if stored:
        click.echo(json.dumps(run_as_dict(stored), ensure_ascii=False))
    elif report.verdict:
        print_verdict(report.verdict, report, say)
    if not report.verdict:
        raise click.ClickException(escape_for_terminal(str(report.problem)))


def _raw_options(corpora: str | None, **chosen: Any) -> dict[str, Any]:
    given = {name: value for name, value in chosen.items() if value is not None}
    if corpora is not None:
        given["corpora"] = tuple(name.strip() for name in corpora.split(",") if name.strip())
    return given


def _print_destination(options: RunOptions, capabilities: Capabilities) -> None:
    if host := capabilities.destination(options):
        click.echo(f"The claim, questions and evidence are sent to {host}.", err=True)
    if host := capabilities.searched_at(options):
        click.echo(f"The claim and questions are searched for at {host}, and the pages found are opened.", err=True)
    if options.look_up_fact_checks and (host := capabilities.fact_checks.destination):
        click.echo(f"The claim is sent to {host}, where published fact-checks are looked up.", err=True)


def _follow(runs: Runs, run_id: str, say: Writer, wait: float = RESUBMIT_SECONDS) -> Report:
    """Print the run's events until it has ended, and return its report. Ctrl-C ends the run."""
    seen: list[StoredEvent] = []
    try:
        for stored in runs.until_end(run_id, wait=wait):
            seen.append(stored)
            print_event(stored.event, say)
    except KeyboardInterrupt:
        runs.interrupt(run_id, Code.STOPPED_AT_KEYBOARD())
        raise
    return reduce_events((stored.event, stored.seconds) for stored in seen)
