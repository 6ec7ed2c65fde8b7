"""The web-search answerer on a scripted web: what it searches, opens, reads and cites."""

from __future__ import annotations

import threading

import pytest

from app.domain.errors import CallFailed
from app.domain.events import PhaseEntered, TroubleMet
from app.domain.instrumentation import listening
from app.domain.messages import Code
from app.domain.model import Answer, Claim, Origin
from app.modules.answerers.web_documents import PromptedChooser, PromptedReader
from app.modules.answerers.web_search import MAX_HITS, MAX_OPENED, DocumentSettings, WebSearchAnswerer
from app.modules.paper_prompts import PapeloChooser
from tests.modules.answering.web_fakes import QUESTION, FindsWord, TablePages, TableSearch, Takes, hit, page
from tests.text_generators import playing
from tests.waiting import LONG

CLAIM = Claim("Eiffel built a tower in Paris.")
DATED = Claim(CLAIM.text, date="2020-10-31")
SNIPPET = "The tower was opened to visitors in 1889."
TEXT = f"A was. B was. C was so. D was not. E came. {SNIPPET} F left. G stayed. H slept. I woke. J ran."
AROUND = f"D was not. E came. {SNIPPET} F left. G stayed."


def at(found, text, **fields):
    """Return the page at the hit's URL, as an entry of the table of pages."""
    return found.url, page(found, text, **fields)


def ask(*hits, pages=(), claim=CLAIM, search=None, chooser=None, reader=None, **settings) -> Answer:
    return WebSearchAnswerer(
        search or TableSearch(hits),
        TablePages(dict(pages)),
        chooser or Takes(),
        reader or FindsWord(),
        DocumentSettings(**settings),
    ).answer(QUESTION, claim)


class TestSearching:
    def test_claim_and_question_are_searched_together(self) -> None:
        search = TableSearch((hit(1, SNIPPET),))
        ask(search=search)
        assert search.asked == [(f"{CLAIM.text} {QUESTION.text}", MAX_HITS, None)]

    def test_the_names_are_searched_when_the_first_query_finds_nothing(self) -> None:
        """Once; their hits are used like any others."""
        search = TableSearch(found={"Paris Eiffel Tower": (hit(1, SNIPPET),)})
        assert ask(search=search).text == "1889"
        assert [query for query, *_ in search.asked] == [f"{CLAIM.text} {QUESTION.text}", "Paris Eiffel Tower"]

    def test_two_empty_searches_give_no_answer_and_no_failure(self) -> None:
        search, reader = TableSearch(), FindsWord()
        assert ask(search=search, reader=reader) == Answer(None, answerer="web-search")
        assert len(search.asked) == 2 and not reader.given


class TestReadingThePage:
    def test_the_answer_is_from_five_sentences_around_the_snippet(self) -> None:
        found = hit(1, SNIPPET)
        reader = FindsWord()
        said = ask(found, pages=[at(found, TEXT, published="2019-05-06")], reader=reader)
        (passage,) = reader.given[0]
        assert passage.text == AROUND
        assert (said.text, said.cited.text, said.cited.passage, said.answerer) == (
            "1889",
            "1889",
            passage,
            "web-search",
        )
        assert (passage.title, passage.source, passage.url) == ("Title 1", "site1.example", found.url)
        assert (passage.published, passage.origin) == ("2019-05-06", Origin.WEB)

    def test_the_snippet_is_read_when_the_page_is_unavailable(self) -> None:
        found = hit(1, SNIPPET)
        for pages in ([], [at(found, "We value your privacy. Accept all.")], [at(found, "")]):
            said = ask(found, pages=pages)
            assert (said.text, said.cited.passage.text, said.cited.passage.url) == ("1889", SNIPPET, found.url)

    def test_without_a_language_model_the_first_document_is_read(self) -> None:
        answerer = WebSearchAnswerer(TableSearch((hit(1, SNIPPET), hit(2, SNIPPET))), TablePages(), None, FindsWord())
        assert answerer.answer(QUESTION, CLAIM).cited.passage.url == hit(1).url

    def test_a_hit_without_a_snippet_is_cited_by_its_own_url(self) -> None:
        """The original numbered only the hits with a snippet, and cited the neighbour's URL."""
        bare, other = hit(1, ""), hit(2, "Nothing of use.")
        said = ask(bare, other, pages=[at(bare, TEXT)], chooser=PromptedChooser(playing("Document 1")))
        assert (said.text, said.cited.passage.url) == ("1889", bare.url)
        said = ask(hit(1, ""), hit(2, SNIPPET), chooser=PromptedChooser(playing("Document 2")))
        assert (said.text, said.cited.passage.url) == ("1889", hit(2).url)

    def test_a_document_without_text_is_skipped(self) -> None:
        """Without snippet and page, the next best of the others is chosen."""
        chooser = Takes()
        said = ask(hit(1, ""), hit(2, SNIPPET), chooser=chooser)
        assert said.cited.passage.url == hit(2).url
        assert [len(shown) for shown in chooser.shown] == [2, 1]

    def test_the_other_hits_follow_the_document_that_was_read(self) -> None:
        """Even when there is no answer."""
        said = ask(hit(1, SNIPPET), hit(2, "Other."), reader=FindsWord("1900"))
        assert said.text is None and said.cited is None
        assert [(passage.text, passage.url) for passage in said.retrieved] == [
            (SNIPPET, hit(1).url),
            ("Other.", hit(2).url),
        ]

    def test_phases_are_reported_and_the_use_of_a_snippet_is_explained(self) -> None:
        reported = []
        with listening(reported.append):
            ask(hit(1, SNIPPET))
        assert reported == [
            PhaseEntered(Code.SEARCHING_WEB()),
            PhaseEntered(Code.READING(what="site1.example")),
            PhaseEntered(Code.READING_SNIPPET()),
            TroubleMet(Code.SNIPPET_READ(problem="The page could not be fetched (404).")),
        ]

    @pytest.mark.parametrize("snippet", ["", SNIPPET], ids=["no snippet", "an undated snippet"])
    def test_an_unavailable_page_without_a_usable_snippet_is_a_problem_and_nothing_is_read(self, snippet: str) -> None:
        reported = []
        with listening(reported.append):
            ask(hit(1, snippet), claim=DATED, undated=False)
        assert reported[1:] == [
            PhaseEntered(Code.READING(what="site1.example")),
            TroubleMet("The page could not be fetched (404)."),
        ]


class TestFreeAnswer:
    def test_the_whole_reply_is_the_answer_and_the_hits_are_its_evidence(self) -> None:
        said = ask(hit(1, SNIPPET), hit(2, "Other."), chooser=Takes(says="It opened in 1889, as two of them say."))
        assert (said.text, said.cited) == ("It opened in 1889, as two of them say.", None)
        assert [passage.url for passage in said.retrieved] == [hit(1).url, hit(2).url]
        assert {passage.origin for passage in said.retrieved} == {Origin.WEB}

    @pytest.mark.parametrize(("chooser", "text"), [(PromptedChooser, None), (PapeloChooser, "None")])
    def test_none_is_no_answer_but_with_the_papers_prompts(self, chooser, text: str | None) -> None:
        """The hits stay listed. In the paper, the full response is the answer, whatever it says."""
        said = ask(hit(1, SNIPPET), chooser=chooser(playing("None")))
        assert (said.text, len(said.retrieved)) == (text, 1)

    def test_it_is_rejected_when_it_saw_inadmissible_hits(self) -> None:
        hits = (hit(1, SNIPPET, "2019-01-01"), hit(2, "Undated."))
        said = ask(*hits, claim=DATED, chooser=Takes(says="In 1889."), undated=False)
        assert (said.text, [passage.url for passage in said.retrieved]) == (None, [hit(1).url])
        assert ask(*hits, claim=DATED, chooser=Takes(says="In 1889.")).text == "In 1889."


class TestClaimDate:
    def test_a_hit_dated_on_or_after_the_claim_date_is_never_used(self) -> None:
        """Whatever the provider's own filter let through; with nothing else found, the names are searched."""
        search, chooser = TableSearch((hit(1, SNIPPET, "2020-10-31"), hit(2, SNIPPET, "2021-01-01"))), Takes()
        said = ask(search=search, claim=DATED, chooser=chooser)
        assert said == Answer(None, answerer="web-search")
        assert not chooser.shown and len(search.asked) == 2

    def test_a_pages_own_date_overrides_the_hits(self) -> None:
        """A page that is too late disqualifies its snippet too, and another hit is chosen."""
        late, good = hit(1, SNIPPET, "2019-01-01"), hit(2, SNIPPET, "2019-01-02")
        pages = [at(late, TEXT, published="2020-11-01"), at(good, TEXT)]
        said = ask(late, good, pages=pages, claim=DATED)
        assert (said.cited.passage.url, said.cited.passage.published) == (good.url, "2019-01-02")
        assert late.url not in [passage.url for passage in said.retrieved]

    def test_undated_evidence_can_be_left_out(self) -> None:
        found = hit(1, SNIPPET)
        for pages, text in [
            ([at(found, TEXT, published="2019-01-01")], "1889"),
            ([at(found, TEXT)], None),
            ([], None),
        ]:
            assert ask(found, pages=pages, claim=DATED, undated=False).text == text
        assert ask(found, claim=DATED, undated=False, long_document=False).text is None

    def test_the_number_of_opened_documents_is_limited(self) -> None:
        """Each may take fifteen seconds; after the limit there is no answer, and nothing undated is listed."""
        hits = tuple(hit(number, SNIPPET) for number in range(1, 11))
        pages, chooser = TablePages(dict(at(each, TEXT) for each in hits)), Takes()
        answerer = WebSearchAnswerer(TableSearch(hits), pages, chooser, FindsWord(), DocumentSettings(undated=False))
        assert answerer.answer(QUESTION, DATED) == Answer(None, answerer="web-search")
        assert len(pages.asked) == MAX_OPENED

    def test_an_invalid_claim_date_prevents_the_search(self) -> None:
        search = TableSearch((hit(1, SNIPPET),))
        with pytest.raises(CallFailed, match="date of the claim"):
            ask(search=search, claim=Claim(CLAIM.text, date="31-02-2020"))
        assert not search.asked


class TestFactChecks:
    THEIRS = hit(1, SNIPPET, url="https://www.snopes.com/fact-check/tower")

    def test_fact_checks_are_evidence_unless_left_out_on_request(self) -> None:
        assert ask(self.THEIRS, hit(2, SNIPPET)).cited.passage.url == self.THEIRS.url
        said = ask(self.THEIRS, hit(2, SNIPPET), fact_checks=False)
        assert [passage.url for passage in said.retrieved] == [hit(2).url]

    @pytest.mark.parametrize("page", [{"url": THEIRS.url}, {"is_fact_check": True}])
    def test_a_redirect_to_a_fact_check_and_a_page_marked_as_one_are_left_out_too(self, page) -> None:
        found = hit(3, SNIPPET)
        said = ask(found, hit(2, SNIPPET), pages=[at(found, TEXT, **page)], fact_checks=False)
        assert said.cited.passage.url == hit(2).url


class TestVariants:
    def test_without_long_documents_no_page_is_opened(self) -> None:
        found = hit(1, SNIPPET)
        pages = TablePages(dict([at(found, TEXT)]))
        answerer = WebSearchAnswerer(
            TableSearch((found,)), pages, Takes(), FindsWord(), DocumentSettings(long_document=False)
        )
        assert answerer.answer(QUESTION, CLAIM).cited.passage.text == SNIPPET
        assert not pages.asked

    def test_several_documents_are_read_together(self) -> None:
        hits = [hit(number, SNIPPET if number != 3 else "") for number in range(1, 8)]
        search, pages, chooser, reader = TableSearch(tuple(hits)), TablePages(), Takes(), FindsWord()
        answerer = WebSearchAnswerer(search, pages, chooser, reader, DocumentSettings(multi_document=True))
        said = answerer.answer(QUESTION, CLAIM)
        assert not chooser.shown and not pages.asked
        assert [passage.text for passage in reader.given[0]] == [SNIPPET] * 6
        assert said.cited.passage.url == hits[0].url
        assert said.retrieved == reader.given[0]

    def test_several_documents_are_cited_by_number(self) -> None:
        hits = [hit(1, SNIPPET), hit(2, "", url="https://b.example/x"), hit(3, "It opened in 1900.")]
        reader = PromptedReader(playing("In 1900 [2]."))
        said = ask(*hits, reader=reader, multi_document=True)
        assert (said.text, said.cited.passage.url) == ("In 1900.", hits[2].url)

    def test_several_inadmissible_documents_give_no_answer(self) -> None:
        said = ask(hit(1, SNIPPET), claim=DATED, multi_document=True, undated=False)
        assert said == Answer(None, answerer="web-search")

    def test_without_metadata_only_texts_are_shown_but_citations_are_complete(self) -> None:
        hits = (hit(1, "Other.", "2019-01-01"), hit(2, SNIPPET, "2019-01-02"))
        chooser, reader = Takes(2), FindsWord()
        said = ask(*hits, chooser=chooser, reader=reader, metadata=False)
        assert [(each.title, each.site, each.published) for each in chooser.shown[0]] == [("", "", None)] * 2
        (read,) = reader.given[0]
        assert (read.title, read.source, read.published, read.text) == ("", "", None, SNIPPET)
        cited = said.cited.passage
        assert (cited.title, cited.source, cited.published) == ("Title 2", "site2.example", "2019-01-02")
        assert said.cited.text == "1889"
        assert ask(*hits, chooser=Takes(says="In 1889."), metadata=False).text == "In 1889."

    def test_a_corpus_is_not_called_the_web(self) -> None:
        reported = []
        answerer = WebSearchAnswerer(
            TableSearch((hit(1, SNIPPET),)), TablePages(), Takes(), FindsWord(), origin=Origin.CORPUS
        )
        with listening(reported.append):
            said = answerer.answer(QUESTION, CLAIM)
        assert {passage.origin for passage in said.retrieved} == {Origin.CORPUS}
        assert reported[0] == PhaseEntered(Code.SEARCHING_CORPUS())


THREE = tuple(hit(number, SNIPPET) for number in (1, 2, 3))
THEIR_PAGES = dict(at(each, TEXT) for each in THREE)


class TestOpeningAhead:
    """Pages are opened while a document is being chosen."""

    def answerer(self, pages, chooser, prefetched_pages: int = 2, **settings) -> WebSearchAnswerer:
        how = DocumentSettings(**settings)
        return WebSearchAnswerer(
            TableSearch(THREE), pages, chooser, FindsWord(), how, prefetched_pages=prefetched_pages
        )

    def test_the_chosen_page_is_opened_once_while_the_choice_is_made(self) -> None:
        opening = threading.Event()

        class Waits(Takes):
            def choose(self, question, hits):
                assert opening.wait(LONG)
                return super().choose(question, hits)

        class Tells(TablePages):
            def read(self, hit):
                opening.set()
                return super().read(hit)

        pages = Tells(THEIR_PAGES)
        answer = self.answerer(pages, Waits()).answer(QUESTION, CLAIM)
        assert answer == self.answerer(TablePages(THEIR_PAGES), Takes(), prefetched_pages=0).answer(QUESTION, CLAIM)
        assert pages.asked.count(THREE[0].url) == 1

    def test_a_page_not_opened_ahead_is_opened_when_chosen(self) -> None:
        pages = TablePages(THEIR_PAGES)
        answer = self.answerer(pages, Takes(3)).answer(QUESTION, CLAIM)
        assert answer.cited.passage.url == THREE[2].url
        assert THREE[2].url in pages.asked

    def test_one_page_per_site_is_opened_ahead(self) -> None:
        pages, same = TablePages(), [hit(n, SNIPPET, site="one.example") for n in (1, 2)]
        with WebSearchAnswerer(TableSearch(), pages, Takes(), FindsWord(), prefetched_pages=2)._prefetch(
            same
        ) as opening:
            assert list(opening._tasks) == same[:1]

    def test_an_unavailable_page_that_was_not_chosen_is_ignored(self) -> None:
        said: list = []
        with listening(said.append):
            pages = TablePages({THREE[1].url: THEIR_PAGES[THREE[1].url]})
            self.answerer(pages, Takes(2)).answer(QUESTION, CLAIM)
        assert not [event for event in said if isinstance(event, TroubleMet)]
