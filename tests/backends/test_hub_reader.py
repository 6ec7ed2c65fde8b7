"""Readers by folder, from several model families: spans on word boundaries, no answer, and refused models."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.backends.local.hub_reader import HubReader, windows_of
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.events import PhaseEntered
from app.domain.instrumentation import listening, use_stores
from app.domain.messages import Code
from app.domain.model import Passage, Question
from tests.stores import JsonStore
from tests.tiny import tiny_llama, tiny_qa, tiny_roberta_qa, tiny_t5

WORDS = "who wrote emma jane austen is a novel by"
QUESTION = Question("Who wrote Emma?")
PASSAGES = (
    Passage("Emma is a novel by Jane Austen.", "Emma", "A corpus"),
    Passage("Zanzibar lies off the coast [SEP] of Africa.", "Zanzibar", "A corpus"),
)


@pytest.fixture(scope="module", params=["bert", "roberta"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_qa(tmp_path_factory.mktemp("models") / f"{request.param}-tiny", WORDS, request.param)


def pointing(reader: HubReader, *, at_nothing: float) -> HubReader:
    """Return the reader with weights that favour the first token by `at_nothing` and the word "austen" by 5."""
    import torch

    model, tokenizer = reader.load().model, reader.load().tokenizer

    def forward(input_ids, **_):
        logits = torch.zeros(input_ids.shape)
        logits[:, 0] = at_nothing
        logits[input_ids == tokenizer.convert_tokens_to_ids("austen")] = 5.0
        return type("Output", (), {"start_logits": logits, "end_logits": logits})

    model.forward = forward
    return reader


def test_an_answer_is_a_span_of_the_passage_it_cites(folder: Path) -> None:
    """For any logits it lies on word boundaries and outside the title."""
    import torch

    reader = HubReader(str(folder))
    for seed in range(20):
        torch.manual_seed(seed)

        def forward(input_ids, **_):
            starts, ends = torch.randn(input_ids.shape), torch.randn(input_ids.shape)
            starts[:, 0] = ends[:, 0] = -10.0
            return type("Output", (), {"start_logits": starts, "end_logits": ends})

        reader.load().model.forward = forward
        answer = reader.read(QUESTION, PASSAGES)
        assert answer.cited is not None and answer.retrieved == PASSAGES
        text, span = answer.cited.passage.text, answer.cited
        assert answer.text == text[span.start : span.end]
        for bound in (span.start, span.end):
            assert not (text[max(0, bound - 1) : bound].isalnum() and text[bound : bound + 1].isalnum())
        assert 0.5 < answer.score <= 1


def test_pointing_at_the_first_token_means_no_answer(folder: Path) -> None:
    """As in SQuAD 2.0; the passages that were read are reported nevertheless."""
    answer = pointing(HubReader(str(folder)), at_nothing=6.0).read(QUESTION, PASSAGES)
    assert (answer.text, answer.cited, answer.retrieved) == (None, None, PASSAGES)
    assert answer.score < 0.5


def test_a_long_passage_is_read_to_its_end(folder: Path) -> None:
    """The windows overlap and fit the model; an answer in the last one gets the right position."""
    text = "Zanzibar lies there. " * 200 + "It is by Jane Austen."
    answer = pointing(HubReader(str(folder)), at_nothing=0.0).read(QUESTION, [Passage(text, "Emma", "A corpus")])
    assert answer.cited is not None and answer.cited.start == text.rindex("Austen")


@pytest.mark.parametrize("pieces", ["bytes", "sentence"])
def test_an_answer_excludes_the_space_before_it_and_the_full_stop_after_it(tmp_path: Path, pieces: str) -> None:
    """For any tokenizer; the first and the last word of a passage can be answers."""
    reader = HubReader(str(tiny_roberta_qa(tmp_path, pieces)))
    tokenizer = reader.load().tokenizer
    text = "Emma is by Jane (Austen) </s>, of Zürich."
    (window,) = windows_of(tokenizer, "Who wrote Emma?", Passage(text, "Emma", "A corpus"), 0)
    words = {text[start:end] for start, end in filter(None, window.word_ranges)}
    assert {"Emma", "Jane", "Austen", "Zürich"} <= words
    assert not any(word.strip() != word or (word[0].isalnum() != word[-1].isalnum()) for word in words)
    assert window.token_ids.count(tokenizer.sep_token_id) == 3  # the one in the text is text


def test_empty_passages_and_an_endless_question_are_handled(folder: Path) -> None:
    """Without text there is no answer; long questions and titles are truncated."""
    reader = pointing(HubReader(str(folder)), at_nothing=0.0)
    assert reader.read(QUESTION, ()).text is None
    assert reader.read(QUESTION, [Passage("", "", "A corpus")]).text is None
    long = Passage("By Jane Austen.", "emma " * 1_000, "A corpus")
    assert reader.read(Question("who " * 1_000 + "?"), [long]).text == "Austen"


def test_the_model_loads_once_and_cached_answers_are_not_computed_again(folder: Path) -> None:
    """The loading phase is reported while the weights are read."""

    reader, events = HubReader(str(folder)), []
    with listening(events.append), use_stores(JsonStore()):
        first = reader.read(QUESTION, PASSAGES)
        assert reader.read(QUESTION, PASSAGES) == first
    assert [event.phase for event in events if isinstance(event, PhaseEntered)] == [Code.LOADING(what=folder.name)]
    assert events[-1].usage.cached == 1


def test_concurrent_threads_get_their_own_answers(folder: Path) -> None:
    """Two threads never share the state of the tokenizer."""
    reader = pointing(HubReader(str(folder)), at_nothing=0.0)
    texts = ["By Jane Austen. " + "It is a novel. " * times for times in range(40)]

    def read(text: str) -> str | None:
        return reader.read(QUESTION, [Passage(text, "Emma", "A corpus")]).text

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(read, texts * 3)) == {"Austen"}


def test_nan_output_fails_the_call(folder: Path) -> None:
    """Damaged weights that load must not produce an answer."""
    reader = HubReader(str(folder))
    reader.load().model.qa_outputs.bias.data.fill_(float("nan"))
    with pytest.raises(CallFailed, match="not a number"):
        reader.read(QUESTION, PASSAGES)


@pytest.mark.parametrize("make", [tiny_llama, tiny_t5])
def test_a_model_without_a_reader_head_is_refused(tmp_path: Path, make) -> None:
    """Without one in the file, transformers would initialize a random head."""
    with pytest.raises(ModelUnavailable, match="extractive question answering") as raised:
        HubReader(str(make(tmp_path / "other"))).read(QUESTION, PASSAGES)
    assert "READER" in raised.value.fix


def test_a_base_model_that_was_not_trained_as_a_reader_is_refused(folder: Path, tmp_path: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    AutoModel.from_pretrained(folder).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    with pytest.raises(ModelUnavailable, match="its weights lack qa_outputs"):
        HubReader(str(tmp_path)).load()


def test_a_model_whose_input_does_not_begin_with_its_class_token_is_refused(folder: Path, tmp_path: Path) -> None:
    """Such a model has no token that can stand for "no answer"."""
    import shutil

    from transformers import AutoTokenizer

    shutil.copytree(folder, tmp_path / "other")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.cls_token = "[SEP]"
    tokenizer.save_pretrained(tmp_path / "other")
    with pytest.raises(ModelUnavailable, match="no answer"):
        HubReader(str(tmp_path / "other")).load()
