"""Store predictions in predictions.jsonl as soon as they are made, so that an interrupted evaluation can resume.

evaluation.json in the same folder describes the evaluation; a folder holds the predictions of one evaluation only.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import TypeAdapter

from app.domain.errors import InvalidInput
from app.domain.model import Label


@dataclass(frozen=True, slots=True)
class EvidencePair:
    """A question with its answer, and URL and text of the cited passage, "" without one."""

    question: str
    answer: str
    url: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class ResourceUse:
    """The time and model use of a prediction. `cost` is in the currency of the prices, None without prices."""

    seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


NOTHING_SPENT = ResourceUse()


def total_use(spent: Sequence[ResourceUse]) -> ResourceUse:
    """Return the sums; `cost` is None if all costs are."""
    costs = [each.cost for each in spent if each.cost is not None]
    return ResourceUse(
        sum(each.seconds for each in spent),
        sum(each.calls for each in spent),
        sum(each.prompt_tokens for each in spent),
        sum(each.completion_tokens for each in spent),
        sum(costs) if costs else None,
    )


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted label of a row. A failed prediction has a `problem` and no label."""

    id: str  # of the row
    gold: str  # the row's label
    label: Label | None = None
    confidence: float | None = None  # of the label, in [0, 1]
    supported: float | None = None  # probability of SUPPORTED, in [0, 1]
    problem: str | None = None
    evidence: tuple[EvidencePair, ...] = ()
    pages: tuple[str, ...] | None = None  # titles of all retrieved pages without duplicates; None without retrieval
    troubles: tuple[str, ...] = ()  # failed calls after which the run continued
    spent: ResourceUse = NOTHING_SPENT
    rationale: str = ""  # of the verdict, on one line


_adapter: TypeAdapter[Prediction] = TypeAdapter(Prediction)


class Predictions:
    """The predictions stored in a folder, by row id. A context manager; `add` is thread-safe."""

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        """`about` has everything that predictions depend on, as JSON values. An incomplete last line is removed.

        Raises InvalidInput when the folder belongs to another evaluation or has invalid lines, OSError when it cannot
        be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._check_same_evaluation(folder / "evaluation.json", about)
        self.path = folder / "predictions.jsonl"
        self.made: dict[str, Prediction] = {}
        self._write_lock = threading.Lock()
        self._file: BinaryIO = self.path.open("ab+", buffering=0)
        try:
            self._read()
        except InvalidInput:
            self._file.close()
            raise

    def add(self, prediction: Prediction) -> None:
        """Store a prediction, which replaces an earlier one of the same row.

        Raises OSError when the disk is full, after removing the partial line.
        """
        line = _adapter.dump_json(prediction) + b"\n"
        with self._write_lock:
            end = self._file.seek(0, os.SEEK_END)
            try:
                if self._file.write(line) < len(line):  # an unbuffered write may be partial on a full disk
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            except OSError as error:
                self._file.truncate(end)
                raise OSError(error.errno, error.strerror, str(self.path)) from error
            self.made[prediction.id] = prediction

    def __enter__(self) -> Predictions:
        return self

    def __exit__(self, *raised: object) -> None:
        self._file.close()

    def _check_same_evaluation(self, path: Path, about: dict[str, Any]) -> None:
        if not path.exists():
            write_json(path, about)
            return
        try:
            before = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            before = None
        if before != about:
            known = before if isinstance(before, dict) else {}
            changed = ", ".join(key for key, value in about.items() if known.get(key) != value)
            message = f"{path.parent} holds predictions of another evaluation (what differs: {changed})"
            raise InvalidInput(f"{message}; choose another folder.", "out")

    def _read(self) -> None:
        self._file.seek(0)
        lines = self._file.read().split(b"\n")
        if incomplete := lines.pop():
            self._file.truncate(self._file.tell() - len(incomplete))
        for number, line in enumerate(lines, 1):
            try:
                found = _adapter.validate_json(line)
            except ValueError:
                raise InvalidInput(f"{self.path}, line {number}: no prediction; move the file away.", "out") from None
            self.made[found.id] = found


def write_json(path: Path, value: Any) -> None:
    """Write the value as indented JSON, replacing the file atomically."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write the text, replacing the file atomically."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
