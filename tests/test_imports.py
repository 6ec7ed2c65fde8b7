"""Import contracts of pyproject.toml, and what a page, a command and a check load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.config.settings import load_settings

ROOT = Path(__file__).resolve().parent.parent

MODELS = {"torch", "transformers", "peft", "pyserini", "jnius", "onnxruntime", "xllamacpp", "nltk", "scipy"}
SLOW = {
    "alembic",
    "flask_migrate",
    "httpx2",
    "openai",
    "httpx",
    "requests",
    "trafilatura",
    "numpy",
    "app.cli",
    "celery",
    "redis",
}
"""They take 0.1 to 0.7 s each."""

COMMANDS = """
import app.container.container, app.bootstrap, app.web.home, app.cli
"""
FIRST_PAGE = """
from app import create_app
from app.extensions import db
from app.config.settings import Settings
app = create_app(Settings.from_env({"INSTANCE": INSTANCE}), commands=False)
with app.app_context():
    db.create_all()
assert app.test_client().get("/").status_code == 200
"""
LOOK = """
import app.bootstrap
from pathlib import Path
from app.runs.schema_version import is_newest
from app.config.settings import Settings
settings = Settings.from_env({"INSTANCE": INSTANCE})
assert not any(step.is_done() for step in app.bootstrap.steps(settings))
assert not is_newest(settings.database_url)
"""

WITHOUT_RESEARCH = """
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder

class WithoutResearch(MetaPathFinder):
    find_distributions = staticmethod(PathFinder.find_distributions)

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] == "research" else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [each for each in sys.meta_path if each is not PathFinder] + [WithoutResearch()]
from app import create_app
from app.config.settings import Settings
from app.extensions import db
from tests.openai_server import OpenAIServer, play_in_json

with OpenAIServer(play_in_json(), True) as server, open(INSTANCE + "/claims.txt", "w") as claims:
    print("The author of Hamlet was born in England.", file=claims, flush=True)
    model = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "scripted", "READ_WITH": "model", "OPENAI_API_KEY": "key"}
    app = create_app(Settings.from_env({"INSTANCE": INSTANCE} | model))
    with app.app_context():
        db.create_all()
    assert app.test_client().get("/").status_code == 200
    options = ["--preset", "prompted", "--answerer", "reciter-reader", "--yes"]
    done = app.test_cli_runner().invoke(args=["check", "--file", claims.name, *options])
assert done.exit_code == 0 and '"label": "SUPPORTED"' in done.stdout, done.output
print(*{"check", "evaluate", "train"} & {*app.cli.commands}, "research" in sys.modules)
"""

CHECK = """
import sys, threading, time
from app import create_app
from app.config.settings import Settings
from app.extensions import db
from tests.openai_server import OpenAIServer, play_in_json
from tests.test_pursuit_wiring import BORN, WROTE, Found, SearchServer, player, searxng_reply

loaded = []

def script(asked):
    while not loaded and "load" in {thread.name for thread in threading.enumerate()}:
        time.sleep(0.05)  # the first reply comes once all is loaded that loads beside the first call
    loaded.append(loaded[0] if loaded else set(sys.modules))
    return (play_in_json() if OPTIONS[1] == "prompted" else player)(asked)

with OpenAIServer(script, OPTIONS[1] == "prompted") as server, SearchServer([Found(searxng_reply(WROTE, BORN))]) as web:
    models = {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "scripted", "READ_WITH": READ_WITH}
    search = {"SEARXNG_URL": web.url.removesuffix("/search")}
    app = create_app(Settings.from_env({"INSTANCE": INSTANCE} | models | search))
    with app.app_context():
        db.create_all()
    done = app.test_cli_runner().invoke(args=["check", "The author of Hamlet was born in England.", *OPTIONS])
assert done.exit_code == 0 and len(server.asked) > 5, done.output
assert "punkt" in loaded[0]
print(*sorted(set(sys.modules) - loaded[0]))
"""


def run_python(script: str) -> str:
    before = "import sys; BEFORE = {name.partition('.')[0] for name in sys.modules}\n"
    done = subprocess.run([sys.executable, "-c", before + script], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_the_import_contracts_hold():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def loaded(script: str, among: set[str], instance: Path) -> str:
    """Return the modules in `among` that are loaded after the script has run."""
    return run_python(
        f"INSTANCE = {str(instance)!r}\n{script}\nimport sys; print(*sorted({among!r} & set(sys.modules)))"
    )


def test_registering_commands_loads_no_model_library(tmp_path):
    assert loaded(COMMANDS, MODELS, tmp_path) == ""


def test_the_first_page_needs_no_model_migration_http_client_or_command_line(tmp_path):
    assert loaded(FIRST_PAGE, MODELS | SLOW, tmp_path) == ""


def test_checking_the_setup_needs_no_model_web_or_database_library(tmp_path):
    assert loaded(LOOK, MODELS | SLOW | {"flask", "sqlalchemy"}, tmp_path) == ""


def test_the_site_and_a_batch_of_claims_need_no_research(tmp_path):
    assert run_python(f"INSTANCE = {str(tmp_path)!r}\n{WITHOUT_RESEARCH}") == "check False"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "read_with"),
    [
        (("--preset", "prompted", "--answerer", "reciter-reader"), "model"),
        (("--preset", "llm+llm", "--answerer", "web-search", "--strategy", "evidence-pursuit"), "model"),
        pytest.param(
            ("--preset", "prompted", "--source", "vital"),
            "local",
            marks=(pytest.mark.models, pytest.mark.jvm),
        ),
    ],
)
def test_a_check_with_a_language_model_loads_beside_its_first_call_and_nothing_after_it(tmp_path, options, read_with):
    for name in ("corpora", "models"):
        (tmp_path / name).symlink_to(load_settings().instance / name)
    given = f"INSTANCE, OPTIONS, READ_WITH = {str(tmp_path)!r}, {options}, {read_with!r}\n"
    assert run_python(given + CHECK) == ""


def test_the_benchmarks_find_what_they_import():
    subprocess.run(
        [sys.executable, "-c", "import benchmarks.bench, benchmarks.soak, benchmarks.load.__main__"], check=True
    )
