"""What the doctor says of the corpora and of the model files."""

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
    """Settings whose one corpus has a whole index (of bytes that mean nothing to Lucene)."""
    folder = settings.instance / "corpora" / "made-up"
    (folder / "index-1").mkdir(parents=True)
    (folder / "index-1" / "segment").write_bytes(b"0123456789" * 100)
    files, digest = sizes(folder / "index-1"), checksum(folder / "index-1")
    write_manifest(
        folder, Manifest("made-up", "Made up", "nobody", "built", 12, "index-1", files, digest, "source", "1.0")
    )
    return replace(settings, corpora=("made-up",))


def test_a_whole_index_is_well(indexed):
    assert the_one(components.corpora, indexed) == (SOUND, "12 passages, whole ")


def test_an_index_that_is_missing_or_damaged_names_the_command(settings, indexed):
    assert the_one(components.corpora, settings) == (BROKEN, "The index of the corpus vital is missing make corpus")
    segment = indexed.instance / "corpora" / "made-up" / "index-1" / "segment"
    segment.write_bytes(b"1123456789" * 100)
    state, message = the_one(components.corpora, indexed)
    assert state is BROKEN and "damaged" in message


@pytest.mark.models
def test_the_models_that_install_are_whole():
    for check in (components.question_model, components.reranker):
        assert the_one(check, Settings())[0] is SOUND


def test_a_question_model_that_is_cut_off_is_a_problem_and_a_whole_one_is_none(tmp_path):
    own = tmp_path / "own.gguf"
    writer = GGUFWriter(own, "llama")
    writer.add_tensor("weight", numpy.ones((64, 64), numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    state, message = the_one(components.question_model, Settings(question_model=own))
    assert state is SOUND and "its bytes can be compared with nothing" in message
    for kept in (9000, 40, 0):
        own.write_bytes(own.read_bytes()[:kept])
        state, message = the_one(components.question_model, Settings(question_model=own))
        assert state is BROKEN and "cut off" in message and "QUESTION_MODEL" in message
    assert "missing" in the_one(components.question_model, Settings(question_model=tmp_path / "no.gguf"))[1]


def test_a_base_that_is_not_unpacked_is_a_problem(settings):
    assert the_one(components.base_model, settings)[0] is BROKEN


def test_a_base_whose_bytes_a_disk_has_changed_is_a_problem_and_the_mend_takes_it_away(settings):
    folder = base_model_folder(settings)
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (folder / name).write_text("{}")
    write_checksums(folder)
    assert the_one(components.base_model, settings)[0] is SOUND
    (folder / CHECKSUMS_FILE).write_text(f"{'0' * 64}  model.safetensors\n")  # as if the bytes were others
    later = (folder / CHECKSUMS_FILE).stat().st_mtime + 60
    os.utime(folder / CHECKSUMS_FILE, (later, later))
    state, message = the_one(components.base_model, settings)
    assert state is BROKEN and f"rm -r {folder} && make setup" in message


@pytest.fixture
def copied(tmp_path) -> Path:
    """The models that ship, as a copy that may be broken; git knows nothing of it."""
    return shutil.copytree(components.SHIPPED, tmp_path / "models")


def test_the_models_that_ship_are_whole(copied):
    assert [state for state, _ in found(components.shipped_models, Settings(), copied)] == [SOUND, SOUND, SOUND]


@pytest.mark.parametrize(
    "name", ["judge/adapter_model.safetensors", "reader/model.safetensors", "selector/weights.safetensors"]
)
def test_weights_that_are_cut_off_or_gone_name_the_command(copied, name):
    content = (copied / name).read_bytes()
    (copied / name).write_bytes(content[: len(content) // 2])
    message = found(components.shipped_models, Settings(), copied)
    assert has(message, BROKEN, "cut off") and has(message, BROKEN, "git checkout -- app/models")
    (copied / name).unlink()
    assert has(found(components.shipped_models, Settings(), copied), BROKEN, "is missing")


@pytest.mark.parametrize("name", ["judge/calibration.json", "reader/tokenizer.json"])
def test_a_damaged_file_beside_the_weights_is_named(copied, name):
    (copied / name).write_text("{")
    assert has(found(components.shipped_models, Settings(), copied), BROKEN, f"{name} is damaged")


def test_weights_that_are_not_the_committed_ones_are_named(copied):
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=copied, check=True)

    git("init", "-q")
    git("add", ".")
    assert [state for state, _ in found(components.shipped_models, Settings(), copied)] == [SOUND, SOUND, SOUND]
    weights = copied / "reader" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-100] ^= 1
    weights.write_bytes(content)
    assert has(found(components.shipped_models, Settings(), copied), WARNED, "is not as committed")
