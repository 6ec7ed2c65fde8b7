"""Run the default pipeline over held-out claims or a list of claims and print the results.

python -m research.claims.run --data DATA --split test --sample mixed --rows 300 --out FOLDER
python -m research.claims.run --data DATA --split dev --sample hard --rows 200 --gold questions answers --out FOLDER
python -m research.claims.run --compare FOLDER FOLDER
python -m research.claims.run --claims research/claims/public_failures.tsv
python -m research.claims.run --claims research/claims/held_out/*.tsv
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from app.config.settings import Settings
from app.container.container import Container
from app.domain.errors import InvalidInput
from app.domain.model import Hop, RunOptions
from app.domain.report import Report
from app.modules.judging import quoted_sentence
from app.run_request import resolve_options
from app.strategies.question_guided import QuestionGuided
from app.text.claims import clean_claim
from research.claims.data import CLAIMS_FILE, NOT_ENOUGH, Sample, Split, VitalClaim, read_claims, sample_claims
from research.claims.gold_parts import PARTS, with_gold
from research.claims.metrics import Outcome, figures_table, kinds_table
from research.evaluation.predictions import write_json, write_text
from research.evaluation.report import by_name
from research.evaluation.runs import run_to_report

RUNS_FILE, TRAILS_FILE = "runs.jsonl", "trails.jsonl"
ABOUT_FILE, TABLE_FILE = "about.json", "table.md"
MACHINE_SETTINGS = ("INSTANCE", "TORCH_THREADS", "JAVA_HOME", "JAVA_MEMORY")
"""Settings taken from the environment; all others have their defaults, so that every machine measures the same."""


class Pipeline:
    """The embedded defaults, loaded once and run in this process without web server or database."""

    def __init__(self) -> None:
        """Load every part. Raises SystemExit when one cannot be loaded, InvalidInput as `defaults_of` does."""
        environment = {name: os.environ[name] for name in MACHINE_SETTINGS if name in os.environ}
        container = Container(Settings.from_env(environment))
        container.warm()
        if failed := [f"{part.name}: {part.message}" for part in container.components() if part.state != "ready"]:
            raise SystemExit("\n".join(failed))
        self.judge_name, self._judge = container.judge_name(), container.judge
        self._strategy, self._options = defaults_of(container)

    def run(self, claim: str, row: VitalClaim | None = None, gold: Collection[str] = ()) -> dict[str, Any]:
        """Check one claim as the site does and return the record of the run.

        `gold` names the parts to replace by those of `row`. Raises InvalidInput for a text that is no claim.
        """
        strategy = with_gold(self._strategy, row, gold) if row and gold else self._strategy
        started = time.monotonic()
        report = run_to_report(strategy, clean_claim(claim), self._options)
        seconds = round(time.monotonic() - started, 2)
        readings = self._judge.readings(report.claim, report.context) if report.context else None
        return {"claim": claim, **_report_record(report), "readings": readings, "seconds": seconds}


def defaults_of(container: Container) -> tuple[QuestionGuided, RunOptions]:
    """Return the default strategy with its options. Raises InvalidInput when it cannot run here."""
    options = resolve_options({}, container.capabilities())
    strategy = container.strategy_for(options)
    if not isinstance(strategy, QuestionGuided):
        raise InvalidInput("The default strategy has no parts that could be replaced by recorded ones.", "strategy")
    return strategy, options


def _report_record(report: Report) -> dict[str, Any]:
    verdict = report.verdict
    return {
        "verdict": verdict.label.value if verdict else None,
        "confidence": verdict.confidence if verdict else None,
        "rationale": [str(sentence.text) for sentence in verdict.rationale] if verdict else [],
        "missing": str(verdict.missing) if verdict and verdict.missing else None,
        "stopped_because": str(report.stopped_because),
        "problem": str(report.problem),
        "trail": [_hop_record(hop) for hop in report.hops],
    }


def _hop_record(hop: Hop) -> dict[str, Any]:
    answer, cited = hop.answer, hop.answer.cited if hop.answer else None
    retrieved = answer.retrieved if answer else ()
    return {
        "question": hop.question.text,
        "answer": answer.text if answer else None,
        "score": answer.score if answer else None,
        "status": hop.status.value,
        "reason": str(hop.reason),
        "cited_title": cited.passage.title if cited else None,
        "cited_sentence": quoted_sentence(cited) if cited else None,
        "passages": [{"title": passage.title, "text": passage.text} for passage in retrieved],
    }


def measure(options: argparse.Namespace) -> None:
    """Run and store the claims of the sample that are not stored yet; print and write the tables."""
    file, out = options.data / CLAIMS_FILE, options.out
    rows = sample_claims(read_claims(file), options.split, options.sample, options.rows)
    pipeline = Pipeline()
    about = {
        "data": hashlib.sha256(file.read_bytes()).hexdigest()[:16],
        "split": options.split,
        "sample": options.sample,
        "gold": sorted(options.gold),
        "judge": pipeline.judge_name,
    }
    _check_same_setup(out, about)
    drop_unfinished_line(out / RUNS_FILE)
    stored = read_runs(out / RUNS_FILE)
    missing = [row for row in rows if row.id not in stored]
    for number, row in enumerate(missing, len(rows) - len(missing) + 1):
        record = _labels_of(row) | pipeline.run(row.claim, row, options.gold)
        stored[row.id] = record
        _append(out / RUNS_FILE, record)
        line = f"{row.label} -> {record['verdict']}, {record['seconds']} s: {row.claim}"
        print(f"{number} of {len(rows)}: {line}", file=sys.stderr, flush=True)
    outcomes = [Outcome.of_record(stored[row.id]) for row in rows]
    name = "+".join(["run", *(f"gold {part}" for part in options.gold)])
    tables = f"{figures_table({name: outcomes})}\n{kinds_table(outcomes)}"
    write_text(out / TABLE_FILE, tables)
    print(tables)


def _labels_of(row: VitalClaim) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("id", "label", "kind", "group", "style", "hops")}


def _check_same_setup(out: Path, about: Mapping[str, Any]) -> None:
    """Raise SystemExit when the folder has runs of other data or another sample, judge or gold parts."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / ABOUT_FILE
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else about
    if changed := [name for name in about if before.get(name) != about[name]]:
        raise SystemExit(f"{out} holds other runs (different: {', '.join(changed)}); choose another folder.")
    write_json(path, dict(about))


def read_runs(path: Path) -> dict[str, dict[str, Any]]:
    """Return the stored runs by id, ignoring an incomplete last line."""
    written = path.read_bytes() if path.exists() else b""
    whole = written[: written.rfind(b"\n") + 1]
    return {record["id"]: record for record in map(json.loads, whole.splitlines())}


def drop_unfinished_line(path: Path) -> None:
    """Remove an incomplete last line, left by an interrupted run."""
    written = path.read_bytes() if path.exists() else b"\n"
    if not written.endswith(b"\n"):
        path.write_bytes(written[: written.rfind(b"\n") + 1])


def _append(path: Path, record: Mapping[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def compare(folders: Sequence[Path]) -> None:
    """Print the metrics of several folders side by side, over the claims that all of them have."""
    stored = {name: read_runs(folder / RUNS_FILE) for name, folder in by_name(folders).items()}
    common = set.intersection(*(set(runs) for runs in stored.values()))
    print(figures_table({name: [Outcome.of_record(runs[i]) for i in sorted(common)] for name, runs in stored.items()}))


def check_lists(options: argparse.Namespace) -> None:
    """Run the claims of the files; print each trail, the wrong verdicts, and each file's numbers of outcomes."""
    lists = {name: list(read_list(file)) for name, file in by_name(options.claims).items()}
    pipeline, counts, wrong = Pipeline(), [], []
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        write_text(options.out / TRAILS_FILE, "")
    for name, rows in lists.items():
        found = Counter[str]()
        for claim, label in rows:
            record = {"list": name, "label": label} | pipeline.run(claim)
            outcome = classify_verdict(record["verdict"], label)
            found[outcome] += 1
            if outcome == "wrong":
                wrong.append(f"{record['verdict']}{_confidence(record)}, not {label}: {claim}")
            print("\n".join(_trail_lines(record, outcome)), end="\n\n", flush=True)
            if options.out:
                _append(options.out / TRAILS_FILE, record)
        counts.append(f"{name}: {', '.join(f'{count} {outcome}' for outcome, count in found.most_common())}")
    print(*wrong, *counts, sep="\n")


def read_list(path: Path) -> Iterator[tuple[str, str | None]]:
    """Yield (claim, label) of each line "claim" or "claim TAB label"; empty lines and those with "#" are skipped.

    A label with "|" between several is right with each of them.
    """
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            claim, _, label = line.partition("\t")
            yield claim.strip(), label.strip() or None


def classify_verdict(verdict: str | None, label: str | None) -> str:
    """Return "right", "wrong", "open" for a wrongly undecided verdict, "failed", or "unlabelled" without a label."""
    if verdict is None:
        return "failed"
    if label is None:
        return "unlabelled"
    if verdict in label.split("|"):
        return "right"
    return "open" if verdict == NOT_ENOUGH else "wrong"


def _trail_lines(record: Mapping[str, Any], outcome: str) -> Iterator[str]:
    yield f"{outcome.upper()}: {record['claim']}"
    yield f"  verdict {record['verdict']}{_confidence(record)}, label {record['label']}, {record['seconds']} s"
    for number, hop in enumerate(record["trail"], 1):
        yield f"  {number}. {hop['question']} -> {hop['answer']} [{hop['status']}: {hop['reason']}]"
        if hop["cited_title"]:
            yield f"     {hop['cited_title']}: {hop['cited_sentence']}"
        yield f"     looked at: {', '.join(passage['title'] for passage in hop['passages']) or 'nothing'}"
    yield f"  stopped: {record['stopped_because']}{record['problem']}"
    yield f"  rationale: {' '.join(record['rationale']) or record['missing']}"


def _confidence(record: Mapping[str, Any]) -> str:
    return "" if record["confidence"] is None else f" {record['confidence']:.2f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--data", type=Path, help=f"folder with {CLAIMS_FILE}")
    what.add_argument("--claims", type=Path, nargs="+", help="files of claims, one a line, with TAB and label if known")
    what.add_argument("--compare", type=Path, nargs="+", help="folders of earlier runs")
    parser.add_argument("--split", choices=get_args(Split), default="dev")
    parser.add_argument("--sample", choices=get_args(Sample), default="mixed")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--gold", choices=PARTS, nargs="+", default=[], help="recorded parts in place of the run's own")
    parser.add_argument(
        "--out",
        type=Path,
        help="folder for the runs and the tables; needed with --data, where runs already stored are not run again",
    )
    options = parser.parse_args()
    if options.data and not options.out:
        parser.error("--data needs --out")
    return options


def main() -> None:
    """Parse the options and run."""
    options = _options()
    try:
        if options.compare:
            compare(options.compare)
        elif options.claims:
            check_lists(options)
        else:
            measure(options)
    except InvalidInput as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
