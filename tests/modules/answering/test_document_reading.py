"""A model answers from what was found, and cites it."""

from __future__ import annotations

import pytest

from app.domain.errors import CallFailed
from app.domain.model import Origin, Passage
from app.modules.answerers.web_documents import ANSWER_WORDS, PromptedReader, document_prompt
from tests.modules.answering.web_fakes import QUESTION
from tests.modules.prompted.cases import REFUSAL
from tests.text_generators import PlayedModel, playing

TOWER = Passage(
    "The tower opened in 1889.", "A tower", "paris.example", "https://paris.example/t", "2020-01-02", Origin.WEB
)
BRIDGE = Passage("The bridge opened in 1900.", "", "bridge.example", "https://bridge.example/b", None, Origin.WEB)


def test_an_answer_cites_where_its_words_stand() -> None:
    """Or the whole passage where it is said in other words."""
    found = PromptedReader(playing("opened in 1889")).read(QUESTION, (TOWER,))
    assert (found.text, found.cited.text, found.cited.passage) == ("opened in 1889", "opened in 1889", TOWER)
    found = PromptedReader(playing("It was opened in the year 1889.")).read(QUESTION, (TOWER,))
    assert (found.text, found.cited.text) == ("It was opened in the year 1889.", TOWER.text)


@pytest.mark.parametrize(
    "reply",
    [
        "I don't know.",
        "",
        REFUSAL,
        "The document does not say when it opened.",
        "This passage doesn't mention it.",
        "None of the documents say so.",
        "The page does not provide a date.",
    ],
)
def test_a_model_that_finds_nothing_gives_no_answer(reply: str) -> None:
    """A refusal is no answer, and neither is the news that the page is silent."""
    found = PromptedReader(playing(reply)).read(QUESTION, (TOWER,))
    assert (found.text, found.cited, found.retrieved) == (None, None, (TOWER,))


def test_what_a_document_says_is_an_answer() -> None:
    """Also where a sentence about the document begins it."""
    found = PromptedReader(playing("The document says that it opened in 1889.")).read(QUESTION, (TOWER,))
    assert found.text == "The document says that it opened in 1889."


@pytest.mark.parametrize(
    ("reply", "cited"),
    [("In 1900 [2].", BRIDGE), ("In 1889 [1]. Not in 1900 [2].", TOWER), ("In 1900 [Document 2]", BRIDGE)],
)
def test_of_several_documents_the_one_named_is_cited(reply: str, cited: Passage) -> None:
    """Its number leaves the text."""
    found = PromptedReader(playing(reply)).read(QUESTION, (TOWER, BRIDGE))
    assert found.cited.passage is cited
    assert "[" not in found.text


@pytest.mark.parametrize("reply", ["In 1900.", "In 1900 [3].", "In 1900 [0]."])
def test_of_several_documents_none_is_cited_when_none_of_them_is_named(reply: str) -> None:
    """A number out of range names nothing; the documents are still what was looked at."""
    found = PromptedReader(playing(reply)).read(QUESTION, (TOWER, BRIDGE))
    assert (found.text, found.cited, found.retrieved) == ("In 1900.", None, (TOWER, BRIDGE))


def test_an_essay_is_cut_at_a_sentence() -> None:
    """An answer is what fits on a card."""
    found = PromptedReader(playing("It opened in 1889 after much work. " * 100)).read(QUESTION, (TOWER,))
    assert len(found.text.split()) <= ANSWER_WORDS
    assert found.text.endswith("work.")


def test_a_failing_models_complaint_is_no_answer() -> None:
    """ "GPT-4 failure: ..." was one in the original."""

    def fail(prompt: str) -> str:
        raise CallFailed("The model is busy (429).")

    with pytest.raises(CallFailed, match="busy"):
        PromptedReader(PlayedModel(fail)).read(QUESTION, (TOWER,))


def test_without_a_passage_the_model_is_not_asked() -> None:
    """There is nothing to read."""
    model = playing("In 1889.")
    assert PromptedReader(model).read(QUESTION, ()).text is None
    assert not model.prompts


def test_each_document_stands_between_marks_with_what_is_known_of_it() -> None:
    """One document has no number, and no number is asked for."""
    lines = document_prompt(QUESTION, (TOWER,)).splitlines()
    assert "Title: A tower; Site: paris.example; Date: 2020-01-02; Text: The tower opened in 1889. [end " in lines[2]
    assert lines[2].startswith("Document = [data ")
    assert not any("like [2]" in line for line in lines)
    lines = document_prompt(QUESTION, (TOWER, BRIDGE)).splitlines()
    assert lines[3].startswith("Document 2 = [data ") and "] Site: bridge.example; Text: The bridge" in lines[3]
    assert any("like [2]" in line for line in lines)
