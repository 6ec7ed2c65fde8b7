"""A model answers from retrieved texts and cites them."""

from __future__ import annotations

import pytest

from app.domain.model import Origin, Passage
from app.modules.answerers.web_documents import MAX_ANSWER_WORDS, PromptedReader, document_prompt
from tests.modules.answering.web_fakes import QUESTION
from tests.modules.prompted.cases import REFUSAL
from tests.text_generators import playing

TOWER = Passage(
    "The tower opened in 1889.", "A tower", "paris.example", "https://paris.example/t", "2020-01-02", Origin.WEB
)
BRIDGE = Passage("The bridge opened in 1900.", "", "bridge.example", "https://bridge.example/b", None, Origin.WEB)


def test_an_answer_cites_the_span_that_contains_it() -> None:
    found = PromptedReader(playing("opened in 1889")).read(QUESTION, (TOWER,))
    assert (found.text, found.cited.text, found.cited.passage) == ("opened in 1889", "opened in 1889", TOWER)
    found = PromptedReader(playing("It was opened in the year 1889.")).read(QUESTION, (TOWER,))
    assert (found.text, found.cited.text) == ("It was opened in the year 1889.", TOWER.text)


@pytest.mark.parametrize(
    "reply",
    [
        "I don't know.",
        REFUSAL,
        "The document does not say when it opened.",
        "None of the documents say so.",
    ],
)
def test_a_reply_that_nothing_was_found_is_no_answer(reply: str) -> None:
    """A refusal and the statement that the page does not say count the same."""
    found = PromptedReader(playing(reply)).read(QUESTION, (TOWER,))
    assert (found.text, found.cited, found.retrieved) == (None, None, (TOWER,))


def test_a_statement_about_the_document_can_be_an_answer() -> None:
    found = PromptedReader(playing("The document says that it opened in 1889.")).read(QUESTION, (TOWER,))
    assert found.text == "The document says that it opened in 1889."


@pytest.mark.parametrize(
    ("reply", "cited"),
    [("In 1900 [2].", BRIDGE), ("In 1889 [1]. Not in 1900 [2].", TOWER), ("In 1900 [Document 2]", BRIDGE)],
)
def test_the_named_one_of_several_documents_is_cited(reply: str, cited: Passage) -> None:
    found = PromptedReader(playing(reply)).read(QUESTION, (TOWER, BRIDGE))
    assert found.cited.passage is cited
    assert "[" not in found.text


def test_a_long_answer_is_cut_at_a_sentence_end() -> None:
    found = PromptedReader(playing("It opened in 1889 after much work. " * 100)).read(QUESTION, (TOWER,))
    assert len(found.text.split()) <= MAX_ANSWER_WORDS
    assert found.text.endswith("work.")


def test_without_passages_the_model_is_not_called() -> None:
    model = playing("In 1889.")
    assert PromptedReader(model).read(QUESTION, ()).text is None
    assert not model.prompts


def test_each_document_is_quoted_between_marks_with_its_metadata() -> None:
    """A single document has no number, and no number is requested."""
    lines = document_prompt(QUESTION, (TOWER,)).splitlines()
    assert "Title: A tower; Site: paris.example; Date: 2020-01-02; Text: The tower opened in 1889. [end " in lines[2]
    assert lines[2].startswith("Document = [data ")
    assert not any("like [2]" in line for line in lines)
    lines = document_prompt(QUESTION, (TOWER, BRIDGE)).splitlines()
    assert lines[3].startswith("Document 2 = [data ") and "] Site: bridge.example; Text: The bridge" in lines[3]
    assert any("like [2]" in line for line in lines)
