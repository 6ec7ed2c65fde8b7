"""The history page: search, filters and pages by plain links and one form."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from sqlalchemy import create_engine, insert

from app.runs.models import RunRow
from tests.runs.conftest import NOON, ended_row
from tests.web.conftest import finished, started, wait_for


@pytest.fixture
def stored(client, database_url):
    """Store rows of runs of this browser, each a minute older than the one before."""
    client.get("/")
    with client.session_transaction() as session:
        owner = session["owner"]

    def store(*claims: str, **columns) -> None:
        engine = create_engine(database_url)
        with engine.begin() as connection:
            for n, claim in enumerate(claims):
                placed = {"owner": owner, "created_at": NOON - timedelta(minutes=n), **columns}
                connection.execute(insert(RunRow).values(ended_row(claim[:20].replace(" ", "-"), claim, **placed)))
        engine.dispose()

    return store


def listed(page: str) -> list[str]:
    """The claims in the list."""
    return [
        html.unescape(each) for each in re.findall(r'<li><a [^>]*><span class="recent-claim"[^>]*>(.*?)</span>', page)
    ]


def test_checks_are_listed_newest_first_with_their_verdicts(client):
    first = started(client, "Hamlet is a play.")
    wait_for(client, first, 'id="verdict-heading"')
    finished(client, "Hamlet is an opera.")
    page = client.get("/history").text
    assert listed(page) == ["Hamlet is an opera.", "Hamlet is a play."]
    assert f'href="{first}"' in page and f'href="{first}/delete"' in page
    assert page.count("True</span>") == 2
    assert ">2 checks</p>" in page


def test_words_labels_and_answerers_narrow_the_list_and_stay_in_the_form(client, stored):
    stored("Erdoğan won.", "Hamlet is a play.")
    stored("Hamlet is an opera.", label="REFUTED")
    assert listed(client.get("/history?q=ERDOGAN").text) == ["Erdoğan won."]
    page = client.get("/history?q=hamlet&label=REFUTED&answerer=retriever-reader").text
    assert listed(page) == ["Hamlet is an opera."]
    assert 'value="hamlet"' in page
    assert re.findall(r'<option value="([^"]+)" selected', page) == ["REFUTED", "retriever-reader"]


@pytest.mark.parametrize("after", ["", "never", "1e9.x", "9" * 30, "-1.x", "²."])
def test_an_invalid_cursor_shows_the_beginning_and_says_so(client, stored, after):
    stored("Hamlet is a play.")
    page = client.get("/history", query_string={"after": after}).text
    assert "here is its beginning" in page
    assert listed(page) == ["Hamlet is a play."]
