"""One evaluation, from its order to the files it writes: which rows, judged by whom, and every figure over them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from app.backends.corpus.index import Manifest
from app.backends.corpus.registry import folder_of
from app.capabilities.options import WEB_SEARCH
from app.config.settings import Settings, settings_fields
from app.domain.errors import InvalidInput, ModelUnavailable
from app.domain.model import LabelSet, RunOptions
from app.run_request import resolve_options
from app.runs.budget import Metering
from app.runs.event_store import encode_options
from research.evaluation.baselines import (
    CLAIM_ONLY,
    EVIDENCE_ONLY,
    MAJORITY,
    claim_only_judge,
    evidence_only_judge,
    majority_judge,
    single_retrieval_judge,
)
from research.evaluation.cost import WORKERS, Cost, estimate, taken
from research.evaluation.datasets import Row, read_rows
from research.evaluation.gold import NAME as GIVEN
from research.evaluation.gold import given_sentences, gold_judge
from research.evaluation.harness import Judge, chosen, predict
from research.evaluation.outputs import Evaluation, write_outputs
from research.evaluation.predictions import Prediction, Predictions
from research.evaluation.runs import answerer_for, run_judge, uses_judge
from research.training.pairs import row_is_held_out

NOT_MEASURED = ("long documents", "metadata", "dates")
"""What given sentences cannot show: they have no page behind them, no title and no date."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be measured, and how. What is None or empty is as the settings have it.

    `evidence` is "gold" or "run", and without meaning where `baseline` names one. `all_rows` keeps rows that no label
    of `labels` is right for, as wrong ones; `sentences` leaves out rows whose evidence has tables. `first` rows of the
    file are taken, and of these `limit` after shuffling. `workers` are as many as suit the model when None.
    """

    file: Path
    format: str
    out: Path
    labels: LabelSet = LabelSet.THREE
    evidence: str = "run"
    baseline: str | None = None
    strategy: str | None = None
    preset: str | None = None
    answerer: str | None = None
    model: str | None = None
    corpora: tuple[str, ...] = ()
    given_sentences: bool = False
    held_out: bool = False
    all_rows: bool = False
    sentences: bool = False
    first: int | None = None
    limit: int | None = None
    per_hops: int | None = None
    seed: int = 7
    workers: int | None = None
    model_seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None


Follow = Callable[[Iterable[Prediction], Sequence[Row]], list[Prediction]]
"""Takes the predictions as they come, tells of them, and hands them back."""


@dataclass(frozen=True, slots=True)
class Site:
    """What an evaluation uses of the application. `metering` binds runs to the site's limits; None: nothing does."""

    container: Any
    settings: Settings
    metering: Metering | None = None


def expected(order: Order, site: Site, say: Callable[[str], None]) -> Cost | None:
    """Return what the order will take, in all; None where no language model of a server is asked.

    Raises InvalidInput for what cannot be read or cannot run here.
    """
    rows, _ = _rows(order, say)
    return _expected(order, site, rows, ())


def _expected(order: Order, site: Site, rows: Sequence[Row], made: Iterable[Prediction]) -> Cost | None:
    if order.baseline or order.evidence == "gold":
        return None
    options = options_of(order, site.container)
    return estimate(options, rows, site.settings, order.workers or WORKERS, made)


def measure(order: Order, site: Site, say: Callable[[str], None], follow: Follow) -> Evaluation:
    """Carry the order out, from where it stopped if it did, and write its files.

    Raises InvalidInput for what cannot be read or cannot be measured so, ModelUnavailable for a model that is missing,
    and OSError for a folder that cannot be written.
    """
    rows, left_out = _rows(order, say)
    judge, judged_by = _judge(order, site, rows)
    evidence = order.baseline or order.evidence
    about = {"data": _hash(order.file), "format": order.format, "labels": order.labels.value, "evidence": evidence}
    notes = _notes(order, site.settings, left_out)
    with Predictions(order.out, about | judged_by) as predictions:
        wanted = {row.id for row in rows}
        made = [each for each in predictions.made.values() if each.id in wanted]
        cost = _expected(order, site, rows, made)
        workers = order.workers or (WORKERS if cost else 1)
        if cost:
            say(f"Estimated: {cost}; {len(made)} rows are made already.")
        began = time.monotonic()
        found = follow(predict(rows, judge, predictions, workers), rows)
        took = taken(found, None if made else (time.monotonic() - began) / 3600)
    if cost:
        say(f"It took:   {took}.")
        notes |= {"estimated": asdict(cost), "taken": asdict(took)}
    evaluation = Evaluation(rows, found, order.labels, order.seed, about | judged_by, notes)
    write_outputs(evaluation, order.out, workers)
    return evaluation


def _rows(order: Order, say: Callable[[str], None]) -> tuple[list[Row], dict[str, int]]:
    """The rows to measure and how many were left out, by why. Raises InvalidInput when none is left."""
    read = read_rows(order.file, order.format)[: order.first]
    plain = [row for row in read if not (order.sentences and row.tables)]
    rows = [row for row in plain if not order.held_out or row_is_held_out(row.id, row.group, row.hops)]
    gold = order.baseline == EVIDENCE_ONLY if order.baseline else order.evidence == "gold"
    kept, left_out = chosen(rows, order.labels, order.seed, order.limit, gold, order.all_rows, order.per_hops)
    left_out |= {"needs a table": len(read) - len(plain)} if len(plain) < len(read) else {}
    left_out |= {"not held out": len(plain) - len(rows)} if len(rows) < len(plain) else {}
    told = ", ".join(f"{count} {why}" for why, count in left_out.items())
    if not kept:
        raise InvalidInput(f"{order.file.name} has no row that can be measured so; left out: {told}.", "file")
    say(f"{len(kept)} of {len(read)} rows{f', left out: {told}' if told else ''}")
    return kept, left_out


def _judge(order: Order, site: Site, rows: Sequence[Row]) -> tuple[Judge, dict[str, Any]]:
    """Who says a label for each row, and what its predictions depend on.

    Raises InvalidInput for what cannot run here, and for a file of given sentences without any.
    """
    if order.baseline == MAJORITY:
        judge = majority_judge(rows, order.labels)
        return judge, {"always": judge(rows[0]).label}
    container, judged_by = site.container, dict[str, Any]()
    if order.baseline or order.evidence == "gold":
        judged_by["judge"] = container.judge_name()
        gold = gold_judge(container.evidence_judge(), container.sufficient, order.labels)
        if order.baseline == CLAIM_ONLY:
            return claim_only_judge(gold), judged_by
        if order.baseline == EVIDENCE_ONLY:
            return evidence_only_judge(gold), judged_by
        if not order.baseline:
            return gold, judged_by
    options = options_of(order, container)
    given = given_sentences(order.file) if order.given_sentences else None
    used = replace(options, search=GIVEN, corpora=()) if order.given_sentences else options
    used = replace(used, modules=container.capabilities().modules(used))
    judged_by |= {"options": encode_options(used), "given_sentences": order.given_sentences}
    judged_by["corpora"] = {name: _checksum(site.settings.instance, name) for name in used.corpora}
    strategy = container.strategy_for(options)
    if order.baseline:
        return single_retrieval_judge(answerer_for(strategy, given), gold), judged_by
    if uses_judge(strategy):
        judged_by["judge"] = container.judge_name()
    return run_judge(strategy, used, given, site.metering), judged_by


def options_of(order: Order, container: Any) -> RunOptions:
    """The options of the order's runs: the settings', with what the order names in their place. Raises InvalidInput."""
    named = {
        "strategy": order.strategy,
        "preset": order.preset,
        "answerer": WEB_SEARCH if order.given_sentences else order.answerer,
        "model": order.model,
        "corpora": order.corpora,
        "model_seed": order.model_seed,
        "temperature": order.temperature,
        "max_tokens": order.max_tokens,
    }
    given = {name: value for name, value in named.items() if value not in (None, "", ())}
    return resolve_options({**given, "labels": order.labels}, container.capabilities())


def _checksum(instance: Path, name: str) -> str | None:
    """Of the file that a built-in corpus is made from, else of the index; None for a corpus that is not there."""
    try:
        manifest = Manifest.read(folder_of(instance, name))
        return manifest.source_checksum or manifest.index_checksum
    except ModelUnavailable:
        return None


def _notes(order: Order, settings: Settings, left_out: dict[str, int]) -> dict[str, Any]:
    """What is told beside the figures. Of the settings those that were set and hold no secret."""
    told = [each for each in settings_fields() if each.repr and getattr(settings, each.name) != each.default]
    return {
        "file": order.file.name,
        "held_out": order.held_out,
        "all_rows": order.all_rows,
        "seed": order.seed,
        "first": order.first,
        "limit": order.limit,
        "per_hops": order.per_hops,
        "left_out": left_out,
        "settings": {each.metadata["env"]: str(getattr(settings, each.name)) for each in told},
        **({"not_measured": NOT_MEASURED} if order.given_sentences else {}),
    }


def _hash(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()[:16]
