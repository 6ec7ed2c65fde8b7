"""Train, calibrate and measure the shipped reader, from the packaged cross-encoder and the data folder."""

from __future__ import annotations

import random
from pathlib import Path

import torch
from app.backends.local.reader import SpanReader
from app.backends.local.reader_windows import tokenizer_from
from tokenizers import Tokenizer
from transformers import BertForQuestionAnswering

from app.backends.corpus.registry import vital_articles
from app.backends.local.reranker import CrossEncoderReranker, packaged_reranker
from research.training.checkpoints import replacing
from research.training.corpus_questions import corpus_examples
from research.training.minilm import reader_base
from research.training.reader import ReaderSettings, save, save_card, train
from research.training.reader_decision import decide
from research.training.squad import Example, squad_examples

MAX_CORPUS_MEASURED = 300


def make_reader(
    data: Path, out: Path, settings: ReaderSettings, threads: int, continue_from: Path | None = None
) -> dict:
    """Train the reader, save it to `out`, fit its decision and return the metrics.

    `out` gets the reader's files, training.json and metrics.json, or none of them if something fails.
    `continue_from` is the folder of a trained reader to continue; without it training starts from the cross-encoder.
    """
    torch.set_num_threads(threads)
    torch.manual_seed(settings.seed)
    model, tokenizer, name = starting_point(continue_from)
    examples = reader_examples(data, settings.seed)
    card = train(examples, model, tokenizer, out, settings, start=name)
    reranker = CrossEncoderReranker(threads=threads)
    with replacing(out) as fresh:
        save(model, tokenizer, fresh)
        save_card({"started_from": name, **card}, fresh)
        return decide(fresh, _measured_examples(examples), reranker.rerank, threads)


def starting_point(trained: Path | None) -> tuple[BertForQuestionAnswering, Tokenizer, str]:
    """Return the model to train, its tokenizer and the name of its weights; a trained reader is dequantised."""
    if trained is None:
        base = packaged_reranker()
        return reader_base(base / "model.onnx"), tokenizer_from(base / "tokenizer.json"), "ms-marco-MiniLM-L-12-v2"
    model, tokenizer, _, name = SpanReader(trained, threads=torch.get_num_threads()).load()
    return model, tokenizer, name


def reader_examples(data: Path, seed: int) -> list[Example]:
    """Return SQuAD's questions in the folder `data` and the questions about the corpus."""
    return squad_examples(data) + corpus_examples(vital_articles(), random.Random(seed))


def _measured_examples(examples: list[Example]) -> list[Example]:
    """Return all SQuAD examples and a sample of the corpus's held-out ones, which would otherwise outweigh them."""
    corpus = [one for one in examples if one.source == "corpus" and one.held_out]
    sampled = random.Random(0).sample(corpus, min(len(corpus), MAX_CORPUS_MEASURED))
    return [one for one in examples if one.source == "squad"] + sampled
