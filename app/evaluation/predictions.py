"""predictions.jsonl: one line a prediction, written as it is made, so that an evaluation goes on where it stopped.

evaluation.json beside it says what is being predicted; predictions of something else are never mixed in.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from app.reasoning.errors import InvalidInput
from app.reasoning.types import Label


@dataclass(frozen=True, slots=True)
class Prediction:
    """What was said of the row `id`, and `gold`, what its set says.

    `confidence` is the label's, `supported` the probability of SUPPORTED before the label was chosen; both in [0, 1],
    None where not known. A prediction that failed has no label and a `problem`.
    """

    id: str
    gold: str
    label: Label | None = None
    confidence: float | None = None
    supported: float | None = None
    problem: str | None = None


class Predictions:
    """The predictions kept in a folder, by the id of their row. Close it, or use it in a `with`."""

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        """`about` is all that decides a prediction, in values that JSON can write.

        Raises InvalidInput when the folder holds predictions about something else or lines that are none. The end of
        a line that was cut off is taken away. Raises OSError for a folder that cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._agree(folder / "evaluation.json", about)
        self.path = folder / "predictions.jsonl"
        self.made: dict[str, Prediction] = {}
        self._file: BinaryIO = self.path.open("ab+", buffering=0)
        try:
            self._read()
        except InvalidInput:
            self._file.close()
            raise

    def add(self, prediction: Prediction) -> None:
        """Write it down at once. A later one of the same row counts instead of an earlier."""
        line = json.dumps(asdict(prediction), ensure_ascii=False) + "\n"
        self._file.write(line.encode())  # unbuffered: one call, one whole line
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
                found = Prediction(**json.loads(line))
                label = Label(found.label) if found.label else None
            except (ValueError, TypeError):
                raise InvalidInput(f"{self.path}, line {number}: no prediction; move the file away.", "out") from None
            self.made[found.id] = Prediction(**(asdict(found) | {"label": label}))


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write the whole file or leave the old one."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    new.replace(path)
