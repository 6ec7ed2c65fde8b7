"""An application with scripted runs, for commands in a process of their own.

flask --app "tests.scripted_app:make('FOLDER')" COMMAND
"""

from __future__ import annotations

from pathlib import Path

from flask import Flask

from app import create_app
from app.config.settings import Settings
from tests.fakes import scripted_container


def make(folder: str) -> Flask:
    """Return the application over the database `hopcheck.sqlite3` of `folder`."""
    settings = Settings(instance=Path(folder), database_url=f"sqlite:///{folder}/hopcheck.sqlite3")
    return create_app(settings, scripted_container())
