"""Database errors are reported in a sentence, never as a driver's error."""

from __future__ import annotations

import pytest
from psycopg import errors
from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError, OperationalError

from app.runs.db import DatabaseUnavailable, describe_db_error


@pytest.fixture
def engine(tmp_path):
    made = create_engine(f"sqlite:///{tmp_path / 'some.sqlite3'}")
    yield made
    made.dispose()


def message_of(engine, statement: str) -> str:
    with pytest.raises(DatabaseUnavailable) as raised, engine.begin() as connection:
        connection.execute(text(statement))
    return str(raised.value)


@pytest.mark.parametrize("statement", ["select * from runs", "insert into runs values (1)"])
def test_a_database_without_tables_names_the_command_that_makes_them(engine, statement):
    assert "flask --app app db upgrade" in message_of(engine, statement)


def test_an_outdated_table_names_the_command_that_upgrades_it(engine):
    with engine.begin() as connection:
        connection.execute(text("create table runs (id text)"))
    assert "flask --app app db upgrade" in message_of(engine, "select epoch from runs")
    assert "flask --app app db upgrade" in message_of(engine, "insert into runs (epoch) values (1)")


def test_a_server_that_does_not_answer_is_reported_for_any_driver():
    class OperationalError(Exception):
        """The name that every driver gives to a lost connection (PEP 249)."""

    assert "does not answer" in str(describe_db_error(OperationalError("could not connect")))


@pytest.mark.parametrize(
    ("error", "words"),
    [("UndefinedTable", "flask --app app db upgrade"), ("AdminShutdown", "does not answer"), ("DiskFull", "is full")],
)
def test_a_problem_that_postgresql_reports_is_described(error, words):
    assert words in str(describe_db_error(getattr(errors, error)("said by the server")))


def test_errors_caused_by_the_code_are_not_translated(engine):
    with pytest.raises(OperationalError), engine.connect() as connection:
        connection.execute(text("selct 1"))
    with pytest.raises(IntegrityError), engine.begin() as connection:
        connection.execute(text("create table one (id integer primary key)"))
        connection.execute(text("insert into one values (1), (1)"))
