"""The pages over HTTP: content, errors, whose runs are listed, and forms that are sent twice."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape

import pytest

from app import check
from app.capabilities.options import Choice
from app.domain.errors import CallFailed
from app.domain.instrumentation import report_problem
from app.domain.model import Answer, Label, LabelSet, Origin, Passage, RunOptions, Sentence, Span, Verdict
from app.extensions import db
from app.runs.models import EventRow
from app.web.errors import STALE_FORM
from app.web.forms import PAPER_CLAIMS, outcomes
from app.web.views import FACES
from tests.fakes import (
    AWAY,
    FAILING,
    SUPPORTED,
    TWO_HOPS,
    Component,
    Script,
    ScriptedHop,
    scripted_container,
)
from tests.waiting import until
from tests.web.conftest import ended_run, finished, send, started, token, wait_for


def hop_with(answer: Answer, **fields) -> Script:
    """A run of one kept hop with this answer."""
    return Script((ScriptedHop("What is it?", answer, **fields),), SUPPORTED)


def web(url: str = "https://tower.example/", published: str | None = None) -> Passage:
    """A page of the web."""
    return Passage("It is so.", "The tower", "Tower news", url, published, Origin.WEB)


def page_over(make_app, passage: Passage, **fields) -> str:
    """The page of a run whose one answer cites this passage."""
    script = hop_with(Answer("so", Span(passage, 6, 8), (passage,)))
    return finished(make_app(scripted_container(script)).test_client(), **fields)


def summary_of(page: str) -> str:
    """Return the summary that is shown for the first answer while its passages are folded."""
    return page.split('<summary id="hop-1-unfold">')[1].split("</summary>")[0]


def source_field(client) -> list[tuple[str, str, bool]]:
    """Value, title and whether it is chosen, for each source that the home page offers."""
    return listed_sources(client.get("/").text)


def listed_sources(page: str) -> list[tuple[str, str, bool]]:
    listed = unescape(page).split('<select id="from_source"')[1].split("</select>")[0]
    rows = re.findall(r'<option value="([^"]*)"([^>]*)>([^<]*)</option>', listed)
    return [(value, title, "selected" in rest) for value, rest, title in rows]


def qacheck_container():
    return scripted_container(
        choices=tuple(Choice(name, name) for name in ("retriever-reader", "reciter-reader")),
        mixes=(Choice("local", "Local models"), Choice("qacheck", "As in QACheck", needs_model=True)),
        shelves=(Choice("vital", "Vital articles"), Choice("mine", "My papers")),
        language_models=(AWAY,),
    )


class TestHome:
    def test_shows_each_sample_with_the_outcome_that_is_stored_for_it(self, client):
        page = unescape(client.get("/").text)
        for found in outcomes():
            button = page.split(f'name="sample" value="{found.claim}"')[-1].split("</button>")[0]
            assert FACES[found.label].word in button

    def test_offers_only_what_is_available_and_links_to_the_rest(self, client):
        page = client.get("/").text
        assert "flan-t5" not in page and " disabled" not in page
        assert "FLAN-T5 is not installed." in client.get("/choices").text
        assert '<a href="/choices">All options and how to enable them</a>' in page

    def test_offers_the_sources_that_are_available_with_the_default_one_chosen(self, make_app):
        assert source_field(make_app().test_client()) == [
            ("vital", "Wikipedia extracts (offline)", True),
            ("", "Chosen under Advanced", False),
        ]
        answerers = (Choice("retriever-reader", "Retriever and reader"), Choice("web-search", "Web search"))
        shelves = (Choice("vital", "Vital articles"), Choice("mine", "My own papers"))
        usual = RunOptions(answerer="web-search", search="brave")
        container = scripted_container(choices=answerers, shelves=shelves, usual=usual)
        assert source_field(make_app(container).test_client()) == [
            ("vital", "Wikipedia extracts (offline)", False),
            ("mine", "My own papers", False),
            ("web", "The web", True),
            ("", "Chosen under Advanced", False),
        ]

    def test_remembers_the_source_that_this_browser_chose_last_while_it_is_there(self, make_app):
        vital, papers = Choice("vital", "Vital articles"), Choice("mine", "My papers")
        container = scripted_container(shelves=(vital, papers))
        app = make_app(container)
        mine, other = app.test_client(), app.test_client()
        started(mine, from_source="mine")
        assert ("mine", "My papers", True) in source_field(mine)
        assert ("mine", "My papers", False) in source_field(other)
        container.shelves = (vital, papers.unavailable("Its index is damaged.", "make corpus"))
        assert [name for name, _, is_chosen in source_field(mine) if is_chosen] == ["vital"]

    def test_lists_the_last_five_checks_above_the_samples(self, client):
        for number in range(1, 7):
            finished(client, f"Claim number {number} is mine.")
        page = client.get("/").text
        assert "Claim number 1 is mine." not in page
        assert all(f"Claim number {number} is mine." in page for number in range(2, 7))
        assert page.index("Your last checks") < page.index("Or try one of these")

    def test_names_a_missing_component_with_the_command_that_fixes_it(self, make_app):
        parts = (
            Component("judge", "failed", "The weights are damaged.", "make models"),
            Component("reader", "loading"),
        )
        page = make_app(scripted_container(loaded=parts)).test_client().get("/").text
        assert "The weights are damaged." in page and "<code>make models</code>" in page
        assert 'hx-get="/parts"' in page

    def test_the_form_is_prefilled_from_the_settings(self, make_app):
        container = scripted_container(
            usual=RunOptions(max_hops=3, preset="prompted", model="big"), language_models=(AWAY,)
        )
        page = make_app(container).test_client().get("/").text
        assert 'name="max_hops" type="number" min="1" max="10" value="3"' in page
        assert 'name="recipe" value="language-model" checked' in page
        assert '<option value="big" selected>' in page and 'value="vital" checked' in page

    def test_does_not_mention_sending_when_nothing_leaves_the_machine(self, make_app):
        gone = AWAY.unavailable("No key is set.", "OPENAI_API_KEY")
        for models in ((), (Choice("near", "A model here"),), (gone,)):
            page = make_app(scripted_container(language_models=models)).test_client().get("/").text
            assert "will be sent to" not in page

    def test_the_choices_page_lists_every_choice_with_its_setting_or_fix(self, make_app):
        gone = AWAY.unavailable("No key is set.", "OPENAI_API_KEY")
        page = unescape(make_app(scripted_container(language_models=(gone,))).test_client().get("/choices").text)
        assert "Retriever and reader" in page and "Answerers <code>ANSWERER</code>" in page
        assert 'No key is set. <span class="mend">To enable: <code>OPENAI_API_KEY</code>' in page
        assert page.count(">Not available</p>") == 2 and page.count(">Available</p>") == 1

    def test_a_link_fills_in_its_claim_as_text(self, client):
        page = client.get("/", query_string={"claim": 'Ada wrote "<b>Notes</b>".'}).text
        assert "Ada wrote &#34;&lt;b&gt;Notes&lt;/b&gt;&#34;.</textarea>" in page
        assert "</textarea>" in client.get("/?claim=").text


class TestPaperClaims:
    """QACheck's own demonstration claims."""

    LIVE = Choice("wikipedia-live", "Wikipedia, live", destination="en.wikipedia.org")

    def part(self, client) -> str:
        return unescape(client.get("/").text).split("From the QACheck paper")[1]

    def test_one_click_checks_it_with_a_source_that_can_decide_it_and_leaves_the_usual_source(self, make_app):
        container = scripted_container(shelves=(Choice("vital", "Vital articles"), self.LIVE))
        client = make_app(container).test_client()
        offered = re.findall(r'<option value="([^"]*)">([^<]*)', self.part(client))
        assert [name for name, _ in offered] == ["wikipedia-live"] and "go to en.wikipedia.org" in offered[0][1]
        sent = {"csrf_token": token(client), "sample": PAPER_CLAIMS[0], "from_source": "wikipedia-live"}
        assert client.post("/runs", data=sent).status_code == 303
        until(lambda: container.asked_for)
        assert container.asked_for[0].corpora == ("wikipedia-live",)
        assert next(name for name, _, is_chosen in source_field(client) if is_chosen) == "vital"


class TestStart:
    def test_the_source_counts_instead_of_the_options_under_it(self, make_app):
        shelves = (Choice("vital", "Vital articles"), Choice("mine", "My own papers"))
        container = scripted_container(shelves=shelves)
        client = make_app(container).test_client()
        started(client, from_source="mine", corpora="vital", search="brave")
        until(lambda: container.asked_for)
        assert container.asked_for[0].answerer == "retriever-reader"
        assert container.asked_for[0].corpora == ("mine",)

    @pytest.mark.parametrize("source", ["vital", "web"])
    def test_an_answerer_that_does_not_go_with_the_source_is_refused_without_a_script(self, make_app, source):
        """A script changes the source to "own choice"; without one, the choice is not ignored."""
        answerers = tuple(Choice(name, name) for name in ("retriever-reader", "flan-t5", "web-search"))
        engines = (Choice("brave", "Brave"),)
        client = make_app(scripted_container(choices=answerers, engines=engines)).test_client()
        answer = send(client, from_source=source, answerer="flan-t5")
        assert answer.status_code == 422 and 'id="source-problem"' in answer.text

    def test_an_answerer_that_goes_with_the_source_is_used(self, make_app):
        answerers = (Choice("retriever-reader", "Retriever and reader"), Choice("web-search", "Web search"))
        container = scripted_container(choices=answerers, engines=(Choice("corpus", "The corpora"),))
        started(make_app(container).test_client(), from_source="vital", answerer="web-search")
        until(lambda: container.asked_for)
        assert (container.asked_for[0].answerer, container.asked_for[0].corpora) == ("web-search", ("vital",))

    @pytest.mark.parametrize(
        ("fields", "answerer"),
        [
            ({"from_source": "vital", "answerer": "retriever-reader"}, "reciter-reader"),  # all as the page showed it
            ({}, "reciter-reader"),
            ({"from_source": "mine", "answerer": "retriever-reader"}, "retriever-reader"),
            ({"from_source": "vital", "answerer": "retriever-reader", "source_chosen": "yes"}, "retriever-reader"),
            ({"from_source": "", "answerer": "retriever-reader"}, "retriever-reader"),
        ],
    )
    def test_the_preset_of_qacheck_has_its_own_answerer_unless_another_is_chosen(self, make_app, fields, answerer):
        container = qacheck_container()
        client = make_app(container).test_client()
        path = started(client, strategy="question-guided", preset="qacheck", model="big", **fields)
        until(lambda: container.asked_for)
        assert container.asked_for[0].answerer == answerer
        again = client.get("/", query_string={"again": path.rpartition("/")[2]}).text
        hidden = {
            "source_chosen": re.search(r'name="source_chosen" value="(\w*)"', again)[1],
            "from_source": next(name for name, _, is_chosen in listed_sources(again) if is_chosen),
            "answerer": answerer,
        }
        started(client, strategy="question-guided", preset="qacheck", model="big", **hidden)
        until(lambda: len(container.asked_for) == 2)
        assert container.asked_for[1].answerer == answerer, "the same check again"

    def test_a_refused_form_comes_back_with_its_choices(self, make_app):
        shelves = (Choice("vital", "Vital articles"), Choice("mine", "My own papers"))
        client = make_app(scripted_container(language_models=(AWAY,), shelves=shelves)).test_client()
        page = send(client, "", preset="prompted", model="big", corpora=["", "mine"], fresh="yes").text
        assert 'value="prompted" checked' in page and '<option value="big" selected>' in page
        assert 'value="mine" checked' in page and 'value="vital" checked' not in page
        assert 'name="fresh" value="yes" checked' in page

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            ({"claim": ""}, "Please write a claim."),
            ({"answerer": "oracle"}, "There is no answerer 'oracle'; choose one of: retriever-reader, flan-t5."),
            ({"answerer": "flan-t5"}, "FLAN-T5 is not available here. FLAN-T5 is not installed."),
            ({"strategy": "direct"}, "Asked directly needs a language model; choose one."),
            ({"date": "31-02-2020"}, "There is no day 31-02-2020"),
            ({"strategy": "evidence-pursuit", "pursuit": "prompted"}, "There is no preset 'prompted'"),
        ],
    )
    def test_bad_input_gets_the_form_back_with_one_sentence_and_starts_nothing(self, make_app, fields, sentence):
        container = scripted_container()
        answer = send(make_app(container).test_client(), **{"claim": "A claim of some length.", **fields})
        assert answer.status_code == 422
        assert answer.text.count('class="problem"') == 1
        assert sentence in unescape(answer.text)
        assert not container.asked_for

    def test_the_pursuit_field_sets_the_preset_of_pursuits_only(self, make_app):
        container = scripted_container(language_models=(AWAY,))
        client = make_app(container).test_client()
        finished(client, strategy="evidence-pursuit", preset="local", pursuit="paper", model="big")
        finished(client, strategy="question-guided", preset="local", pursuit="paper")
        first, second = container.asked_for
        assert (first.preset, first.labels) == ("paper", LabelSet.TWO)
        assert (second.preset, second.labels) == ("local", LabelSet.THREE)

    def test_boxes_that_are_ticked_by_default_can_be_cleared(self, make_app):
        searching = Choice("web-search", "Web search")
        container = scripted_container(choices=(searching,), usual=RunOptions(answerer="web-search", search="corpus"))
        client = make_app(container).test_client()
        finished(client)
        finished(client, undated=["", "yes"], fact_checks="")
        first, second = container.asked_for
        assert (first.undated, first.fact_checks) == (True, True)
        assert (second.undated, second.fact_checks) == (True, False)

    @pytest.mark.parametrize(
        ("claim", "hint"),
        [
            ("La tour Eiffel se trouve à Paris.", "This looks like French."),
            ("Is Paris the capital of France?", "This is a question."),
            ("his wife lives in Paris", 'name="sample" value="Leonardo’s wife lives in Paris"'),
            ("asdf qwer zxcv", "No statement was found in this."),
        ],
    )
    def test_what_is_no_english_claim_gets_a_hint_and_runs_only_if_the_visitor_insists(self, make_app, claim, hint):
        client = make_app(container := scripted_container()).test_client()
        answer = send(client, claim, labels="two")
        assert answer.status_code == 200 and hint in answer.text and container.asked_for == []
        assert f"{claim}</textarea>" in unescape(answer.text) and 'value="two" checked' in answer.text
        assert 'name="as_is" value="yes"' in answer.text
        assert send(client, claim, as_is="yes").status_code == 303

    @pytest.mark.parametrize(
        ("body", "kind"),
        [
            (b"csrf_token=%s&claim=caf%%E9+au+lait", "application/x-www-form-urlencoded"),
            (b"csrf_token=%s&claim=caf\xe9 au lait", "application/x-www-form-urlencoded"),
            (
                b'--x\r\nContent-Disposition: form-data; name="csrf_token"\r\n\r\n%s\r\n'
                b'--x\r\nContent-Disposition: form-data; name="claim"\r\n\r\ncaf\xe9 au lait\r\n--x--\r\n',
                "multipart/form-data; boundary=x",
            ),
        ],
    )
    def test_bytes_that_are_not_utf8_are_refused(self, client, body, kind):
        answer = client.post("/runs", data=body % token(client).encode(), content_type=kind)
        assert answer.status_code == 422
        assert "must be text in UTF-8" in answer.text

    def test_a_form_without_a_token_starts_nothing_and_keeps_the_claim(self, make_app):
        container = scripted_container()
        answer = make_app(container).test_client().post("/runs", data={"claim": "A forged claim."})
        assert answer.status_code == 400
        assert STALE_FORM in answer.text and "A forged claim.</textarea>" in answer.text
        assert not container.asked_for


SUPPORTED_WITHOUT_HOPS = Verdict(Label.SUPPORTED, (Sentence("I remember it so."),))
"""The verdict of a baseline, which cites no hop."""


class TestRun:
    def test_shows_hops_evidence_and_verdict(self, client):
        page = finished(client)
        assert "Who wrote Hamlet?" in page and "Where was William Shakespeare born?" in page
        assert "<mark>England</mark>" in page
        assert 'href="https://en.wikipedia.org/wiki/Hamlet#:~:text=William%20Shakespeare" rel="noopener' in page
        assert "Vital articles, CC BY-SA 4.0" in page
        assert (
            "Supported" in page
            and "High confidence" in page
            and 'href="#hop-2" data-preview="preview-2">step 2</a>' in page
        )
        assert "Read the evidence before you rely on it." in page

    def test_names_a_corpus_by_its_title_on_the_page_and_in_exports(self, make_app):
        shelves = Choice("vital", "Vital articles"), Choice("minutes", "Council minutes <2026>")
        app = make_app(scripted_container(shelves=shelves))
        client, runs = app.test_client(), app.extensions["hopcheck"].runs
        report = check("Hamlet is a play.", app=app, source="minutes")
        page = client.get(f"/runs/{report.id}").text
        assert "Source: <b>Council minutes &lt;2026&gt;</b>" in page
        assert "<dt>Source</dt><dd>Council minutes &lt;2026&gt;</dd>" in page
        markdown = client.get(f"/runs/{report.id}/export.md").text
        assert "Source: Council minutes" in markdown and "- Corpora: Council minutes" in markdown
        assert runs.report(report.id).report.options.corpora == ("minutes",)

    def test_a_running_run_is_streamed_or_refreshed_without_javascript(self, gated):
        client, _ = gated("answer 1")
        page = wait_for(client, started(client), "Who wrote Hamlet?")
        assert "sse-connect" in page and 'sse-close="end"' in page
        assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in page
        assert '<li id="hop-2" hidden></li>' in page

    def test_without_a_free_stream_slot_the_page_refreshes_itself(self, gated):
        client, _ = gated("answer 1", threads=1)
        app = client.application
        with app.extensions["hopcheck"].followers.slot():
            page = client.get(started(client)).text
        assert "sse-connect" not in page and '<meta http-equiv="refresh" content="3">' in page

    def test_a_failed_hop_is_shown_as_failed(self, make_app):
        script = Script((ScriptedHop("Who?", CallFailed("The reader took too long.")), *TWO_HOPS.hops), SUPPORTED)
        page = finished(make_app(scripted_container(script)).test_client())
        assert "The answerer failed: The reader took too long." in page and "Failed</span>" in page

    def test_a_failed_run_says_so_without_internal_details(self, make_app):
        page = finished(make_app(scripted_container(FAILING)).test_client())
        assert "No verdict: the check failed" in page and "Who wrote Hamlet?" in page
        assert "secret" not in page

    def test_a_recited_passage_is_labelled_and_never_linked(self, make_app):
        recited = Passage("It is so.", "Recited", "a model", "https://example.org/x", origin=Origin.RECITED)
        script = hop_with(Answer("so", Span(recited, 6, 8), (recited,)))
        page = finished(make_app(scripted_container(script)).test_client())
        card = page.split('id="hop-1"')[1].split("</li>\n</ul>")[0]
        assert card.count("From the model’s memory, not a source") == 2, "by outcome and passage"
        assert "step 1, from the model’s memory, not a source</a>" in page
        assert "https://example.org/x" not in page

    def test_a_recited_passage_that_is_not_cited_is_labelled_while_folded(self, make_app):
        recited = Passage("It is so.", "A model's memory", "a model", "https://example.org/x", origin=Origin.RECITED)
        page = finished(make_app(scripted_container(hop_with(Answer("yes", None, (recited,))))).test_client())
        assert "1 passage recited" in summary_of(page) and "From the model’s memory, not a source" in summary_of(page)
        assert "https://example.org/x" not in page

    def test_the_site_and_the_date_of_a_web_page_are_shown_by_the_answer(self, make_app):
        assert "<bdi>Tower news</bdi>, 2020-10-30</span>" in page_over(make_app, web(published="2020-10-30"))
        assert "<bdi>Tower news</bdi>, date unknown</span>" in page_over(make_app, web())

    def test_an_undated_corpus_passage_is_marked_only_if_the_claim_has_a_date(self, make_app):
        corpus = replace(web(), origin=Origin.CORPUS)
        assert "date unknown" not in page_over(make_app, corpus)
        assert "<bdi>Tower news</bdi>, date unknown</span>" in page_over(make_app, corpus, date="2020-10-31")

    def test_a_fact_checkers_own_article_is_marked(self, make_app):
        assert "A fact-checker’s own article" in page_over(
            make_app, web(url="https://www.snopes.com/fact-check/tower/")
        )
        assert "A fact-checker’s own article" not in page_over(make_app, web())

    def test_problems_during_a_run_are_shown_by_the_verdict(self, make_app):
        container = scripted_container(
            gate=lambda step: report_problem("Brave failed. Another search engine was asked instead.")
        )
        page = finished(make_app(container).test_client())
        verdict = page.split('id="verdict-heading"')[1].split("</section>")[0]
        assert verdict.count("Brave failed. Another search engine was asked instead.") == 1

    def test_a_baseline_shows_its_verdict_without_hops_and_says_that_no_evidence_was_seen(self, make_app):
        container = scripted_container(Script((), SUPPORTED_WITHOUT_HOPS), language_models=(AWAY,))
        page = finished(make_app(container).test_client(), strategy="direct", model="big")
        assert "from the claim alone" in page and "looked at no evidence" in page
        assert "The trail" not in page and "pips" not in page and "Answerer" not in page
        assert "From the model’s memory, not a source" in page

    def test_a_run_stored_by_another_version_gets_a_page_that_says_so(self, make_app, caplog):
        app = make_app()
        client = app.test_client()
        path = ended_run(client)
        with app.app_context():
            db.session.execute(db.update(EventRow).values(version=99))
            db.session.commit()
        for asked in (path, f"{path}/events"):
            answer = client.get(asked)
            assert answer.status_code == 501 and "stored by another version of Hopcheck" in answer.text
        assert "schema version 99" in caplog.text and "Traceback" not in caplog.text
        assert client.get("/").status_code == 200, "the list of runs is still there"


def hidden_fields(page: str) -> dict[str, str]:
    """Return the hidden fields of a form."""
    return dict(re.findall(r'<input type="hidden" name="(csrf_token|form_name|hop)" value="([^"]+)"', page))


def test_a_double_click_starts_one_run(client):
    sent = {**hidden_fields(client.get("/").text), "claim": "Hamlet is a play."}
    assert set(sent) == {"csrf_token", "form_name", "claim"}
    cookie = client.get_cookie("hopcheck").value

    def click(_):
        other = client.application.test_client()
        other.set_cookie("hopcheck", cookie)
        return other.post("/runs", data=sent).location

    with ThreadPoolExecutor(3) as pool:
        places = set(pool.map(click, range(3)))
    assert len(places) == 1
    wait_for(client, places.pop(), 'id="verdict-heading"')
    assert len(client.get("/api/v1/runs").json["runs"]) == 1


def test_a_refused_form_comes_back_as_a_fresh_one(client):
    sent = hidden_fields(client.get("/").text)
    refused = client.post("/runs", data={**sent, "claim": "x"})
    assert refused.status_code == 422
    assert hidden_fields(refused.text)["form_name"] != sent["form_name"]
