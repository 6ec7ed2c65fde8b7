"""Hopcheck as an installed package: `from hopcheck import check`, and the command `hopcheck`.

The code is the package `app`. A wheel has it in the folder `root`, with the templates and files that a checkout has
beside `app`, so that they find each other in both.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE / "root" if (HERE / "root").is_dir() else HERE.parent
IS_INSTALLED = ROOT.parent == HERE


def _data_folder() -> Path:
    """Return the folder of an installed Hopcheck's database, index and models, as the XDG specification has it."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "hopcheck"


if IS_INSTALLED:
    os.environ.setdefault("INSTANCE", str(_data_folder()))
if str(ROOT) not in sys.path:  # also for the processes that are started from this one
    sys.path.insert(0, str(ROOT))

from app import check, create_app  # noqa: E402
from app.config import VERSION as __version__  # noqa: E402

if Path(sys.modules["app"].__file__ or "").resolve().parent.parent != ROOT:
    raise ImportError("Another package called `app` was imported before Hopcheck's: import hopcheck first.")

__all__ = ["__version__", "check", "create_app"]
