"""Who may import whom: the contracts of pyproject.toml hold, and the heart needs nothing but Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

FOREIGN = """
import sys
import app.reasoning.question_guided, app.reasoning.report, app.reasoning.roles
names = {name.partition(".")[0] for name, module in sys.modules.items() if getattr(module, "__file__", None)}
print(*sorted(names - set(sys.stdlib_module_names) - {"app", "__main__"} - BEFORE))
"""

WEIGHTY = """
import sys
import app.wiring, app.preparing, app.web.pages, app.cli, app.cli_setup
print(*sorted({"torch", "transformers", "pyserini", "jnius", "onnxruntime", "xllamacpp", "nltk"} & set(sys.modules)))
"""


def run_python(script: str) -> str:
    before = "import sys; BEFORE = {name.partition('.')[0] for name in sys.modules}\n"
    done = subprocess.run([sys.executable, "-c", before + script], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_contracts_on_imports_hold():
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_heart_loads_with_the_standard_library_alone():
    assert run_python(FOREIGN) == ""


def test_nothing_heavy_is_loaded_before_the_first_page():
    assert run_python(WEIGHTY) == ""
