"""The whole making of the reader: from the packages and the data folder to the files that ship."""

from __future__ import annotations

import random
from pathlib import Path

import torch

from app.backends.corpora import vital_articles
from app.backends.reader_windows import tokenizer_from
from app.backends.reranker import CrossEncoderReranker, packaged_reranker
from app.training.corpus_questions import corpus_examples
from app.training.minilm import reader_base
from app.training.reader import ReaderSettings, save, save_card, train
from app.training.reader_decision import decide
from app.training.squad import Example, squad_examples

CORPUS_MEASURED = 300


def make_reader(data: Path, out: Path, settings: ReaderSettings, threads: int) -> dict:
    """Train, save, fit and measure; the metrics. `out` gets the reader's files, training.json and metrics.json."""
    torch.set_num_threads(threads)
    torch.manual_seed(settings.seed)
    base = packaged_reranker()
    tokenizer = tokenizer_from(base / "tokenizer.json")
    model = reader_base(base / "model.onnx")
    examples = reader_examples(data, settings.seed)
    card = train(examples, model, tokenizer, out, settings)
    save(model, tokenizer, out)
    save_card(card, out)
    reranker = CrossEncoderReranker(threads=threads)
    return decide(out, _few_of_the_corpus(examples), reranker.rerank, threads)


def reader_examples(data: Path, seed: int) -> list[Example]:
    """SQuAD's questions in the folder `data`, and the corpus's own."""
    return squad_examples(data) + corpus_examples(vital_articles(), random.Random(seed))


def _few_of_the_corpus(examples: list[Example]) -> list[Example]:
    """All held-out questions of SQuAD, and so few of the corpus's that they do not outweigh them."""
    corpus = [one for one in examples if one.source == "corpus" and one.held_out]
    few = random.Random(0).sample(corpus, min(len(corpus), CORPUS_MEASURED))
    return [one for one in examples if one.source == "squad"] + few
