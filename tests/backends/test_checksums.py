"""Checksums of written folders and installed packages detect changed files of unchanged length."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from pathlib import Path

import pytest

from app.backends.local.weight_files import (
    is_as_installed,
    matches_checksums,
    require_as_installed,
    unchanged_since_checked,
    write_checksums,
)
from app.domain.errors import ModelUnavailable


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder of two files and their checksums."""
    for name in ("weights", "words"):
        (tmp_path / name).write_bytes(name.encode() * 1000)
    write_checksums(tmp_path)
    return tmp_path


@pytest.fixture
def installed(tmp_path, monkeypatch) -> Path:
    """A file of an installed package called `carrier`, with the metadata that installers write."""
    file = tmp_path / "carrier" / "model.bin"
    file.parent.mkdir()
    file.write_bytes(b"the bytes of a model" * 50)
    about = tmp_path / "carrier-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\n")
    digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).decode().rstrip("=")
    (about / "RECORD").write_text(f"carrier/model.bin,sha256={digest},{file.stat().st_size}\n")
    monkeypatch.syspath_prepend(tmp_path)
    return file


def change_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[500] ^= 1
    path.write_bytes(content)


def test_a_changed_byte_a_missing_file_and_missing_checksums_do_not_match(folder):
    change_a_byte(folder / "weights")
    assert not matches_checksums(folder)
    write_checksums(folder)
    (folder / "words").unlink()
    assert not matches_checksums(folder)
    (folder / "SHA256SUMS").unlink()
    assert not matches_checksums(folder)


def make_older(folder: Path) -> None:
    """Make the files look older than their checksums by dating the checksums later; ctime cannot be set."""
    later = (folder / "words").stat().st_ctime + 60
    os.utime(folder / "SHA256SUMS", (later, later))


def test_files_unchanged_since_the_last_check_are_not_read_again(folder):
    (folder / "SHA256SUMS").write_text(f"{'0' * 64}  weights\n")  # wrong, but detected only by reading the file
    make_older(folder)
    assert not matches_checksums(folder)
    assert unchanged_since_checked(folder)


@pytest.mark.parametrize("date", [None, 1_000_000_000])
def test_a_changed_file_is_detected_whatever_its_mtime(folder, date):
    assert unchanged_since_checked(folder)
    change_a_byte(folder / "weights")
    if date:
        os.utime(folder / "weights", (date, date))
    assert not unchanged_since_checked(folder)


def test_a_copied_folder_is_verified_once_and_its_checksums_are_redated(folder):
    os.utime(folder / "SHA256SUMS", (0, 0))
    assert unchanged_since_checked(folder)
    assert (folder / "SHA256SUMS").stat().st_mtime >= (folder / "words").stat().st_mtime


def test_missing_files_and_missing_or_empty_checksums_fail_the_quick_check(folder):
    make_older(folder)
    (folder / "words").unlink()
    assert not unchanged_since_checked(folder)
    (folder / "SHA256SUMS").write_text("")
    assert not unchanged_since_checked(folder)
    (folder / "SHA256SUMS").unlink()
    assert not unchanged_since_checked(folder)


@pytest.mark.parametrize("sums", ["", "no checksums at all\n"])
def test_damaged_checksums_do_not_match(folder, sums):
    (folder / "SHA256SUMS").write_text(sums)
    assert not matches_checksums(folder)


def test_a_changed_byte_in_an_installed_packages_file_is_detected(installed):
    assert require_as_installed(installed, "carrier") == installed
    change_a_byte(installed)
    assert not is_as_installed(installed, "carrier")
    with pytest.raises(ModelUnavailable, match=r"model\.bin has changed since the package carrier .* make models"):
        require_as_installed(installed, "carrier")


def test_a_file_without_a_recorded_checksum_is_accepted(installed):
    (installed.parent.parent / "carrier-1.0.dist-info" / "RECORD").write_text("carrier/model.bin,,\n")
    change_a_byte(installed)
    assert is_as_installed(installed, "carrier")
    assert is_as_installed(Path(sys.executable), "carrier")
    assert is_as_installed(installed, "a-package-that-is-not-installed")
