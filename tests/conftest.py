"""Fixtures and hooks shared by several test folders."""

from __future__ import annotations

import gc
import re
import sqlite3
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, MethodType
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, settings
from jinja2.bccache import Bucket, BytecodeCache
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.orm import sessionmaker
from sqlalchemy.util import LRUCache
from werkzeug.routing import Rule

from app import create_app
from app.config.settings import Settings
from app.extensions import db
from app.runs import models  # noqa: F401 - makes the tables known
from tests.postgres import PostgreSQL, running
from tests.requiring import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401 - hooks of pytest

# A busy machine is no reason for a property to fail.
settings.register_profile("hopcheck", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hopcheck")


HEAVY = {
    "browser": ("browser", ""),
    "models": ("models", ""),
    "models of back ends": ("models", "tests/backends/"),
    "browser for accessibility": ("browser", "tests/e2e/test_accessibility"),
    "jvm": ("jvm", ""),
}
"""Groups of the tests that take the longest or the most memory: their marker, and the beginning of their path."""


def group_of(item: pytest.Item) -> str:
    """Return the item's group in HEAVY, the one with the longest path that fits, or else its file."""
    fitting = [
        (len(path), -place, name)
        for place, (name, (marker, path)) in enumerate(HEAVY.items())
        if item.get_closest_marker(marker) and item.location[0].startswith(path)
    ]
    if fitting:
        return max(fitting)[2]
    return "PyTorch" if hasattr(item.module, "tiny_t5") else item.location[0]  # importing it takes some seconds


SLOW_FILE = re.compile(r"^pytestmark = .*pytest\.mark\.slow\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of slow tests where these are left out: some import PyTorch, which takes a second."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return "faults" in collection_path.parts or bool(SLOW_FILE.search(collection_path.read_text("utf-8"))) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """When several processes share the tests (`make test`), run heavy tests first and group each kind in one process.

    Thus memory holds two browsers, two sets of models and one JVM at a time, and no process is left with the longest
    file at the end. Every other file also stays in one process, because its tests share fixtures. Faults mostly wait,
    so they are spread among the files that compute, but for the last tenth.
    """
    if not hasattr(config, "workerinput"):
        return
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(group_of(item), []).append(item)
        item.add_marker(pytest.mark.xdist_group(group_of(item)))
    waiting = [name for name in groups if "faults" in Path(name).parts]
    computing = [name for name in groups if name not in {*HEAVY, *waiting}]
    place = {name: number - len(HEAVY) for number, name in enumerate(HEAVY)}
    place |= {name: 0.9 * number / len(waiting) for number, name in enumerate(waiting)}
    place |= {name: number / len(computing) for number, name in enumerate(computing)}
    items[:] = [item for name in sorted(groups, key=place.__getitem__) for item in groups[name]]


gc.disable()  # while tests are collected: looking for garbage among what stays takes a quarter of that time


def pytest_collection_finish() -> None:
    """Collect garbage from here on, without going through the modules and tests again each time."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def no_servers_of_this_machine() -> Iterator[None]:
    """Look for no language model servers, here and in processes that tests start: some may run on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.container.parts.SERVERS", ())
        patch.setenv("LOCAL_SERVERS", "off")
        yield


@pytest.fixture(autouse=True, scope="session")
def one_thread_a_model(pytestconfig: pytest.Config) -> Iterator[None]:
    """Let models compute in one thread when several processes share the tests: more would wait for each other."""
    with pytest.MonkeyPatch.context() as patch:
        if hasattr(pytestconfig, "workerinput"):
            patch.setenv("TORCH_THREADS", "1")
        yield


@pytest.fixture(autouse=True, scope="session")
def routes_compiled_once() -> Iterator[None]:
    """Compile each route once a process: thousands of tests create an application, and its routes take 20 ms."""
    compile_rule, known = Rule.compile, {}

    def compiled_once(rule: Rule) -> None:
        key = (rule.rule, rule.subdomain, rule.host, repr(rule.defaults))
        if key not in known:
            compile_rule(rule)
            known[key] = rule
        same = known[key]
        rule.arguments = same.arguments
        rule._parts, rule._trace, rule._converters = same._parts, same._trace, same._converters
        rule._build = MethodType(same._build.__func__, rule)
        rule._build_unknown = MethodType(same._build_unknown.__func__, rule)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "compile", compiled_once)
        yield


@pytest.fixture(autouse=True, scope="session")
def statements_compiled_once() -> Iterator[None]:
    """Share compiled statements among engines of one dialect: thousands of tests create an engine of their own."""
    compiled = LRUCache(2000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "_compiled_cache", property(lambda _: compiled, lambda *_: None), raising=False)
        patch.setattr(DefaultDialect, "__eq__", lambda one, other: type(one) is type(other), raising=False)
        patch.setattr(DefaultDialect, "__hash__", lambda dialect: hash(type(dialect)), raising=False)
        yield


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """One PostgreSQL server for all tests of this process."""
    with running() as server:
        yield server


@pytest.fixture
def database_url(tmp_path) -> str:
    """A SQLite file with the tables in it."""
    return sqlite_file(tmp_path)


def sqlite_file(folder: Path) -> str:
    """Return the URL of a new SQLite file in `folder` with the tables in it."""
    file = folder / "hopcheck.sqlite3"
    file.write_bytes(new_database())
    return f"sqlite:///{file}"


@cache
def new_database() -> bytes:
    """Return a SQLite file with the tables in it. It is made once, because copying it is a hundred times faster."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "hopcheck.sqlite3"
        engine = create_engine(f"sqlite:///{file}")
        db.metadata.create_all(engine)
        engine.dispose()
        return file.read_bytes()


@event.listens_for(Engine, "connect")
def wait_for_no_disk(connection: Any, _record: Any) -> None:
    """Turn off fsync: durability does not matter in tests."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")


@pytest.fixture
def as_served():
    """Let connections to SQLite sync to disk in this test, as a server's do."""
    event.remove(Engine, "connect", wait_for_no_disk)
    yield
    event.listen(Engine, "connect", wait_for_no_disk)


class CompiledTemplates(BytecodeCache):
    """Jinja's compiled templates in memory, apart by language."""

    def __init__(self) -> None:
        self._known: dict[str, CodeType] = {}

    def get_bucket(self, environment, *args) -> Bucket:
        bucket = super().get_bucket(environment, *args)
        bucket.key += environment.code
        return bucket

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._known.get(bucket.key)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._known[bucket.key] = bucket.code


@pytest.fixture(scope="session")
def compiled() -> CompiledTemplates:
    """Compiled templates, shared by all applications of this process: compiling one page's takes 0.1 s."""
    return CompiledTemplates()


@pytest.fixture
def sessions(database_url):
    """Sessions on a fresh database, created as by the application."""
    engine = create_engine(database_url)
    yield sessionmaker(engine)
    engine.dispose()


@pytest.fixture
def real_app(tmp_path, database_url) -> Iterator[Callable[..., Flask]]:
    """create_app with settings from these variables, over an instance folder of its own; its runs are stopped."""
    made: list[Flask] = []

    def make(**env: str) -> Flask:
        made.append(create_app(Settings.from_env({"INSTANCE": str(tmp_path), "DATABASE_URL": database_url} | env)))
        return made[-1]

    yield make
    for app in made:
        app.extensions["hopcheck"].runs.stop()
