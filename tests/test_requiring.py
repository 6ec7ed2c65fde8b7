"""REQUIRE_ALL=1 turns skips into failures, and no other value does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

SKIPPED_TEST = "import pytest\ndef test_browser(): pytest.skip('there is no Chromium')\n"
SKIPPED_FILE = "import pytest\npytest.skip('there is no Java', allow_module_level=True)\n"
EXPECTED_FAILURE = "import pytest\n@pytest.mark.xfail\ndef test_known(): assert False\n"


@pytest.mark.parametrize(
    ("tests", "required", "passes"),
    [
        (SKIPPED_TEST, "1", False),
        (SKIPPED_TEST, "", True),
        (SKIPPED_FILE, "1", False),
        (EXPECTED_FAILURE, "1", True),
    ],
    ids=["a skipped test fails", "elsewhere it is skipped", "a skipped file fails", "an expected failure is no skip"],
)
def test_skips_are_failures_with_require_all(tmp_path, tests, required, passes):
    (tmp_path / "test_it.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.requiring", "--rootdir", tmp_path, tmp_path]
    environment = {
        **os.environ,
        "REQUIRE_ALL": required,
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode in (0, 5)) is passes, done.stdout
