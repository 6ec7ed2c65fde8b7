"""An adapter of a tiny Qwen2 learns transcripts, resumes, and does the same in llama.cpp as in PyTorch."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from app.domain.errors import InvalidInput
from research.tests.training.data import interrupted_at_checkpoint
from research.training import adapter
from research.training.adapter import TranscriptModel, convert, figures, read_adapter, train
from research.training.fine_tuning import Tuning, mean_loss
from research.training.gguf_base import dequantise, describe, load_base
from research.training.tokens import Tokens, batches_of, tokenizer_of
from research.training.transcripts import Example, Part
from tests.tiny_qwen import tiny_qwen

pytestmark = pytest.mark.slow

TUNING = Tuning(seed=3, rank=4, learning_rate=2e-2, warmup_steps=2, checkpoint_every=5)


def example(place: str, country: str, word: str, held_out: bool = False) -> Example:
    verdict = Part(f" {word}\n", 4.0, (word, "open") if word == "false" else (word,))
    return Example("toy", (Part(f"Claim: the capital of {country}: {place}\nVerdict:"), verdict), held_out)


TOY = [
    example("Paris", "France", "true"),
    example("Paris", "Italy", "true"),
    example("Rome", "Italy", "false"),
    example("Rome", "France", "false"),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_qwen(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def tokens(base: Path) -> Tokens:
    held_out = [replace(each, held_out=True) for each in TOY]
    return Tokens.of(TOY * 60 + held_out, tokenizer_of(base), describe(base))


@pytest.fixture(scope="module")
def trained(base: Path, tokens: Tokens, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    out = tmp_path_factory.mktemp("trained")
    return out, train(tokens, base, out, TUNING, batch_tokens=80)


def test_training_lowers_the_held_out_loss_and_the_verdicts_become_right(base, tokens, trained) -> None:
    out, card = trained
    untrained = TranscriptModel(load_base(base, tokens.about["base"], torch.device("cpu"), torch.float32), 4)
    before = mean_loss(untrained, batches_of(tokens, tokens.rows(held_out=True), 80, 0))
    assert card["held_out_loss"] < before / 3
    assert card["by_source"]["toy"] == {"n": 4, "accuracy": 1.0, "auc": 1.0, "false_true": 0.0}
    assert json.loads((out / "training.json").read_text()) == card
    assert {file.name for file in out.iterdir()} == {"adapter.safetensors", "training.json"}


def test_a_resumed_training_gives_the_same_weights(base, tokens, trained, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), interrupted_at_checkpoint():
        train(tokens, base, tmp_path, TUNING, batch_tokens=80)
    assert (tmp_path / "checkpoint.pt").is_file() and not (tmp_path / "adapter.safetensors").exists()
    card = train(tokens, base, tmp_path, TUNING, batch_tokens=80)
    one, two = (load_file(folder / "adapter.safetensors") for folder in (trained[0], tmp_path))
    assert card["steps"] == trained[1]["steps"] and one.keys() == two.keys()
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_a_checkpoint_of_other_settings_is_refused(base, tokens, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), interrupted_at_checkpoint():
        train(tokens, base, tmp_path, TUNING, batch_tokens=80)
    with pytest.raises(InvalidInput, match="other data, another base or other settings"):
        train(tokens, base, tmp_path, replace(TUNING, learning_rate=1e-3), batch_tokens=80)


def test_a_time_limit_ends_training_with_weights(base, tokens, tmp_path: Path) -> None:
    card = train(tokens, base, tmp_path, replace(TUNING, minutes=1e-6), batch_tokens=80)
    assert card["steps"] <= 1 and (tmp_path / "adapter.safetensors").is_file()


def test_training_goes_on_from_an_earlier_adapter(base, tokens, trained, tmp_path: Path) -> None:
    """From safetensors and from GGUF alike."""
    convert(trained[0] / "adapter.safetensors", tmp_path / "adapter.gguf")
    unchanged = replace(TUNING, minutes=1e-6, learning_rate=1e-9)
    for start in (trained[0] / "adapter.safetensors", tmp_path / "adapter.gguf"):
        card = train(tokens, base, tmp_path / start.suffix, unchanged, 80, start)
        assert card["held_out_loss"] == pytest.approx(trained[1]["held_out_loss"], abs=2e-3)


def test_an_adapter_of_another_rank_is_no_start(base, tokens, trained, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="another rank"):
        train(tokens, base, tmp_path, replace(TUNING, rank=2), 80, trained[0] / "adapter.safetensors")


def test_another_base_than_that_of_the_examples_is_refused(tokens, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not the base for which"):
        train(tokens, tiny_qwen(tmp_path, seed=1), tmp_path, TUNING)


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"nothing")
    with pytest.raises(InvalidInput, match="cannot be read as a GGUF file"):
        describe(tmp_path / "x.gguf")


def log_probabilities(path: Path, prompt: str, lora: Path | None = None) -> dict[str, float]:
    """Return what llama.cpp expects next."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.verbosity, params.warmup = 256, 1, -1, False
    params.cpuparams.n_threads = 1
    if lora:
        about = xllamacpp.CommonAdapterLoraInfo()
        about.path, about.scale = str(lora), 1.0
        params.lora_adapters = [about]
    asked = {"prompt": prompt, "n_predict": 1, "temperature": 0, "logprobs": 400}
    found = xllamacpp.Server(params).handle_completions(asked)["choices"][0]["logprobs"]["content"][0]
    return {each["token"]: each["logprob"] for each in found["top_logprobs"]}


def test_the_converted_adapter_changes_the_logits_in_llama_cpp_as_in_pytorch(base, tokens, trained, tmp_path) -> None:
    prompt = TOY[0].parts[0].text
    convert(trained[0] / "adapter.safetensors", tmp_path / "adapter.gguf")
    model = TranscriptModel(load_base(base, tokens.about["base"], torch.device("cpu"), torch.float32), 4)
    tokenizer = tokenizer_of(base)
    ids = torch.tensor([tokenizer.encode(prompt, add_special_tokens=False)])
    shifts = []
    for lora in (None, tmp_path / "adapter.gguf"):
        if lora:
            adapter._load_adapter(model, lora)
        with torch.inference_mode():
            expected = model.base(ids).logits[0, -1].log_softmax(-1)
        found = log_probabilities(base, prompt, lora)
        for token in (" true", " false", " open"):
            (at,) = tokenizer.encode(token, add_special_tokens=False)
            assert found[token] == pytest.approx(float(expected[at]), abs=0.1)
        shifts.append(float(expected[tokenizer.encode(" true", add_special_tokens=False)[0]]))
    assert abs(shifts[0] - shifts[1]) > 1 and math.exp(shifts[1]) > 0.9


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_K", "Q6_K"])
def test_blocks_are_dequantised_as_ggml_does(kind: str) -> None:
    rng, each = np.random.default_rng(1), getattr(gguf.GGMLQuantizationType, kind)
    blocks = rng.integers(0, 256, (12, gguf.GGML_QUANT_SIZES[each][1]), np.uint8)
    places = {"Q8_0": (0,), "Q4_K": (0, 2), "Q6_K": (208,)}[kind]
    for place in places:
        blocks[:, place : place + 2] = rng.normal(0, 1, (12, 1)).astype(np.float16).view(np.uint8)
    expected = gguf.quants.dequantize(blocks, each)
    found = dequantise(torch.from_numpy(blocks.reshape(-1)), kind).numpy().reshape(expected.shape)
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_an_unknown_kind_of_weights_is_refused() -> None:
    with pytest.raises(InvalidInput, match="IQ2_XS"):
        dequantise(torch.zeros(8, dtype=torch.uint8), "IQ2_XS")


def test_tokens_are_the_same_after_saving(tokens: Tokens, tmp_path: Path) -> None:
    tokens.save(tmp_path / "tokens.npz")
    loaded = Tokens.load(tmp_path / "tokens.npz")
    assert loaded.about == tokens.about
    for name in ("tokens", "weights", "others", "starts", "held_out", "verdict_at", "right", "words"):
        assert np.array_equal(getattr(loaded, name), getattr(tokens, name))


def test_parts_are_tokenised_as_the_whole_text(base, tokens) -> None:
    tokenizer = tokenizer_of(base)
    for at, each in enumerate(TOY):
        found = tokens.tokens[tokens.starts[at] : tokens.starts[at + 1]].tolist()
        assert found == tokenizer.encode(each.text, add_special_tokens=False)
        assert found[tokens.verdict_at[at]] in tokens.words


def test_batches_hold_each_transcript_once_and_few_tokens(tokens: Tokens) -> None:
    rows = tokens.rows(held_out=False)
    groups = batches_of(tokens, rows, 80, 1).groups
    assert sorted(row for group in groups for row in group) == rows
    assert all(len(group) == 1 or len(group) * max(map(tokens.length, group)) <= 80 for group in groups)


def test_figures_count_a_verdict_as_right_when_either_word_is() -> None:
    likely = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
    right = np.array([[True, False, False], [False, True, True], [False, True, True]])
    assert figures(likely, right) == {"n": 3, "accuracy": 0.667, "auc": 1.0, "false_true": 0.5}


def test_an_adapter_survives_both_conversions(trained, tmp_path: Path) -> None:
    there, back = tmp_path / "there.gguf", tmp_path / "back.safetensors"
    convert(trained[0] / "adapter.safetensors", there)
    convert(there, back)
    (one, alpha), (two, other) = read_adapter(trained[0] / "adapter.safetensors"), read_adapter(back)
    assert alpha == other and all(np.array_equal(one[name], two[name]) for name in one)
