"""`check --file CLAIMS.csv`: a batch that is carried out right here, and what came of it as a file."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import click

from app.cli_telling import printable
from app.domain.errors import InvalidInput
from app.domain.model import RunOptions
from app.runs.batch_files import read_claims
from app.runs.batch_results import as_csv, as_jsonl
from app.runs.batches import BatchState, Progress
from app.runs.service import Runs

LOOK_SECONDS = 0.5

NO_SUCH_BATCH = "There is no batch of that id that could go on."


def check_file(runs: Runs, path: Path, options: RunOptions, owner: str, out: Path | None) -> bool:
    """Check every claim of the file and write the results; whether all came to a verdict.

    Raises InvalidInput for a file that cannot be taken, and OSError.
    """
    lines = read_claims(path.read_bytes(), path.name)
    return _see_through(runs, runs.start_batch(lines, options, owner, path.name), out)


def go_on(runs: Runs, batch_id: str, out: Path | None) -> bool:
    """The same for a batch that was left earlier, or one that stands done."""
    batch = runs.batches.get(batch_id)
    if batch is None or batch.state is BatchState.CANCELLED:
        raise InvalidInput(NO_SUCH_BATCH, "batch")
    runs.batch_steering.resume(batch_id)
    return _see_through(runs, batch_id, out)


def _see_through(runs: Runs, batch_id: str, out: Path | None) -> bool:
    """Carry the batch out with progress on standard error. Ctrl-C pauses it, and so does a day that is spent."""
    _say(f"Batch {batch_id}; --batch {batch_id} goes on with it.")
    try:
        _carry_out(runs, batch_id)
    except BaseException:
        runs.batch_steering.pause(batch_id)
        raise
    _write(runs, batch_id, out)
    progress = runs.batches.progress(batch_id)
    return progress.with_verdict == progress.total


def _carry_out(runs: Runs, batch_id: str) -> None:
    """Feed the batch and name its runs until it is done; the database says what is left of it."""
    told = None
    while True:
        runs.feeder.feed()
        for run_id in runs.batch_steering.unfinished(batch_id):
            runs.wake(run_id)
        progress = runs.batches.progress(batch_id)
        if progress != told:
            _say(_words(progress))
        told = progress
        batch = runs.batches.get(batch_id)
        if batch is None or batch.state is not BatchState.GOING:
            return
        if reason := runs.feeder.held_up():
            raise click.ClickException(reason)
        time.sleep(LOOK_SECONDS)


def _words(progress: Progress) -> str:
    counts = ", ".join(f"{number} {name}" for name, number in sorted(progress.counts.items()))
    return f"{progress.done} of {progress.total} done: {counts}"


def _write(runs: Runs, batch_id: str, out: Path | None) -> None:
    """The results as CSV where the file is called so, else as JSON Lines; to standard output without a file."""
    write: Callable = as_csv if out and out.suffix.lower() == ".csv" else as_jsonl
    written = write(runs.batches.all_claims(batch_id), lambda run_id: f"/runs/{run_id}")
    if out is None:
        for line in written:
            click.echo(line, nl=False)
        return
    with out.open("w", encoding="utf-8", newline="") as file:
        file.writelines(written)
    _say(f"Results are in {out}.")


def _say(line: str) -> None:
    click.echo(printable(line), err=True)
