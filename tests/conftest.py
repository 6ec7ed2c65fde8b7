"""What several folders of tests share."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import create_engine
from sqlalchemy.orm import sessionmaker

from app.extensions import db
from app.runs import tables  # noqa: F401 - makes the tables known
from tests.requiring import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401 - hooks of pytest

# A busy machine is no reason for a property to fail.
settings.register_profile("hopcheck", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hopcheck")


@pytest.fixture
def database_url(tmp_path) -> str:
    """A SQLite file with the tables in it."""
    url = f"sqlite:///{tmp_path / 'hopcheck.sqlite3'}"
    engine = create_engine(url)
    db.metadata.create_all(engine)
    engine.dispose()
    return url


@pytest.fixture
def sessions(database_url):
    """Sessions on a fresh database, as the application makes them."""
    engine = create_engine(database_url)
    yield sessionmaker(engine)
    engine.dispose()
