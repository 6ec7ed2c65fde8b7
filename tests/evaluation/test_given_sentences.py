"""Ten given sentences as a search back end."""

from __future__ import annotations

import json

import pytest

from app.domain.errors import CallFailed, InvalidInput
from app.domain.model import Claim, Origin, SearchHit
from app.modules.answerers.web_search import DocumentSettings, WebSearchAnswerer
from research.evaluation.gold import GivenSentences, given_sentences
from tests.modules.answering.web_fakes import QUESTION, FindsWord, Takes

GIVEN = GivenSentences(
    [("It opened in 1889.", "https://a.example/x"), ("It is tall.", "https://b.example/y"), ("?", "")]
)


def test_the_same_sentences_are_found_whatever_is_searched_for() -> None:
    """At most so many as are asked for; they have a site and neither title nor date."""
    assert GIVEN.search("anything", 10) == GIVEN.search("else", 10, before="1800-01-01")
    assert GIVEN.search("", 1) == (SearchHit("", "a.example", "It opened in 1889.", "https://a.example/x", None),)
    assert [hit.site for hit in GIVEN.search("x", 10)] == ["a.example", "b.example", ""]


def test_there_is_no_page_behind_a_sentence() -> None:
    """What stands there today is not what was given, so nothing is fetched."""
    with pytest.raises(CallFailed, match="Only a sentence"):
        GIVEN.read(GIVEN.search("x", 1)[0])


@pytest.mark.parametrize("long_document", [True, False])
def test_the_answerer_reads_the_sentence_and_cites_its_address(long_document: bool) -> None:
    """With or without long documents it is the same."""
    settings = DocumentSettings(long_document=long_document)
    said = WebSearchAnswerer(GIVEN, GIVEN, Takes(), FindsWord(), settings).answer(QUESTION, Claim("A tower opened."))
    assert (said.text, said.cited.passage.url) == ("1889", "https://a.example/x")
    assert {passage.origin for passage in said.retrieved} == {Origin.WEB}
    assert {passage.published for passage in said.retrieved} == {None}


def test_they_are_read_by_the_rows_id(tmp_path) -> None:
    """Rows that have none are left out."""
    path = tmp_path / "rows.jsonl"
    rows = [{"id": 1, "web": [{"sentence": "a\u2028b", "url": "https://a.example"}, {"sentence": "b"}]}, {"id": "2"}]
    path.write_text("\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    found = given_sentences(path)
    assert list(found) == ["1"]
    assert [(hit.snippet, hit.url) for hit in found["1"].search("x", 10)] == [
        ("a\u2028b", "https://a.example"),
        ("b", ""),
    ]


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"id": 1, "web": [1]}', '{"web": [{"sentence": "a"}]}', '{"id": 1, "web": [{"sentence": 1}]}']
)
def test_a_row_that_cannot_be_read_is_named_by_its_line(tmp_path, line: str) -> None:
    """Nothing is left out in silence."""
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{{}}\n{line}\n")
    with pytest.raises(InvalidInput, match=r"rows\.jsonl, line 2: no(t JSON| JSON object| list of \{sentence, url\})"):
        given_sentences(path)


def test_a_file_that_is_not_there_is_said(tmp_path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        given_sentences(tmp_path / "none.jsonl")
