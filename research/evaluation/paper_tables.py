"""The papers' tables, row by row: what a row runs here, or that it is the paper's alone.

A row whose models are missing is told of as not run, with the reason; the others are evaluations of their own, each in
a folder of its own, so that a table goes on where it stopped and grows when a model is set up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.capabilities.options import PURSUIT
from app.domain.errors import InvalidInput, ModelUnavailable
from app.domain.model import LabelSet
from app.presets import PURSUIT_PRESETS
from research.evaluation.evaluate import Order, options_of
from research.evaluation.report import share, table
from research.evaluation.reported import Measure, Reported, reported_for

NO_FIGURE = "not looked up"


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row. Without a `strategy` it is the paper's alone. `name` is its folder, and its name in reported.py."""

    name: str
    title: str
    strategy: str | None = None
    preset: str | None = None
    answerer: str | None = None
    labels: LabelSet = LabelSet.TWO


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table: for which formats it is, what is measured in it, and its rows. `whole` keeps all rows of the file."""

    title: str
    formats: tuple[str, ...]
    measures: tuple[Measure, ...]
    rows: tuple[TableRow, ...]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a row: its figures, or why it has none."""

    row: TableRow
    figures: dict[str, Any] | None = None
    reason: str = ""


def _pursuit(name: str) -> TableRow:
    """A row of the ablations. All decide between two labels, as the submitted system does, but the one of four."""
    preset = PURSUIT_PRESETS[name]
    labels = LabelSet.FOUR if preset.labels is LabelSet.FOUR else LabelSet.TWO
    return TableRow(name, preset.title, PURSUIT, name, labels=labels)


_PADDED = ("no-paraphrase", "repeat", "paper", "inflate-to-ten")
_ABLATED = tuple(name for name in PURSUIT_PRESETS if name not in ("seq+llm", "repeat", "inflate-to-ten"))

TABLES = {
    "qacheck-1": PaperTable(
        "QACheck, Table 1 (macro-F1)",
        ("hover", "feverous"),
        ("macro_f1",),
        (
            TableRow("direct", "Language model, asked directly", "direct"),
            TableRow("chain-of-thought", "Language model, chain of thought", "chain-of-thought"),
            TableRow("codex", "Codex"),
            TableRow("flan-t5-alone", "FLAN-T5"),
            TableRow("programfc", "ProgramFC"),
            TableRow("reciter-reader", "QACheck, reciter-reader", "question-guided", "prompted", "reciter-reader"),
            TableRow("flan-t5", "QACheck, FLAN-T5 answers", "question-guided", "prompted", "flan-t5"),
            TableRow(
                "retriever-reader", "QACheck, retriever-reader", "question-guided", "prompted", "retriever-reader"
            ),
            TableRow("local", "This project's local models", "question-guided", "local", "retriever-reader"),
        ),
    ),
    "papelo-2": PaperTable(
        "Papelo, Table 2: one thing changed at a time",
        ("averitec",),
        ("averitec", "accuracy"),
        tuple(_pursuit(name) for name in _ABLATED),
        whole=True,
    ),
    "papelo-3": PaperTable(
        "Papelo, how pairs are padded (for Table 3, whose own rows could not be looked up)",
        ("averitec",),
        ("averitec", "accuracy"),
        tuple(_pursuit(name) for name in _PADDED),
        whole=True,
    ),
}


def order_of(row: TableRow, whole: bool, order: Order) -> Order:
    """The row's own evaluation, made from the order for the whole table."""
    return replace(
        order,
        out=order.out / row.name,
        labels=row.labels,
        evidence="run",
        strategy=row.strategy,
        preset=row.preset,
        answerer=row.answerer,
        all_rows=whole,
    )


def run_table(paper: PaperTable, order: Order, container: Any, run: Callable[[Order], dict[str, Any]]) -> list[Outcome]:
    """Every row carried out by `run`, which hands back its figures, or the reason why it was not."""
    if order.format not in paper.formats:
        raise InvalidInput(f"This table is for the formats {' and '.join(paper.formats)}.", "format")
    return [_outcome(row, order_of(row, paper.whole, order), container, run) for row in paper.rows]


def _outcome(row: TableRow, order: Order, container: Any, run: Callable[[Order], dict[str, Any]]) -> Outcome:
    if row.strategy is None:
        return Outcome(row, reason="the paper's alone")
    try:
        options_of(order, container)
    except InvalidInput as error:
        return Outcome(row, reason=f"not run: {error}")
    try:
        return Outcome(row, run(order))
    except ModelUnavailable as error:
        return Outcome(row, reason=f"not run: {error}")


def as_markdown(paper: PaperTable, outcomes: Sequence[Outcome], format_name: str) -> str:
    """The table in Markdown, the paper's figures beside ours; what was not run says why."""
    columns = [(column, measure) for measure in paper.measures for column in _columns(outcomes, format_name)]
    head = ["row", "n", "failed"]
    for column, measure in columns:
        head += [f"{_words(column)}, {measure.replace('_', '-')}: here", "reported"]
    return f"# {paper.title}\n\n{table(head, [_cells(each, columns) for each in outcomes])}"


def _columns(outcomes: Sequence[Outcome], format_name: str) -> list[str]:
    """HoVer is told by hops, those that the rows have or, where nothing ran, those of the paper."""
    if format_name != "hover":
        return [{"feverous": "FEVEROUS", "averitec": "AVeriTeC dev"}[format_name]]
    return sorted({hops for each in outcomes for hops in (each.figures or {}).get("by_hops", ())}) or ["2", "3", "4"]


def _words(column: str) -> str:
    return f"HoVer {column}-hop" if column.isdigit() else column


def _cells(outcome: Outcome, columns: Sequence[tuple[str, Measure]]) -> list[str]:
    figures = outcome.figures
    cells = [outcome.row.title, str(figures["n"]) if figures else "", str(figures["failed"]) if figures else ""]
    for column, measure in columns:
        cells += [_ours(outcome, column, measure), _theirs(reported_for(outcome.row.name, column, measure))]
    return cells


def _ours(outcome: Outcome, column: str, measure: Measure) -> str:
    if outcome.figures is None:
        return outcome.reason
    found = outcome.figures["by_hops"].get(column) if column.isdigit() else outcome.figures
    if measure == "averitec":
        return share(outcome.figures["averitec"]["scores"]["0.25"] if "averitec" in outcome.figures else None)
    return share(found[measure], found["intervals"][measure]) if found else "no rows"


def _theirs(reported: Reported | None) -> str:
    if reported is None:
        return NO_FIGURE
    if reported.difference:
        return f"{-reported.value:.3f} below the submitted system ({reported.place})"
    return f"{reported.value:.4f} ({reported.place})"
