"""Ten given sentences as a search engine."""

from __future__ import annotations

import json

import pytest

from app.domain.errors import CallFailed, InvalidInput
from app.domain.model import Claim, Origin, SearchHit
from app.modules.answerers.web_search import DocumentSettings, WebSearchAnswerer
from research.evaluation.gold import GivenSentences, read_given_sentences
from tests.modules.answering.web_fakes import QUESTION, FindsWord, Takes

GIVEN = GivenSentences(
    [("It opened in 1889.", "https://a.example/x"), ("It is tall.", "https://b.example/y"), ("?", "")]
)


def test_every_query_finds_the_same_sentences() -> None:
    """At most as many as requested; they have a site and neither title nor date."""
    assert GIVEN.search("anything", 10) == GIVEN.search("else", 10, before="1800-01-01")
    assert GIVEN.search("", 1) == (SearchHit("", "a.example", "It opened in 1889.", "https://a.example/x", None),)
    assert [hit.site for hit in GIVEN.search("x", 10)] == ["a.example", "b.example", ""]


def test_no_page_is_fetched_for_a_sentence() -> None:
    """The current page may differ from the given text."""
    with pytest.raises(CallFailed, match="Only a sentence"):
        GIVEN.read(GIVEN.search("x", 1)[0])


@pytest.mark.parametrize("long_document", [True, False])
def test_the_answerer_reads_the_sentence_and_cites_its_url(long_document: bool) -> None:
    """With and without long documents."""
    settings = DocumentSettings(long_document=long_document)
    said = WebSearchAnswerer(GIVEN, GIVEN, Takes(), FindsWord(), settings).answer(QUESTION, Claim("A tower opened."))
    assert (said.text, said.cited.passage.url) == ("1889", "https://a.example/x")
    assert {passage.origin for passage in said.retrieved} == {Origin.WEB}
    assert {passage.published for passage in said.retrieved} == {None}


def test_sentences_are_looked_up_by_row_id(tmp_path) -> None:
    """Rows without sentences are left out."""
    path = tmp_path / "rows.jsonl"
    rows = [{"id": 1, "web": [{"sentence": "a\u2028b", "url": "https://a.example"}, {"sentence": "b"}]}, {"id": "2"}]
    path.write_text("\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    found = read_given_sentences(path)
    assert list(found) == ["1"]
    assert [(hit.snippet, hit.url) for hit in found["1"].search("x", 10)] == [
        ("a\u2028b", "https://a.example"),
        ("b", ""),
    ]


def test_a_row_without_an_id_is_looked_up_by_its_position_like_the_row_itself(tmp_path) -> None:
    (path := tmp_path / "rows.jsonl").write_text('{}\n{"web": [{"sentence": "a"}]}\n')
    assert list(read_given_sentences(path)) == ["1"]


def test_a_file_in_which_no_row_has_sentences_is_refused(tmp_path) -> None:
    (path := tmp_path / "dev.json").write_text('[{"claim": "A."}, {"claim": "B.", "web": []}]')
    with pytest.raises(InvalidInput, match=r"dev\.json has no sentences to search"):
        read_given_sentences(path)


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1, "web": [1]}', '{"id": 1, "web": [{"sentence": 1}]}'])
def test_an_unreadable_row_is_reported_with_its_line(tmp_path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{{}}\n{line}\n")
    with pytest.raises(InvalidInput, match=r"rows\.jsonl, line 2: no(t JSON| JSON object| list of \{sentence, url\})"):
        read_given_sentences(path)
