"""The migrations create exactly the tables of the models."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import Flask
from flask_migrate import Migrate, downgrade, upgrade
from sqlalchemy import inspect
from sqlalchemy.orm import sessionmaker

from app.domain.instrumentation import Call
from app.extensions import db
from app.runs import models  # noqa: F401 - makes the tables known
from app.runs.call_log import CallLog
from app.runs.db import UtcDateTime
from app.runs.schema_version import MIGRATIONS, newest_revision

ROOT = Path(__file__).resolve().parents[2]
OWN, USED, SHARED, LATER = (Call(name, {}, costly=name != "own") for name in ("own", "used", "shared", "later"))
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database(request, tmp_path) -> str:
    """The URL of a database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.sqlite3'}"
    return request.getfixturevalue("postgresql").fresh(with_tables=False)


@pytest.fixture
def fresh_app(empty_database):
    """An application whose database is empty or missing."""
    app = Flask("app")
    app.config["SQLALCHEMY_DATABASE_URI"] = empty_database
    db.init_app(app)
    Migrate(app, db, directory=str(MIGRATIONS))
    with app.app_context():
        yield app
        db.engine.dispose()


def test_upgrading_a_fresh_database_creates_the_tables_of_the_models(fresh_app):
    upgrade()
    with db.engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), db.metadata)
    assert differences == []


def test_the_newest_revision_is_the_one_that_alembic_finds():
    assert newest_revision() == ScriptDirectory(str(MIGRATIONS)).get_current_head()


def test_upgrading_twice_changes_nothing_and_downgrading_removes_all_tables(fresh_app):
    upgrade()
    upgrade()
    downgrade(revision="base")
    assert inspect(db.engine).get_table_names() == ["alembic_version"]


def test_upgrading_makes_earlier_claims_searchable(fresh_app):
    upgrade(revision="0005")
    runs = db.metadata.tables["runs"]
    earlier = {"id": "run", "owner": "me", "claim": "Erdoğan lives in İstanbul.", "options": {}, "created_at": NOON}
    with db.engine.begin() as connection:
        columns = [runs.c[name] for name in (*earlier, "state", "last_seq")]
        table = sa.table("runs", *(sa.column(each.name, each.type) for each in columns))
        connection.execute(sa.insert(table).values(**earlier, state="verdict", last_seq=1))
    upgrade()
    with db.engine.connect() as connection:
        assert connection.scalar(sa.select(runs.c.searched)) == "erdogan lives in istanbul."


def _insert(table: str, **values: object) -> None:
    types = {"created_at": UtcDateTime, "used_at": UtcDateTime, "options": sa.JSON, "reply": sa.JSON}
    columns = (sa.column(name, types.get(name)) for name in values)
    with db.engine.begin() as connection:
        connection.execute(sa.insert(sa.table(table, *columns)).values(**values))


@pytest.fixture
def version_before(fresh_app):
    """A database of the version before the call log, with two running runs and shared replies."""
    upgrade(revision="0008")
    for run_id in ("run", "other"):
        common = {"owner": "me", "claim": "c", "options": {}, "created_at": NOON, "state": "running"}
        _insert("runs", id=run_id, last_seq=2, **common)
    _insert("journal", run_id="run", key=OWN.key, reply=["own"])
    for run_id, call in (("run", USED), ("other", SHARED)):
        _insert("run_calls", run_id=run_id, key=call.key)
        _insert("journal", run_id=run_id, key=call.key, reply=call.model)
        _insert("call_cache", key=call.key, model=call.model, reply=call.model, bytes=10, used_at=NOON)


def test_upgrading_keeps_the_calls_of_unfinished_runs_and_shared_replies(version_before):
    upgrade()
    calls = CallLog(sessionmaker(db.engine), 1)
    assert calls.size() == (2, 20)
    assert [calls.for_run("run").get(each) for each in (OWN, USED, SHARED)] == [["own"], "used", "shared"]
    assert [calls.for_run("other").get(each) for each in (OWN, USED, SHARED)] == [None, "used", "shared"]


def test_downgrading_restores_the_calls_of_unfinished_runs(version_before):
    upgrade()
    runs = CallLog(sessionmaker(db.engine), 1).for_run("run")
    assert runs.get(SHARED)
    runs.put(LATER, "later")
    downgrade(revision="0008")
    with db.engine.connect() as connection:
        journal = connection.execute(sa.text("SELECT key FROM journal WHERE run_id = 'run'")).scalars().all()
        assert connection.scalar(sa.text("SELECT sum(bytes) FROM call_cache WHERE model = ''")) > 20
    assert set(journal) == {each.key for each in (OWN, USED, SHARED, LATER)}


def test_upgrading_leaves_the_applications_logging_alone(fresh_app):
    logger, handlers = logging.getLogger("app.runs.runner"), list(logging.getLogger().handlers)
    upgrade()
    assert not logger.disabled
    assert logging.getLogger().handlers == handlers


@contextmanager
def another_migration(url: str) -> Iterator[None]:
    """Hold the lock that a migration of the database at `url` holds."""
    engine = sa.create_engine(url if url.startswith("postgresql") else f"{url}-migration")
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({0x4D696772617465})"))
        else:
            connection.exec_driver_sql("BEGIN EXCLUSIVE")
        yield
        connection.rollback()
    engine.dispose()


@pytest.mark.timeout(300)
def test_machines_that_migrate_at_once_wait_for_each_other_and_all_succeed(empty_database, tmp_path):
    command = [sys.executable, "-m", "flask", "--app", "app", "db", "upgrade"]
    environment = {**os.environ, "DATABASE_URL": empty_database, "INSTANCE": str(tmp_path), "REDIS_URL": ""}
    with another_migration(empty_database):
        machines = [
            subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(2)
        ]
        with pytest.raises(subprocess.TimeoutExpired):
            machines[0].wait(8)
        engine = sa.create_engine(empty_database)
        assert "runs" not in inspect(engine).get_table_names()
    for machine in machines:
        _, written = machine.communicate(timeout=200)
        assert machine.returncode == 0, written
    assert "runs" in inspect(engine).get_table_names()
    engine.dispose()
