"""The files of a folder that can be read, in one order: every time the same, so that a build can go on where it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.backends.document_text import SUFFIXES


def files_in(top: Path) -> Iterator[tuple[Path, str]]:
    """Each file with a known suffix in and under `top`, or `top` itself, with its name relative to `top`.

    Hidden files and folders are passed over, and so is what is no plain file. Links are followed, a folder that was
    entered already is not entered again.
    """
    if top.is_file():
        yield top, top.name
    else:
        yield from _under(top, "", set())


def _under(folder: Path, prefix: str, entered: set[tuple[int, int]]) -> Iterator[tuple[Path, str]]:
    try:
        about = folder.stat()
        inside = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError:
        return  # not ours to read, or a link that leads in a circle
    if (about.st_dev, about.st_ino) in entered:
        return
    entered.add((about.st_dev, about.st_ino))
    for path in inside:
        name = f"{prefix}{path.name}"
        if path.name.startswith("."):
            continue
        if path.is_dir():
            yield from _under(path, f"{name}/", entered)
        elif path.is_file() and path.suffix.lower() in SUFFIXES:
            yield path, name
