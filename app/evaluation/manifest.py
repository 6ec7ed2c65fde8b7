"""manifest.json: what an evaluation was made with, so that somebody else can make it again."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from app.evaluation.predictions import Prediction, Spent

PACKAGES = ("torch", "transformers", "xllamacpp", "onnxruntime", "pyserini", "nltk", "scipy", "numpy")
"""Those whose versions may change a figure."""
ROOT = Path(__file__).resolve().parent.parent.parent


def manifest(about: dict[str, Any], predictions: Iterable[Prediction], workers: int) -> dict[str, Any]:
    """`about` with the code, the machine, the day, and what the predictions took, those of earlier starts included.

    `row_seconds` is the mean over the rows; with several `workers` rows wait for one another in it.
    """
    spent = [each.spent for each in predictions]
    return {
        **about,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "code": code_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "hardware": hardware(),
        "workers": workers,
        "spent": asdict(_sum(spent)),
        "row_seconds": round(sum(each.seconds for each in spent) / len(spent), 3) if spent else 0.0,
    }


def code_version() -> str:
    """The commit, with "-dirty" when files were changed after it; "unknown" outside of a git checkout."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def hardware() -> dict[str, Any]:
    """Processor, cores, memory, operating system and Python."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def _sum(spent: list[Spent]) -> Spent:
    costs = [each.cost for each in spent if each.cost is not None]
    return Spent(
        round(sum(each.seconds for each in spent), 1),
        sum(each.calls for each in spent),
        sum(each.prompt_tokens for each in spent),
        sum(each.completion_tokens for each in spent),
        sum(costs) if costs else None,
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (ValueError, OSError):
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
