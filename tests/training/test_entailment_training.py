"""Training the judge, on a tiny base and a handful of pairs: it learns, resumes, and its weights load as the judge."""

import logging
from dataclasses import replace

import pytest

from app.backends.local.judge import MAX_TOKENS, EntailmentJudge
from app.domain.errors import CallFailed, InvalidInput, ModelUnavailable
from research.training.calibration import calibrate
from research.training.judge import TrainingSettings, _loss, train
from research.training.pairs import NOT_ENOUGH, NOT_SUPPORTED, REFUTED, SUPPORTED, Pair
from tests.limits import no_room_for
from tests.tiny import tiny_llama

SETTINGS = TrainingSettings(first_layer=0, rank=4, learning_rate=2e-2, batch_size=4, epochs=200)
PARIS = (("paris", "paris is the capital of france"),)


def pairs(held_out: bool) -> list[Pair]:
    return [
        Pair("toy", "paris is the capital of france", PARIS, SUPPORTED, held_out),
        Pair("toy", "paris is the capital of england", PARIS, REFUTED, held_out),
        Pair("toy", "london is in england", PARIS, NOT_ENOUGH, held_out),
        Pair("toy", "paris is not the capital of france", PARIS, NOT_SUPPORTED, held_out),
    ]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_llama(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def trained(base, tmp_path_factory):
    out = tmp_path_factory.mktemp("trained")
    train(pairs(held_out=False), base, out, SETTINGS)
    calibrate(base, out, [*pairs(held_out=False), *pairs(held_out=True)])
    return out


def test_a_trained_judge_tells_its_training_pairs_apart(base, trained):
    judge = EntailmentJudge(base, trained)
    rows = judge.classify([(pair.claim, pair.passages) for pair in pairs(held_out=False)])
    assert [max(range(3), key=row.__getitem__) for row in rows[:3]] == [0, 1, 2]
    assert rows[3][0] < 0.5
    assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in rows)


class Interrupt(logging.Handler):
    """Presses Ctrl-C when the training says that it has saved its first checkpoint."""

    def emit(self, record):
        if "step 4 of" in record.getMessage():
            raise KeyboardInterrupt


def test_training_goes_on_from_its_checkpoint_and_ends_where_an_unbroken_run_ends(base, tmp_path):
    short = replace(SETTINGS, epochs=8, checkpoint_every=4)
    log = logging.getLogger("research.training.judge")
    log.setLevel(logging.INFO)
    log.addHandler(interrupt := Interrupt())
    try:
        with pytest.raises(KeyboardInterrupt):
            train(pairs(False), base, tmp_path / "parts", short)
    finally:
        log.removeHandler(interrupt)
    train(pairs(False), base, tmp_path / "parts", short)
    train(pairs(False), base, tmp_path / "whole", short)
    one, two = (EntailmentJudge(base, with_calibration(tmp_path / name)) for name in ("whole", "parts"))
    asked = [(pair.claim, pair.passages) for pair in pairs(False)]
    for row, same in zip(one.classify(asked), two.classify(asked), strict=True):
        assert row == pytest.approx(same, abs=1e-3)


def test_the_clock_ends_a_training_and_its_card_says_after_how_many_steps(base, tmp_path):
    minutes = iter(range(1000))
    card = train(pairs(False), base, tmp_path, replace(SETTINGS, minutes=3), clock=lambda: 30.0 * next(minutes))
    assert card["steps"] == 5
    assert card["trained_on"] == 20


def test_the_checkpoint_of_other_pairs_is_refused(base, tmp_path):
    short = replace(SETTINGS, epochs=4, checkpoint_every=4)
    train(pairs(False), base, tmp_path, short)
    with pytest.raises(InvalidInput, match="is of other data"):
        train(pairs(False)[:3] * 2, base, tmp_path, short)


def test_a_calibration_that_cannot_be_written_says_so_and_leaves_no_half_of_it_behind(base, trained, tmp_path):
    for file in trained.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "joined.json").unlink()
    (tmp_path / "joined.json").mkdir()  # nothing can take this place
    before = (tmp_path / "metrics.json").read_bytes()
    with pytest.raises(OSError, match="what was saved before"):
        calibrate(base, tmp_path, [*pairs(held_out=False), *pairs(held_out=True)])
    assert (tmp_path / "metrics.json").read_bytes() == before
    assert not tmp_path.with_name(f"{tmp_path.name}.partial").exists()


def test_a_training_can_start_from_the_weights_of_an_earlier_one(base, tmp_path):
    first = replace(SETTINGS, epochs=4, checkpoint_every=4)
    train(pairs(False), base, tmp_path / "first", first)
    none = replace(first, minutes=1e-9)
    train(pairs(False), base, tmp_path / "second", none, start=tmp_path / "first" / "checkpoint.pt")
    one, two = (EntailmentJudge(base, with_calibration(tmp_path / name)) for name in ("first", "second"))
    asked = [(pair.claim, pair.passages) for pair in pairs(False)]
    for row, same in zip(one.classify(asked), two.classify(asked), strict=True):
        assert row == pytest.approx(same, abs=1e-3)


def with_calibration(folder):
    (folder / "calibration.json").write_text("{}")
    return folder


def test_a_claim_that_is_merely_not_supported_teaches_nothing_about_refuted():
    import torch

    labels = torch.tensor([-1])
    refuting, doubting = torch.tensor([[0.0, 5.0, -5.0]]), torch.tensor([[0.0, -5.0, 5.0]])
    assert _loss(refuting, labels) == pytest.approx(_loss(doubting, labels).item())
    assert _loss(torch.tensor([[9.0, 0.0, 0.0]]), labels) > 5


def test_missing_weights_are_named_with_the_command_that_mends_it(base, tmp_path):
    with pytest.raises(ModelUnavailable, match=r"adapter_model\.safetensors.*git checkout"):
        EntailmentJudge(base, tmp_path).load()


def test_truncated_weights_are_named_and_not_loaded(base, trained, tmp_path):
    for file in trained.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = tmp_path / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ModelUnavailable, match="could not be loaded"):
        EntailmentJudge(base, tmp_path).load()


def test_values_that_are_not_numbers_fail_the_call(base, trained):
    import torch

    judge = EntailmentJudge(base, trained)
    _, model, _ = judge.load()
    with torch.no_grad():
        model.score.weight.fill_(float("nan"))
    with pytest.raises(CallFailed, match="not numbers"):
        judge.classify([("paris", PARIS)])


@pytest.mark.parametrize("text", ["", "word " * 10_000, "😀😀😀", "Лев Толстой 孔子"])
def test_odd_passages_are_judged_like_any_other(base, trained, text):
    (row,) = EntailmentJudge(base, trained).classify([("paris", [("T", text)])])
    assert sum(row) == pytest.approx(1, abs=1e-5)


def test_what_is_judged_beside_a_pair_changes_nothing_for_it(base, trained):
    judge = EntailmentJudge(base, trained)
    texts = ["", "paris is the capital", "word " * 10_000, "😀"]
    asked = [("paris is the capital of france", [("T", text)] if text else []) for text in texts]
    together = judge.classify(asked)
    for row, pair in zip(together, asked, strict=True):
        assert row == pytest.approx(judge.classify([pair])[0], abs=1e-4)


def test_an_endless_word_in_the_evidence_does_not_push_the_claim_out_of_the_window(base, trained):
    """The tiny judge may be as sure of one claim as of another; what it reads tells."""
    read: list[list[int]] = []
    judge = EntailmentJudge(base, trained)
    tokenizer, model, _ = judge.load()
    model.model.embed_tokens.register_forward_pre_hook(lambda _, ids: read.append(ids[0][0].tolist()))
    judge.classify([("paris is the capital", [("T", "a." * 2_000)])])
    claim = tokenizer("Claim: paris is the capital\nVerdict:", add_special_tokens=False).input_ids
    assert len(read[0]) == MAX_TOKENS
    assert read[0][-len(claim) :] == claim


def test_a_name_of_a_special_token_in_the_evidence_is_text(base, trained):
    tokenizer, _, _ = EntailmentJudge(base, trained).load()
    assert tokenizer.pad_token_id not in tokenizer(f"paris {tokenizer.pad_token} london").input_ids


def test_a_full_disk_leaves_the_weights_and_the_card_from_before(base, tmp_path):
    few = replace(SETTINGS, epochs=1)
    train(pairs(held_out=False), base, tmp_path / "out", few)
    (tmp_path / "out" / "README.md").write_text("a card")
    old = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    with no_room_for(1_000), pytest.raises(OSError, match="what was saved before is as it was"):
        train(pairs(held_out=False), base, tmp_path / "out", replace(few, seed=8))
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()} == old
    train(pairs(held_out=False), base, tmp_path / "out", replace(few, seed=8))
    new = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    assert new.keys() == old.keys() and new["README.md"] == b"a card"
    assert new["adapter_model.safetensors"] != old["adapter_model.safetensors"]


def test_no_pairs_need_no_model(tmp_path):
    assert EntailmentJudge(tmp_path, tmp_path).classify([]) == []
