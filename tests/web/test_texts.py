"""A text or a link in place of a claim: its sentences are offered as claims, and the ticked ones become a batch."""

from __future__ import annotations

import re
from html import unescape

import pytest

from app.domain.errors import CallFailed
from app.domain.model import Page, RunOptions
from app.web.batches import NOTHING_TICKED
from tests.fakes import AWAY, scripted_container
from tests.text_generators import PlayedModel, playing
from tests.web.conftest import send, token
from tests.web.test_batches import fed_until

TEXT = "Hamlet is a play. It was written in 1600. Is it good?\n\nKing Lear is a <b>novel</b>."
LINK = "https://news.example/hamlet"
PAGE = Page(LINK, "News of Hamlet", "news.example", "Hamlet is a play\nBacon wrote Hamlet in London. It is long.")


def fields_of(page: str) -> dict[str, list[str]]:
    """The fields of the form with the claims, as a browser would send them."""
    form = page.split('<form class="claims-form"')[1].split("</form>")[0]
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form):
        found.setdefault(name, []).append(unescape(value))
    for number in re.findall(r'name="tick" value="(\d+)" checked', form):
        found.setdefault("tick", []).append(number)
    for name, value in re.findall(r'<textarea name="([^"]+)"[^>]*>\n(.*?)</textarea>', form, re.DOTALL):
        found[name] = [unescape(value)]
    return found


def claims_of(client, text: str = TEXT, **fields) -> tuple[str, dict[str, list[str]]]:
    """The page with the claims of a text, and the fields of its form."""
    answer = send(client, text, **fields)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text), fields_of(answer.text)


def test_the_sentences_of_a_text_are_offered_and_those_without_a_statement_or_a_name_are_not_ticked(client):
    page, fields = claims_of(client)
    assert fields["tick"] == ["1", "4"]
    assert [fields[f"claim-{n}"] for n in (1, 3, 4)] == [
        ["Hamlet is a play."],
        ["Is it good?"],
        ["King Lear is a <b>novel</b>."],
    ]
    assert "A question" in page and "write the name there first" in page


def test_the_ticked_claims_become_a_batch_that_shows_them_in_the_text(client):
    _, fields = claims_of(client)
    fields |= {"tick": ["1", "2"], "claim-2": ["Hamlet was written in 1600."]}
    path = client.post("/batches", data=fields).location
    page = fed_until(client, path, "2 of 2 checked")
    text = page.split('<div class="marked-text"')[1].split("</div>")[0]
    marked = re.findall(r'<a class="marked (\w+)" href="(/runs/[\w-]+)">([^<]+)<', text)
    assert [(tone, piece) for tone, _, piece in marked] == [
        ("supported", "Hamlet is a play."),
        ("supported", "It was written in 1600."),
    ]
    assert "Is it good?" in text and text.count("(True)") == 2
    assert "Hamlet was written in 1600." in client.get(marked[1][1]).text
    assert "<b>novel" not in client.get(path).text and "King Lear is a &lt;b&gt;novel" in client.get(path).text


def test_a_claim_without_a_check_is_named_by_its_number_in_the_batch_and_marked_as_bad_input(client):
    _, fields = claims_of(client)
    path = client.post("/batches", data=fields | {"tick": ["1", "4"], "claim-4": ["?"]}).location
    page = fed_until(client, path, "1 of 1 checked, 1 cannot be checked")
    assert "Claim 2: The claim is too short" in page and "(Bad input)" in page and "Not checked yet" not in page
    run = re.search(r'href="(/runs/[\w-]+)"', page)[1]
    client.post(f"{run}/delete", data={"csrf_token": token(client)})
    assert "(Deleted)" in client.get(path).text


def test_the_choices_speaker_and_date_of_the_form_apply_to_every_claim(make_app):
    container = scripted_container()
    client = make_app(container).test_client()
    _, fields = claims_of(client, labels="four", max_hops="2", speaker="A minister", date="2020-10-31")
    page = fed_until(client, client.post("/batches", data=fields).location, "2 of 2 checked")
    assert page.count("A minister") == 2 and page.count("2020-10-31</time>") == 2
    assert {(each.labels.value, each.max_hops) for each in container.asked_for} == {("four", 2)}


def test_a_link_is_read_and_named_on_the_page_and_on_the_batch(make_app):
    client = make_app(scripted_container(pages={LINK: PAGE})).test_client()
    page, fields = claims_of(client, LINK)
    assert f'<a href="{LINK}" rel="noopener noreferrer">News of Hamlet</a>' in page
    assert [fields[f"claim-{n}"][0] for n in (1, 2, 3)] == [
        "Hamlet is a play",
        "Bacon wrote Hamlet in London.",
        "It is long.",
    ]
    batch = unescape(client.get(client.post("/batches", data=fields).location).text)
    assert f'From <a href="{LINK}"' in batch and "Bacon wrote Hamlet in London." in batch


def test_a_page_that_cannot_be_read_returns_the_form_with_the_reason(client):
    answer = send(client, LINK)
    assert answer.status_code == 422 and "The page could not be read." in answer.text
    assert f"{LINK}</textarea>" in answer.text


def test_a_language_model_puts_names_in_place_of_pronouns(make_app):
    model = playing("1. Hamlet is a play.\n2. Hamlet was written in 1600.\n3. NONE\n4. NONE")
    usual = RunOptions(preset="prompted", model="big")
    container = scripted_container(usual=usual, language_models=(AWAY,), rewriter=model)
    page, fields = claims_of(make_app(container).test_client())
    assert fields["claim-2"] == ["Hamlet was written in 1600."] and fields["tick"] == ["1", "2"]
    assert "A language model put names in place" in page and "Nothing that can be checked" in page


def test_a_sentence_that_a_language_model_splits_is_shown_once_with_a_mark_for_each_claim(make_app):
    text = "Hamlet is a play and was written in 1600. King Lear is a play."
    model = playing("1. Hamlet is a play.\n1. Hamlet was written in 1600.\n2. King Lear is a play.")
    usual = RunOptions(preset="prompted", model="big")
    container = scripted_container(usual=usual, language_models=(AWAY,), rewriter=model)
    client = make_app(container).test_client()
    _, fields = claims_of(client, text)
    assert fields["tick"] == ["1", "2", "3"] and fields["claim-2"] == ["Hamlet was written in 1600."]
    page = fed_until(client, client.post("/batches", data=fields).location, "3 of 3 checked")
    marked = page[page.index('class="marked-text"') : page.index("</section>", page.index('class="marked-text"'))]
    words = re.sub(r"<[^>]+>", "", marked.partition(">")[2]).replace(" (True)", "")
    assert " ".join(words.split()) == text and marked.count('class="marked supported"') == 3


def test_the_sentences_stay_as_they_are_where_the_language_model_fails(make_app):
    def fail(prompt: str) -> str:
        raise CallFailed("It does not answer.")

    usual = RunOptions(preset="prompted", model="big")
    container = scripted_container(usual=usual, language_models=(AWAY,), rewriter=PlayedModel(fail))
    page, fields = claims_of(make_app(container).test_client())
    assert fields["claim-2"] == ["It was written in 1600."] and "write the name there first" in page


ABOUT_EARHART = (
    "Amelia Earhart grew up in Kansas. She was born in 1897 and she learned to fly in 1920. In Canada she was a nurse."
)


def changed(client, fields: dict[str, list[str]], change: str):
    """Press a button beside a claim, and return the answer and the fields of its form."""
    answer = client.post("/batches", data=fields | {"change": [change]})
    assert answer.status_code == 200, answer.text
    return unescape(answer.text), fields_of(answer.text)


def test_a_name_of_the_text_is_put_in_place_of_a_pronoun_by_one_button(client):
    page, fields = claims_of(client, ABOUT_EARHART)
    assert re.findall(r'name="change" value="(\d:[^"]+)"', page) == ["2:Amelia Earhart", "2:Kansas"]
    assert fields["tick"] == ["1", "3"] and "Does not say who or what is meant" in page
    page, fields = changed(client, fields | {"claim-1": ["Edited."]}, "2:Amelia Earhart")
    assert fields["tick"] == ["1", "2", "3"] and fields["claim-1"] == ["Edited."]
    assert fields["claim-2"] == ["Amelia Earhart was born in 1897 and she learned to fly in 1920."]
    assert 'value="2:' not in page and re.search(r'id="claim-2"[^>]* autofocus', page)


def test_the_local_model_rewrites_and_splits_a_sentence_by_one_button_and_the_claims_keep_their_place(make_app):
    model = playing("Amelia Earhart was born in 1897.\nAmelia Earhart learned to fly in 1920.\nShe met Einstein.")
    client = make_app(scripted_container(local_model=model)).test_client()
    _, fields = claims_of(client, ABOUT_EARHART)
    _, fields = changed(client, fields, "2")
    assert [fields[f"claim-{n}"][0] for n in range(2, 5)] == [
        "Amelia Earhart was born in 1897.",
        "Amelia Earhart learned to fly in 1920.",
        "In Canada she was a nurse.",
    ]
    assert fields["tick"] == ["1", "2", "3", "4"], "what the text does not hold is left out"
    batch = fed_until(client, client.post("/batches", data=fields).location, "4 of 4 checked")
    text = batch.split('<div class="marked-text"')[1].split("</div>")[0]
    assert "Amelia Earhart grew up in Kansas." in text and text.count("She was born in 1897") == 1


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (None, "Claim 2 was not rewritten. The file of the local model is missing. Fix it with: make models"),
        (playing("She met Einstein."), "The local model has no other words for claim 2"),
    ],
)
def test_a_sentence_that_the_local_model_does_not_rewrite_stays_with_the_reason(make_app, model, words):
    client = make_app(scripted_container(local_model=model)).test_client()
    _, fields = claims_of(client, ABOUT_EARHART)
    page, after = changed(client, fields, "2")
    assert words in page and after["claim-2"] == fields["claim-2"] and after["tick"] == ["1", "3"]


@pytest.mark.parametrize("change", ["0", "9", "-1", "x", "", "²"])
def test_a_button_for_a_claim_that_is_not_there_is_refused(client, change):
    _, fields = claims_of(client, ABOUT_EARHART)
    assert client.post("/batches", data=fields | {"change": [change]}).status_code == 400


def test_a_short_text_can_be_checked_as_one_claim(client):
    page, _ = claims_of(client)
    assert "Check it as one claim instead" in page
    assert send(client, TEXT, as_is="yes").status_code == 303
    assert "as one claim" not in claims_of(client, "Hamlet is a play. " * 40)[0]


def test_a_form_without_a_tick_comes_back_with_what_was_edited(client):
    _, fields = claims_of(client)
    answer = client.post("/batches", data=fields | {"tick": [], "claim-1": ["Hamlet is an opera."]})
    assert answer.status_code == 422 and NOTHING_TICKED in answer.text
    assert fields_of(answer.text)["claim-1"] == ["Hamlet is an opera."] and "tick" not in fields_of(answer.text)


def test_a_batch_cannot_be_given_a_text_that_was_not_read_here(client):
    _, fields = claims_of(client)
    forged = fields["source"][0][:-3] + "xxx"
    answer = client.post("/batches", data=fields | {"source": [forged]})
    assert answer.status_code == 422 and "please send the text again" in answer.text
    assert "<li>" not in client.get("/batches").text


def test_without_batches_a_text_is_one_claim_and_a_link_gets_a_hint(make_app):
    client = make_app(batch_claims=0).test_client()
    assert send(client, "Hamlet is a play. It is long.").status_code == 303
    assert "This is a link." in send(client, LINK).text
    assert "a paragraph or a link" not in client.get("/").text
