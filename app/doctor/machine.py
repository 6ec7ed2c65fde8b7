"""Checks of the machine: Python, packages, memory, cores, clock, port, Java, Redis and workers."""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from app.backends.corpus.jvm import MIN_JAVA_VERSION, choose_java, java_problem, java_version
from app.bootstrap import port_problem
from app.config import FLASK
from app.config.settings import ROOT, Settings
from app.doctor import Finding, ok, problem, warning
from app.domain.errors import HopcheckError, ModelUnavailable

MIN_PYTHON = (3, 11)
GIB = 1024**3
MIN_MEMORY, RECOMMENDED_MEMORY = 2 * GIB, 4 * GIB
"""Bytes in total. The models and the JVM take about two GB; the README recommends four."""
_MEMORY_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""The memory limit of a container."""


def python(_settings: Settings) -> Iterator[Finding]:
    running, needed = ".".join(map(str, sys.version_info[:3])), ".".join(map(str, MIN_PYTHON))
    if sys.version_info < MIN_PYTHON:
        yield problem(
            "Python", f"Version {running} is too old", f"Install Python {needed} or newer, then make clean setup"
        )
    else:
        yield ok("Python", f"Version {running}")


def packages(_settings: Settings, root: Path = ROOT) -> Iterator[Finding]:
    """Check that the pinned packages are installed in their versions."""
    for name, fix in (
        ("requirements.txt", "make install"),
        ("requirements-models.txt", "make models"),
    ):
        pins = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        found = {package: _installed(package) for package, _ in pins}
        missing = [package for package, _ in pins if found[package] is None]
        # A local build has the same version with a tag: 2.13.0+cpu.
        differing = [
            f"{package} is {found[package]} and should be {pin}"
            for package, pin in pins
            if (installed := found[package]) and installed.partition("+")[0] != pin
        ]
        if missing:
            yield problem("packages", f"{name} is not fully installed; missing: {', '.join(missing)}", fix)
        if differing:
            yield warning("packages", f"{'; '.join(differing)} ({name})", fix)
        if not missing and not differing:
            yield ok("packages", f"All {len(pins)} of {name} are installed as pinned")


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def memory(_settings: Settings) -> Iterator[Finding]:
    """Check that there is enough memory for the models."""
    total = _memory()
    text = f"{total / GIB:.1f} GiB in all"
    if total < MIN_MEMORY:
        yield problem("memory", f"{text}; the models and the search engine need about 2", "Give it 4 GiB")
    elif total < RECOMMENDED_MEMORY:
        yield warning(
            "memory", f"{text}; 4 GiB are recommended", "Give it 4 GiB, or set WORKERS=1 and JAVA_MEMORY=256m"
        )
    else:
        yield ok("memory", text)


def _memory() -> int:
    """Return the memory in bytes: the machine's, or the container's limit when that is less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(total, int(_MEMORY_LIMIT.read_text()))
    except (OSError, ValueError):  # no such limit, or "max"
        return total


def cores(settings: Settings) -> Iterator[Finding]:
    """Check that there are enough cores for a model and the pages."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if usable < 2:
        yield warning("cores", "One core: pages wait while a model computes", "Give it two cores")
    elif settings.torch_threads > usable:
        yield warning(
            "cores",
            f"TORCH_THREADS={settings.torch_threads} is more than the {usable} cores",
            f"Set TORCH_THREADS={usable}",
        )
    else:
        yield ok("cores", f"{usable} usable")


def clock(_settings: Settings) -> Iterator[Finding]:
    """Check that the clock is not behind Hopcheck's files: a wrong clock breaks cookies and https."""
    now, modified = time.time(), Path(__file__).stat().st_mtime
    text = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M} UTC"
    if now < modified:
        yield problem("clock", f"It says {text}, which is before these files were made", "Set the clock (NTP)")
    else:
        yield ok("clock", text)


def port(settings: Settings) -> Iterator[Finding]:
    """Check that the port is free, or identify what uses it."""
    address = f"{settings.port} of {settings.host}"
    fault = port_problem(settings.host, settings.port)
    if fault is None:
        yield ok("port", f"{address} is free")
    elif not fault.is_taken:
        yield problem("port", fault.message, "Set HOST or PORT, in the environment or in .env")
    elif (listener := _identify_listener(settings)) == "a Hopcheck server":
        yield ok("port", f"{address} is in use by {listener}")
    else:
        yield problem(
            "port",
            f"{address} is taken by {listener}",
            f"Stop that, or choose another port: make run PORT={settings.port + 1}",
        )


def _identify_listener(settings: Settings) -> str:
    """Identify the server on the port by requesting one small page, by a name that Hopcheck would not refuse."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)
    headers = {"Host": settings.allowed_hosts[0]} if settings.allowed_hosts else {}
    connection = http.client.HTTPConnection(host, settings.port, timeout=3)
    try:
        connection.request("GET", "/how-it-works", headers=headers)
        page = connection.getresponse().read(64 * 1024)
    except (OSError, http.client.HTTPException):
        return "a program that did not answer in HTTP"
    finally:
        connection.close()
    return "a Hopcheck server" if b"Hopcheck</title>" in page else "another web server"


def java(settings: Settings) -> Iterator[Finding]:
    """Check that there is a recent JVM and that it starts."""
    try:
        home = choose_java(settings.java_home)
    except ModelUnavailable:
        yield problem("Java", f"There is no Java {MIN_JAVA_VERSION} or newer", "make install")
        return
    text = f"Version {java_version(home)} in {home}"
    if (program := home / "bin" / "java").is_file() and (error := _start_error(program)):
        yield problem("Java", f"{text} does not start: {error}", "Reinstall it, or set JAVA_HOME to another")
    elif settings.java_home and home != settings.java_home:
        message = f"JAVA_HOME={settings.java_home} {java_problem(settings.java_home)}; the packaged one is used"
        yield warning("Java", message, f"Set JAVA_HOME to a complete Java {MIN_JAVA_VERSION} or newer, or leave it out")
    else:
        yield ok("Java", text)


def _start_error(program: Path) -> str | None:
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    return (done.stderr.strip().splitlines() or ["no reason given"])[0] if done.returncode else None


def workers(settings: Settings) -> Iterator[Finding]:
    """Check that Redis answers and workers are alive, when REDIS_URL is set."""
    if not settings.redis_url:
        yield ok("Redis and workers", "REDIS_URL is not set: the server executes the runs itself")
        return
    from app.runs.celery_jobs import alive_workers

    try:
        names = alive_workers(settings.redis_url)
    except HopcheckError as error:
        yield problem("Redis and workers", f"{error}", "Start Redis, or correct REDIS_URL")
        return
    if names:
        yield ok("Redis and workers", f"{len(names)}: {', '.join(names)}")
    else:
        yield warning("Redis and workers", "No worker is running, so runs wait", f"{FLASK} worker")
