"""Training the judge on a tiny base model: it learns, resumes, and its weights load as the judge."""

import json
import logging
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from app.backends.local.judge import MAX_TOKENS, Calibration, EntailmentJudge
from safetensors.torch import load_file, save_file
from tokenizers.processors import TemplateProcessing

from app.domain.errors import CallFailed, InvalidInput, ModelUnavailable
from research.training.calibration import by_source, calibrate, fit_temperature
from research.training.judge import Row, build, encode, load_start, logits_of, loss_of, train
from research.training.judge_examples import Example, Family, Member
from research.training.pairs import NOT_ENOUGH, NOT_SUPPORTED, REFUTED, SUPPORTED
from tests.limits import no_room_for
from tests.training.conftest import CLAIMS, PARIS, SETTINGS, toy_examples, toy_families

SHORT = replace(SETTINGS, checkpoint_every=4)
ASKED = [(claim, PARIS) for claim, _ in CLAIMS]


def trained_on(epochs, llama, out, settings=SHORT, **rest):
    return train([toy_families()] * epochs, toy_examples(), llama, out, settings, **rest)


def rows_of(llama, folder):
    """Return the uncalibrated probabilities of the judge in `folder` for the toy claims."""
    (folder / "calibration.json").write_text("{}")
    return EntailmentJudge(llama, folder).classify(ASKED)


def assert_same(rows, others):
    for row, same in zip(rows, others, strict=True):
        assert row == pytest.approx(same, abs=1e-3)


def curve_of(folder):
    return [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]


def test_a_trained_judge_classifies_its_examples(llama, trained):
    rows = EntailmentJudge(llama, trained).classify(ASKED)
    assert [max(range(3), key=row.__getitem__) for row in rows[:3]] == [0, 1, 2]
    assert rows[3][0] < 0.5
    assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in rows)


def test_claims_sharing_evidence_get_the_same_result_as_separate_ones(llama):
    model, tokenizer = build(llama, SETTINGS)
    members = [Member("toy", claim, (("Where?", "paris"),) * at, label) for at, (claim, label) in enumerate(CLAIMS)]
    together = Family(("paris: paris is in france",), tuple(members))
    alone: list[Row] = [encode(Family(together.evidence, (one,)), tokenizer) for one in members]
    with torch.inference_mode():
        rows = logits_of(model, [encode(together, tokenizer)])
        apart = logits_of(model, alone)
    assert torch.allclose(rows, apart, atol=0.004)
    assert (rows[0] - rows[1]).abs().max() > 0.004


class Interrupt(logging.Handler):
    """Raises KeyboardInterrupt when training logs its first checkpoint."""

    def emit(self, record):
        if "step 4 of" in record.getMessage():
            raise KeyboardInterrupt


def test_resumed_training_ends_with_the_same_weights_as_an_uninterrupted_run(llama, tmp_path):
    log = logging.getLogger("research.training.adapter_training")
    log.setLevel(logging.INFO)
    log.addHandler(interrupt := Interrupt())
    try:
        with pytest.raises(KeyboardInterrupt):
            trained_on(8, llama, tmp_path / "parts")
    finally:
        log.removeHandler(interrupt)
    trained_on(8, llama, tmp_path / "parts")
    trained_on(8, llama, tmp_path / "whole")
    assert_same(rows_of(llama, tmp_path / "parts"), rows_of(llama, tmp_path / "whole"))
    assert [point["step"] for point in curve_of(tmp_path / "parts")] == [2, 4, 6, 8]


def test_a_time_limit_ends_training_and_the_card_records_the_steps(llama, tmp_path):
    minutes = iter(range(1000))
    settings = replace(SETTINGS, minutes=3)
    card = trained_on(200, llama, tmp_path, settings, clock=lambda: 30.0 * next(minutes))
    assert (card["steps"], card["trained_on"], card["examples"]) == (5, 20, 800)
    points = curve_of(tmp_path)
    assert [point["step"] for point in points] == [1, 2, 4, 5]
    assert points[-1]["held_out"]["toy"]["n"] == 4


def test_repeating_a_finished_training_does_nothing(llama, tmp_path):
    first = trained_on(4, llama, tmp_path)
    points, rows = curve_of(tmp_path), rows_of(llama, tmp_path)
    assert trained_on(4, llama, tmp_path) == first
    assert curve_of(tmp_path) == points
    assert_same(rows_of(llama, tmp_path), rows)


def test_a_checkpoint_of_other_examples_is_refused(llama, tmp_path):
    trained_on(4, llama, tmp_path)
    with pytest.raises(InvalidInput, match="is of other data"):
        train([toy_families()[:3]] * 4, [], llama, tmp_path, SHORT)


def test_a_checkpoint_of_another_base_or_start_is_refused(llama, trained, tmp_path):
    trained_on(4, llama, tmp_path / "out")
    with pytest.raises(InvalidInput, match="is of other data, another base"):
        trained_on(4, llama, tmp_path / "out", start=trained)
    base = shutil.copytree(llama, tmp_path / "base")
    weights = load_file(base / "model.safetensors")
    save_file({name: weight * 1.5 for name, weight in weights.items()}, base / "model.safetensors", {"format": "pt"})
    with pytest.raises(InvalidInput, match="is of other data, another base"):
        trained_on(4, base, tmp_path / "out")


def test_training_reads_a_prompt_as_inference_does_with_a_token_at_its_beginning(llama, tmp_path):
    """SmolLM2 has no such token; other bases from --base do."""
    _, tokenizer = build(llama, SETTINGS)
    begin = tokenizer.bos_token
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{begin} $A", special_tokens=[(begin, tokenizer.bos_token_id)]
    )
    for family in toy_families():
        assert encode(family, tokenizer).ids == tokenizer(family.prompts[0]).input_ids


@pytest.mark.parametrize("kept", ["checkpoint.pt", ""])
def test_training_can_start_from_earlier_weights(llama, tmp_path, kept):
    """From a checkpoint, or from a folder with an adapter."""
    trained_on(4, llama, tmp_path / "first")
    none = replace(SHORT, minutes=1e-9)
    trained_on(4, llama, tmp_path / "second", none, start=tmp_path / "first" / kept)
    assert_same(rows_of(llama, tmp_path / "first"), rows_of(llama, tmp_path / "second"))


@pytest.mark.parametrize("other", [{"rank": 2}, {"first_layer": 1}])
def test_an_adapter_of_another_rank_or_other_layers_is_refused(llama, trained, other):
    model, _ = build(llama, replace(SETTINGS, **other))
    with pytest.raises(InvalidInput, match="no adapter that fits"):
        load_start(model, trained)


def test_the_claim_is_kept_however_long_the_evidence_is(llama):
    _, tokenizer = build(llama, SETTINGS)
    read = tokenizer("paris " * 500 + "london", truncation=True, max_length=5).input_ids
    assert read[-1] == tokenizer.convert_tokens_to_ids("london")


def test_a_nan_loss_ends_training(llama, tmp_path):
    with pytest.raises(CallFailed, match="not a number"):
        trained_on(9, llama, tmp_path, replace(SETTINGS, learning_rate=float("inf"), warmup_steps=1))


def test_a_merely_unsupported_claim_does_not_train_the_refuted_class():
    labels = torch.tensor([-1])
    refuting, doubting = torch.tensor([[0.0, 5.0, -5.0]]), torch.tensor([[0.0, -5.0, 5.0]])
    assert loss_of(refuting, labels) == pytest.approx(loss_of(doubting, labels).item())
    assert loss_of(torch.tensor([[9.0, 0.0, 0.0]]), labels) > 5


def test_calibration_fits_the_temperature_and_keeps_the_bound(llama, trained, tmp_path):
    for file in trained.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "calibration.json").write_text(json.dumps({"temperature": 7.0, "sufficient": 0.48}))
    metrics = calibrate(llama, tmp_path, toy_examples())
    fitted = Calibration.read(tmp_path)
    assert fitted.sufficient == metrics["sufficient"] == 0.48
    assert fitted.temperature == Calibration.read(trained).temperature == metrics["temperature"] < 1
    assert json.loads((tmp_path / "metrics.json").read_text()) == metrics
    assert metrics["by_source"] == {"toy": metrics["all"]}
    assert (metrics["all"]["n"], metrics["all"]["three_way"], metrics["all"]["false_supported"]) == (4, 1.0, 0.0)


def test_an_unset_bound_is_the_default(trained):
    assert Calibration.read(trained).sufficient == 0.6


def test_the_temperature_matches_confidence_to_accuracy():
    """With three of four right, the most probable class should have 3/4."""
    logits = np.array([[9.0, 0.0, -99.0]] * 4)
    temperature = fit_temperature(logits, [SUPPORTED] * 3 + [REFUTED])
    assert 1 / (1 + np.exp(-9 / temperature)) == pytest.approx(0.75, abs=0.01)


def test_metrics_are_computed_for_each_source():
    labels = [("a", SUPPORTED), ("a", REFUTED), ("a", NOT_SUPPORTED), ("a", NOT_ENOUGH), ("b", NOT_SUPPORTED)]
    examples = [Example(source, "", label) for source, label in labels]
    rows = [[0.8, 0.1, 0.1], [0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.1, 0.1, 0.8], [0.1, 0.9, 0.0]]
    found = by_source(rows, examples)
    assert found["a"] | {"calibration_error": None} == {
        "n": 4,
        "three_way": 0.667,
        "auc": 0.5,
        "false_supported": 0.5,
        "calibration_error": None,
    }
    assert found["b"] == {"n": 1, "three_way": None, "auc": None, "false_supported": 0.0, "calibration_error": None}


def test_a_failed_calibration_write_keeps_the_previous_files(llama, trained, tmp_path):
    for file in trained.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with no_room_for(100), pytest.raises(OSError, match="the files saved before"):
        calibrate(llama, tmp_path, toy_examples())
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_full_disk_keeps_the_previous_weights_and_card(llama, tmp_path):
    out = tmp_path / "out"
    trained_on(1, llama, out)
    (out / "checkpoint.pt").unlink()
    (out / "README.md").write_text("a card")
    old = {file.name: file.read_bytes() for file in out.iterdir()}
    del old["curve.jsonl"]
    with no_room_for(1_000), pytest.raises(OSError, match="the files saved before are unchanged"):
        trained_on(1, llama, out, replace(SHORT, seed=8))
    assert {name: (out / name).read_bytes() for name in old} == old
    trained_on(1, llama, out, replace(SHORT, seed=8))
    assert (out / "README.md").read_bytes() == b"a card"
    assert (out / "adapter_model.safetensors").read_bytes() != old["adapter_model.safetensors"]


def test_missing_weights_are_named_with_the_command_that_creates_them(llama, tmp_path):
    with pytest.raises(ModelUnavailable, match=r"adapter_model\.safetensors.*git checkout"):
        EntailmentJudge(llama, tmp_path).load()


@pytest.mark.parametrize(
    ("cut", "fix"), [("base/model.safetensors", "make setup"), ("adapter/adapter_model.safetensors", "git checkout")]
)
def test_truncated_weights_are_reported_with_their_fix_and_not_loaded(llama, trained, tmp_path, cut, fix):
    base, adapter = tmp_path / "base", tmp_path / "adapter"
    shutil.copytree(llama, base)
    shutil.copytree(trained, adapter)
    weights = tmp_path / cut
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(ModelUnavailable, match="could not be loaded") as caught:
        EntailmentJudge(base, adapter).load()
    assert fix in caught.value.fix


def test_nan_values_fail_the_call(llama, trained):
    import torch

    judge = EntailmentJudge(llama, trained)
    _, model, _ = judge.load()
    with torch.no_grad():
        model.score.weight.fill_(float("nan"))
    with pytest.raises(CallFailed, match="not numbers"):
        judge.classify([("paris", PARIS)])


@pytest.mark.parametrize("text", ["", "word " * 10_000, "😀😀😀", "Лев Толстой 孔子"])
def test_unusual_passages_are_judged(llama, trained, text):
    (row,) = EntailmentJudge(llama, trained).classify([("paris", [("T", text)])])
    assert sum(row) == pytest.approx(1, abs=1e-5)


def test_a_pairs_result_does_not_depend_on_the_rest_of_the_batch(llama, trained):
    judge = EntailmentJudge(llama, trained)
    texts = ["", "paris is the capital", "word " * 10_000, "😀"]
    asked = [("paris is the capital of france", [("T", text)] if text else []) for text in texts]
    together = judge.classify(asked)
    for row, pair in zip(together, asked, strict=True):
        assert row == pytest.approx(judge.classify([pair])[0], abs=1e-4)


def test_an_endless_word_in_the_evidence_does_not_push_the_claim_out_of_the_window(llama, trained):
    """The tiny judge may give both claims the same probabilities, so its input is checked."""
    read: list[list[int]] = []
    judge = EntailmentJudge(llama, trained)
    tokenizer, model, _ = judge.load()
    model.model.embed_tokens.register_forward_pre_hook(lambda _, ids: read.append(ids[0][0].tolist()))
    judge.classify([("paris is the capital", [("T", "a." * 2_000)])])
    claim = tokenizer("Claim: paris is the capital\nVerdict:", add_special_tokens=False).input_ids
    assert len(read[0]) == MAX_TOKENS
    assert read[0][-len(claim) :] == claim


def test_the_name_of_a_special_token_in_the_evidence_is_text(llama, trained):
    tokenizer, _, _ = EntailmentJudge(llama, trained).load()
    assert tokenizer.pad_token_id not in tokenizer(f"paris {tokenizer.pad_token} london").input_ids


def test_without_pairs_the_model_is_not_loaded(tmp_path):
    assert EntailmentJudge(tmp_path, tmp_path).classify([]) == []
