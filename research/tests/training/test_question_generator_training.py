"""Training the question generators on a tiny T5: they learn, resume, and load like any Seq2Seq."""

from __future__ import annotations

import json
import logging
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from app.backends.local.seq2seq import Seq2Seq
from app.domain.errors import CallFailed, InvalidInput, ModelUnavailable
from app.modules.pursuit import first_input, next_input
from research.tests.training.data import interrupted_at_checkpoint
from research.training.fine_tuning import Tuning
from research.training.question_generator import FIRST, NEXT, train
from research.training.question_generator_data import Asked
from tests.limits import no_room_for
from tests.tiny import tiny_llama, tiny_t5

pytestmark = pytest.mark.slow

TOWNS = ("bern", "paris", "rome")
TUNING = Tuning(epochs=40, batch_size=4, learning_rate=2e-2, checkpoint_every=10)
WORDS = "question : Claim Question Answer lies where who rules what is built there " + " ".join(TOWNS)


def asked() -> list[Asked]:
    """Return claims about towns: the first question is where the town lies, the next one who rules there."""
    about = [f"{town} {word}" for town in TOWNS for word in ("lies there", "is built", "is there")]
    return [
        Asked(claim, ((f"where is {claim.split()[0]} ?", "there"), (f"who rules {claim.split()[0]} ?", None)))
        for claim in about
    ]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_t5(tmp_path_factory.mktemp("base"), WORDS)


@pytest.fixture(scope="module")
def trained(base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    out = tmp_path_factory.mktemp("questions") / "first-question"
    return out, train(asked(), str(base), out, FIRST, TUNING)


def test_a_trained_model_asks_what_it_learned_and_loads_like_any_other(trained) -> None:
    model = Seq2Seq(str(trained[0]))
    for town in TOWNS:
        assert model.complete(first_input(f"{town} lies there"), max_tokens=20) == f"where is {town} ?"


def test_the_card_records_base_data_and_settings(trained) -> None:
    out, card = trained
    assert json.loads((out / "training.json").read_text()) == card
    assert card["model"] == "first-question"
    assert card["settings"] | {"seed": 7, "rank": 0, "source_tokens": 64, "target_tokens": 64} == card["settings"]
    assert card["examples"] + card["held_out"] == len(asked())
    assert card["steps"] == 40 * -(-card["examples"] // 4)
    assert len(card["data_hash"]) == 16
    assert card["loss"] < 0.5
    assert not (out / "checkpoint.pt").exists()


def test_an_adapter_is_trained_alone_and_merged_into_the_saved_model(base: Path, tmp_path: Path) -> None:
    train(asked(), str(base), tmp_path / "out", NEXT, Tuning(epochs=2, rank=2, learning_rate=1e-2))
    before, after = load_file(base / "model.safetensors"), load_file(tmp_path / "out" / "model.safetensors")
    assert {name: weight.shape for name, weight in after.items()} == {n: w.shape for n, w in before.items()}
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert moved and not any("embed" in name or "shared" in name or "norm" in name for name in moved)
    Seq2Seq(str(tmp_path / "out")).load()


def test_resumed_training_ends_with_the_same_weights_as_an_uninterrupted_run(base: Path, tmp_path: Path) -> None:
    short = Tuning(epochs=4, batch_size=4, learning_rate=1e-2, checkpoint_every=4)
    with pytest.raises(KeyboardInterrupt), interrupted_at_checkpoint():
        train(asked(), str(base), tmp_path / "parts", NEXT, short)
    card = train(asked(), str(base), tmp_path / "parts", NEXT, short)
    train(asked(), str(base), tmp_path / "whole", NEXT, short)
    assert card["steps"] == 12
    one, two = (load_file(tmp_path / name / "model.safetensors") for name in ("parts", "whole"))
    assert all(torch.allclose(one[name], two[name], atol=1e-6) for name in one)


def test_a_checkpoint_of_other_data_or_settings_is_refused(base: Path, tmp_path: Path) -> None:
    short = Tuning(epochs=4, checkpoint_every=4)
    with pytest.raises(KeyboardInterrupt), interrupted_at_checkpoint():
        train(asked(), str(base), tmp_path, NEXT, short)
    with pytest.raises(InvalidInput, match="other data, another base or other settings"):
        train(asked()[1:], str(base), tmp_path, NEXT, short)


def test_a_full_disk_while_saving_weights_keeps_the_old_ones(
    base: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The checkpoint is kept too, so that nothing must be trained again."""
    out, few = tmp_path / "out", Tuning(epochs=1)
    train(asked(), str(base), out, FIRST, few)
    old = {file.name: file.read_bytes() for file in out.iterdir()}
    # A checkpoint of a tiny model is larger than its weights, so the disk fills up in the second of two trainings.
    log = logging.getLogger("research.training.fine_tuning")
    # The log line of a step is the trigger, so set its level: an earlier test may have changed it.
    caplog.set_level(logging.INFO, log.name)
    with ExitStack() as filled:
        log.addHandler(full := FullAfterLastStep(filled))
        filled.callback(log.removeHandler, full)
        with pytest.raises(OSError, match="the files saved before are unchanged"):
            train(asked(), str(base), out, FIRST, Tuning(epochs=1, seed=8))
    assert {file.name: file.read_bytes() for file in out.iterdir() if file.name != "checkpoint.pt"} == old
    assert (out / "checkpoint.pt").is_file()


class FullAfterLastStep(logging.Handler):
    """Fills the disk when the last checkpoint has been written, until `filled` is closed."""

    def __init__(self, filled: ExitStack) -> None:
        super().__init__()
        self.filled = filled

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("step"):
            self.filled.enter_context(no_room_for(2_000))


def test_a_nan_loss_ends_training(base: Path, tmp_path: Path) -> None:
    with pytest.raises(CallFailed, match="loss is not a number"):
        train(asked(), str(base), tmp_path, FIRST, Tuning(learning_rate=1e30))


def test_a_base_model_of_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="of the type llama, not a sequence-to-sequence model") as raised:
        train(asked(), str(tiny_llama(tmp_path)), tmp_path / "out", FIRST, TUNING)
    assert "--base" in raised.value.fix


def test_data_without_a_second_question_cannot_train_the_next_question_model(base: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="nothing for the next-question model"):
        train([Asked("bern", (("where ?", "there"),))], str(base), tmp_path, NEXT, TUNING)


def test_an_input_that_is_too_long_drops_its_oldest_pairs_first() -> None:
    from research.training.question_generator import _fitting
    from research.training.question_generator_data import next_examples

    def tokens(text: str) -> dict:
        return {"input_ids": text.split()}

    hops = tuple((f"q{at} ?", f"a{at}") for at in range(5))
    longest = list(next_examples([Asked("c", hops)]))[-1]
    assert _fitting(longest, tokens, 100) == next_input("c", hops[:4])
    assert _fitting(longest, tokens, 14) == next_input("c", hops[2:4])
    assert _fitting(longest, tokens, 1) == next_input("c", hops[3:4])
