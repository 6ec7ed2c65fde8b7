"""The command group `train`: train the judge, the reader and the question generators (docs/training.md).

Training is seeded, logs its loss and time, and uses a GPU if there is one. A repeated command resumes from the
checkpoint in OUT. Heavy imports are inside the commands, so that others start fast.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from flask.cli import AppGroup

from app.backends.local.loading import fetch, is_path, why_missing
from app.cli.output import EXIT_INTERRUPTED, one_line_errors

train = AppGroup("train", help="Train the judge, the reader, or models that ask questions.")

SEED = 7
THREADS = 2

Command = Callable[..., Any]
_data = click.option("--data", required=True, type=click.Path(path_type=Path), help="Data to train on.")
_out = click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the weights."
)
_seed = click.option("--seed", default=SEED, show_default=True, help="Seed of all random numbers.")


def _base(default: str | None, about: str) -> Callable[[Command], Command]:
    """Return the option `--base`: a name on the hub, or a folder."""
    return click.option("--base", default=default, show_default=bool(default), help=about)


@train.command("entailment")
@_data
@_base(None, "Causal language model to start from: a name on the hub, or a folder. SmolLM2-135M when left out.")
@_out
@_seed
@click.option("--minutes", default=60.0, show_default=True, help="Maximum duration of training.")
@click.option("--epochs", default=1, show_default=True, type=click.IntRange(1), help="Passes over the data.")
@click.option("--rank", default=32, show_default=True, type=click.IntRange(1), help="Rank of the adapter.")
@click.option(
    "--resume-from",
    type=click.Path(exists=True, path_type=Path),
    help="Start from the weights of an earlier run: its checkpoint, or the folder with its adapter.",
)
@click.option(
    "--neighbours",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Sentences that a search finds for each claim, from `python -m research.training.neighbours`.",
)
def entailment(
    data: Path,
    base: str | None,
    out: Path,
    seed: int,
    minutes: float,
    epochs: int,
    rank: int,
    resume_from: Path | None,
    neighbours: Path | None,
) -> None:
    """Train the judge on the sets in the folder DATA, then measure and calibrate it on held-out pairs."""
    with _training_session(out):
        from research.claims.data import CLAIMS_FILE, read_claims
        from research.training.adapter_training import AdapterSettings
        from research.training.calibration import calibrate
        from research.training.files import first_adapted_layer, require_judge_base, require_judge_data
        from research.training.judge import train as train_judge
        from research.training.judge_examples import epochs_of, held_out

        require_judge_data(data)
        start = require_judge_base(_downloaded(base)) if base else _packaged_base()
        claims = read_claims(data / CLAIMS_FILE)
        settings = AdapterSettings(
            seed=seed, minutes=minutes, epochs=epochs, rank=rank, first_layer=first_adapted_layer(start)
        )
        retrieved = json.loads(neighbours.read_text(encoding="utf-8")) if neighbours else None
        measured, families = held_out(data, claims), epochs_of(data, claims, epochs, seed, retrieved)
        card = train_judge(families, measured, start, out, settings, resume_from, threads=THREADS)
        click.echo(f"trained on {card['trained_on']} pairs in {card['minutes']} minutes (data {card['data_hash']})")
        for source, row in calibrate(start, out, measured, THREADS)["by_source"].items():
            shown = {name: "none " if value is None else f"{value:.3f}" for name, value in row.items()}
            line = f"three-way {shown['three_way']}  AUC {shown['auc']}  false supported {shown['false_supported']}"
            click.echo(f"{source:22} n {row['n']:4}  {line}")


@train.command("question-generator")
@_data
@_base("google/flan-t5-base", "Sequence-to-sequence model to start from: a name on the hub, or a folder.")
@_out
@_seed
@click.option("--only", type=click.Choice(["first", "next"]), help="Train one of the two models. Both when left out.")
@click.option("--epochs", default=3, show_default=True, type=click.IntRange(1), help="Passes over the data.")
@click.option("--batch-size", default=4, show_default=True, type=click.IntRange(1), help="Examples in one step.")
@click.option("--learning-rate", default=5e-5, show_default=True, type=click.FloatRange(0, min_open=True))
@click.option(
    "--rank", default=0, show_default=True, type=click.IntRange(0), help="Rank of an adapter; 0: all weights."
)
def question_generator(
    data: Path, base: str, out: Path, seed: int, only: str | None, epochs: int, batch_size: int, **rest: Any
) -> None:
    """Train the models that ask the first and the next question on the claims and questions in the file DATA.

    OUT/first-question and OUT/next-question get one each, for QUESTION_SEQ2SEQ and NEXT_QUESTION_SEQ2SEQ.
    """
    with _training_session(out):
        from research.training.fine_tuning import Tuning
        from research.training.question_generator import FIRST, NEXT
        from research.training.question_generator import train as train_questioner
        from research.training.question_generator_data import read_asked

        asked, start = read_asked(data), _downloaded(base)
        tuning = Tuning(seed=seed, epochs=epochs, batch_size=batch_size, **rest)
        for questioner in {"first": (FIRST,), "next": (NEXT,), None: (FIRST, NEXT)}[only]:
            card = train_questioner(asked, start, out / questioner.name, questioner, tuning, THREADS)
            measured = "" if card["held_out_loss"] is None else f", loss {card['held_out_loss']} on held-out claims"
            text = f"trained on {card['examples']} examples in {card['minutes']} minutes (data {card['data_hash']})"
            click.echo(f"{out / questioner.name}: {text}{measured}")


@train.command("reader")
@_data
@_base(None, "Encoder to start from: a name on the hub, or a folder. Hopcheck's own small reader when left out.")
@_out
@_seed
@click.option("--minutes", default=27.0, show_default=True, help="Maximum duration of training without --base.")
@click.option(
    "--epochs", default=2, show_default=True, type=click.IntRange(1), help="Passes over the data, with --base."
)
@click.option(
    "--continue-from",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a reader of Hopcheck's own to train further, on longer windows and all unanswerable questions.",
)
def reader(
    data: Path, base: str | None, out: Path, seed: int, minutes: float, epochs: int, continue_from: Path | None
) -> None:
    """Train a reader on SQuAD's files in the folder DATA, and measure it on held-out articles.

    With --base, OUT gets a folder for READER; without, weights for Hopcheck's own reader.
    """
    if base and continue_from:
        raise click.UsageError("--base and --continue-from are two places to start from; give one of them.")
    with _training_session(out):
        from research.training.files import require_squad

        require_squad(data)
        if base:
            _train_base_reader(data, _downloaded(base), out, seed, epochs)
            return
        from research.training.reader import CONTINUED, ReaderSettings
        from research.training.reader_run import make_reader

        settings = replace(CONTINUED if continue_from else ReaderSettings(), seed=seed, minutes=minutes)
        for source, parts in make_reader(data, out, settings, THREADS, continue_from).items():
            for part, row in parts.items():
                click.echo(f"{source:24} {part:14} n {row['n']:4}  EM {row['EM']}  F1 {row['F1']}")


def _train_base_reader(data: Path, base: str, out: Path, seed: int, epochs: int) -> None:
    from research.training.base_reader import TUNING
    from research.training.base_reader import train as train_reader
    from research.training.squad import squad_examples

    card = train_reader(squad_examples(data), base, out, replace(TUNING, seed=seed, epochs=epochs), THREADS)
    held = card["held_out"]
    click.echo(f"trained on {card['questions']} questions in {card['minutes']} minutes (data {card['data_hash']})")
    click.echo(f"held out: n {held['n']}  EM {held['EM']}  F1 {held['F1']}")


@contextmanager
def _training_session(out: Path) -> Iterator[None]:
    """Log progress to standard error and turn errors into one line; after Ctrl-C, name the checkpoint and exit."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        with one_line_errors():
            yield
    except KeyboardInterrupt:
        kept = sorted(out.glob("checkpoint.pt")) + sorted(out.glob("*/checkpoint.pt"))
        text = f"{kept[-1]} is kept, and the same command resumes from it" if kept else "There was no checkpoint yet"
        click.echo(f"\nStopped. {text}.", err=True)
        raise SystemExit(EXIT_INTERRUPTED) from None


def _downloaded(base: str) -> str:
    """Return `base`, after downloading it if it is a name on the hub that is not on this machine."""
    if not is_path(base) and why_missing(base):
        click.echo(f"Fetching {base} ...", err=True)
        fetch(base)
    return base


def _packaged_base() -> Path:
    raise click.UsageError("Name a base with --base.")
