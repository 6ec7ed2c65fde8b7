"""The domain and the strategies need only the standard library."""

from __future__ import annotations

import subprocess
import sys

from app.config.settings import ROOT

IMPORT_ALL = """
import pkgutil, sys
sys.path.insert(0, sys.argv[1])
import app.domain, app.strategies
packages = (app.domain, app.strategies)
names = [each.name for part in packages for each in pkgutil.iter_modules(part.__path__, f"{part.__name__}.")]
for name in names:
    __import__(name)
print(*names)
"""


def test_domain_and_strategies_import_without_any_package_installed():
    # -S leaves site-packages out, -I the environment and the current folder.
    bare = [sys.executable, "-I", "-S", "-c", IMPORT_ALL, str(ROOT)]
    done = subprocess.run(bare, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "app.strategies.question_guided" in done.stdout
