"""Checkpoints and final weights are written completely or not at all, and never used by another run."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from app.domain.errors import InvalidInput
from research.training.checkpoints import replacing, resume, save_checkpoint
from tests.limits import no_room_for

pytestmark = pytest.mark.slow


def a_model(seed: int, size: int = 40) -> nn.Linear:
    torch.manual_seed(seed)
    return nn.Linear(size, size)


def test_a_checkpoint_restores_weights_and_progress(tmp_path: Path) -> None:
    path, one, other = tmp_path / "new" / "checkpoint.pt", a_model(1), a_model(2)
    save_checkpoint(path, one, {}, {"step": 3}, "this run")
    assert resume(path, other, {}, "this run") == {"step": 3}
    assert torch.equal(one.weight, other.weight)


def test_without_a_checkpoint_a_run_starts_from_the_beginning(tmp_path: Path) -> None:
    assert resume(tmp_path / "checkpoint.pt", a_model(1), {}) == {}


def test_a_full_disk_keeps_the_previous_checkpoint_and_leaves_no_partial_file(tmp_path: Path) -> None:
    path, model = tmp_path / "checkpoint.pt", a_model(1)
    save_checkpoint(path, model, {}, {"step": 1})
    with no_room_for(1_000), pytest.raises(OSError, match="could not be written"):
        save_checkpoint(path, a_model(2), {}, {"step": 2})
    assert resume(path, a_model(3), {}) == {"step": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint.pt"]


@pytest.mark.parametrize(
    ("run", "size", "sentence"), [("other", 40, "other data, another base"), ("", 30, "another model")]
)
def test_a_checkpoint_of_another_run_or_model_is_refused(tmp_path: Path, run: str, size: int, sentence: str) -> None:
    """Otherwise steps would count as done on data that was never used."""
    save_checkpoint(tmp_path / "checkpoint.pt", a_model(1), {}, {"step": 3}, "this run")
    with pytest.raises(InvalidInput, match=sentence) as raised:
        resume(tmp_path / "checkpoint.pt", a_model(2, size), {}, run)
    assert "delete it" in str(raised.value)


@pytest.mark.parametrize("keep", [0, 10, 1_500])
def test_a_truncated_checkpoint_is_reported(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, a_model(1), {}, {"step": 3})
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InvalidInput, match=r"checkpoint\.pt is damaged"):
        resume(path, a_model(2), {})


def test_saving_replaces_the_old_weights_and_keeps_other_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for text in ("old", "new"):
        with replacing(out) as fresh:
            (fresh / "model").write_text(text)
        (out / "README.md").write_text("a card")
    assert {file.name: file.read_text() for file in out.iterdir()} == {"model": "new", "README.md": "a card"}
    assert [folder.name for folder in tmp_path.iterdir()] == ["out"]


def test_weights_can_be_saved_to_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with replacing(Path()) as fresh:
        (fresh / "model").write_text("new")
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


def test_new_files_are_written_within_the_folder_which_may_be_on_another_disk_than_its_parent(tmp_path: Path) -> None:
    with replacing(tmp_path / "out") as fresh:
        assert fresh.parent == tmp_path / "out"


def a_lot(fresh: Path) -> None:
    save_file({"weight": torch.zeros(10_000)}, fresh / "model.safetensors")


def a_text(fresh: Path) -> None:
    (fresh / "tokenizer.json").write_text("x" * 10_000)


def a_device_that_is_always_full(fresh: Path) -> None:
    (fresh / "tokenizer.json").symlink_to("/dev/full")
    (fresh / "tokenizer.json").write_text("x")


@pytest.mark.parametrize("write", [a_lot, a_text, a_device_that_is_always_full])
def test_a_full_disk_keeps_the_old_weights(tmp_path: Path, write) -> None:
    out = tmp_path / "out"
    with replacing(out) as fresh:
        (fresh / "config.json").write_text("old")
    refused = pytest.raises(OSError, match="the files saved before are unchanged")
    with no_room_for(1_000), refused as raised, replacing(out) as fresh:
        (fresh / "config.json").write_text("new")
        write(fresh)
    assert raised.value.filename == str(out)
    assert {file.name: file.read_text() for file in out.iterdir()} == {"config.json": "old"}


def test_ctrl_c_while_saving_keeps_the_old_weights(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "out") as fresh:
        (fresh / "config.json").write_text("new")
        raise KeyboardInterrupt
    assert list(tmp_path.rglob("*")) == [tmp_path / "out"]
