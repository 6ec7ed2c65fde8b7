"""Instance folders with a database of their own, and small or read-only disks to put them on."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest

from app import check, create_app
from app.config.settings import Settings
from tests.fakes import scripted_container
from tests.faults.servers import CLAIM, DATABASE, ROOT, flask


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory) -> Path:
    """A database at the newest version, made by the operator's command."""
    instance = tmp_path_factory.mktemp("migrated")
    done = flask(instance, "db", "upgrade")
    assert done.returncode == 0, done.stderr
    return instance / DATABASE


@pytest.fixture
def instance(tmp_path, migrated) -> Path:
    """An instance folder with an empty database of its own."""
    folder = tmp_path / "instance"
    folder.mkdir()
    shutil.copy(migrated, folder / DATABASE)
    return folder


@pytest.fixture(scope="session")
def with_old_run(tmp_path_factory, migrated) -> tuple[Path, str]:
    """A database with one run, which has ended, and the path of its page."""
    folder = tmp_path_factory.mktemp("old")
    shutil.copy(migrated, folder / DATABASE)
    app = create_app(Settings(instance=folder, database_url=f"sqlite:///{folder / DATABASE}"), scripted_container())
    run = check(CLAIM, app=app).id
    app.extensions["hopcheck"].runs.stop()
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        database.execute("pragma wal_checkpoint(truncate)").fetchall()  # a part of it may be in its -wal file
    return folder / DATABASE, f"/runs/{run}"


@pytest.fixture
def old_run(instance, with_old_run) -> str:
    """Give the instance a run that has ended, and return the path of its page."""
    database, path = with_old_run
    shutil.copy(database, instance / DATABASE)
    return path


@pytest.fixture
def mount() -> Iterator[Callable[..., None]]:
    """A function that runs `mount ARGUMENTS FOLDER`; the folder is unmounted at the end."""
    if not _may_mount() and not _has_namespaces():
        pytest.skip("mounting a disk for the test is allowed neither here nor in a namespace")
    mounted: list[Path] = []

    def mount(folder: Path, *arguments: str) -> None:
        subprocess.run(["mount", *arguments, str(folder)], check=True)
        mounted.append(folder)

    yield mount
    for folder in reversed(mounted):
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that mounts as root in a new namespace if mounting is not allowed here, and take over its outcome."""
    if "mount" not in pyfuncitem.fixturenames or _may_mount():
        return None
    _pass_in_namespace(f"{pyfuncitem.path}::{pyfuncitem.name}")
    return True


def _pass_in_namespace(node: str) -> None:
    command = ["unshare", "-rm", sys.executable, "-m", "pytest", "-p", "no:cacheprovider", node]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@cache
def _may_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True).returncode:
            return False
        return subprocess.run(["umount", folder], capture_output=True).returncode == 0


@cache
def _has_namespaces() -> bool:
    try:
        return subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False
