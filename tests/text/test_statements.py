"""What was typed before a run is told apart: a claim, a question, a text, a link, another language, no statement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.text.claims import MAX_SENTENCES, Kind, candidates, clean_claim, kind_of, language_name, language_of, link_in
from app.text.clean import clean_text
from app.web.forms import EXAMPLES

WRITTEN = Path(__file__).parents[2] / "research" / "claims" / "written.jsonl"

FOREIGN = {
    "La tour Eiffel se trouve à Paris.": "fr",
    "Der Eiffelturm steht in Paris.": "de",
    "El Amazonas es el río más largo de América del Sur.": "es",
    "Roma è la capitale d'Italia.": "it",
    "De Eiffeltoren staat in Parijs.": "nl",
    "Warszawa jest stolicą Polski.": "pl",
    "Москва — столица России.": "ru",
    "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας.": "el",
    "القاهرة هي عاصمة مصر.": "ar",
    "東京は日本の首都です。": "ja",
    "北京是中国的首都。": "zh",
    "Beethoven war Deutscher.": "de",
    "La Tierra es redonda.": "es",
}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Vaccines cause autism.", Kind.CLAIM),
        ("  Mount Everest lies in the Andes ", Kind.CLAIM),
        ("Hamlet was written\nby Shakespeare.", Kind.CLAIM),
        ("J. R. R. Tolkien wrote The Hobbit.", Kind.CLAIM),
        ("Galileo Galilei was born in Pisa.", Kind.CLAIM),
        ("Pablo Picasso painted Guernica.", Kind.CLAIM),
        ("Erdoğan won in Ankara.", Kind.CLAIM),
        ("Einstein was German.", Kind.CLAIM),
        ("Ludwig van Beethoven was German.", Kind.CLAIM),
        ("galileo was italian", Kind.CLAIM),
        ("Kimchi is Korean.", Kind.CLAIM),
        ("Is Paris the capital of France?", Kind.QUESTION),
        ("Hamlet is a play. It was written by Shakespeare.", Kind.TEXT),
        ("https://en.wikipedia.org/wiki/Sydney", Kind.LINK),
        (" www.example.org/news?id=1 ", Kind.LINK),
        ("See https://example.org for proof that Paris is in France.", Kind.CLAIM),
        ("asdf qwer zxcv", Kind.NO_CLAIM),
        ("Sydney", Kind.NO_CLAIM),
        ("1, 2, 3", Kind.NO_CLAIM),
        ("?!", Kind.NO_CLAIM),
        ("", Kind.NO_CLAIM),
        ("\ud800 \x07", Kind.NO_CLAIM),
    ],
)
def test_what_was_typed_is_told_apart(text, kind):
    assert kind_of(text) is kind


@pytest.mark.parametrize(("text", "code"), FOREIGN.items())
def test_another_language_is_recognised_by_one_sentence(text, code):
    assert kind_of(text) is Kind.FOREIGN and language_of(text) == code


def test_at_most_one_percent_of_english_claims_are_taken_for_something_else():
    claims = [json.loads(line)["claim"] for line in WRITTEN.read_text(encoding="utf-8").splitlines()]
    others = [claim for claim in claims if kind_of(claim) not in (Kind.CLAIM, Kind.TEXT)]
    assert len(claims) > 1000 and len(others) <= len(claims) / 100, others
    assert all(kind_of(sample.claim) is Kind.CLAIM for sample in EXAMPLES)


def test_a_link_without_a_scheme_gets_https():
    assert link_in("www.example.org") == "https://www.example.org"
    assert link_in("www.archive.example/https://b.example/") == "https://www.archive.example/https://b.example/"
    assert link_in("http://a.example") == "http://a.example"
    assert link_in("example of a claim") is None and link_in("https://a.example and more") is None


TEXT = (
    "Berlin is the capital of Germany. Is it large? It has 3.7 million inhabitants.\n\n"
    "I like it there.\nVraiment, la ville est très belle."
)


def test_the_sentences_of_a_text_keep_their_places_and_say_why_they_are_no_claims():
    found = candidates(TEXT)
    assert [TEXT[each.start : each.end].split() for each in found] == [each.claim.split() for each in found]
    assert [each.note for each in found[:3]] == ["", "A question", ""]
    assert found[1].claim == "Is it large?"
    assert "Names nothing that can be looked up" in {each.note for each in found}


def test_every_line_of_a_web_page_is_read_by_itself():
    headed = "Capital of Germany,\nBerlin is large"
    assert [each.claim for each in candidates(headed)] == ["Capital of Germany, Berlin is large"]
    lines = [each.claim for each in candidates(headed, line_by_line=True)]
    assert lines == ["Capital of Germany,", "Berlin is large"]


def test_a_long_text_is_read_up_to_a_limit():
    assert len(candidates("Berlin is large. " * 200)) == MAX_SENTENCES
    assert candidates("x" * 600)[0].note == "Over 500 characters" and candidates("...\n\n!!!") == ()


def test_a_language_has_its_english_name():
    assert [language_name(code) for code in ("fr", "zh", "qqq")] == ["French", "Chinese", "another language"]


PARIS, BERLIN = "Paris is the capital of France", "Berlin is the capital of Germany"


@pytest.mark.parametrize(
    "text",
    [
        f"{PARIS}\n{BERLIN}",
        f"{PARIS}.{BERLIN}",
        f"- {PARIS}\n- {BERLIN}",
        f"* **Paris** is the _capital_ of France\n+ {BERLIN}",
        f"• {PARIS} • {BERLIN}",
        f"● {PARIS} ◆ {BERLIN}",
        f"➢ {PARIS}\n❖ {BERLIN}",
        f"– {PARIS}\n– {BERLIN}",
        f"▪ {PARIS}\n▪ {BERLIN}",
        f"1. {PARIS}\n2. {BERLIN}",
        f"1) {PARIS}\n2) {BERLIN}",
        f"1/ {PARIS}\n\n2/ {BERLIN}",
        f"(1/2) {PARIS}\n(2/2) {BERLIN}",
        f"-{PARIS}\n-{BERLIN}",
        f"•{PARIS}\n•{BERLIN}",
        f"·     \n{PARIS}.\n\n·     \n{BERLIN}.",
        f"1\\. {PARIS}.\n2\\. {BERLIN}.",
        f">> {PARIS}.\n>> {BERLIN}.",
        f"{PARIS}:contentReference[oaicite:0]{{index=0}}. {BERLIN} \ue200cite\ue202turn0search0\ue202turn1news2\ue201.",
        f"{PARIS}【4:0†source】. {BERLIN}.",
        f"(a) {PARIS}\n(b) {BERLIN}",
        f"i) {PARIS}\nii) {BERLIN}",
        f"1 - {PARIS}\n2 - {BERLIN}",
        f"1.{PARIS}\n2.{BERLIN}",
        f"1️⃣ {PARIS}\n2️⃣ {BERLIN}",
        f"① {PARIS}\n② {BERLIN}",
        f"✅ {PARIS}\n✅ {BERLIN}",
        f"Claim 1: {PARIS}\nClaim 2: {BERLIN}",
        f"**1.** {PARIS}\n**2.** {BERLIN}",
        f"**Claim 1:** {PARIS}\n**Claim 2:** {BERLIN}",
        f"- [x] {PARIS}\n- [ ] {BERLIN}",
        f"> {PARIS}\n> {BERLIN}",
        f"## {PARIS}\n\n{BERLIN}",
        f"[00:12] {PARIS}\n[00:15] {BERLIN}",
        f"{PARIS}[1]\n{BERLIN}[2][3]",
        f"{PARIS}.¹ {BERLIN}²",
        f"{PARIS}.[citation needed] {BERLIN}[^note]",
        "- Paris is the capital\n  of France\n- Berlin is the capital of\n  Germany",
        f"[Paris](https://example.org/a) is the capital of `France`\n{BERLIN}",
        f"| Country | Capital |\n|---|---|\n| France | Paris |\n\n{PARIS}\n{BERLIN}",
        "paris is the capital of france\nberlin is the capital of germany",
    ],
)
def test_the_items_of_a_list_are_claims_without_their_marks(text: str) -> None:
    """Lines without full stops, bullets, numbers, Markdown, quotations, footnotes, table rows."""
    found = [each for each in candidates(clean_text(text)) if each.note != "A row of a table"]
    assert kind_of(text) is Kind.TEXT
    assert [each.claim.removesuffix(".").casefold() for each in found] == [PARIS.casefold(), BERLIN.casefold()]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("The tower was built by\nGustave Eiffel, who\nalso built bridges.", 1),
        ("Hamlet was written by William\nShakespeare.", 1),
        ("> The tower was built by\n> Gustave Eiffel, who\n> also built bridges.", 1),
        ("TRUMP: I won in 2016.\nBIDEN: Trump lost\nin 2020.", 2),
        ("“Paris is in France.”\n“Berlin is in Germany.”", 2),
        ("“Paris is in France. Rome is in Italy,” she said.", 1),
    ],
)
def test_wrapped_lines_speakers_and_quotations_stay_together(text: str, claims: int) -> None:
    assert len(candidates(clean_text(text))) == claims


@pytest.mark.parametrize(
    "claim",
    [
        "J. R. R. Tolkien wrote The Hobbit.",
        "3 - 2 = 1",
        "2*3*4 = 24",
        "snake_case is a style",
        "10:30 is a time",
        "-5 is negative",
        "-ed is an ending",
        "a < b & c",
        "<script>alert(1)</script>",
        "Apollo 11: a mission to the Moon",
        "1.5 million people live there",
    ],
)
def test_signs_that_are_no_marks_stay(claim: str) -> None:
    assert clean_claim(claim).text == claim
