"""The public surface equals its golden files; each intended change updates its file in the same commit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import sqlalchemy as sa

from app import create_app
from app.config.settings import Settings, settings_fields
from tests.fakes import scripted_container
from tests.golden.conftest import CLAIM, EndedRun
from tests.golden.golden_file import compare, normalised, without_prose

ROOT = Path(__file__).resolve().parents[2]

FLASKS_OWN = {"db", "run", "shell", "routes"}
"""Commands whose help belongs to Flask and Flask-Migrate."""


def helps(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    """The help of a command and, in order, of all commands below it."""
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100, max_content_width=100)
    yield f"$ {context.command_path} --help\n{command.get_help(context)}\n"
    if isinstance(command, click.Group):
        for each in sorted(command.list_commands(context)):
            yield from helps(command.get_command(context, each), each, context)


def test_the_help_of_every_command(app):
    names = sorted(set(app.cli.commands) - FLASKS_OWN)
    flask = click.Context(app.cli, info_name="flask --app app")
    compare("cli_help.txt", "\n".join(text for name in names for text in helps(app.cli.commands[name], name, flask)))


def test_check_with_json(app, strategy):
    who = ["--speaker", CLAIM["speaker"], "--date", CLAIM["date"]]
    result = app.test_cli_runner().invoke(args=["check", CLAIM["claim"], *who, "--strategy", strategy, "--json"])
    assert result.exit_code == 0, result.output
    run = json.loads(result.stdout)
    compare(f"run.{strategy}.json", normalised(run, {run["id"]: "ID"}))


def messages(stream: str) -> list[dict[str, Any]]:
    """The messages of an SSE stream as their fields; data of several lines is joined."""
    found = []
    for block in stream.strip().split("\n\n"):
        fields: dict[str, str] = {}
        for name, value in re.findall(r"^(\w+): ?(.*)$", block, re.MULTILINE):
            fields[name] = f"{fields[name]}\n{value}" if name in fields else value
        found.append(fields)
    return found


def test_the_event_stream_of_the_api(ended_run: EndedRun, strategy):
    sent = messages(ended_run.events)
    for message in sent:
        if "id" in message:
            message["data"] = json.loads(message["data"])
    compare(f"events.{strategy}.json", normalised(sent, {ended_run.id: "ID"}))


def test_the_event_stream_of_the_page_and_the_ids_on_it(ended_run: EndedRun, strategy):
    """Only the ids of the HTML are compared: what the stream replaces, and what links and tests refer to."""
    sent = messages(ended_run.pieces)
    for message in sent:
        if message.get("event") == "update":
            message["data"] = re.findall(r'<\w+ (?=[^>]*hx-swap-oob)[^>]*?\bid="([^"]+)"', message["data"])
    ids = sorted(set(re.findall(r'\sid="([^"]+)"', ended_run.page)))
    compare(f"page.{strategy}.json", normalised({"stream": sent, "ids": ids}, {ended_run.id: "ID"}))


def test_the_json_export(ended_run: EndedRun, strategy):
    compare(f"run.{strategy}.json", normalised(ended_run.export, {ended_run.id: "ID"}))


def test_the_stored_events(ended_run: EndedRun, app, strategy):
    with sa.create_engine(app.config["SQLALCHEMY_DATABASE_URI"]).connect() as connection:
        rows = connection.execute(sa.text("SELECT seq, kind, version, body FROM events ORDER BY seq")).mappings()
        stored = [{**row, "body": json.loads(row["body"])} for row in rows]
    compare(f"stored_events.{strategy}.json", normalised(stored, {ended_run.id: "ID"}))


def test_the_openapi_document(app):
    document = without_prose(app.test_client().get("/api/v1/openapi.json").json)
    document["info"]["version"] = "VERSION"
    compare("openapi.json", document)


def test_the_routes(app):
    rules = sorted((rule.rule, sorted(rule.methods - {"HEAD", "OPTIONS"})) for rule in app.url_map.iter_rules())
    compare("routes.txt", "".join(f"{', '.join(methods):12} {rule}\n" for rule, methods in rules))


def test_the_settings():
    defaults = Settings()
    table = {
        name: {
            "default": str(value).replace(str(ROOT), "ROOT") if isinstance(value, str | Path) else value,
            "choices": each.metadata["choices"],
        }
        for name, each in settings_fields().items()
        for value in [getattr(defaults, each.name)]
    }
    compare("settings.json", table)


def columns(inspector: sa.Inspector, table: str) -> list[str]:
    """One line a column: name, type, NOT NULL, default."""
    key = inspector.get_pk_constraint(table)["constrained_columns"]
    return [
        f"  {each['name']} {each['type']}"
        + (" PRIMARY KEY" if each["name"] in key else "")
        + ("" if each["nullable"] else " NOT NULL")
        + (f" DEFAULT {each['default']}" if each["default"] is not None else "")
        for each in inspector.get_columns(table)
    ]


def constraints(inspector: sa.Inspector, table: str) -> list[str]:
    """One line each: foreign keys, unique constraints and indexes of a table."""
    keys = [
        f"  FOREIGN KEY {', '.join(each['constrained_columns'])} REFERENCES {each['referred_table']}"
        f" {', '.join(each['referred_columns'])} {each['options']}"
        for each in inspector.get_foreign_keys(table)
    ]
    unique = [f"  UNIQUE {', '.join(each['column_names'])}" for each in inspector.get_unique_constraints(table)]
    indexes = [
        f"  {'UNIQUE ' if each['unique'] else ''}INDEX {each['name']} {', '.join(filter(None, each['column_names']))}"
        for each in inspector.get_indexes(table)
    ]
    return sorted(keys) + sorted(unique) + sorted(indexes)


@pytest.fixture
def migrated(tmp_path) -> Iterator[sa.Inspector]:
    """A database that the migrations made from nothing."""
    url = f"sqlite:///{tmp_path / 'migrated.sqlite3'}"
    app = create_app(Settings(instance=tmp_path, database_url=url), scripted_container())
    result = app.test_cli_runner().invoke(args=["db", "upgrade"])
    assert result.exit_code == 0, result.output
    engine = sa.create_engine(url)
    yield sa.inspect(engine)
    engine.dispose()


def test_the_database_schema_after_all_migrations(migrated):
    tables = sorted(migrated.get_table_names())
    blocks = ("\n".join([name, *columns(migrated, name), *constraints(migrated, name)]) for name in tables)
    compare("schema.txt", "\n\n".join(blocks) + "\n")
