"""The papers' tables, row by row: the evaluation that a row runs here, beside the figures that the paper reports.

A row that cannot run here says why. The others are evaluations of their own, each in a folder of its own, so that a
table goes on where it stopped and grows when a model is set up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.capabilities.options import PURSUIT
from app.domain.errors import InvalidInput, ModelUnavailable
from app.domain.model import LabelSet
from app.presets import PURSUIT_PRESETS
from research.evaluation.cost import Cost
from research.evaluation.datasets import read_rows
from research.evaluation.evaluate import Order, Site, expected, options_of
from research.evaluation.labels import Gold
from research.evaluation.report import share, table
from research.evaluation.reported import Measure, reported_for

NOT_REPORTED = "not reported"
NOT_RUN_HERE = "reported only: a system of others that is not part of Hopcheck"


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row. Without a `strategy` nothing runs. `name` is its folder, and its name in reported.py.

    `instead` is the preset that runs where `preset` lacks its fine-tuned model.
    """

    name: str
    title: str
    strategy: str | None = None
    preset: str | None = None
    answerer: str | None = None
    model: str | None = None
    labels: LabelSet = LabelSet.TWO
    instead: str | None = None


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table: its formats, what is measured in it, and its rows.

    `columns` are the parts of the data that the paper measured on; the first is the one that is compared with ours.
    `whole` keeps rows whose label none of the labels can match, `sentences` leaves out rows that need tables.
    """

    name: str
    title: str
    formats: tuple[str, ...]
    measures: tuple[Measure, ...]
    rows: tuple[TableRow, ...]
    columns: tuple[str, ...] = ()
    whole: bool = False
    sentences: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a row: its figures, or the reason why it has none, and what differs from the paper's row."""

    row: TableRow
    figures: dict[str, Any] | None = None
    reason: str = ""
    note: str = ""


def _pursuit(name: str) -> TableRow:
    """A row of the ablations. All decide between two labels, as the submitted system does, but the one of four."""
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
        whole=True,
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
        whole=True,
    ),
)
TABLES = {each.name: each for each in _ALL}


def order_of(row: TableRow, paper: PaperTable, order: Order) -> Order:
    """The row's own evaluation, made from the order for the whole table."""
    return replace(
        order,
        out=order.out / row.name,
        labels=row.labels,
        evidence="run",
        strategy=row.strategy,
        preset=row.preset,
        answerer=row.answerer,
        model=row.model or order.model,
        all_rows=paper.whole,
        sentences=paper.sentences,
    )


def run_table(paper: PaperTable, order: Order, container: Any, run: Callable[[Order], dict[str, Any]]) -> list[Outcome]:
    """Every row carried out by `run`, which hands back its figures, or the reason why it was not."""
    if order.format not in paper.formats:
        raise InvalidInput(f"This table is for the formats {' and '.join(paper.formats)}.", "format")
    if paper.measures == ("share",):
        return _counted(paper, order)
    return [_outcome(row, paper, order, container, run) for row in paper.rows]


def expected_of(paper: PaperTable, order: Order, site: Site, say: Callable[[str], None]) -> Iterator[str]:
    """Yield a line for each row with what it will take, and one for all that can run. Raises InvalidInput."""
    total = Cost(0)

    def run(own: Order) -> dict[str, Any]:
        nonlocal total
        cost = expected(own, site, say)
        total += cost or Cost(0)
        return {"cost": cost}

    for each in run_table(paper, order, site.container, run):
        cost = (each.figures or {}).get("cost")
        yield f"{each.row.title}: {cost or each.reason or 'nothing of a language model'}"
    yield f"In all: {total}"


def _counted(paper: PaperTable, order: Order) -> list[Outcome]:
    """The labels of the file; nothing is run."""
    rows = read_rows(order.file, order.format)[: order.first]
    count = Counter(row.label.value for row in rows)
    return [
        Outcome(row, {"n": count[row.name], "failed": 0, "by_hops": {}, "share": count[row.name] / len(rows)})
        for row in paper.rows
    ]


def _outcome(
    row: TableRow, paper: PaperTable, order: Order, container: Any, run: Callable[[Order], dict[str, Any]]
) -> Outcome:
    if row.strategy is None:
        return Outcome(row, reason=NOT_RUN_HERE)
    note = ""
    own = order_of(row, paper, order)
    try:
        options_of(own, container)
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


def _difference(order: Order, container: Any) -> str:
    """What differs from the paper's row in the parts that run here."""
    first = dict(options_of(order, container).modules).get("first question", "")
    ours = order.preset and PURSUIT_PRESETS.get(order.preset)
    is_replaced = bool(ours and ours.first == "seq" and first.endswith("prompted"))
    return "the language model asks the first question" if is_replaced else ""


def as_markdown(paper: PaperTable, outcomes: Sequence[Outcome], format_name: str) -> str:
    """The table in Markdown, the paper's figures beside ours; what was not run says why."""
    head = ["row", "n", "failed"]
    for measure in paper.measures:
        for column in _columns(paper, outcomes, format_name):
            head += [f"{_words(column)}, {_NAMES.get(measure, measure)}: {what}" for what in _sides(paper, column)]
    cells = [_cells(each, paper, _columns(paper, outcomes, format_name)) for each in outcomes]
    return f"# {paper.title}\n\n{table(head, cells)}"


_NAMES: dict[str, str] = {
    "macro_f1": "macro-F1",
    "supported": "F1 of supported",
    "refuted": "F1 of refuted",
    "not_enough": "F1 of not enough",
    "conflicting": "F1 of conflicting",
    "averitec": "AVeriTeC at 0.25",
}
_CLASSES: dict[str, Gold] = {
    "supported": Gold.SUPPORTED,
    "refuted": Gold.REFUTED,
    "not_enough": Gold.NOT_ENOUGH_EVIDENCE,
    "conflicting": Gold.CONFLICTING_EVIDENCE,
}


def _columns(paper: PaperTable, outcomes: Sequence[Outcome], format_name: str) -> list[str]:
    """HoVer is split by hops, those that the rows have or, where nothing ran, those of the paper."""
    if paper.columns:
        return list(paper.columns)
    if format_name == "feverous":
        return ["FEVEROUS-S"]
    return sorted({hops for each in outcomes for hops in (each.figures or {}).get("by_hops", ())}) or ["2", "3", "4"]


def _sides(paper: PaperTable, column: str) -> tuple[str, ...]:
    """Our figures stand in the first of the paper's own columns, and in every column that the file is split into."""
    return ("here", "reported") if not paper.columns or column == paper.columns[0] else ("reported",)


def _words(column: str) -> str:
    return f"HoVer {column}-hop" if column.isdigit() else column


def _cells(outcome: Outcome, paper: PaperTable, columns: Sequence[str]) -> list[str]:
    figures, note = outcome.figures, f" ({outcome.note})" if outcome.note else ""
    cells = [outcome.row.title + note, *(str(figures[each]) if figures else "" for each in ("n", "failed"))]
    for measure in paper.measures:
        for column in columns:
            if "here" in _sides(paper, column):
                cells.append(_ours(outcome, column, measure))
            told = reported_for(paper.name, outcome.row.name, column, measure)
            cells.append(NOT_REPORTED if told is None else f"{told:.4f}" if measure == "macro_f1" else f"{told:.3f}")
    return cells


def _ours(outcome: Outcome, column: str, measure: Measure) -> str:
    figures = outcome.figures
    if figures is None:
        return outcome.reason
    if measure == "averitec":
        return share(figures["averitec"]["scores"]["0.25"] if "averitec" in figures else None)
    if measure == "share":
        return share(figures["share"])
    if measure in _CLASSES:
        of = figures["per_class"].get(_CLASSES[measure].value)
        return share(of["f1"]) if of else "no rows"
    found = figures["by_hops"].get(column) if column.isdigit() else figures
    return share(found[measure], found["intervals"][measure]) if found else "no rows"
