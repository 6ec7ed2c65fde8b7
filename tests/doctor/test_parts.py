"""Findings of the doctor about the corpora and the model files."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from app.backends.corpus.index import Manifest, checksum, sizes, write_manifest
from app.config.settings import Settings
from app.container.container import SHIPPED
from app.doctor import checks
from tests.doctor.looking import BROKEN, SOUND, WARNED, found, the_one


@pytest.fixture
def indexed(settings) -> Settings:
    """Settings whose only corpus has a complete index (of arbitrary bytes)."""
    folder = settings.instance / "corpora" / "made-up"
    (folder / "index-1").mkdir(parents=True)
    (folder / "index-1" / "segment").write_bytes(b"0123456789" * 100)
    files, digest = sizes(folder / "index-1"), checksum(folder / "index-1")
    write_manifest(
        folder, Manifest("made-up", "Made up", "nobody", "built", 12, "index-1", files, digest, "source", "1.0")
    )
    return replace(settings, corpora=("made-up",))


def test_a_complete_index_is_ok(indexed):
    assert the_one(checks.corpora, indexed) == (SOUND, "12 passages, whole ")


def test_a_missing_or_damaged_index_is_a_problem(settings, indexed):
    assert the_one(checks.corpora, settings) == (BROKEN, "The index of the corpus vital is missing make corpus")
    segment = indexed.instance / "corpora" / "made-up" / "index-1" / "segment"
    segment.write_bytes(b"1123456789" * 100)
    state, message = the_one(checks.corpora, indexed)
    assert state is BROKEN and "damaged" in message


def test_live_wikipedia_needs_no_index_and_must_be_offered(settings):
    offered = replace(settings, corpora=("wikipedia-live",))
    assert found(checks.corpora, offered) == []
    state, message = the_one(checks.corpora, replace(offered, wikipedia="off"))
    assert state is BROKEN and "Set WIKIPEDIA to a language" in message


@pytest.mark.models
def test_the_installed_models_are_complete():
    for check in (checks.local_model, checks.reranker):
        assert the_one(check, Settings())[0] is SOUND


@pytest.fixture
def copied(tmp_path, monkeypatch) -> Path:
    """A copy of the adapter that a test may damage, outside any git checkout."""
    monkeypatch.setattr(checks, "SHIPPED", tmp_path)
    return shutil.copytree(SHIPPED / "transcript", tmp_path / "transcript")


def test_a_truncated_or_missing_adapter_is_reported(copied):
    adapter = copied / "adapter.gguf"
    assert the_one(checks.local_model, Settings())[0] is SOUND
    adapter.write_bytes(adapter.read_bytes()[:100_000])
    state, message = the_one(checks.local_model, Settings())
    assert state is BROKEN and "cut off" in message and "git checkout -- app/models" in message
    adapter.unlink()
    assert "is missing" in the_one(checks.local_model, Settings())[1]


def test_a_damaged_file_beside_the_adapter_is_reported(copied):
    (copied / "calibration.json").write_text("{")
    state, message = the_one(checks.local_model, Settings())
    assert state is BROKEN and "calibration.json is damaged" in message


def test_an_adapter_that_differs_from_the_committed_one_is_reported(copied):
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=copied, check=True)

    git("init", "-q")
    git("add", ".")
    assert the_one(checks.local_model, Settings())[0] is SOUND
    content = bytearray((copied / "adapter.gguf").read_bytes())
    content[-100] ^= 1
    (copied / "adapter.gguf").write_bytes(content)
    state, message = the_one(checks.local_model, Settings())
    assert state is WARNED and "differs from the committed file" in message
