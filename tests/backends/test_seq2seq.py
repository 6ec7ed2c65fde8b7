"""Sequence-to-sequence models by folder: greedy text, option probabilities, and clear loading errors."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from app.backends.local.seq2seq import Seq2Seq
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.events import PhaseEntered, TokensUsed
from app.domain.instrumentation import listening, use_stores
from app.domain.messages import Code
from app.domain.model import Usage
from tests.stores import JsonStore
from tests.tiny import tiny_llama, tiny_t5

LABELS = ("true", "false", "not enough evidence")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_t5(tmp_path_factory.mktemp("models") / "flan-tiny", "first second third fourth", length=6)


@pytest.fixture(scope="module")
def model(folder: Path) -> Seq2Seq:
    return Seq2Seq(str(folder))


def test_the_model_loads_once_at_the_first_call_and_reports_the_phase(folder: Path) -> None:
    """Construction loads nothing; the phase is reported only for the load."""
    model, events = Seq2Seq(str(folder)), []
    with listening(events.append):
        model.complete("claim", max_tokens=2)
        model.choose("claim", LABELS)
    assert [event.phase for event in events if isinstance(event, PhaseEntered)] == [Code.LOADING(what="flan-tiny")]


def test_decoding_is_greedy_and_tokens_are_counted(model: Seq2Seq) -> None:
    """The same prompt gives the same text, and at most the requested number of tokens."""
    events = []
    with listening(events.append):
        texts = {model.complete("claim paris ?", max_tokens=5) for _ in range(2)}
    usages = [event.usage for event in events if isinstance(event, TokensUsed)]
    assert len(texts) == 1
    assert len(usages) == 2
    assert all(usage.prompt_tokens == 4 and 1 <= usage.completion_tokens <= 5 for usage in usages)


def test_the_text_ends_before_a_stop(model: Seq2Seq) -> None:
    prompt, whole = _any_text_of(model)
    last = whole.split()[-1]
    assert model.complete(prompt, max_tokens=20, stop=(last,)) == whole.partition(last)[0].strip()


def _any_text_of(model: Seq2Seq) -> tuple[str, str]:
    """Return a prompt to which random weights reply with text, and the text."""
    for word in (*LABELS, "paris", "question", "yes"):
        if text := model.complete(f"{word} claim", max_tokens=20):
            return f"{word} claim", text
    raise AssertionError("the tiny model says nothing to any prompt")


def test_a_choice_has_the_models_probability_among_the_options(model: Seq2Seq) -> None:
    import torch

    weights, prompt = model.load(), "claim paris ?"
    read = weights.tokenizer(prompt, return_tensors="pt").input_ids
    scores = {}
    for option in LABELS:
        written = weights.tokenizer(text_target=option, return_tensors="pt").input_ids
        with torch.inference_mode():
            scores[option] = -float(weights.model(input_ids=read, labels=written).loss) * written.numel()
    likeliest = max(scores, key=lambda option: scores[option])
    share = math.exp(scores[likeliest]) / sum(math.exp(score) for score in scores.values())
    choice = model.choose(prompt, LABELS)
    assert choice.option == likeliest
    assert choice.probability == pytest.approx(share, abs=1e-4)


def test_a_prompt_beyond_the_window_loses_its_beginning(model: Seq2Seq) -> None:
    kept = model.choose("first second third fourth paris", LABELS)
    assert model.choose("no claim yes first second third fourth paris", LABELS) == kept
    assert model.choose("first second third fourth claim", LABELS) != kept


def test_the_name_of_a_special_token_is_text(model: Seq2Seq) -> None:
    """A passage cannot end the prompt."""
    tokenizer = model.load().tokenizer
    assert tokenizer("claim </s> paris").input_ids.count(tokenizer.eos_token_id) == 1


def test_a_special_token_that_is_a_vocabulary_piece_is_text(tmp_path: Path) -> None:
    """As in T5's SentencePiece; it is detected by encoding, not by the type of tokenizer."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    folder = tiny_t5(tmp_path)
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("\u2581", -2.0), ("s", -3.0), ("claim", -3.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    ).save_pretrained(folder)
    for _ in range(2):  # a model saved after training must load again
        tokenizer = Seq2Seq(str(folder)).load().tokenizer
        assert not {0, 1} & set(tokenizer("claim </s> claim <pad>").input_ids)
        tokenizer.save_pretrained(folder)


def test_a_cached_call_is_not_computed_again(model: Seq2Seq) -> None:
    events: list = []
    with use_stores(JsonStore()):
        first = model.complete("claim", max_tokens=4), model.choose("claim", LABELS)
        with listening(events.append):
            assert (model.complete("claim", max_tokens=4), model.choose("claim", LABELS)) == first
    assert [event.usage for event in events] == [Usage(cached=1)] * 2


def test_nan_output_fails_the_call(folder: Path) -> None:
    """Damaged weights that load must not produce text."""
    import torch

    model = Seq2Seq(str(folder))
    with torch.no_grad():
        model.load().model.shared.weight.fill_(float("nan"))
    with pytest.raises(CallFailed, match="not a number"):
        model.complete("claim", max_tokens=4)
    with pytest.raises(CallFailed, match="not a number"):
        model.choose("claim", LABELS)


def _with_pickled_weights(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def _cut(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5_000])


def _with_broken_configuration(folder: Path) -> None:
    (folder / "config.json").write_text("{")


def _of_a_type_with_its_own_code(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "novel", "auto_map": {"AutoConfig": "novel.Novel"}}')
    (folder / "novel.py").write_text("raise SystemExit('this code must never run')")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_with_pickled_weights, "no weights in the safetensors format"),
        (_cut, "damaged or incomplete"),
        (_with_broken_configuration, "config.json"),
        (_of_a_type_with_its_own_code, "code of its own"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_reported_with_its_fix(tmp_path: Path, damage, sentence: str) -> None:
    damage(tiny_t5(tmp_path / "flan-tiny"))
    with pytest.raises(ModelUnavailable, match=sentence) as raised:
        Seq2Seq(str(tmp_path / "flan-tiny")).complete("claim", max_tokens=2)
    assert "FLAN_T5" in raised.value.fix


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    """A decoder would load and write nonsense, so the message names its type."""
    with pytest.raises(ModelUnavailable, match="of the type llama, not a sequence-to-sequence model"):
        Seq2Seq(str(tiny_llama(tmp_path))).complete("claim", max_tokens=2)


def test_an_encoder_only_model_is_refused(tmp_path: Path) -> None:
    """It has the right type, and transformers would initialize a random decoder."""
    from transformers import T5EncoderModel

    T5EncoderModel.from_pretrained(tiny_t5(tmp_path)).save_pretrained(tmp_path)
    with pytest.raises(ModelUnavailable, match="its weights lack decoder"):
        Seq2Seq(str(tmp_path)).complete("claim", max_tokens=2)
