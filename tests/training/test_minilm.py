"""The cross-encoder converted back to PyTorch matches the ONNX file in the package."""

import pytest

onnx = pytest.importorskip("onnx", reason="onnx reads the reader's base for training; it is in requirements-dev.txt")

QUESTION = "Who wrote Hamlet?"
TEXTS = ("Hamlet is a tragedy written by William Shakespeare.", "Berlin is the capital of Germany.", "Who?")


@pytest.mark.models
def test_the_dequantized_cross_encoder_scores_like_its_onnx_file():
    """onnxruntime also rounds activations to int8, so the logits (from -12 to 11) differ by some tenths."""
    import torch
    from app.backends.local.reader_windows import as_batch, tokenizer_from, windows
    from transformers import BertConfig, BertForSequenceClassification

    from app.backends.local.reranker import CrossEncoderReranker, packaged_reranker
    from research.training.minilm import CONFIG, weights_of

    folder = packaged_reranker()
    tokenizer = tokenizer_from(folder / "tokenizer.json")
    model = BertForSequenceClassification(BertConfig(**CONFIG, num_labels=1)).eval()
    model.load_state_dict(weights_of(folder / "model.onnx"), strict=True)
    batch = as_batch([window for text in TEXTS for window in windows(tokenizer, QUESTION, "", text)], pad=0)
    del batch["answerable_tokens"]
    with torch.inference_mode():
        logits = model(**batch).logits[:, 0].tolist()
    assert logits == pytest.approx(CrossEncoderReranker(threads=1).scores(QUESTION, TEXTS), abs=0.8)


def test_another_model_is_not_accepted_as_the_base(tmp_path):
    """The names of all weights are checked, so training never starts from random numbers."""
    from research.training.minilm import reader_base

    graph = onnx.helper.make_graph([], "empty", [], [])
    onnx.save(onnx.helper.make_model(graph), tmp_path / "model.onnx")
    with pytest.raises(ValueError, match="not the expected cross-encoder"):
        reader_base(tmp_path / "model.onnx")
