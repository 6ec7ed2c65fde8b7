"""The checksums of installed packages detect changed files of unchanged length."""

from __future__ import annotations

import base64
import hashlib
import sys
from pathlib import Path

import pytest

from app.backends.local.weight_files import require_as_installed
from app.domain.errors import ModelUnavailable


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


def test_a_changed_byte_in_an_installed_packages_file_is_detected(installed):
    assert require_as_installed(installed, "carrier") == installed
    change_a_byte(installed)
    with pytest.raises(ModelUnavailable, match=r"model\.bin has changed since the package carrier .* make models"):
        require_as_installed(installed, "carrier")


def test_a_file_without_a_recorded_checksum_is_accepted(installed):
    (installed.parent.parent / "carrier-1.0.dist-info" / "RECORD").write_text("carrier/model.bin,,\n")
    change_a_byte(installed)
    assert require_as_installed(installed, "carrier") == installed
    assert require_as_installed(Path(sys.executable), "carrier")
    assert require_as_installed(installed, "a-package-that-is-not-installed")
