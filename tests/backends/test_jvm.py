"""Which Java is taken, and that starting it leaves no trace in the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.backends.jvm import choose_java, java_version

# Starting Java takes ten seconds, and minutes on a machine that is busy with training.
pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).resolve().parents[2]

START_FROM_FOUR_THREADS = """
import os
from concurrent.futures import ThreadPoolExecutor
from app.backends import jvm
ours = ("JAVA_HOME", "JVM_PATH", "OPENAI_API_KEY")
before = [os.environ.get(name) for name in ours]
with ThreadPoolExecutor(4) as pool:
    started = list(pool.map(lambda _: jvm.start(memory="64m"), range(4)))
print(len({id(each) for each in started}), [os.environ.get(name) for name in ours] == before)
import jnius
print(jnius.autoclass("java.lang.Runtime").getRuntime().maxMemory() // 2**20)
"""


def java_home(folder: Path, version: str, library: bool = True) -> Path:
    """A folder that looks like a Java of that version."""
    (folder / "lib" / "server").mkdir(parents=True)
    (folder / "release").write_text(f'IMPLEMENTOR="Someone"\nJAVA_VERSION="{version}"\n')
    if library:
        (folder / "lib" / "server" / "libjvm.so").touch()
    return folder


@pytest.mark.parametrize(("written", "version"), [("21.0.2", 21), ("17.0.15", 17), ("25", 25), ("1.8.0_412", 1)])
def test_the_version_is_read_from_the_release_file(tmp_path, written, version):
    assert java_version(java_home(tmp_path / "java", written)) == version


def test_a_folder_without_a_release_file_has_no_version(tmp_path):
    assert java_version(tmp_path) == 0


def test_a_java_home_that_is_new_enough_goes_first(tmp_path):
    home = java_home(tmp_path / "java", "21.0.2")
    assert choose_java(home) == home


@pytest.mark.parametrize(("version", "library"), [("17.0.15", True), ("21.0.2", False)], ids=["old", "without a JVM"])
def test_any_other_java_home_is_passed_over_for_the_packaged_one(tmp_path, version, library):
    chosen = choose_java(java_home(tmp_path / "java", version, library))
    assert chosen == choose_java(None)
    assert java_version(chosen) >= 21


@pytest.mark.jvm
@pytest.mark.parametrize("key", [None, "sk-a-real-one"])
def test_starting_from_several_threads_starts_once_and_leaves_the_environment_as_it_was(key):
    environment = {name: value for name, value in os.environ.items() if name not in ("OPENAI_API_KEY", "JAVA_HOME")}
    environment |= {"OPENAI_API_KEY": key} if key else {}
    done = subprocess.run(
        [sys.executable, "-c", START_FROM_FOUR_THREADS], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    first, heap = done.stdout.splitlines()
    assert first == "1 True", done.stderr
    assert int(heap) <= 64
