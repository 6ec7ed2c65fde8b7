"""Corpora: the built-in one, several fused by rank, and all behind the web-search interface with whole articles."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.backends.corpus.bm25 import DEFAULT_JAVA, Bm25Retriever
from app.backends.corpus.builder import BuildRequest, build_corpus
from app.backends.corpus.registry import (
    CORPORA,
    VITAL,
    Article,
    Corpus,
    CorpusRegistry,
    CorpusSearch,
    FusedRetriever,
    build_built_in,
    read_extracts,
)
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.model import Claim, Origin, Page, Passage, SearchHit
from app.modules.answerers.web_search import WebSearchAnswerer
from tests.modules.answering.web_fakes import QUESTION, FindsWord, Takes


@pytest.mark.parametrize(
    ("title", "address"),
    [
        ("Charles Darwin", "Charles_Darwin"),
        ("2001: A Space Odyssey", "2001:_A_Space_Odyssey"),
        ("HIV/AIDS", "HIV/AIDS"),
        ("AT&T", "AT%26T"),
        ("Who Framed Roger Rabbit?", "Who_Framed_Roger_Rabbit%3F"),
        ("Recep Tayyip Erdoğan", "Recep_Tayyip_Erdo%C4%9Fan"),
    ],
)
def test_urls_are_quoted_as_wikipedia_expects(title, address):
    assert Article(title, "", "", "").url == f"https://en.wikipedia.org/wiki/{address}"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"Ada": {"title": "Ada"}}', '{"Ada": null}'])
def test_a_damaged_file_is_reported_with_its_fix(tmp_path, content):
    path = tmp_path / "extracts.json"
    path.write_text(content)
    with pytest.raises(ModelUnavailable, match=r"extracts\.json is damaged.*make setup"):
        read_extracts(path)


def test_vital_has_every_article_of_the_package():
    articles = VITAL.articles()
    assert len(articles) == 10_033
    assert len({article.id for article in articles}) == len(articles)
    assert CORPORA["vital"] is VITAL
    assert "CC BY-SA 4.0" in VITAL.source


class Ranking:
    """A retriever that returns the same ranking for every query."""

    def __init__(self, name: str, *texts: str, score: float = 1.0) -> None:
        self.passages = tuple(Passage(text, text, name, score=score) for text in texts)

    def retrieve(self, query: str, k: int, before: str | None = None) -> tuple[Passage, ...]:
        return self.passages[:k]


class Missing:
    def retrieve(self, query: str, k: int, before: str | None = None) -> tuple[Passage, ...]:
        raise ModelUnavailable("The index of the corpus b is missing", fix="make corpus")


def texts(found) -> list[str]:
    return [passage.text for passage in found]


def test_rankings_are_interleaved_regardless_of_their_scores():
    fused = FusedRetriever([Ranking("a", "a1", "a2", score=9.0), Ranking("b", "b1", "b2", score=0.1)])
    assert texts(fused.retrieve("q", 4)) == ["a1", "b1", "a2", "b2"]


def test_a_text_in_both_corpora_is_returned_once_first_and_from_the_first_corpus():
    fused = FusedRetriever([Ranking("a", "a1", "both  Have"), Ranking("b", "b1", "Both have")])
    found = fused.retrieve("q", 4)
    assert texts(found) == ["both  Have", "a1", "b1"]
    assert found[0].source == "a"


def test_scores_are_the_sums_of_reciprocal_ranks():
    fused = FusedRetriever([Ranking("a", "x", "y"), Ranking("b", "y")])
    assert {each.text: each.score for each in fused.retrieve("q", 2)} == {"y": 1 / 62 + 1 / 61, "x": 1 / 61}


def test_a_duplicate_text_within_one_corpus_counts_once():
    fused = FusedRetriever([Ranking("a", "x", "X", "y"), Ranking("b", "y")])
    assert texts(fused.retrieve("q", 3)) == ["y", "x"]


def test_a_missing_corpus_raises_an_error():
    with pytest.raises(ModelUnavailable, match="b is missing"):
        FusedRetriever([Ranking("a", "a1"), Missing()]).retrieve("q", 1)


def test_live_wikipedia_that_is_not_offered_names_the_setting_that_offers_it(tmp_path: Path):
    with pytest.raises(ModelUnavailable) as raised:
        CorpusRegistry(tmp_path).over(["vital", "wikipedia-live"])
    assert raised.value.fix == "the setting WIKIPEDIA, which is off"


def test_a_registry_opens_each_corpus_once_at_its_first_search(tmp_path: Path):
    registry = CorpusRegistry(tmp_path)
    assert registry.retriever("vital") is registry.over(["vital"])
    assert isinstance(registry.over(["vital"]), Bm25Retriever)
    assert isinstance(registry.over(["vital", "rivers"]), FusedRetriever)


def passage(text: str, title: str = "Tower", url: str | None = "https://a.example/Tower") -> Passage:
    return Passage(text, title, "Towers (Somebody, CC0)", url)


class Table:
    """A Retriever that returns the same passages for every query, and whole articles by title."""

    def __init__(self, *passages: Passage, **articles: str) -> None:
        self.passages, self.articles, self.asked = passages, articles, list[tuple[str, int]]()

    def retrieve(self, query, k, before=None):
        self.asked.append((query, k))
        return self.passages[:k]

    def article(self, title, text, url):
        return self.articles.get(title)


def test_a_hit_names_its_corpus_and_licence_as_its_site() -> None:
    search = CorpusSearch([Table(passage("It opened in 1889."))])
    (hit,) = search.search("When?", 10, before="2020-01-01")
    assert hit == SearchHit("Tower", "Towers (Somebody, CC0)", "It opened in 1889.", "https://a.example/Tower", None)
    assert (search.name, search.destination) == ("corpus", None)


def test_each_document_is_returned_once_by_its_best_passage() -> None:
    """Documents without an address are identified by title."""
    table = Table(passage("a"), passage("b"), passage("c", "Bridge", None), passage("d", "Dam", None))
    found = CorpusSearch([table]).search("x", 2)
    assert [(hit.title, hit.snippet, hit.url) for hit in found] == [
        ("Tower", "a", "https://a.example/Tower"),
        ("Bridge", "c", ""),
    ]


def test_an_empty_result_has_no_hits_and_a_missing_article_fails_the_call() -> None:
    assert CorpusSearch([Table()]).search("x", 10) == ()
    with pytest.raises(CallFailed, match="The article Tower is not in the corpus"):
        CorpusSearch([Table(), Table()]).read(SearchHit("Tower", "", "x", ""))


def test_the_article_is_read_from_the_first_corpus_that_has_it() -> None:
    page = CorpusSearch([Table(), Table(Tower="All of it.")]).read(
        SearchHit("Tower", "Towers", "x", "https://a.example")
    )
    assert page == Page("https://a.example", "Tower", "Towers", "All of it.", None)


def test_the_short_description_of_an_article_is_told_apart_in_its_page() -> None:
    search = CorpusSearch(
        [Table(replace(passage("A tower. It opened."), described=9), Tower="A tower. It opened. Etc.")]
    )
    (hit,) = search.search("When?", 10)
    assert (hit.described, search.read(hit).described) == (9, 9)


RIVER = [f"Part {number} of the river {word} is long and wide." for number, word in enumerate("abc def ghi".split())]
LONG = "\n\n".join(f"{line} {'The water runs on and on to the sea. ' * 12}" for line in RIVER)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    source = tmp_path_factory.mktemp("rivers") / "rivers.jsonl"
    rows = [
        {"id": "thames#1", "title": "Thames", "text": LONG, "url": "https://r.example/thames"},
        {"id": "thames", "title": "Thames", "text": "Part 9 of another Thames, in Ontario."},
        {"id": "nile", "title": "Nile", "text": "The Nile flows through Cairo & <Giza>.\u200b It ends in a delta."},
    ]
    source.write_text("\n".join(json.dumps(row) for row in rows))
    folder = tmp_path_factory.mktemp("corpora") / "rivers"
    build_corpus(BuildRequest("rivers", source), folder, DEFAULT_JAVA, print)
    return Bm25Retriever(folder)


@pytest.mark.jvm
@pytest.mark.timeout(300)
class TestWholeArticles:
    def test_an_article_is_all_passages_of_its_document_in_order(self, built) -> None:
        best = built.retrieve("part of the river def", 1)[0]
        whole = built.article(best.title, best.text, best.url)
        assert best.text in whole and len(whole.split()) > 2 * len(best.text.split())
        assert [whole.index(line) for line in RIVER] == sorted(whole.index(line) for line in RIVER)
        assert "Ontario" not in whole
        other = "Part 9 of another Thames, in Ontario."
        assert built.article("Thames", other, "") == other

    def test_an_article_of_another_address_is_not_the_article(self, built) -> None:
        """Live Wikipedia may have found the same title, whose text must not be replaced by this corpus's."""
        best = built.retrieve("part of the river def", 1)[0]
        assert built.article(best.title, best.text, "https://en.wikipedia.org/w/index.php?oldid=1") is None
        assert built.article(best.title, best.text, "") is None

    def test_a_cleaned_or_truncated_passage_still_finds_its_article(self, built) -> None:
        """Snippets are shown without markup, and long ones are truncated."""
        assert "delta" in built.article("Nile", "The Nile flows through Cairo & .", "")
        assert built.article("Nile", "Nothing of the kind ever stood there.", "") is None
        assert built.article("Seine", "The Nile flows through Cairo", "") is None

    def test_an_article_of_a_built_in_corpus_is_one_passage(self, tmp_path) -> None:
        article = Article("Hamlet #2", "A tragedy. It is long.", "", "Arts")
        source = tmp_path / "source"
        source.write_text("one")
        build_built_in(Corpus("small", "Small", "CC0", lambda: source, lambda: (article,)), tmp_path / "small")
        assert Bm25Retriever(tmp_path / "small").article("Hamlet #2", "A tragedy.", article.url) == article.text

    def test_the_answer_comes_from_the_article_around_the_passage(self, built) -> None:
        """End to end, with the corpus as the search engine: cited passages are the corpus's own."""
        corpus = CorpusSearch([built])
        answerer = WebSearchAnswerer(corpus, corpus, Takes(), FindsWord("Cairo"), origin=Origin.CORPUS)
        said = answerer.answer(QUESTION, Claim("The Nile flows through Cairo."))
        assert (said.text, said.cited.passage.origin) == ("Cairo", Origin.CORPUS)
        assert said.cited.passage.text == "The Nile flows through Cairo & <Giza>. It ends in a delta."
