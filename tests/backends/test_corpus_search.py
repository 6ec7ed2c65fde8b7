"""Corpora searched like a web: hits, whole articles, and an answer from them."""

from __future__ import annotations

import json

import pytest

from app.backends.corpus import jvm
from app.backends.corpus.bm25 import DEFAULT_JAVA, Bm25Retriever
from app.backends.corpus.builder import BuildRequest, build_corpus
from app.backends.corpus.prebuilt import install_prebuilt
from app.backends.corpus.registry import Article, Corpus, CorpusPages, CorpusSearch, build_built_in
from app.domain.errors import CallFailed
from app.domain.model import Claim, Origin, Passage, SearchHit
from app.modules.answerers.web_search import WebSearchAnswerer
from tests.modules.answering.web_fakes import QUESTION, FindsWord, Takes


def passage(text: str, title: str = "Tower", url: str | None = "https://a.example/Tower") -> Passage:
    return Passage(text, title, "Towers (Somebody, CC0)", url)


class Table:
    """A Retriever that gives these passages for anything, and whole articles by title."""

    def __init__(self, *passages: Passage, **articles: str) -> None:
        self.passages, self.articles, self.asked = passages, articles, list[tuple[str, int]]()

    def retrieve(self, query, k):
        self.asked.append((query, k))
        return self.passages[:k]

    def article(self, title, text):
        return self.articles.get(title)


def test_a_passage_is_a_hit_with_its_corpus_and_licence_as_its_site() -> None:
    """Nothing leaves the machine, whatever is asked."""
    search = CorpusSearch(Table(passage("It opened in 1889.")))
    (hit,) = search.search("When?", 10, before="2020-01-01")
    assert hit == SearchHit("Tower", "Towers (Somebody, CC0)", "It opened in 1889.", "https://a.example/Tower", None)
    assert (search.name, search.destination) == ("corpus", None)


def test_a_document_comes_once_by_its_best_passage() -> None:
    """And those that have no address are told apart by title."""
    found = CorpusSearch(
        Table(passage("a"), passage("b"), passage("c", "Bridge", None), passage("d", "Dam", None))
    ).search("x", 2)
    assert [(hit.title, hit.snippet, hit.url) for hit in found] == [
        ("Tower", "a", "https://a.example/Tower"),
        ("Bridge", "c", ""),
    ]


def test_there_is_nothing_where_the_corpus_has_nothing() -> None:
    """No hits, and an article that is gone is a failed call."""
    assert CorpusSearch(Table()).search("x", 10) == ()
    with pytest.raises(CallFailed, match="The article Tower is not in the corpus"):
        CorpusPages([Table(), Table()]).read(SearchHit("Tower", "", "x", ""))


def test_the_first_corpus_that_has_the_article_gives_it() -> None:
    """With the hit's own address and site."""
    page = CorpusPages([Table(), Table(Tower="All of it.")]).read(
        SearchHit("Tower", "Towers", "x", "https://a.example")
    )
    assert (page.text, page.title, page.site, page.url, page.published) == (
        "All of it.",
        "Tower",
        "Towers",
        "https://a.example",
        None,
    )


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
    def test_all_passages_of_the_same_document_in_their_order(self, built) -> None:
        """And none of another document with its title."""
        best = built.retrieve("part of the river def", 1)[0]
        whole = built.article(best.title, best.text)
        assert best.text in whole and len(whole.split()) > 2 * len(best.text.split())
        assert [whole.index(line) for line in RIVER] == sorted(whole.index(line) for line in RIVER)
        assert "Ontario" not in whole
        assert (
            built.article("Thames", "Part 9 of another Thames, in Ontario.") == "Part 9 of another Thames, in Ontario."
        )

    def test_a_passage_that_was_cleaned_or_cut_is_found_again(self, built) -> None:
        """What is shown of a text lacks its markup; a long one is cut."""
        assert "delta" in built.article("Nile", "The Nile flows through Cairo & .")
        assert built.article("Nile", "Nothing of the kind ever stood there.") is None
        assert built.article("Seine", "The Nile flows through Cairo") is None

    def test_an_article_of_a_corpus_that_ships_is_one_passage(self, tmp_path) -> None:
        article = Article("Hamlet #2", "A tragedy. It is long.", "", "Arts")
        source = tmp_path / "source"
        source.write_text("one")
        build_built_in(Corpus("small", "Small", "CC0", lambda: source, lambda: (article,)), tmp_path / "small")
        assert Bm25Retriever(tmp_path / "small").article("Hamlet #2", "A tragedy.") == article.text

    def test_a_prebuilt_index_keeps_documents_whole(self, tmp_path) -> None:
        index = tmp_path / "lucene-index.rivers"
        indexer = jvm.start().index.LuceneIndexer(str(index), args=["-index", str(index), "-storeRaw"], threads=1)
        indexer.add_batch_raw([json.dumps({"id": "1", "contents": f"Thames\n{LONG}"})])
        indexer.close()
        install_prebuilt("rivers", "x", tmp_path / "rivers", DEFAULT_JAVA, print, fetch=lambda name, say: index)
        retriever = Bm25Retriever(tmp_path / "rivers")
        best = retriever.retrieve("river ghi", 1)[0]
        whole = retriever.article(best.title, best.text)
        assert all(line in whole for line in RIVER) and RIVER[0] not in best.text

    def test_the_answer_is_from_the_article_around_the_passage(self, built) -> None:
        """The whole way, with the corpus as what is searched: its passages are the corpus's."""
        answerer = WebSearchAnswerer(
            CorpusSearch(built), CorpusPages([built]), Takes(), FindsWord("Cairo"), origin=Origin.CORPUS
        )
        said = answerer.answer(QUESTION, Claim("The Nile flows through Cairo."))
        assert (said.text, said.cited.passage.origin) == ("Cairo", Origin.CORPUS)
        assert said.cited.passage.text == "The Nile flows through Cairo & . It ends in a delta."
