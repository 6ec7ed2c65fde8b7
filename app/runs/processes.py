"""Which process carries out a run, and whether it still lives.

Each process that starts runs holds a lock on a small file beside the database. The kernel drops the lock when the
process ends, however it ends, so a lock that can be taken belonged to the dead. Process ids would not do: they come
back, and in a container the server has the same one after every restart.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
from pathlib import Path
from typing import TextIO

from sqlalchemy import URL


class Processes:
    """The lock files in one folder. Made before a fork, it still gives every process its own name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pid = 0
        self._name = ""
        self._held: TextIO | None = None

    @classmethod
    def beside(cls, url: URL) -> Processes:
        """Who shares a SQLite file shares its folder; another database's processes meet in the temporary folder."""
        if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
            return cls(Path(url.database).resolve().parent / "processes")
        return cls(Path(tempfile.gettempdir()) / "hopcheck-processes")

    def own_name(self) -> str:
        """This process's name. From the first call on its lock is held until the process ends."""
        if self._pid != os.getpid():
            self.folder.mkdir(parents=True, exist_ok=True)
            name = secrets.token_hex(8)
            draft = self.folder / f"{name}.partial"
            held = draft.open("w")
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            draft.rename(self.folder / name)  # only a locked file ever bears the name
            self._pid, self._name, self._held = os.getpid(), name, held
        return self._name

    def is_dead(self, name: str) -> bool:
        """Whether the process of that name has ended; its file is then cleared away."""
        path = self.folder / name
        try:
            with path.open("r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except FileNotFoundError:
            return True
        path.unlink(missing_ok=True)
        return True
