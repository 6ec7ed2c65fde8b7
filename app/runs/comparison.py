"""Choose the runs of a comparison: two to four, of one claim."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.domain.errors import HopcheckError, InvalidInput
from app.runs.service import StoredRun

MIN_RUNS, MAX_RUNS = 2, 4

MAX_SHOWN_ID = 40
"""Characters of an unknown id that are repeated in the message."""


class NoSuchRun(HopcheckError):
    """One of the runs does not exist or was deleted."""

    def __init__(self, run_id: str) -> None:
        name = run_id if len(run_id) <= MAX_SHOWN_ID else f"{run_id[:MAX_SHOWN_ID]}…"
        super().__init__(f"There is no check “{name}” here: its link may be cut short, or it was deleted.")


def runs_to_compare(read: Callable[[str], StoredRun | None], ids: Sequence[str]) -> tuple[StoredRun, ...]:
    """Return the runs with these ids, in order and without duplicates.

    Raises NoSuchRun for an unknown id, InvalidInput where the runs cannot be compared.
    """
    ids = tuple(filter(None, ids))  # a form sends an empty value for an unused field
    named = tuple(dict.fromkeys(ids))
    if len(named) > MAX_RUNS:
        raise InvalidInput(f"At most {MAX_RUNS} checks can be compared at once; these are {len(named)}.", "run")
    runs = tuple(_read(read, run_id) for run_id in named)
    if len(named) == 1 and len(ids) > 1:
        raise InvalidInput("That is one and the same check. Choose another one to compare it with.", "run")
    if len(named) < MIN_RUNS:
        raise InvalidInput(f"Choose {MIN_RUNS} to {MAX_RUNS} checks of one claim to compare.", "run")
    if len({normalised_claim(run.report.claim.text) for run in runs}) > 1:
        raise InvalidInput("These checks are of different claims, and only checks of one claim are compared.", "run")
    return runs


def normalised_claim(text: str) -> str:
    """Return the claim without differences of case and white space, to recognise the same claim."""
    return " ".join(text.casefold().split())


def _read(read: Callable[[str], StoredRun | None], run_id: str) -> StoredRun:
    run = read(run_id)
    if run is None:
        raise NoSuchRun(run_id)
    return run
