"""What the evidence says instead of a false claim, where both can be pointed at; and the text with it."""

from __future__ import annotations

import html
import re

import pytest

from app.capabilities.options import Choice
from app.domain.model import Claim, Hop, HopStatus, Judgement, Label, Question, RunOptions, Sentence, Verdict
from app.domain.report import Report
from app.web.corrections import correction_of
from tests.fakes import Script, ScriptedHop, answer, scripted_container
from tests.web.conftest import press, send, wait_for
from tests.web.test_batches import started as batch_of_form


def report(claim: str, *asked: tuple[str, str], label: Label = Label.REFUTED) -> Report:
    hops = tuple(
        Hop(number, Question(question), answer(said, f"It is {said}."), HopStatus.KEPT)
        for number, (question, said) in enumerate(asked, 1)
    )
    verdict = Verdict(label, (Sentence("It is not so.", tuple(hop.number for hop in hops)),))
    return Report(Claim(claim), RunOptions(), hops, verdict=verdict, ended="verdict")


@pytest.mark.parametrize(
    ("claim", "asked", "wrong", "right"),
    [
        ("The Berlin Wall fell in 1991.", [("When did the Berlin Wall fall?", "9 November 1989")], "1991", "1989"),
        (
            "Sydney is the capital of Australia.",
            [("What is the capital of Australia?", "Canberra")],
            "Sydney",
            "Canberra",
        ),
        (
            "The director of Seven Samurai made 12 films.",
            [("Who directed Seven Samurai?", "Akira Kurosawa"), ("How many films did Akira Kurosawa make?", "30")],
            *("12", "30"),
        ),
    ],
)
def test_the_value_of_the_claim_is_replaced_by_the_answer(claim, asked, wrong, right):
    assert correction_of(report(claim, *asked)) == (wrong, right)


@pytest.mark.parametrize(
    ("claim", "question", "said", "label"),
    [
        pytest.param("Sydney is the capital.", "What is the capital?", "Canberra", Label.SUPPORTED, id="not false"),
        pytest.param("Ann met Bob.", "Who met?", "Carl", Label.REFUTED, id="two values"),
        pytest.param("Ann was born in Rome.", "Where was Ann born?", "1989", Label.REFUTED, id="another kind"),
        pytest.param("Ann was born in 1989.", "When was Ann born?", "in 1989", Label.REFUTED, id="the same"),
        pytest.param("Rome is in Rome.", "What is it?", "Paris", Label.REFUTED, id="twice in the claim"),
        pytest.param("The sea is green.", "Which colour has the sea?", "Blue", Label.REFUTED, id="no name"),
    ],
)
def test_nothing_is_suggested_unless_both_can_be_pointed_at(claim, question, said, label):
    assert correction_of(report(claim, (question, said), label=label)) is None


FALL = ScriptedHop(
    "When did the Berlin Wall fall?",
    answer("1989", "The Berlin Wall fell in 1989.", "Berlin Wall"),
    enough=Judgement(True, "It says so."),
)
FALSE = Script((FALL,), Verdict(Label.REFUTED, (Sentence("It fell in 1989.", (1,)),), confidence=0.9))
UNDECIDED = Script((FALL,), Verdict(Label.NOT_ENOUGH_EVIDENCE, (), "Nothing was found."))


def batch_of(client, *sentences: str) -> str:
    """Start a batch of a text of these sentences; return its path once it is done."""
    asked = send(client, " ".join(sentences)).text
    form = {f"claim-{number}": each for number, each in enumerate(sentences, 1)}
    signed = html.unescape(re.search(r'name="source" value="([^"]+)"', asked)[1])
    ticked = [str(number) for number in range(1, len(sentences) + 1)]
    path = batch_of_form(client, source=signed, tick=ticked, **form)
    wait_for(client, path, f"{len(sentences)} of {len(sentences)} checked")
    return path


def test_a_correction_is_taken_over_into_the_text_and_a_false_claim_without_one_shows_the_quote(make_app):
    client = make_app(scripted_container(FALSE)).test_client()
    path = batch_of(client, "The Berlin Wall fell in 1991.", "Hamlet praised the Berlin Wall.")
    page = client.get(path).text
    assert "<ins>1989</ins>, not <del>1991</del>" in page and page.count("<ins>") == 1
    assert page.count("The Berlin Wall fell in <mark>1989</mark>.") == 2 and "corrected-text" not in page
    taken = client.get(f"{path}?fix=1").text
    assert "The Berlin Wall fell in 1989. Hamlet praised the Berlin Wall.</p>" in taken


def test_the_claims_are_filtered_by_verdict_and_the_undecided_checked_with_another_source(make_app):
    sources = (Choice("vital", "Extracts"), Choice("mine", "My papers"))
    client = make_app(scripted_container(UNDECIDED, FALSE, shelves=sources), workers=1).test_client()
    path = batch_of(client, "The Berlin Wall fell in 1991.", "Hamlet praised the Berlin Wall.")
    only = client.get(f"{path}?label=NOT_ENOUGH_EVIDENCE").text
    assert 'id="row-1"' in only and 'id="row-2"' not in only
    assert "Ask My papers" in only
    sent = press(client, path, "recheck", source="mine")
    assert sent.status_code == 303 and sent.location != path
    again = wait_for(client, sent.location, "1 of 1 checked")
    assert "My papers" in again and 'id="row-1"' in again and 'id="row-2"' not in again
    assert press(client, path, "recheck", source="nowhere").status_code == 422
