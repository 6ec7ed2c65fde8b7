"""Findings of the doctor about the corpora and the model files."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from gguf import GGUFWriter

from app.backends.corpus.index import Manifest, checksum, sizes, write_manifest
from app.backends.local.weight_files import CHECKSUMS_FILE, write_checksums
from app.bootstrap import base_model_folder
from app.config.settings import Settings
from app.doctor import components
from tests.doctor.looking import BROKEN, SOUND, WARNED, found, has, the_one


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
    assert the_one(components.corpora, indexed) == (SOUND, "12 passages, whole ")


def test_a_missing_or_damaged_index_is_a_problem(settings, indexed):
    assert the_one(components.corpora, settings) == (BROKEN, "The index of the corpus vital is missing make corpus")
    segment = indexed.instance / "corpora" / "made-up" / "index-1" / "segment"
    segment.write_bytes(b"1123456789" * 100)
    state, message = the_one(components.corpora, indexed)
    assert state is BROKEN and "damaged" in message


def test_live_wikipedia_is_named_with_its_host_and_contact_and_needs_no_index(settings):
    offered = replace(settings, contact="ops@example.org", corpora=("wikipedia-live",))
    state, message = the_one(components.live_wikipedia, offered)
    assert state is SOUND and "en.wikipedia.org" in message and "ops@example.org" in message
    assert found(components.corpora, offered) == found(components.corpora, replace(offered, corpora=()))
    assert the_one(components.live_wikipedia, replace(settings, wikipedia="off")) == (SOUND, "Not offered ")
    state, message = the_one(components.corpora, replace(offered, wikipedia="off"))
    assert state is BROKEN and "Set WIKIPEDIA to a language" in message


@pytest.mark.models
def test_the_installed_models_are_complete():
    for check in (components.question_model, components.reranker):
        assert the_one(check, Settings())[0] is SOUND


def test_a_truncated_question_model_is_a_problem_and_a_complete_one_is_not(tmp_path):
    own = tmp_path / "own.gguf"
    writer = GGUFWriter(own, "llama")
    writer.add_tensor("weight", numpy.ones((64, 64), numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    state, message = the_one(components.question_model, Settings(question_model=own))
    assert state is SOUND and "there is no checksum to compare" in message
    for kept in (9000, 40, 0):
        own.write_bytes(own.read_bytes()[:kept])
        state, message = the_one(components.question_model, Settings(question_model=own))
        assert state is BROKEN and "cut off" in message and "QUESTION_MODEL" in message
    assert "missing" in the_one(components.question_model, Settings(question_model=tmp_path / "no.gguf"))[1]


def test_a_missing_base_model_is_a_problem(settings):
    assert the_one(components.base_model, settings)[0] is BROKEN


def test_a_base_model_with_changed_bytes_is_a_problem_and_the_fix_deletes_it(settings):
    folder = base_model_folder(settings)
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (folder / name).write_text("{}")
    write_checksums(folder)
    assert the_one(components.base_model, settings)[0] is SOUND
    (folder / CHECKSUMS_FILE).write_text(f"{'0' * 64}  model.safetensors\n")  # as if the bytes had changed
    later = (folder / CHECKSUMS_FILE).stat().st_mtime + 60
    os.utime(folder / CHECKSUMS_FILE, (later, later))
    state, message = the_one(components.base_model, settings)
    assert state is BROKEN and f"rm -r {folder} && make setup" in message


@pytest.fixture
def copied(tmp_path) -> Path:
    """A copy of the packaged models that a test may damage, outside any git checkout."""
    return shutil.copytree(components.SHIPPED, tmp_path / "models")


def test_the_packaged_models_are_complete(copied):
    assert [state for state, _ in found(components.shipped_models, Settings(), copied)] == [SOUND, SOUND, SOUND]


@pytest.mark.parametrize(
    "name", ["judge/adapter_model.safetensors", "reader/model.safetensors", "selector/weights.safetensors"]
)
def test_truncated_or_missing_weights_are_reported(copied, name):
    content = (copied / name).read_bytes()
    (copied / name).write_bytes(content[: len(content) // 2])
    message = found(components.shipped_models, Settings(), copied)
    assert has(message, BROKEN, "cut off") and has(message, BROKEN, "git checkout -- app/models")
    (copied / name).unlink()
    assert has(found(components.shipped_models, Settings(), copied), BROKEN, "is missing")


@pytest.mark.parametrize("name", ["judge/calibration.json", "reader/tokenizer.json"])
def test_a_damaged_file_beside_the_weights_is_reported(copied, name):
    (copied / name).write_text("{")
    assert has(found(components.shipped_models, Settings(), copied), BROKEN, f"{name} is damaged")


def test_weights_that_differ_from_the_committed_ones_are_reported(copied):
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=copied, check=True)

    git("init", "-q")
    git("add", ".")
    assert [state for state, _ in found(components.shipped_models, Settings(), copied)] == [SOUND, SOUND, SOUND]
    weights = copied / "reader" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-100] ^= 1
    weights.write_bytes(content)
    assert has(found(components.shipped_models, Settings(), copied), WARNED, "differs from the committed file")
    (copied / "reader" / "config.json").unlink()
    assert has(found(components.shipped_models, Settings(), copied), WARNED, "config.json is missing")
