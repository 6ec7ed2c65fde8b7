"""Reproduce the papers' tables: run an evaluation for each row and print our figures beside the reported ones.

Each row is an evaluation with its own folder, so that an interrupted table resumes, and rows that had no model can be
added later. A row that cannot run here has a reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.capabilities.options import PURSUIT
from app.domain.errors import InvalidInput, ModelUnavailable
from app.domain.model import LabelSet
from app.presets import PURSUIT_PRESETS
from research.evaluation.cost import Cost
from research.evaluation.datasets import read_rows
from research.evaluation.evaluate import EvaluationConfig, EvaluationContext, expected_cost, run_options
from research.evaluation.labels import Gold
from research.evaluation.report import format_share, markdown_table
from research.evaluation.reported import Measure, reported_for

NOT_REPORTED = "not reported"
NOT_RUN_HERE = "reported only: a system of others that is not part of Hopcheck"


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table, with the options of its runs."""

    name: str  # of its folder, and of the row in reported.py
    title: str
    strategy: str | None = None  # None: reported only
    preset: str | None = None
    answerer: str | None = None
    model: str | None = None
    labels: LabelSet = LabelSet.TWO
    instead: str | None = None  # preset to run where `preset` cannot run here, for want of its fine-tuned model


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper: the data set formats it is for, its measures and its rows."""

    name: str
    title: str
    formats: tuple[str, ...]
    measures: tuple[Measure, ...]
    rows: tuple[TableRow, ...]
    columns: tuple[str, ...] = ()  # the paper's parts of the data; our figures are compared with the first
    all_rows: bool = False  # as in `EvaluationConfig`
    sentences: bool = False  # as in `EvaluationConfig`


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figures of a row or the reason why it has none; `note` states a difference from the paper's row."""

    row: TableRow
    figures: dict[str, Any] | None = None
    reason: str = ""
    note: str = ""


def _pursuit(name: str) -> TableRow:
    """Return a row of the ablations, with two labels like the submitted system unless its preset has four."""
    preset = PURSUIT_PRESETS["papelo" if name == "llm+llm" else name]
    labels = LabelSet.FOUR if preset.labels is LabelSet.FOUR else LabelSet.TWO
    return TableRow(name, preset.title, PURSUIT, preset.name, labels=labels)


_ABLATED = (
    "all-at-once",
    "llm+llm",
    "seq+seq",
    "four-class",
    "no-late-verdict",
    "no-long-doc",
    "multi-doc",
    "no-metadata",
    "no-paraphrase",
    "repeat",
    "paper",
)
_GUIDED = "question-guided"
_SCORES: tuple[Measure, ...] = ("supported", "refuted", "accuracy", "averitec")

_ALL = (
    PaperTable(
        "qacheck-1",
        "QACheck, Table 1: macro-F1, two labels",
        ("hover", "feverous"),
        ("macro_f1",),
        (
            TableRow("direct", "Language model, asked directly", "direct"),
            TableRow("chain-of-thought", "Language model, few-shot chain of thought", "chain-of-thought"),
            TableRow("codex", "Codex"),
            TableRow("flan-t5-alone", "FLAN-T5, asked directly", "direct", model="flan-t5"),
            TableRow("programfc", "ProgramFC"),
            TableRow("reciter-reader", "QACheck, reciter-reader", _GUIDED, "qacheck", "reciter-reader"),
            TableRow("flan-t5", "QACheck, FLAN-T5 answers", _GUIDED, "qacheck", "flan-t5"),
            TableRow("retriever-reader", "QACheck, retriever-reader", _GUIDED, "qacheck", "retriever-reader"),
            TableRow("prompted", "Hopcheck's own prompts, reciter-reader", _GUIDED, "prompted", "reciter-reader"),
            TableRow("local", "Hopcheck's local models", _GUIDED, "local", "retriever-reader"),
        ),
        sentences=True,
    ),
    PaperTable(
        "papelo-1",
        "Papelo, Table 1: the labels of AVeriTeC",
        ("averitec",),
        ("share",),
        tuple(TableRow(label, label.replace("_", " ").lower()) for label in list(Gold)[:4]),
        ("dev", "train"),
    ),
    PaperTable(
        "papelo-2",
        "Papelo, Table 2: one thing changed at a time; the paper's figures are of the first 200 claims (--first 200)",
        ("averitec",),
        ("supported", "refuted", "not_enough", "conflicting", "accuracy", "averitec"),
        tuple(_pursuit(name) for name in _ABLATED),
        ("dev 200",),
        all_rows=True,
    ),
    PaperTable(
        "papelo-3",
        "Papelo, Table 3: the full sets; the labels of the test set are not published",
        ("averitec",),
        _SCORES,
        (
            TableRow("algorithm-1", "Algorithm 1", PURSUIT, "paper", instead="papelo"),
            TableRow("inflate-to-ten", "Inflated to 10", PURSUIT, "inflate-to-ten"),
        ),
        ("dev", "test"),
        all_rows=True,
    ),
)
TABLES = {each.name: each for each in _ALL}


def row_config(row: TableRow, paper: PaperTable, config: EvaluationConfig) -> EvaluationConfig:
    """Return the configuration of one row, derived from that of the whole table."""
    return replace(
        config,
        out=config.out / row.name,
        labels=row.labels,
        evidence="run",
        strategy=row.strategy,
        preset=row.preset,
        answerer=row.answerer,
        model=row.model or config.model,
        all_rows=paper.all_rows,
        sentences=paper.sentences,
    )


def run_table(
    paper: PaperTable, config: EvaluationConfig, container: Any, run: Callable[[EvaluationConfig], dict[str, Any]]
) -> list[Outcome]:
    """Run every row with `run`, which returns its figures. Raises InvalidInput for the wrong data set format."""
    if config.format not in paper.formats:
        raise InvalidInput(f"This table is for the formats {' and '.join(paper.formats)}.", "format")
    if paper.measures == ("share",):
        return _label_shares(paper, config)
    return [_run_row(row, paper, config, container, run) for row in paper.rows]


def estimate_table(paper: PaperTable, config: EvaluationConfig, context: EvaluationContext) -> tuple[list[str], Cost]:
    """Return a line with the estimated cost of each row and one with their sum, and the sum. Raises InvalidInput."""
    total = Cost(0)

    def run(row: EvaluationConfig) -> dict[str, Any]:
        nonlocal total
        cost = expected_cost(row, context, lambda line: None)
        total += cost or Cost(0)
        return {"cost": cost}

    lines = []
    for each in run_table(paper, config, context.container, run):
        cost = (each.figures or {}).get("cost")
        lines.append(f"{each.row.title}: {cost or each.reason or 'nothing of a language model'}")
    return [*lines, f"In all: {total}"], total


def _label_shares(paper: PaperTable, config: EvaluationConfig) -> list[Outcome]:
    """Count the labels of the file; nothing is run."""
    rows = read_rows(config.file, config.format)[: config.first]
    count = Counter(row.label.value for row in rows)
    return [
        Outcome(row, {"n": count[row.name], "failed": 0, "by_hops": {}, "share": count[row.name] / len(rows)})
        for row in paper.rows
    ]


def _run_row(
    row: TableRow,
    paper: PaperTable,
    config: EvaluationConfig,
    container: Any,
    run: Callable[[EvaluationConfig], dict[str, Any]],
) -> Outcome:
    if row.strategy is None:
        return Outcome(row, reason=NOT_RUN_HERE)
    note = ""
    own = row_config(row, paper, config)
    try:
        run_options(own, container)
    except InvalidInput as error:
        if row.instead is None:
            return Outcome(row, reason=f"not run: {error}")
        own, note = replace(own, preset=row.instead), f"run as {row.instead}"
    try:
        note = note or _difference(own, container)
        return Outcome(row, run(own), note=note)
    except (ModelUnavailable, InvalidInput) as error:
        if isinstance(error, InvalidInput) and error.field in ("file", "out"):
            raise
        return Outcome(row, reason=f"not run: {error}")


def _difference(config: EvaluationConfig, container: Any) -> str:
    """Return the difference between the modules that run here and the paper's, or ""."""
    first = dict(run_options(config, container).modules).get("first question", "")
    ours = config.preset and PURSUIT_PRESETS.get(config.preset)
    is_replaced = bool(ours and ours.first == "seq" and first.endswith("prompted"))
    return "the language model asks the first question" if is_replaced else ""


def as_markdown(paper: PaperTable, outcomes: Sequence[Outcome], format_name: str) -> str:
    """Return the table in Markdown, with the paper's figures beside ours, or the reason why there are none."""
    head = ["row", "n", "failed"]
    for measure in paper.measures:
        for column in _columns(paper, outcomes, format_name):
            head += [
                f"{_column_title(paper, column, what)}, {_MEASURE_NAMES.get(measure, measure)}: {what}"
                for what in _figure_sources(paper, column)
            ]
    cells = [_cells(each, paper, _columns(paper, outcomes, format_name)) for each in outcomes]
    return f"# {paper.title}\n\n{markdown_table(head, cells)}"


_MEASURE_NAMES: dict[str, str] = {
    "macro_f1": "macro-F1",
    "supported": "F1 of supported",
    "refuted": "F1 of refuted",
    "not_enough": "F1 of not enough",
    "conflicting": "F1 of conflicting",
    "averitec": "AVeriTeC at 0.25",
}
_MEASURED_CLASSES: dict[str, Gold] = {
    "supported": Gold.SUPPORTED,
    "refuted": Gold.REFUTED,
    "not_enough": Gold.NOT_ENOUGH_EVIDENCE,
    "conflicting": Gold.CONFLICTING_EVIDENCE,
}


def _columns(paper: PaperTable, outcomes: Sequence[Outcome], format_name: str) -> list[str]:
    """Return the columns. HoVer is split by the number of hops in our rows, or in the paper's if none ran."""
    if paper.columns:
        return list(paper.columns)
    if format_name == "feverous":
        return ["FEVEROUS-S"]
    return sorted({hops for each in outcomes for hops in (each.figures or {}).get("by_hops", ())}) or ["2", "3", "4"]


def _figure_sources(paper: PaperTable, column: str) -> tuple[str, ...]:
    """Return which figures a column has: ours are in the paper's first column, or in all columns split by the data."""
    return ("here", "reported") if not paper.columns or column == paper.columns[0] else ("reported",)


def _column_title(paper: PaperTable, column: str, what: str) -> str:
    if paper.columns and what == "here":
        return "this file"  # which may be another part of the data
    return f"HoVer {column}-hop" if column.isdigit() else column


def _cells(outcome: Outcome, paper: PaperTable, columns: Sequence[str]) -> list[str]:
    figures, note, reason = outcome.figures, f" ({outcome.note})" if outcome.note else "", outcome.reason
    cells = [outcome.row.title + note, *(str(figures[each]) if figures else "" for each in ("n", "failed"))]
    for measure in paper.measures:
        for column in columns:
            if "here" in _figure_sources(paper, column):
                cells.append(_measured_cell(figures, column, measure) if figures else reason)
                reason = ""  # once in a row is enough
            value = reported_for(paper.name, outcome.row.name, column, measure)
            cells.append(NOT_REPORTED if value is None else f"{value:.4f}" if measure == "macro_f1" else f"{value:.3f}")
    return cells


def _measured_cell(figures: Mapping[str, Any], column: str, measure: Measure) -> str:
    if measure == "averitec":
        return format_share(figures["averitec"]["scores"]["0.25"] if "averitec" in figures else None)
    if measure == "share":
        return format_share(figures["share"])
    if measure in _MEASURED_CLASSES:
        of = figures["per_class"].get(_MEASURED_CLASSES[measure].value)
        return format_share(of["f1"]) if of else "no rows"
    found = figures["by_hops"].get(column) if column.isdigit() else figures
    return format_share(found[measure], found["intervals"][measure]) if found else "no rows"
