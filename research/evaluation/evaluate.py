"""Run one evaluation: select rows, predict their labels, compute the figures and write the files."""

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
from app.runs.event_store import encode_options
from research.evaluation.baselines import (
    CLAIM_ONLY,
    EVIDENCE_ONLY,
    MAJORITY,
    claim_only_predictor,
    evidence_only_predictor,
    majority_predictor,
    single_retrieval_predictor,
)
from research.evaluation.cost import MODEL_WORKERS, Cost, estimate, measured_cost
from research.evaluation.datasets import Row, read_rows
from research.evaluation.gold import GIVEN_SENTENCES, gold_predictor, read_given_sentences
from research.evaluation.harness import RowPredictor, predict, select_rows
from research.evaluation.metering import Metering
from research.evaluation.outputs import Evaluation, write_outputs
from research.evaluation.predictions import Prediction, Predictions
from research.evaluation.runs import answerer_for, run_predictor, uses_judge
from research.training.held_out import row_is_held_out

NOT_MEASURED = ("long documents", "metadata", "dates")
"""Features that have no effect with given sentences, which have no page, title or date."""


@dataclass(frozen=True, slots=True)
class EvaluationConfig:
    """The data, method and row selection of an evaluation. Options that are None or empty are taken from the settings.

    Rows are selected in this order: the `first` rows of the file, `per_hops` and `limit` after shuffling by `seed`.
    """

    file: Path
    format: str
    out: Path
    labels: LabelSet = LabelSet.THREE
    evidence: str = "run"  # "gold" or "run"; ignored with a baseline
    baseline: str | None = None
    strategy: str | None = None
    preset: str | None = None
    answerer: str | None = None
    model: str | None = None
    corpora: tuple[str, ...] = ()
    given_sentences: bool = False  # search only the file's own sentences
    held_out: bool = False  # only rows that the shipped judge was not trained on
    all_rows: bool = False  # keep rows for which none of `labels` is right; they count as wrong
    sentences: bool = False  # leave out rows whose evidence has tables
    first: int | None = None
    limit: int | None = None
    per_hops: int | None = None
    seed: int = 7
    workers: int | None = None
    model_seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None


CollectPredictions = Callable[[Iterable[Prediction], Sequence[Row]], list[Prediction]]
"""Function that collects the predictions in a list and reports progress."""


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """The parts of the application that an evaluation uses."""

    container: Any
    settings: Settings
    metering: Metering | None = None  # applies the site's daily limits; without it there are none


def expected_cost(config: EvaluationConfig, context: EvaluationContext, say: Callable[[str], None]) -> Cost | None:
    """Return the estimated cost of all rows; None without a remote language model.

    Raises InvalidInput for a file that cannot be read or options that cannot run here.
    """
    rows, _ = _select_rows(config, say)
    return _expected_cost(config, context, rows, ())


def _expected_cost(
    config: EvaluationConfig, context: EvaluationContext, rows: Sequence[Row], made: Iterable[Prediction]
) -> Cost | None:
    if config.baseline or config.evidence == "gold":
        return None
    options = run_options(config, context.container)
    return estimate(options, rows, context.settings, config.workers or MODEL_WORKERS, made)


def measure(
    config: EvaluationConfig,
    context: EvaluationContext,
    say: Callable[[str], None],
    collect: CollectPredictions,
    confirm: Callable[[], object] = lambda: None,
) -> Evaluation:
    """Run the evaluation, resuming it if it was interrupted, and write its files.

    Before calls of a language model the estimate is said, then `confirm` called, which may raise.

    Raises InvalidInput for an unreadable file or unusable options, ModelUnavailable for a missing model, and OSError
    for a folder that cannot be written.
    """
    rows, left_out = _select_rows(config, say)
    predictor, judged_by = _build_predictor(config, context, rows)
    evidence = config.baseline or config.evidence
    about = {
        "data": _file_hash(config.file),
        "format": config.format,
        "labels": config.labels.value,
        "evidence": evidence,
    }
    notes = _notes(config, context.settings, left_out)
    with Predictions(config.out, about | judged_by) as predictions:
        stored = (predictions.made.get(row.id) for row in rows)
        made = [each for each in stored if each and each.label is not None]  # failed ones are made again
        cost = _expected_cost(config, context, rows, made)
        workers = config.workers or (MODEL_WORKERS if cost else 1)
        if cost:
            say(f"Estimated: {cost}; {len(made)} rows are made already.")
            if len(made) < len(rows):
                confirm()
        began = time.monotonic()
        found = collect(predict(rows, predictor, predictions, workers), rows)
        took = measured_cost(found, None if made else (time.monotonic() - began) / 3600)
    if cost:
        say(f"It took:   {took}. Calls and tokens include those of local models.")
        notes |= {"estimated": asdict(cost), "taken": asdict(took)}
    evaluation = Evaluation(rows, found, config.labels, config.seed, about | judged_by, notes)
    write_outputs(evaluation, config.out, workers)
    return evaluation


def _select_rows(config: EvaluationConfig, say: Callable[[str], None]) -> tuple[list[Row], dict[str, int]]:
    """Return the rows to measure and the number of omitted rows by reason. Raises InvalidInput if no row is left."""
    read = read_rows(config.file, config.format)[: config.first]
    plain = [row for row in read if not (config.sentences and row.beyond_sentences)]
    rows = [row for row in plain if not config.held_out or row_is_held_out(row.id, row.group, row.hops)]
    gold = config.baseline == EVIDENCE_ONLY if config.baseline else config.evidence == "gold"
    kept, left_out = select_rows(rows, config.labels, config.seed, config.limit, gold, config.all_rows, config.per_hops)
    left_out |= {"needs a table": len(read) - len(plain)} if len(plain) < len(read) else {}
    left_out |= {"not held out": len(plain) - len(rows)} if len(rows) < len(plain) else {}
    description = ", ".join(f"{count} {why}" for why, count in left_out.items())
    if not kept:
        raise InvalidInput(f"{config.file.name} has no row that can be measured so; left out: {description}.", "file")
    say(f"{len(kept)} of {len(read)} rows{f', left out: {description}' if description else ''}")
    return kept, left_out


def _build_predictor(
    config: EvaluationConfig, context: EvaluationContext, rows: Sequence[Row]
) -> tuple[RowPredictor, dict[str, Any]]:
    """Return the predictor of the rows and a description of what its predictions depend on.

    Raises InvalidInput for options that cannot run here, and for a file without given sentences.
    """
    if config.baseline == MAJORITY:
        predictor = majority_predictor(rows, config.labels)
        return predictor, {"always": predictor(rows[0]).label}
    container, judged_by = context.container, dict[str, Any]()
    if config.baseline or config.evidence == "gold":
        judged_by["judge"] = container.judge_name()
        evidence_judge = gold_predictor(container.judge, config.labels)
        if config.baseline == CLAIM_ONLY:
            return claim_only_predictor(evidence_judge), judged_by
        if config.baseline == EVIDENCE_ONLY:
            return evidence_only_predictor(evidence_judge), judged_by
        if not config.baseline:
            return evidence_judge, judged_by
    options = run_options(config, container)
    if config.baseline and container.capabilities().needs_model(options):
        problem = "A single retrieval calls no language model; add --preset local and an --answerer that searches."
        raise InvalidInput(problem, "baseline")
    given = read_given_sentences(config.file) if config.given_sentences else None
    described = replace(options, search=GIVEN_SENTENCES, corpora=()) if config.given_sentences else options
    described = replace(described, modules=container.capabilities().modules(described))
    judged_by |= {"options": encode_options(described), "given_sentences": config.given_sentences}
    judged_by["corpora"] = {name: _corpus_checksum(context.settings.instance, name) for name in described.corpora}
    strategy = container.strategy_for(options)  # each row gets its own sentences in it
    if config.baseline:
        return single_retrieval_predictor(answerer_for(strategy, given), evidence_judge), judged_by
    if uses_judge(strategy):
        judged_by["judge"] = container.judge_name()
    return run_predictor(strategy, described, given, context.metering), judged_by


def run_options(config: EvaluationConfig, container: Any) -> RunOptions:
    """Return the options of the runs: those of `config`, else those of the settings. Raises InvalidInput."""
    named = {
        "strategy": config.strategy,
        "preset": config.preset,
        "answerer": WEB_SEARCH if config.given_sentences else config.answerer,
        "model": config.model,
        "corpora": config.corpora,
        "model_seed": config.model_seed,
        "temperature": config.temperature,
        "max_tokens": config.max_tokens,
    }
    given = {name: value for name, value in named.items() if value not in (None, "", ())}
    return resolve_options({**given, "labels": config.labels}, container.capabilities())


def _corpus_checksum(instance: Path, name: str) -> str | None:
    """Return the checksum of a corpus's source file, or else of its index; None for a missing corpus."""
    try:
        manifest = Manifest.read(folder_of(instance, name))
        return manifest.source_checksum or manifest.index_checksum
    except ModelUnavailable:
        return None


def _notes(config: EvaluationConfig, settings: Settings, left_out: dict[str, int]) -> dict[str, Any]:
    """Return facts to store with the figures, among them all non-secret settings that differ from their defaults."""
    known = {name: each for name, each in settings_fields().items() if each.repr}
    values = {name: getattr(settings, each.name) for name, each in known.items()}
    return {
        "file": config.file.name,
        "held_out": config.held_out,
        "all_rows": config.all_rows,
        "seed": config.seed,
        "first": config.first,
        "limit": config.limit,
        "per_hops": config.per_hops,
        "left_out": left_out,
        "settings": {name: str(value) for name, value in values.items() if value != known[name].default},
        **({"not_measured": NOT_MEASURED} if config.given_sentences else {}),
    }


def _file_hash(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()[:16]
