"""The day's sum: everybody adds to one, and a new day begins with nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime

import pytest
from sqlalchemy import func, select

from app.domain.model import Usage
from app.runs.spending import Spending, add_to_day
from app.runs.tables import SpendingRow


def test_nothing_has_been_spent_on_a_day_without_calls(sessions):
    assert Spending(sessions).today() == Usage()


def test_many_who_add_at_once_lose_nothing(sessions):
    spending = Spending(sessions)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: spending.add(Usage(1, 10, 2, cached=4, cost=0.25)), range(40)))
    assert Spending(sessions).today() == Usage(40, 400, 80, cost=10.0)


def test_what_costs_nothing_is_not_written(sessions):
    Spending(sessions).add(Usage(cached=1))
    with sessions() as session:
        assert session.scalar(select(func.count()).select_from(SpendingRow)) == 0


def test_each_day_has_its_own_sum(sessions):
    with sessions.begin() as session:
        add_to_day(session.connection(), date(2020, 2, 29), Usage(7))
    assert Spending(sessions).today() == Usage()


def test_it_is_never_more_than_a_day_to_midnight(sessions):
    now = datetime.now(UTC)
    expected = 86_400 - (now.hour * 3600 + now.minute * 60 + now.second)
    assert Spending(sessions).seconds_to_midnight() % 86_400 == pytest.approx(expected % 86_400, abs=5)
