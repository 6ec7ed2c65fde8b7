"""Bind evaluations to the limits of the site on calls, tokens and money."""

from __future__ import annotations

from dataclasses import replace

from app.domain.model import Usage
from app.runs.budget import Limits, RunBudget, Spending
from app.runs.schema_version import is_newest
from app.runs.service import Runs


class Metering:
    """Bind checks that are not stored as runs, those of an evaluation, to the limits on calls, tokens and money.

    Their usage counts in the day's sums. The limit on seconds is for people who wait, and does not apply.
    """

    def __init__(self, limits: Limits, spending: Spending | None) -> None:
        """`spending` is None where the database is not set up and there is no daily limit."""
        self._limits = replace(limits, seconds=None)
        self._spending = spending

    def budget(self) -> RunBudget:
        return RunBudget(self._limits, self._spending.today if self._spending else Usage)

    def count(self, budget: RunBudget, usage: Usage) -> None:
        """Add the usage of a call to the check's and to the day's."""
        budget.count(usage)
        if self._spending:
            self._spending.add(usage)


def metering_of(runs: Runs, database_url: str) -> Metering:
    """Return the site's limits. With daily limits and no usable database, using them raises DatabaseUnavailable."""
    limits = runs.limits
    has_daily_limit = any(each is not None for each in (limits.day_calls, limits.day_tokens, limits.day_cost))
    has_spending = has_daily_limit or is_newest(database_url)  # without a limit, an evaluation needs no database
    return Metering(limits, runs.spending if has_spending else None)
