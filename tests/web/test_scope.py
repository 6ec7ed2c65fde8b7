"""A page says how much was searched and of when, and offers the other sources."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from app.capabilities.options import Choice
from app.domain.errors import CallFailed
from app.domain.model import Label, Verdict
from tests.fakes import TWO_HOPS, Script, ScriptedHop, scripted_container
from tests.web.conftest import ended_run, finished, press, wait_for

EXTRACTS = Choice("vital", "Wikipedia extracts (offline)", scope="the first lines of 12 articles")
LIVE = Choice("wikipedia-live", "Wikipedia, live", destination="en.wikipedia.org", scope="whole articles")
UNDECIDED = Script(TWO_HOPS.hops, Verdict(Label.NOT_ENOUGH_EVIDENCE, (), "Nothing was found about Hamlet."))
FAILED = Script(
    (ScriptedHop("Who wrote it?", CallFailed("The network is down.")),), CallFailed("Every question failed.")
)


@pytest.fixture
def browser(make_app):
    """Return a browser on a site with two sources, whose checks follow the given scripts."""

    def make(*scripts: Script, extracts: Choice = EXTRACTS):
        return make_app(scripted_container(*scripts, shelves=(extracts, LIVE))).test_client()

    return make


def test_the_form_and_an_undecided_report_say_how_much_was_searched(browser):
    client = browser(UNDECIDED)
    assert "Searches the first lines of 12 articles." in client.get("/").text
    assert "Only this was searched: the first lines of 12 articles." in finished(client)


def test_a_report_names_the_scope_only_if_the_corpus_is_as_it_was(browser):
    assert "first lines of 12" in finished(browser(extracts=replace(EXTRACTS, built_at="2020-01-01T00:00:00+00:00")))
    rebuilt = browser(extracts=replace(EXTRACTS, built_at="2999-01-01T00:00:00+00:00"))
    assert "first lines of 12" not in finished(rebuilt)


def test_each_step_and_the_verdict_can_ask_another_source_in_a_branch(browser):
    client = browser(UNDECIDED)
    page = client.get(path := ended_run(client)).text
    assert page.count('value="wikipedia-live" title="Sends your claim and questions to en.wikipedia.org"') == 3
    branch = press(client, path, "branch", hop=2, question="Where was he born?", source="wikipedia-live")
    assert branch.status_code == 303
    assert "Source: <b>Wikipedia, live</b>" in wait_for(client, branch.location, 'id="verdict-heading"')
    stranger = client.application.test_client().get(path).text
    assert 'name="source"' not in stranger and "Try another source" in stranger


def test_a_question_can_be_added_after_the_last_step(browser):
    client = browser(TWO_HOPS)
    path = ended_run(client)
    assert "Add a question</h1>" in client.get(f"{path}/branch?hop=3").text
    added = press(client, path, "branch", hop=3, question="When was he born?")
    page = wait_for(client, added.location, 'id="verdict-heading"')
    assert page.count("From the earlier check") == 2 and "When was he born?" in page
    assert "Step 3 was added." in page


def test_a_failed_check_says_one_thing_and_its_source_is_not_offered_first_again(browser):
    client = browser(FAILED)
    page = finished(client, from_source="wikipedia-live")
    verdict = page[page.index('id="verdict"') : page.index("</section>", page.index('id="verdict"'))]
    assert verdict.count("failed") == 2, "in the heading and in the reason"
    assert "Why it stopped" not in verdict and "Your verdict" not in verdict
    assert 'name="from_source" value="vital">Check offline instead' in verdict
    assert re.search(r'<option value="vital" selected>', client.get("/").text)
