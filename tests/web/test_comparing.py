"""Comparison of runs of one claim: rows, common pages, and refusals."""

from __future__ import annotations

import re
from html import unescape

import pytest
from lxml import html

from app.domain.model import Judgement, Label, Sentence, Verdict
from tests.fakes import TWO_HOPS, Script, ScriptedHop, answer, scripted_container
from tests.waiting import LONG
from tests.web.conftest import ended_run, press, started, wait_for
from tests.web.test_api import held_to, problem

CLAIM = "Hamlet's author was born in England."

DIFFERENT_RUN = Script(
    (
        ScriptedHop("Is Hamlet a play?", answer(None), Judgement(False, "There was no answer.")),
        ScriptedHop("Who wrote Hamlet?", answer("Thomas Kyd", "Thomas Kyd wrote it, some say.", "Ur-Hamlet")),
        ScriptedHop(
            "Where was Shakespeare born?",
            answer("England", "Shakespeare was born in Stratford, England.", "William Shakespeare"),
            enough=Judgement(True, "Both halves are covered.", 0.8),
        ),
    ),
    Verdict(Label.REFUTED, (Sentence("Thomas Kyd wrote it.", (2,)),), confidence=0.55),
)


def row(page: str, head: str) -> list[str]:
    """Return the cells of the one row whose head begins with these words."""
    rows = html.document_fromstring(page).iter("tr")
    texts = [[" ".join(" ".join(cell.itertext()).split()) for cell in each.xpath("th|td")] for each in rows]
    (found,) = [cells[1:] for cells in texts if cells and cells[0].startswith(head)]
    return found


def ended(client, claim: str = CLAIM) -> str:
    """The id of a run that has ended."""
    return ended_run(client, claim).removeprefix("/runs/")


def compare(client, *ids: str):
    return client.get("/compare", query_string={"run": ids})


@pytest.fixture
def two(make_app):
    """A browser, and the ids of two runs of one claim that went differently."""
    client = make_app(scripted_container(TWO_HOPS, DIFFERENT_RUN)).test_client()
    return client, ended(client), ended(client)


def test_each_run_has_a_column_with_label_confidence_counts_and_costs(two):
    client, one, other = two
    answered = compare(client, one, other)
    assert (answered.status_code, answered.headers["X-Robots-Tag"]) == (200, "noindex")
    page = answered.text
    assert [cell[2:] for cell in row(page, "Verdict")] == ["True", "False"]
    assert [cell[2:] for cell in row(page, "Confidence")] == ["High confidence", "Low confidence"]
    assert [cell[2:] for cell in row(page, "Steps")] == ["2: 2 used", "3: 2 used, 1 not used"]
    assert [cell[2:] for cell in row(page, "Calls of models")] == ["9", "12"]
    assert [cell[2:] for cell in row(page, "Tokens")] == ["108", "144"]
    assert "Different verdicts" in page and CLAIM.replace("'", "&#39;") in page


def test_the_same_question_is_one_row_that_says_whether_the_answers_differ(two):
    page = compare(*two).text
    assert "Step 1" in row(page, "Who wrote Hamlet? answers differ")[0]
    assert "Step 2" in row(page, "Who wrote Hamlet? answers differ")[1]
    shared = row(page, "Where was William Shakespeare born? same answer")
    assert ["Asked as" in cell for cell in shared] == [False, True] and "Where was Shakespeare born?" in shared[1]
    assert row(page, "Is Hamlet a play?")[0] == "A Not asked"


def asked_again(client, page: str):
    """The answer to the request that the page sends for news."""
    return client.get(unescape(re.search(r'id="poll" hx-get="([^"]+)"', page)[1]))


def test_a_comparison_with_a_running_run_asks_for_news_until_all_have_ended(gated):
    client, gate = gated("answer 3", TWO_HOPS, DIFFERENT_RUN)
    one, other = ended(client), started(client).removeprefix("/runs/")
    assert gate.reached.wait(LONG)
    page = compare(client, one, other).text
    assert "1 of 2 is still running." in page
    assert row(page, "Where was William Shakespeare born?")[1].startswith("B Step 3 In progress")
    assert row(page, "Verdict")[1].startswith("B Running")
    assert asked_again(client, page).status_code == 204, "nothing has happened"
    gate.open()
    wait_for(client, f"/runs/{other}", 'id="verdict-heading"')
    news = asked_again(client, page).text
    assert re.search('id="agreement"[^>]*hx-swap-oob', news) and "Different verdicts" in news
    assert row(news, "Verdict") == row(compare(client, one, other).text, "Verdict")
    assert "hx-get" not in news[news.index('id="poll"') :]


def test_the_page_of_a_run_offers_other_checks_of_its_claim_for_comparison(two):
    client, one, other = two
    ended(client, "Something else.")
    page = client.get(f"/runs/{other}").text
    offered = page[page.index('id="others-heading"') :]
    assert re.findall(r'name="run" value="([^"]+)"', offered) == [other, one]
    assert 'action="/compare"' in offered and "True" in offered


def test_another_browser_is_offered_only_its_own_checks(two):
    client, one, _ = two
    stranger = client.application.test_client()
    assert "others-heading" not in stranger.get(f"/runs/{one}").text
    own = ended(stranger)
    assert f'name="run" value="{own}"' in stranger.get(f"/runs/{one}").text
    assert "others-heading" not in stranger.get(f"/runs/{own}").text


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"hop": "2", "question": "Where was he born?"}, "Step 2 asked “Where was he born?”"),
        ({"hop": "3", "question": "When was he born?"}, "Step 3 asked “When was he born?”"),
        ({"hop": "1", "leave_out": "yes"}, "Step 1 left out"),
    ],
)
def test_a_comparison_and_the_choice_for_one_name_the_step_that_a_branch_changed(make_app, sent, words):
    client = make_app(scripted_container()).test_client()
    parent = ended(client)
    child = press(client, f"/runs/{parent}", "branch", **sent).location
    wait_for(client, child, 'id="verdict-heading"')
    assert words in compare(client, parent, child.removeprefix("/runs/")).text
    assert f"{words}, <time" in client.get(f"/runs/{parent}").text


def test_a_comparison_has_the_runs_in_the_given_order_with_hops_by_question_and_pages(client):
    first, second = ended(client), ended(client)
    body = held_to("Comparison", client.get(f"/api/v1/compare?run={second}&run={first}").json)
    assert [run["id"] for run in body["runs"]] == [second, first]
    assert {run["label"] for run in body["runs"]} == {"SUPPORTED"}
    assert [(row["hops"], row["agree"]) for row in body["rows"]] == [([1, 1], True), ([2, 2], True)]
    cited = [page for page in body["pages"] if page["uses"][0]["cited"]]
    assert cited and all(page["alike"] for page in cited)


def test_comparison_errors_have_the_same_words_as_the_page(client):
    first, other = ended(client), ended(client, "Everest is a mountain.")
    for code, runs in (
        (422, []),
        (422, [first]),
        (422, [first, first]),
        (422, [first, other]),
        (422, [f"{number:02}" for number in range(20)]),
        (404, [first, "never"]),
    ):
        asked = {"run": runs}
        page = client.get("/compare", query_string=asked)
        body = problem(client.get("/api/v1/compare", query_string=asked), code)
        assert page.status_code == code and body["detail"] in unescape(page.text)
        assert body.get("field") == ("run" if code == 422 else None)
