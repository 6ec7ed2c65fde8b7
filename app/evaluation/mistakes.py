"""The first wrong rows in full, for whoever wants to read where an evaluation went wrong and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.domain.model import LabelSet
from app.evaluation.datasets import Row
from app.evaluation.harness import is_right
from app.evaluation.predictions import Prediction
from app.evaluation.retrieval import pages_missed

MOST = 30


def mistakes(rows: Sequence[Row], predictions: Sequence[Prediction], labels: LabelSet) -> str:
    """Markdown: of the first wrong rows, in the seed's order, claim, labels, pairs, and missed gold pages."""
    both = zip(rows, predictions, strict=True)
    wrong = [(row, prediction) for row, prediction in both if not is_right(row, prediction, labels)]
    head = f"# {min(MOST, len(wrong))} of {len(wrong)} rows that are wrong\n"
    return "\n".join([head, *("\n".join(_told(row, prediction)) + "\n" for row, prediction in wrong[:MOST])])


def _told(row: Row, prediction: Prediction) -> Iterator[str]:
    said = f"said {prediction.label.value}" if prediction.label else f"failed: {prediction.problem}"
    sure = f" ({prediction.confidence:.2f})" if prediction.confidence is not None else ""
    depth = f", {row.hops}-hop" if row.hops else ""
    yield f"## {row.id}{depth}\n"
    yield f"{row.claim}\n"
    yield f"- the set says {row.label.value}, {said}{sure}"
    yield from (f"- {piece.question} **{piece.answer}**" for piece in prediction.evidence)
    if missed := pages_missed(row, prediction):
        yield f"- not looked at: {', '.join(missed)}"
    yield from (f"- {trouble}" for trouble in prediction.troubles)
