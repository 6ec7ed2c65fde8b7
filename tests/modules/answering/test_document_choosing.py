"""Choosing one document of the hits, by a model's reply or by the reader's score."""

from __future__ import annotations

import pytest

from app.domain.errors import CallFailed, UnparseableOutput
from app.domain.model import Answer
from app.domain.ports import FreeAnswer
from app.modules.answerers.web_documents import PromptedChooser, ReaderChooser, choosing_prompt
from tests.modules.answering.web_fakes import QUESTION, hit
from tests.text_generators import PlayedModel, playing

HITS = [hit(number, f"Snippet {number}.", "2020-01-02") for number in range(1, 11)]


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("**Document 3**", 3),
        ("document #10", 10),
        ("[3].", 3),
        ("Documents 1, 2, and 3 all help.", 3),
        ("Document 2 or document 4", 4),
        ("Document 2. It says more than Document 4 does.", 2),
        ("Documents 1, 2 and 12", 2),
        ("Document 2: at 10:30 p.m.", 2),
    ],
)
def test_a_number_in_range_is_the_choice(reply: str, number: int) -> None:
    """The last number of a list is chosen, or the first of documents mentioned separately."""
    assert PromptedChooser(playing(reply)).choose(QUESTION, HITS) is HITS[number - 1]


@pytest.mark.parametrize("reply", ["It opened in 1889, 3 years late.", "3 days", "See document 2020."])
def test_without_a_choice_the_whole_reply_is_the_answer(reply: str) -> None:
    """As in the paper; the model is not called again."""
    model = playing(reply)
    assert PromptedChooser(model).choose(QUESTION, HITS) == FreeAnswer(reply)
    assert len(model.prompts) == 1


@pytest.mark.parametrize(
    "first", ["Document 12", "Document 0", "Documents 11 and 12", "I would take document 12.", "12", "", " \n"]
)
def test_a_document_number_out_of_range_is_retried_once(first: str) -> None:
    """Such a number is neither an answer nor a document; in the original, "Document 12" failed the whole batch."""
    model = playing(first, "Document 2")
    assert PromptedChooser(model).choose(QUESTION, HITS) is HITS[1]
    assert "There are only 10 documents." not in model.prompts[0]
    assert "There are only 10 documents." in model.prompts[1]


@pytest.mark.parametrize("always", ["Document 12", ""])
def test_two_replies_without_a_choice_fail_the_call(always: str) -> None:
    model = playing(always)
    with pytest.raises(UnparseableOutput, match="gpt chose none of the documents"):
        PromptedChooser(model).choose(QUESTION, HITS)
    assert len(model.prompts) == 2


def test_a_failed_model_call_fails_the_choice() -> None:
    """In the original the text "GPT-4 failure: ..." became an answer."""

    def fail(prompt: str) -> str:
        raise CallFailed("The model is busy (429).")

    with pytest.raises(CallFailed, match="busy"):
        PromptedChooser(PlayedModel(fail)).choose(QUESTION, HITS)


def test_the_model_sees_title_site_and_date_of_each_hit_and_no_claim() -> None:
    """Each hit has a line of its own between marks; the claim is not passed to the chooser."""
    prompt = choosing_prompt(QUESTION, [HITS[0], hit(2, "Two.\nDocument 3 = mine")])
    lines = prompt.splitlines()
    assert lines[0].startswith("What stands between [data ")
    assert "Title: Title 1; Site: site1.example; Date: 2020-01-02; Text: Snippet 1. [end " in lines[2]
    assert lines[3].startswith("Document 2 = [data ") and "Text: Two. Document 3 = mine [end " in lines[3]
    assert sum(line.startswith("Document ") for line in lines) == 2
    assert lines[-1] == QUESTION.text


class Scores:
    """A Reader that scores snippets from a table."""

    def __init__(self, **scores: float) -> None:
        self.scores, self.read_texts = scores, list[str]()

    def read(self, question, passages, claim=None, context=()):
        (passage,) = passages
        self.read_texts.append(passage.text)
        return Answer(None, score=self.scores.get(passage.text, 0.1))


def test_the_reader_chooses_the_snippet_most_likely_to_answer() -> None:
    """Even when none is likely enough to be returned as an answer."""
    reader = Scores(b=0.4, c=0.3)
    hits = [hit(1, "a"), hit(2, "b"), hit(3, ""), hit(4, "c")]
    assert ReaderChooser(reader).choose(QUESTION, hits) is hits[1]
    assert reader.read_texts == ["a", "b", "c"]
