"""The command group `train`: train the local model's adapter, and question generators (docs/training.md).

Training is seeded, logs its loss and time, and uses a GPU if there is one. A repeated command resumes from the
checkpoint in OUT. Heavy imports are inside the commands, so that others start fast.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from flask.cli import AppGroup

from app.backends.hub import fetch, is_path, why_missing
from app.backends.local.base_model import base_model_path
from app.capabilities.options import VITAL
from app.cli.output import EXIT_INTERRUPTED, one_line_errors
from app.container.container import corpus_registry
from app.modules.transcript import Source
from app.web import services

train = AppGroup("train", help="Train the adapter of the local model, or models that ask questions.")

SEED = 7
THREADS = 2

_data = click.option("--data", required=True, type=click.Path(path_type=Path), help="Data to train on.")
_out = click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the weights."
)
_seed = click.option("--seed", default=SEED, show_default=True, help="Seed of all random numbers.")


@train.command("adapter")
@_data
@click.option(
    "--base",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="GGUF file of the language model. The one that Hopcheck runs on when left out.",
)
@_out
@_seed
@click.option(
    "--minutes", type=click.FloatRange(0, min_open=True), help="Maximum duration. All examples when left out."
)
@click.option("--epochs", default=2, show_default=True, type=click.IntRange(1), help="Passes over the claims.")
@click.option("--rank", default=16, show_default=True, type=click.IntRange(1), help="Rank of the adapter.")
@click.option("--learning-rate", default=2e-4, show_default=True, type=click.FloatRange(0, min_open=True))
@click.option("--batch-tokens", type=click.IntRange(1), help="Tokens in one step. 12288 on a GPU, else 1024.")
@click.option(
    "--start",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Adapter to go on from: GGUF or safetensors, of the same rank.",
)
@click.option(
    "--first-block",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Lowest block of the base that gets an adapter; a higher one trains faster.",
)
@click.option(
    "--task",
    default="transcript",
    show_default=True,
    type=click.Choice(["transcript", "remaining", "calculation"]),
    help="Which adapter to train: of the transcript, of what remains of a claim after an answer, or of calculations.",
)
@click.option("--examples-only", is_flag=True, help="Write OUT/tokens.npz, to train on another machine.")
def adapter(
    data: Path,
    base: Path | None,
    out: Path,
    epochs: int,
    batch_tokens: int | None,
    start: Path | None,
    task: str,
    examples_only: bool,
    **rest: Any,
) -> None:
    """Train an adapter of the local model on transcripts of the sets in the folder DATA.

    OUT gets adapter.gguf, and training.json with figures on held-out examples.
    """
    with _training_session(out):
        from research.training import calculations, remaining, transcripts
        from research.training.adapter import TUNING, WEIGHTS, convert, table
        from research.training.adapter import train as train_adapter
        from research.training.gguf_base import describe
        from research.training.tokens import Tokens, tokenizer_of

        base = base or base_model_path(services().settings)
        about = describe(base)
        if task == "transcript":
            made = list(transcripts.examples(data, _search(), epochs, rest["seed"]))
        else:
            rewriting = remaining if task == "remaining" else calculations
            made = list(rewriting.examples(data, epochs, rest["seed"]))
        tokens = Tokens.of(made, tokenizer_of(base), about)
        click.echo(f"{len(made)} transcripts, {len(tokens.tokens)} tokens (data {tokens.about['data_hash']})")
        if examples_only:
            tokens.save(out / "tokens.npz")
            return
        card = train_adapter(tokens, base, out, replace(TUNING, **rest), batch_tokens, start)
        convert(out / WEIGHTS, out / "adapter.gguf")
        click.echo(table(card))


def _search() -> Callable[[str, int], Sequence[Source]]:
    """Return a search of the shipped corpus, as in a run."""
    retriever = corpus_registry(services().settings).retriever(VITAL)
    return lambda query, count: [Source(each.title, each.text) for each in retriever.retrieve(query, count)]


@train.command("question-generator")
@_data
@click.option(
    "--base",
    default="google/flan-t5-base",
    show_default=True,
    help="Sequence-to-sequence model to start from: a name on the hub, or a folder.",
)
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
