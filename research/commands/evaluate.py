"""The commands `datasets`, `evaluate` and `results`: data sets, measuring on one, and comparing evaluations."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click
from flask.cli import AppGroup, with_appcontext

from app.cli.output import EXIT_INTERRUPTED, confirm_costs, one_line_errors, range_type
from app.domain.errors import InvalidInput
from app.domain.model import LabelSet
from app.web import services
from research.evaluation.baselines import BASELINES
from research.evaluation.datasets import FORMATS, Row, read_released
from research.evaluation.harness import is_right
from research.evaluation.official import HOVER, SOURCES, with_texts
from research.evaluation.predictions import Prediction, write_text

TABLES = ("qacheck-1", "papelo-1", "papelo-2", "papelo-3")
MAX_TITLE_HITS = 10
"""Search results among which the article with a title is looked for."""
PROGRESS_EVERY = 10
"""Rows between progress lines."""

datasets = AppGroup("datasets", help="The data sets of the papers: where they are, and what they need.")


@datasets.command("list")
def list_datasets() -> None:
    """List the data sets with their files, licence, size, and what else each needs."""
    for each in SOURCES:
        click.echo(f"{each.name}: {each.title}")
        size = f" ({each.megabytes:g} MB)" if each.megabytes else ""
        click.echo(f"  from     {each.address}")
        click.echo(f"  files    {', '.join([f'{each.files[0]}{size}', *each.files[1:]])}")
        click.echo(f"  licence  {each.licence}")
        click.echo(f"  needs    {each.also}\n")


@datasets.command("prepare")
@click.argument("name", type=click.Choice([HOVER]))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--corpus", required=True, help="Corpus of Wikipedia that has the articles.")
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File to write.")
def prepare_dataset(name: str, file: Path, corpus: str, out: Path) -> None:
    """Add the texts of the articles to FILE, a released file of the data set NAME, which has only their titles.

    A row whose articles are not all in the corpus is left out.
    """
    from app.container.container import corpus_registry

    with one_line_errors():
        rows = read_released(file, name)
        retriever = corpus_registry(services().settings).retriever(corpus)

        @cache
        def text_of(title: str) -> str:
            found = retriever.retrieve(title, MAX_TITLE_HITS)
            hit = next((each for each in found if each.title.casefold() == title.casefold()), None)
            return (hit and retriever.article(hit.title, hit.text, hit.url or "")) or ""

        filled = [full for row in rows if (full := with_texts(row, text_of))]
        write_text(out, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in filled))
    click.echo(f"{len(filled)} of {len(rows)} rows have the texts of all their articles; written to {out}.")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--format", required=True, type=click.Choice(list(FORMATS)), help="Data set of FILE.")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the results.")
@click.option("--evidence", type=click.Choice(["gold", "run"]), help="Judge FILE's own evidence, or whole runs.")
@click.option("--baseline", type=click.Choice(BASELINES), help="Measure a simple baseline instead of --evidence.")
@click.option("--table", type=click.Choice(TABLES), help="Reproduce a paper's table instead of --evidence.")
@click.option(
    "--labels",
    default=LabelSet.THREE.value,
    show_default=True,
    type=click.Choice([each.value for each in LabelSet]),
    help="Labels to choose from; a table's rows have their own.",
)
@click.option("--strategy", help="Of runs: how to check; default: STRATEGY.")
@click.option("--preset", help="Of runs: mix of modules.")
@click.option("--answerer", help="Of runs: what answers; default: ANSWERER.")
@click.option("--model", help="Of runs: language model.")
@click.option("--corpus", "corpora", multiple=True, help="Of runs: a corpus to search, repeatable; default: CORPORA.")
@click.option("--given-sentences", is_flag=True, help="Of runs: search only the sentences that FILE has as `web`.")
@click.option("--held-out", is_flag=True, help="Only rows that `train adapter` leaves out.")
@click.option("--all-rows", is_flag=True, help="Keep rows whose label is not among --labels; they count as wrong.")
@click.option("--first", type=click.IntRange(1), help="Only the first N rows of FILE.", metavar="N")
@click.option("--limit", type=click.IntRange(1), help="Only N rows, the first after shuffling.", metavar="N")
@click.option("--per-hops", type=click.IntRange(1), help="Only N rows of each number of hops.", metavar="N")
@click.option("--seed", default=7, show_default=True, help="Seeds the shuffling and the intervals.")
@click.option("--model-seed", type=range_type("model_seed"), help="Of runs: seed of the language model's replies.")
@click.option("--temperature", type=range_type("temperature"), help="Of runs: temperature of its replies.")
@click.option("--max-tokens", type=range_type("max_tokens"), help="Of runs: tokens of a reply at most.")
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    help="Rows evaluated at once; default: 8 with a language model on a server, else 1.",
)
@click.option("--estimate", is_flag=True, help="Print the estimated calls, tokens, cost and hours, and stop.")
@click.option("--yes", is_flag=True, help="Do not ask before a language model on a server is called.")
@with_appcontext
def evaluate(table: str | None, labels: str, evidence: str | None, estimate: bool, yes: bool, **chosen: Any) -> None:
    """Measure the judge, whole runs, a baseline or a paper's table on the claims of FILE, and write the results to OUT.

    The same command resumes an evaluation that was stopped. Exits 0 on success, 2 on bad input, 1 on failure.
    """
    with one_line_errors():
        from research.evaluation.evaluate import EvaluationConfig  # imports scipy, and Flask imports each command

        if sum(map(bool, (table, evidence, chosen["baseline"]))) != 1:
            raise InvalidInput("Give one of --evidence, --baseline and --table.", "evidence")
        config = EvaluationConfig(labels=LabelSet(labels), evidence=evidence or "run", **chosen)
        if estimate:
            _print_estimate(table, config)
        elif table:
            if not yes:
                _confirm_table(table, config)
            _print_table(table, config)
        else:
            _print_figures(_measure(config, confirm=not yes), config.out)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def results(folders: tuple[Path, ...]) -> None:
    """Print the evaluations in FOLDERS side by side as a Markdown table, by the names of their folders."""
    with one_line_errors():
        from research.evaluation.report import by_name, side_by_side

        figures = {name: _figures_in(folder) for name, folder in by_name(folders).items()}
        click.echo(side_by_side(figures), nl=False)


def _figures_in(folder: Path) -> dict[str, Any]:
    """Return the figures in a folder. Raises InvalidInput when there are none with intervals."""
    try:
        found = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
        if "intervals" in found:
            return found
    except (FileNotFoundError, ValueError):
        pass
    raise InvalidInput(f"{folder} has no complete figures; run the command of its evaluation again.", "folders")


def _measure(config: Any, confirm: bool = False) -> dict[str, Any]:
    from research.evaluation.evaluate import measure

    def follow(predictions: Iterable[Prediction], rows: Sequence[Row]) -> list[Prediction]:
        return _collect(predictions, rows, config.labels, config.out)

    return measure(config, _context(), _say, follow, confirm_costs if confirm else lambda: None).figures


def _context() -> Any:
    from research.evaluation.evaluate import EvaluationContext
    from research.evaluation.metering import metering_of

    hopcheck = services()
    metering = metering_of(hopcheck.runs, hopcheck.settings.database_url)
    return EvaluationContext(hopcheck.container, hopcheck.settings, metering)


def _print_estimate(table: str | None, config: Any) -> None:
    from research.evaluation.evaluate import expected_cost
    from research.evaluation.paper_tables import TABLES as papers
    from research.evaluation.paper_tables import estimate_table

    if table:
        lines, _ = estimate_table(papers[table], config, _context())
        click.echo("\n".join(lines))
        return
    cost = expected_cost(config, _context(), _say)
    click.echo(str(cost) if cost else "No language model on a server is called.")


def _confirm_table(table: str, config: Any) -> None:
    """Print the estimate of a table and ask, if a language model on a server is called."""
    from research.evaluation.paper_tables import TABLES as papers
    from research.evaluation.paper_tables import estimate_table

    lines, total = estimate_table(papers[table], config, _context())
    if total.calls:
        _say("\n".join(lines))
        confirm_costs()


def _print_table(name: str, config: Any) -> None:
    from research.evaluation.paper_tables import TABLES as papers
    from research.evaluation.paper_tables import as_markdown, run_table

    outcomes = run_table(papers[name], config, services().container, _measure)
    table = as_markdown(papers[name], outcomes, config.format)
    config.out.mkdir(parents=True, exist_ok=True)
    write_text(config.out / "table.md", table)
    click.echo(table)


def _collect(predictions: Iterable[Prediction], rows: Sequence[Row], labels: LabelSet, out: Path) -> list[Prediction]:
    """Collect the predictions and print progress. After Ctrl-C, exit; the same command resumes."""
    stored = _stored_ids(out)
    found: list[Prediction] = []
    correct = failed = 0
    started = time.monotonic()
    try:
        for row, prediction in zip(rows, predictions, strict=True):
            found.append(prediction)
            correct += is_right(row, prediction, labels)
            failed += prediction.label is None
            if len(found) % PROGRESS_EVERY == 0 or len(found) == len(rows):
                score = f"accuracy {correct / len(found):.3f}, {failed} failed"
                _say(f"{len(found)} of {len(rows)}: {score}, {_pace(found, rows, stored, started)}")
    except KeyboardInterrupt:
        _say(f"\nStopped after {len(found)} of {len(rows)}; {out / 'predictions.jsonl'} has them.")
        _say("The same command resumes there.")
        raise SystemExit(EXIT_INTERRUPTED) from None
    return found


def _stored_ids(out: Path) -> frozenset[str]:
    """Return the ids of the rows whose labels are stored in `out`; they are not predicted again."""
    file = out / "predictions.jsonl"
    lines = file.read_bytes().splitlines() if file.exists() else ()
    labels = {made["id"]: made["label"] for made in map(json.loads, lines)}
    return frozenset(row_id for row_id, label in labels.items() if label is not None)


def _pace(found: Sequence[Prediction], rows: Sequence[Row], stored: frozenset[str], started: float) -> str:
    """Return the mean time of a row, and the remaining time at the pace of the new rows since `started`."""
    seconds = sum(each.spent.seconds for each in found) / len(found)
    new = sum(row.id not in stored for row in rows[: len(found)])
    to_do = sum(row.id not in stored for row in rows[len(found) :])
    left = f", about {(time.monotonic() - started) / new * to_do / 60:.0f} min left" if new and to_do else ""
    return f"{seconds:.1f} s a row{left}"


def _say(line: str) -> None:
    click.echo(line, err=True)


def _print_figures(figures: dict[str, Any], out: Path) -> None:
    def line(name: str, row: dict[str, Any]) -> str:
        auc = "none" if row["auc"] is None else f"{row['auc']:.3f}"
        values = f"accuracy {row['accuracy']:.3f}  macro-F1 {row['macro_f1']:.3f}  AUC {auc}"
        return f"{name:7} n {row['n']:5}  failed {row['failed']:4}  {values}"

    click.echo(line("all", figures))
    for hops, row in figures["by_hops"].items():
        click.echo(line(f"{hops}-hop", row))
    for label, row in figures["per_class"].items():
        values = "  ".join(f"{name} {row[name]:.3f}" for name in ("precision", "recall", "f1"))
        click.echo(f"{label:21} n {row['n']:5}  {values}")
    for problem, count in figures["problems"].items():
        click.echo(f"failed {count} times: {problem}")
    click.echo(f"written to {out / 'metrics.json'}")
