"""The command `hopcheck`: `hopcheck serve`, and every command of `flask --app app`, such as `hopcheck check CLAIM`."""

from __future__ import annotations

import os
import subprocess
import sys

import click
from flask.cli import FlaskGroup

from hopcheck import ROOT, __version__, create_app


@click.group(
    cls=FlaskGroup, create_app=create_app, add_default_commands=False, add_version_option=False, load_dotenv=False
)
@click.version_option(__version__, prog_name="hopcheck")
def main() -> None:
    """Check claims one question at a time, with the evidence for every answer."""


@main.command()
def serve() -> None:
    """Set up what is missing and serve on http://127.0.0.1:8000 (HOST, PORT)."""
    environment = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", **os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    python = [sys.executable, "-m"]
    if subprocess.run([*python, "app.bootstrap"], env=environment, cwd=ROOT).returncode:
        subprocess.run([*python, "flask", "--app", "app", "prepare"], env=environment, cwd=ROOT, check=True)
    os.chdir(ROOT)
    os.execve(sys.executable, [*python, "gunicorn"], environment)


if __name__ == "__main__":
    main(prog_name="hopcheck")
