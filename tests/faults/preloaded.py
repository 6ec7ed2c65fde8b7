"""Imports what a server or worker imports, and loads what its first claim loads (processes.py)."""

from __future__ import annotations

import importlib
import pkgutil

import app.runs
import app.web
from app.text import claims, sentences

for package in (app.runs, app.web):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
for name in ("app.cli", "app.container.container", "celery.bin.celery", "gunicorn.app.wsgiapp", "tests.runs.steady"):
    importlib.import_module(name)
sentences.load()
claims.language_of("Warsaw lies in Poland.")
