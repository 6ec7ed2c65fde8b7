"""Runs of one claim side by side: what stands in which row, what they have in common, and what cannot be compared."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from app.reasoning.types import Judgement, Label, Sentence, Verdict
from tests.fakes import TWO_HOPS, Script, ScriptedHop, answer, scripted_wiring
from tests.web.conftest import started, wait_for

CLAIM = "Hamlet's author was born in England."

OTHERWISE = Script(
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


class Rows(HTMLParser):
    """The rows of a page's tables: the text of each row's head, and those of its cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[list[str]] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.found.append([])
        elif tag in ("th", "td"):
            self.found[-1].append("")
            self._inside = True

    def handle_endtag(self, tag):
        self._inside = self._inside and tag not in ("th", "td")

    def handle_data(self, data):
        if self._inside:
            self.found[-1][-1] = " ".join(f"{self.found[-1][-1]} {data}".split())


def row(page: str, head: str) -> list[str]:
    """The cells of the one row whose head begins with these words."""
    (found,) = [cells[1:] for cells in Rows(page).found if cells[0].startswith(head)]
    return found


def ended(client, claim: str = CLAIM, **fields) -> str:
    """The id of a run that has ended."""
    path = started(client, claim, **fields)
    wait_for(client, path, 'id="verdict-heading"')
    return path.removeprefix("/runs/")


def compare(client, *ids: str):
    return client.get("/compare", query_string={"run": ids})


@pytest.fixture
def two(make_app):
    """A browser, and the ids of two runs of one claim that went differently."""
    client = make_app(scripted_wiring(TWO_HOPS, OTHERWISE)).test_client()
    return client, ended(client), ended(client)


def test_two_runs_stand_in_a_column_each_with_label_confidence_counts_and_costs(two):
    client, one, other = two
    answered = compare(client, one, other)
    assert (answered.status_code, answered.headers["X-Robots-Tag"]) == (200, "noindex")
    page = answered.text
    assert [cell[2:] for cell in row(page, "Verdict")] == ["Supported", "Refuted"]
    assert [cell[2:] for cell in row(page, "Confidence")] == ["High confidence, 91%", "Low confidence, 55%"]
    assert [cell[2:] for cell in row(page, "Hops")] == ["2: 2 kept", "3: 2 kept, 1 set aside"]
    assert [cell[2:] for cell in row(page, "Calls of models")] == ["9", "12"]
    assert [cell[2:] for cell in row(page, "Tokens")] == ["108", "144"]
    assert "They do not say the same" in page and CLAIM.replace("'", "&#39;") in page


def test_the_same_question_stands_in_one_row_and_says_whether_the_answers_differ(two):
    page = compare(*two).text
    assert "Hop 1" in row(page, "Who wrote Hamlet? answers differ")[0]
    assert "Hop 2" in row(page, "Who wrote Hamlet? answers differ")[1]
    assert "Asked as “Where was Shakespeare born?”" in row(page, "Where was William Shakespeare born? same answer")[1]
    assert row(page, "Is Hamlet a play?")[0] == "A Not asked"


def test_sources_in_common_and_those_of_one_run_are_told_apart(two):
    page = compare(*two).text
    assert row(page, "William Shakespeare") == ["A Cited in hop 2", "B Cited in hop 3"]
    assert row(page, "Ur-Hamlet") == ["A Not met", "B Cited in hop 2"]
    assert "4 pages were read, 3 of them in both; 3 are cited, 1 of them in both." in page


def test_a_choice_in_which_the_runs_differ_is_marked(make_app):
    client = make_app(scripted_wiring()).test_client()
    page = compare(client, ended(client), ended(client, labels="four")).text
    assert row(page, "Labels differs") == ["A three", "B four"]
    assert row(page, "Strategy")[0] == "A question-guided" and "Strategy differs" not in page


def test_up_to_four_runs_are_compared_in_the_order_of_the_address(client):
    ids = [ended(client) for _ in range(4)]
    page = compare(client, *reversed(ids)).text
    assert len(row(page, "Verdict")) == 4 and "All 4 say the same" in page
    assert page.index(ids[3]) < page.index(ids[2]) < page.index(ids[1]) < page.index(ids[0])


def test_whoever_has_the_links_may_compare_and_looking_makes_no_cookie(two):
    client, one, other = two
    stranger = client.application.test_client()
    answered = compare(stranger, one, other)
    assert answered.status_code == 200 and "Set-Cookie" not in answered.headers


def test_a_run_that_is_not_there_is_named(two):
    client, one, _ = two
    answered = compare(client, one, "never-was")
    assert (answered.status_code, "There is no check “never-was” here" in answered.text) == (404, True)


def test_a_very_long_name_is_cut_and_markup_in_it_is_text(two):
    client, one, _ = two
    page = compare(client, one, "<b>" + "x" * 5000).text
    assert "&lt;b&gt;" in page and "<b>x" not in page and "x" * 100 not in page


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([], "Choose 2 to 4 checks of one claim to compare."),
        (["one"], "Choose 2 to 4 checks of one claim to compare."),
        (["one", ""], "Choose 2 to 4 checks of one claim to compare."),
        (["one", "one"], "That is one and the same check."),
        ([f"run-{number}" for number in range(20)], "At most 4 checks can be compared at once; these are 20."),
    ],
)
def test_the_wrong_number_of_runs_is_answered_with_a_sentence_and_a_way_on(two, names, sentence):
    client, one, _ = two
    answered = compare(client, *(one if name == "one" else name for name in names))
    assert (answered.status_code, sentence in answered.text) == (422, True)


def test_a_run_that_is_named_twice_beside_another_stands_there_once(two):
    client, one, other = two
    assert len(row(compare(client, one, other, one).text, "Verdict")) == 2


def test_runs_of_different_claims_are_not_compared_and_case_and_spaces_make_no_difference(client):
    one, same, other = ended(client, "Kyd wrote Hamlet."), ended(client, "kyd  wrote hamlet."), ended(client, "Else.")
    assert compare(client, one, same).status_code == 200
    answered = compare(client, one, other)
    assert (answered.status_code, "These checks are of different claims" in answered.text) == (422, True)
