"""`flask --app app evaluate FILE ...`: the local judge and its reasoner or whole runs, measured on a data set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from flask import Flask, current_app
from flask.cli import with_appcontext

from app.cli_errors import told_in_one_line
from app.evaluation.datasets import FORMATS, Row, read_rows
from app.evaluation.given_sentences import NAME as GIVEN
from app.evaluation.given_sentences import given_sentences as sentences_given
from app.evaluation.harness import Judge, chosen, is_right, predict
from app.evaluation.predictions import Prediction, Predictions, write_json
from app.gold_judging import gold_judge
from app.offers import SEARCHES
from app.reasoning.errors import InvalidInput
from app.reasoning.types import LabelSet
from app.run_judging import run_judge
from app.runs.codec import encode_options
from app.training.pairs import row_is_held_out

TOLD_EVERY = 10
"""Rows between two lines of progress."""
NOT_MEASURED = ("long documents", "metadata", "dates")
"""What given sentences cannot show: they have no page behind them, no title and no date."""
STOPPED = 130
"""What a shell expects of a command that Ctrl-C has ended."""


def register(app: Flask) -> None:
    """Make the command known to `flask --app app`."""
    app.cli.add_command(evaluate)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--format", "format_name", required=True, type=click.Choice(list(FORMATS)), help="Data set of FILE.")
@click.option(
    "--labels",
    default=LabelSet.THREE.value,
    show_default=True,
    type=click.Choice([each.value for each in LabelSet]),
    help="Labels to choose from.",
)
@click.option(
    "--evidence",
    required=True,
    type=click.Choice(["gold", "run"]),
    help="What is judged by: the data set's own evidence, or what a whole run finds.",
)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the results.")
@click.option("--strategy", help="With --evidence run: how to check; STRATEGY when not given.")
@click.option("--given-sentences", is_flag=True, help="With --evidence run: search finds what FILE has as `web`.")
@click.option("--held-out", is_flag=True, help="Only rows that the judge that ships was not trained on.")
@click.option("--limit", type=click.IntRange(1), help="Only so many rows, the first after shuffling.")
@click.option("--seed", default=7, show_default=True, help="Seeds the shuffling.")
@with_appcontext
def evaluate(
    file: Path,
    format_name: str,
    labels: str,
    evidence: str,
    strategy: str | None,
    given_sentences: bool,
    out: Path,
    held_out: bool,
    limit: int | None,
    seed: int,
) -> None:
    """Measure the judge, or whole runs, on the claims of FILE; OUT gets predictions.jsonl and metrics.json.

    The same command goes on where it was stopped. Exits 0 when all is measured, 2 on bad input, 1 on failure.
    """
    from app.evaluation.figures import measured  # scipy: no server that starts should wait for it

    label_set = LabelSet(labels)
    with told_in_one_line():
        rows, left_out = _rows(file, format_name, label_set, held_out, seed, limit, evidence == "gold")
        judge, judged_by = _judge(evidence, label_set, strategy, file if given_sentences else None)
        about = {"data": _hash(file), "format": format_name, "labels": labels, "evidence": evidence} | judged_by
        with Predictions(out, about) as predictions:
            made = predict(rows, judge, predictions)
            found = _followed(made, rows, label_set, predictions.path)
        figures = measured(rows, found, label_set)
        settings = {"file": file.name, "held_out": held_out, "seed": seed, "limit": limit, "left_out": left_out}
        notes = {"not_measured": NOT_MEASURED} if given_sentences else {}
        write_json(out / "metrics.json", about | settings | notes | figures)
    _tell(figures, out)


def _judge(evidence: str, labels: LabelSet, strategy: str | None, given: Path | None) -> tuple[Judge, dict[str, Any]]:
    """Who says a label for each row, and what its predictions depend on.

    Raises InvalidInput for what cannot run here, and for a file of given sentences without any.
    """
    wiring = current_app.extensions["hopcheck"].wiring
    judged_by: dict[str, Any] = {"judge": wiring.judge_name()}
    if evidence == "gold":
        return gold_judge(wiring.weigher(), wiring.sufficient, labels), judged_by
    options = replace(wiring.defaults(strategy), labels=labels)
    if given:
        options = replace(options, answerer=SEARCHES)
    options = wiring.offers().at_work(options)
    found = sentences_given(given) if given else None
    used = replace(options, search=GIVEN, corpora=()) if given else options
    used = replace(used, modules=wiring.modules(used))
    judged_by |= {"options": encode_options(used), "given_sentences": given is not None}
    return run_judge(wiring.strategy_for(options), used, found), judged_by


def _rows(
    file: Path, format_name: str, labels: LabelSet, held_out: bool, seed: int, limit: int | None, gold: bool
) -> tuple[list[Row], dict[str, int]]:
    """The rows to measure and how many were left out, by why. Raises InvalidInput when none is left."""
    read = read_rows(file, format_name)
    rows = [row for row in read if not held_out or row_is_held_out(row.id, row.group, row.hops)]
    kept, left_out = chosen(rows, labels, seed, limit, gold)
    if len(rows) < len(read):
        left_out["not held out"] = len(read) - len(rows)
    told = ", ".join(f"{count} {why}" for why, count in left_out.items())
    if not kept:
        raise InvalidInput(f"{file.name} has no row that can be measured so; left out: {told}.", "file")
    click.echo(f"{len(kept)} of {len(read)} rows{f', left out: {told}' if told else ''}", err=True)
    return kept, left_out


def _hash(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()[:16]


def _followed(made: Iterable[Prediction], rows: Sequence[Row], labels: LabelSet, path: Path) -> list[Prediction]:
    """The predictions, told of as they come. Ctrl-C leaves whole lines and says how to go on."""
    found: list[Prediction] = []
    right = failed = 0
    try:
        for row, prediction in zip(rows, made, strict=True):
            found.append(prediction)
            right += is_right(row, prediction, labels)
            failed += prediction.label is None
            if len(found) % TOLD_EVERY == 0 or len(found) == len(rows):
                click.echo(f"{len(found)} of {len(rows)}: accuracy {right / len(found):.3f}, {failed} failed", err=True)
    except KeyboardInterrupt:
        click.echo(f"\nStopped after {len(found)} of {len(rows)}; {path} has them.", err=True)
        click.echo("The same command goes on from there.", err=True)
        raise SystemExit(STOPPED) from None
    return found


def _tell(figures: dict[str, Any], out: Path) -> None:
    def line(name: str, row: dict[str, Any]) -> str:
        auc = "none" if row["auc"] is None else f"{row['auc']:.3f}"
        figures = f"accuracy {row['accuracy']:.3f}  macro-F1 {row['macro_f1']:.3f}  AUC {auc}"
        return f"{name:7} n {row['n']:5}  failed {row['failed']:4}  {figures}"

    click.echo(line("all", figures))
    for hops, row in figures["by_hops"].items():
        click.echo(line(f"{hops}-hop", row))
    for label, row in figures["per_class"].items():
        told = "  ".join(f"{name} {row[name]:.3f}" for name in ("precision", "recall", "f1"))
        click.echo(f"{label:21} n {row['n']:5}  {told}")
    click.echo(f"written to {out / 'metrics.json'}")
