"""Entailment judges by folder: class order read from the configuration, evidence fitted to the window, refusals."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.backends.local.hub_judge import NO_EVIDENCE, HubJudge, calibration_of
from app.backends.local.inference_queue import Inference
from app.backends.local.judge import Calibration
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.events import PhaseEntered, TokensUsed
from app.domain.instrumentation import listening, use_stores
from app.domain.model import Usage
from tests.stores import JsonStore
from tests.tiny import tiny_llama, tiny_nli, tiny_qa, tiny_t5

WORDS = "paris is the capital of france london"
CLAIM = "Paris is the capital of France."
PARIS = (("Paris", "Paris is the capital of France."),)
ODD = ["word " * 10_000, "a." * 5_000, "😀😀😀", "Лев Толстой 孔子", "[SEP] </s> [CLS]"]


@pytest.fixture(scope="module", params=["bert", "roberta"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_nli(tmp_path_factory.mktemp("models") / f"{request.param}-nli", words=WORDS, family=request.param)


def sure_of(judge: HubJudge, output: int) -> HubJudge:
    """Return the judge with output `output` far above the others for any input."""
    import torch

    model = judge.load().weights.model
    head = model.classifier.out_proj if hasattr(model.classifier, "out_proj") else model.classifier
    with torch.no_grad():
        head.weight.zero_()
        head.bias.zero_()
        head.bias[output] = 9.0
    return judge


@pytest.mark.parametrize(
    ("labels", "places"),
    [
        (("entailment", "neutral", "contradiction"), (0, 2, 1)),
        (("CONTRADICTION", "NEUTRAL", "ENTAILMENT"), (2, 0, 1)),
        (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), (0, 1, 2)),
        (("Refuted", "not_enough_evidence", "Supported"), (2, 0, 1)),
        (("NEI", "support", "refute"), (1, 2, 0)),
    ],
)
def test_outputs_are_mapped_by_the_models_own_label_names(tmp_path: Path, labels, places) -> None:
    """Any order and spelling of the labels is understood."""
    folder = tiny_nli(tmp_path, labels, WORDS)
    for place, output in enumerate(places):
        (row,) = sure_of(HubJudge(str(folder)), output).classify([(CLAIM, PARIS)])
        assert row[place] > 0.99
        assert sum(row) == pytest.approx(1)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (("entailment", "not_entailment"), "has 2 classes"),
        (("LABEL_0", "LABEL_1", "LABEL_2"), "does not say what its classes mean"),
        (("negative", "neutral", "positive"), "has the classes negative, neutral, positive, not entailment"),
        (("entailment", "supports", "neutral"), "not entailment, neutral and contradiction"),
        (("entailment", "neutral", "contradiction", "other"), "has 4 classes"),
    ],
)
def test_a_model_with_other_or_unnamed_classes_is_refused(tmp_path: Path, labels, sentence: str) -> None:
    """A guessed order could reverse every verdict."""
    with pytest.raises(ModelUnavailable, match=sentence) as raised:
        HubJudge(str(tiny_nli(tmp_path, labels))).load()
    assert "JUDGE" in raised.value.fix


@pytest.mark.parametrize(
    ("make", "sentence"),
    [(tiny_qa, "its weights lack bert.pooler"), (tiny_llama, "its weights lack score"), (tiny_t5, "its weights lack")],
)
def test_a_model_without_a_classification_head_is_refused(tmp_path: Path, make, sentence: str) -> None:
    """Without one in the file, transformers would initialize a random head."""
    with pytest.raises(ModelUnavailable, match=sentence):
        HubJudge(str(make(tmp_path))).classify([(CLAIM, PARIS)])


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no folder"):
        HubJudge(str(tmp_path / "gone")).classify([(CLAIM, PARIS)])


def test_truncated_weights_are_reported_and_not_loaded(tmp_path: Path) -> None:
    weights = tiny_nli(tmp_path) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5_000])
    with pytest.raises(ModelUnavailable, match="damaged or incomplete"):
        HubJudge(str(tmp_path)).load()


def test_a_pair_gets_the_same_result_in_a_batch_as_alone(folder: Path) -> None:
    """Evidence without words is not enough, without a call of the model."""
    judge = HubJudge(str(folder))
    pairs = [(CLAIM, PARIS), (CLAIM, ()), ("London.", (("", "Paris. " * 30), *PARIS)), (CLAIM, (("Paris", "  "),))] * 4
    together = judge.classify(pairs)
    for pair, row in zip(pairs, together, strict=True):
        assert judge.classify([pair])[0] == pytest.approx(row, abs=1e-5)
    assert together[1] == together[3] == NO_EVIDENCE


def test_without_evidence_the_model_is_not_called(tmp_path: Path) -> None:
    judge = HubJudge(str(tmp_path / "gone"))
    assert judge.classify([]) == []
    assert judge.classify([(CLAIM, ()), (CLAIM, (("Paris", ""),))]) == [NO_EVIDENCE, NO_EVIDENCE]


@pytest.mark.parametrize("text", ODD)
def test_unusual_passages_and_claims_are_judged(folder: Path, text: str) -> None:
    """No text is too long, and the name of a special token is plain text."""
    for row in HubJudge(str(folder)).classify([(CLAIM, (("T", text), *PARIS)), (text, PARIS)]):
        assert sum(row) == pytest.approx(1, abs=1e-5)


def test_evidence_beyond_the_window_is_selected_by_sentence_and_the_claim_is_kept_whole(folder: Path) -> None:
    """The decisive sentence comes last, after more text than the model can read, and changes the result."""
    judge, read = HubJudge(str(folder)), []
    model, tokenizer = judge.load().weights.model, judge.load().weights.tokenizer
    inner = model.forward
    model.forward = lambda **inputs: (read.append(inputs["input_ids"]), inner(**inputs))[1]
    noise = "Nothing of it is told here at all. " * 300
    judge.classify([(CLAIM, (("Noise", noise), ("Paris", noise + PARIS[0][1])))])
    (ids,) = read
    assert ids.shape[1] <= judge.load().window
    seen = tokenizer.decode(ids[0], skip_special_tokens=True)
    assert seen.count("paris is the capital of france") == 2  # once in the evidence, once in the claim


def test_a_model_with_a_smaller_window_gets_less_evidence(tmp_path: Path) -> None:
    """RoBERTa reserves two positions; a tokenizer may state a limit of its own."""
    from transformers import AutoConfig, AutoModelForSequenceClassification

    config = AutoConfig.from_pretrained(tiny_nli(tmp_path, family="roberta"))
    config.max_position_embeddings = 66
    AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path)
    judge = HubJudge(str(tmp_path))
    assert judge.load().window == 64
    (row,) = judge.classify([(CLAIM * 20, (("T", "It is so. " * 100),))])
    assert sum(row) == pytest.approx(1, abs=1e-5)


def test_the_temperature_is_one_unless_a_calibration_file_exists(tmp_path: Path) -> None:
    """Twice the temperature halves the distance between logits; the bound for "enough" is read from the same file."""
    import math

    asked = [(CLAIM, PARIS)]
    folder = tiny_nli(tmp_path, words=WORDS)
    (plain,) = HubJudge(str(folder)).classify(asked)
    assert calibration_of(str(folder)) == Calibration(temperature=1.0)
    (folder / "calibration.json").write_text(json.dumps({"temperature": 2.0, "sufficient": 0.7}))
    judge = HubJudge(str(folder))
    (milder,) = judge.classify(asked)
    assert judge.calibration.sufficient == 0.7
    assert math.log(milder[0] / milder[1]) == pytest.approx(math.log(plain[0] / plain[1]) / 2, abs=1e-4)


def test_a_damaged_calibration_is_reported(tmp_path: Path) -> None:
    (tiny_nli(tmp_path) / "calibration.json").write_text("{")
    with pytest.raises(ModelUnavailable, match="calibration") as raised:
        HubJudge(str(tmp_path)).load()
    assert str(tmp_path) in raised.value.fix


def test_nan_output_fails_the_call(folder: Path) -> None:
    """Damaged weights that load must not produce a verdict."""
    with pytest.raises(CallFailed, match="not a number"):
        not_a_number(HubJudge(str(folder))).classify([(CLAIM, PARIS)])


def not_a_number(judge: HubJudge) -> HubJudge:
    import torch

    with torch.no_grad():
        for weight in judge.load().weights.model.classifier.parameters():
            weight.fill_(float("nan"))
    return judge


def test_the_model_loads_once_and_cached_results_are_not_computed_again(folder: Path) -> None:
    """The loading phase is reported while the weights are read."""

    judge, events = HubJudge(str(folder)), []
    with listening(events.append), use_stores(JsonStore()):
        first = judge.classify([(CLAIM, PARIS)])
        assert judge.classify([(CLAIM, PARIS)]) == first
    assert [event.phase for event in events if isinstance(event, PhaseEntered)] == [f"loading {folder.name}"]
    calls = [event.usage for event in events if isinstance(event, TokensUsed)]
    assert (calls[0].calls, calls[1]) == (1, Usage(cached=1))


def test_concurrent_threads_get_their_own_results(folder: Path) -> None:
    """Two threads never share the state of the tokenizer."""
    judge = HubJudge(str(folder), Inference())
    pairs = [(f"Paris is {'the capital ' * times}of France.", PARIS * times) for times in range(1, 9)]
    alone = [judge.classify([pair])[0] for pair in pairs]
    with ThreadPoolExecutor(8) as pool:
        for row, same in zip(pool.map(lambda pair: judge.classify([pair])[0], pairs * 3), alone * 3, strict=True):
            assert row == pytest.approx(same, abs=1e-6)
