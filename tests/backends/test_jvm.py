"""The choice of the Java installation, and that starting it leaves the environment unchanged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.backends.corpus.jvm import choose_java, java_version

# Starting Java takes seconds, and minutes on a machine that is busy with training.
pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).resolve().parents[2]

START_FROM_FOUR_THREADS = """
import os
from concurrent.futures import ThreadPoolExecutor
from app.backends.corpus import jvm
ours = ("JAVA_HOME", "JVM_PATH")
before = [os.environ.get(name) for name in ours]
with ThreadPoolExecutor(4) as pool:
    started = list(pool.map(lambda _: jvm.start(memory="64m"), range(4)))
print(len({id(each) for each in started}), [os.environ.get(name) for name in ours] == before)
import jnius
print(jnius.autoclass("java.lang.Runtime").getRuntime().maxMemory() // 2**20)
"""

INDEX_AND_SEARCH = """
import importlib.util, json, sys
from app.backends.corpus import jvm
lucene, folder = jvm.start(), sys.argv[1]
indexer = lucene.index.LuceneIndexer(folder, args=["-index", folder, "-storeRaw"], threads=1)
indexer.add_batch_raw([json.dumps({"id": id, "contents": text}) for id, text in json.loads(sys.argv[2]).items()])
indexer.close()
print(json.dumps({
    "found": [hit.docid for hit in lucene.search.LuceneSearcher(folder).search("the capital of Kenya")],
    "classes": [each.__module__ for each in (lucene.index.LuceneIndexer, lucene.search.LuceneSearcher)],
    "heavy": sorted({"torch", "transformers", "sklearn", "openai", "pyserini.encode"} & set(sys.modules)),
    "encoders": importlib.util.find_spec("pyserini.encode").origin,
}))
"""


def java_home(folder: Path, version: str, library: bool = True) -> Path:
    """Make a folder that looks like a Java of that version."""
    (folder / "lib" / "server").mkdir(parents=True)
    (folder / "release").write_text(f'IMPLEMENTOR="Someone"\nJAVA_VERSION="{version}"\n')
    if library:
        (folder / "lib" / "server" / "libjvm.so").touch()
    return folder


@pytest.mark.parametrize(("written", "version"), [("21.0.2", 21), ("17.0.15", 17), ("25", 25), ("1.8.0_412", 1)])
def test_the_version_is_read_from_the_release_file(tmp_path, written, version):
    assert java_version(tmp_path) == 0
    assert java_version(java_home(tmp_path / "java", written)) == version


def test_a_recent_enough_java_home_is_preferred(tmp_path):
    home = java_home(tmp_path / "java", "21.0.2")
    assert choose_java(home) == home


@pytest.mark.parametrize(
    ("version", "library", "problem"),
    [("17.0.15", True, "has no Java 21 or newer (found: 17)"), ("21.0.2", False, "has no libjvm (found: 21)")],
    ids=["old", "without a JVM"],
)
def test_any_other_java_home_is_ignored_in_favour_of_the_packaged_one(tmp_path, caplog, version, library, problem):
    caplog.set_level("INFO")
    chosen = choose_java(java_home(tmp_path / "java", version, library))
    assert problem in caplog.text
    assert chosen == choose_java(None)
    assert java_version(chosen) >= 21


def printed(program: str, *arguments: str) -> list[str]:
    """Return the lines that `program` prints in a process of its own without API keys: Java starts once per process."""
    environment = {name: value for name, value in os.environ.items() if name not in ("OPENAI_API_KEY", "JAVA_HOME")}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.jvm
def test_concurrent_starts_start_once_and_leave_the_environment_unchanged():
    first, heap = printed(START_FROM_FOUR_THREADS)
    assert first == "1 True"
    assert int(heap) <= 64


@pytest.mark.jvm
def test_pyserini_indexes_and_searches_without_importing_dense_retrieval_libraries(tmp_path):
    texts = {"dk": "Copenhagen is a capital.", "ke": "Nairobi is the capital of Kenya.", "fr": "The Seine is a river."}
    report = json.loads(printed(INDEX_AND_SEARCH, str(tmp_path / "index"), json.dumps(texts))[-1])
    assert report["found"] == ["ke", "dk"]
    assert report["classes"] == ["pyserini.index.lucene._indexer", "pyserini.search.lucene._searcher"]
    assert report["heavy"] == []
    assert Path(report["encoders"]).parts[-3:] == ("pyserini", "encode", "__init__.py")  # still importable
