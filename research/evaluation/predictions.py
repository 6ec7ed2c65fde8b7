"""predictions.jsonl: one line a prediction, written as it is made, so that an evaluation goes on where it stopped.

evaluation.json beside it says what is being predicted; predictions of something else are never mixed in.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import TypeAdapter

from app.domain.errors import InvalidInput
from app.domain.model import Label


@dataclass(frozen=True, slots=True)
class Piece:
    """One question with its answer, and what the answer stands in; `url` and `text` are "" where nothing is cited."""

    question: str
    answer: str
    url: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one prediction took. `cost` is in the currency that prices are set in, None where none is set."""

    seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


NOTHING_SPENT = Spent()


@dataclass(frozen=True, slots=True)
class Prediction:
    """What was said of the row `id`, and `gold`, what its set says.

    `confidence` is the label's, `supported` the probability of SUPPORTED before the label was chosen; both in [0, 1],
    None where not known. A prediction that failed has no label and a `problem`. `evidence` is what a run rests on,
    `pages` the titles of all that it looked at, each once, in order (None: nothing is looked for), and `troubles` the
    calls that failed although the run went on. `rationale` is the verdict's, on one line.
    """

    id: str
    gold: str
    label: Label | None = None
    confidence: float | None = None
    supported: float | None = None
    problem: str | None = None
    evidence: tuple[Piece, ...] = ()
    pages: tuple[str, ...] | None = None
    troubles: tuple[str, ...] = ()
    spent: Spent = NOTHING_SPENT
    rationale: str = ""


_line: TypeAdapter[Prediction] = TypeAdapter(Prediction)


class Predictions:
    """The predictions kept in a folder, by the id of their row. Close it, or use it in a `with`.

    Threads may add at the same time.
    """

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        """`about` is all that decides a prediction, in values that JSON can write.

        Raises InvalidInput when the folder holds predictions about something else or lines that are none. The end of
        a line that was cut off is taken away. Raises OSError for a folder that cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._agree(folder / "evaluation.json", about)
        self.path = folder / "predictions.jsonl"
        self.made: dict[str, Prediction] = {}
        self._writing = threading.Lock()
        self._file: BinaryIO = self.path.open("ab+", buffering=0)
        try:
            self._read()
        except InvalidInput:
            self._file.close()
            raise

    def add(self, prediction: Prediction) -> None:
        """Write it down at once. A later one of the same row counts instead of an earlier.

        Raises OSError when the disk takes no more; what had been written of the line is taken away again.
        """
        line = _line.dump_json(prediction) + b"\n"
        with self._writing:
            end = self._file.seek(0, os.SEEK_END)
            try:
                if self._file.write(line) < len(line):  # unbuffered: one call, which a full disk may cut short
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            except OSError as error:
                self._file.truncate(end)
                raise OSError(error.errno, error.strerror, str(self.path)) from error
            self.made[prediction.id] = prediction

    def __enter__(self) -> Predictions:
        return self

    def __exit__(self, *raised: object) -> None:
        self._file.close()

    def _agree(self, path: Path, about: dict[str, Any]) -> None:
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
            told = f"{path.parent} holds predictions of another evaluation (what differs: {changed})"
            raise InvalidInput(f"{told}; choose another folder.", "out")

    def _read(self) -> None:
        self._file.seek(0)
        lines = self._file.read().split(b"\n")
        if cut_off := lines.pop():
            self._file.truncate(self._file.tell() - len(cut_off))
        for number, line in enumerate(lines, 1):
            try:
                found = _line.validate_json(line)
            except ValueError:
                raise InvalidInput(f"{self.path}, line {number}: no prediction; move the file away.", "out") from None
            self.made[found.id] = found


def write_json(path: Path, value: Any) -> None:
    """Write the whole file or leave the old one."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write the whole file or leave the old one."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
