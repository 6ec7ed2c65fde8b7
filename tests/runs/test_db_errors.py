"""Database errors are reported in a sentence, never as a driver's error."""

from __future__ import annotations

import sqlite3

import pytest
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


def test_a_table_of_an_older_version_names_it_too(engine):
    with engine.begin() as connection:
        connection.execute(text("create table runs (id text)"))
    assert "flask --app app db upgrade" in message_of(engine, "select epoch from runs")
    assert "flask --app app db upgrade" in message_of(engine, "insert into runs (epoch) values (1)")


def test_a_locked_database_is_busy(tmp_path, engine):
    with engine.begin() as connection:
        connection.execute(text("create table runs (id text)"))
    other = sqlite3.connect(tmp_path / "some.sqlite3", isolation_level=None)
    other.execute("begin immediate")
    with engine.connect() as connection:
        connection.execute(text("pragma busy_timeout = 10"))
        with pytest.raises(DatabaseUnavailable, match="The database is busy"):
            connection.execute(text("insert into runs values ('1')"))
    other.close()


def test_a_file_that_is_no_database_says_so(tmp_path):
    (tmp_path / "some.sqlite3").write_bytes(b"not a database at all" * 100)
    assert "is no database" in message_of(create_engine(f"sqlite:///{tmp_path / 'some.sqlite3'}"), "select 1")


def test_a_folder_that_is_not_there_says_so(tmp_path):
    assert "cannot be opened" in message_of(create_engine(f"sqlite:///{tmp_path / 'no' / 'some.sqlite3'}"), "select 1")


def test_a_server_that_does_not_answer_says_so_whatever_its_driver_is():
    class OperationalError(Exception):
        """The name that every driver gives to a lost connection (PEP 249)."""

    assert "does not answer" in str(describe_db_error(OperationalError("could not connect")))


def test_a_table_that_postgresql_does_not_have_names_the_command_that_makes_it():
    class UndefinedTable(Exception):
        sqlstate = "42P01"

    assert "flask --app app db upgrade" in str(describe_db_error(UndefinedTable()))


def test_an_error_of_the_code_stays_what_it_is(engine):
    with pytest.raises(OperationalError), engine.connect() as connection:
        connection.execute(text("selct 1"))
    with pytest.raises(IntegrityError), engine.begin() as connection:
        connection.execute(text("create table one (id integer primary key)"))
        connection.execute(text("insert into one values (1), (1)"))


def test_what_is_no_error_of_a_database_is_no_trouble():
    assert describe_db_error(ValueError("no such table")) is None
    assert describe_db_error(None) is None
