"""The answer, its evidence and its measured confidence, as a report shows them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.messages import Code
from app.domain.model import (
    RANGES,
    Answer,
    Branch,
    Claim,
    Hop,
    HopStatus,
    Label,
    LabelSet,
    Origin,
    Passage,
    Question,
    RunOptions,
    Sentence,
    Span,
    Verdict,
)
from app.domain.report import Report
from app.runs.version_1 import coded
from app.web.forms import ClaimForm
from app.web.report_view import (
    FIGURES,
    differences,
    distinct_choices,
    excerpt,
    reliability,
    sentence_link,
    shown_verdict,
    web_link,
)
from app.web.views import page_words

ROOT = Path(__file__).resolve().parents[2]
FIGURES_READ = json.loads(FIGURES.read_text("utf-8"))
JUDGED = RunOptions(modules=(("reasoner", FIGURES_READ["reasoner"]),))
KAFKA = Passage("A writer. Franz Kafka was born in Prague. He wrote.", "Franz Kafka", "Wiki", "https://a.example/kafka")
AT = KAFKA.text.index("Prague")


def report(*rationale: Sentence, label=Label.REFUTED, passage=KAFKA, confidence=0.95, options=JUDGED) -> Report:
    found = Answer("Prague", Span(passage, AT, AT + 6), (passage,))
    hop = Hop(1, Question("Where was Kafka born?"), found, HopStatus.KEPT)
    verdict = Verdict(label, rationale, confidence=confidence)
    return Report(Claim("Kafka was born in Vienna."), options, hops=(hop,), verdict=verdict, ended="verdict")


SAID = Sentence("Kafka was born in Prague, not Vienna.", (1,))
QUOTED = Sentence("Franz Kafka: “Franz Kafka was born in Prague.”", (1,), "Franz Kafka was born in Prague.")


def test_the_figures_are_those_of_the_stored_measurement():
    rows = re.findall(r"^\| (below .*|\d+.*?|.* and more) \| (\d+) \| (\d+) \|$", _confidence_table(), re.MULTILINE)
    assert rows == [(each["words"], str(each["verdicts"]), str(each["right"])) for each in FIGURES_READ["levels"]]


def _confidence_table() -> str:
    return (ROOT / "docs/results.md").read_text("utf-8").split("| confidence | verdicts | right |")[1].split("\n\n")[0]


@pytest.mark.parametrize("level", FIGURES_READ["levels"], ids=lambda level: level["words"])
def test_a_confidence_says_how_often_such_verdicts_were_right(level):
    said = reliability(report(SAID, confidence=level["from"] + 0.05))
    assert f"({level['words']}), {level['right']} of {level['verdicts']} " in said


@pytest.mark.parametrize(
    "options",
    [
        replace(JUDGED, modules=(("reasoner", "gpt"),)),
        replace(JUDGED, strategy="evidence-pursuit"),
        replace(JUDGED, labels=LabelSet.TWO),
    ],
)
def test_a_confidence_that_was_not_measured_says_nothing(options):
    assert reliability(report(SAID, options=options)) == ""
    assert reliability(report(SAID, confidence=None)) == ""


@pytest.mark.parametrize("rationale", [(SAID, QUOTED), (QUOTED, SAID)])
def test_the_answer_is_the_first_sentence_that_is_no_quotation(rationale):
    shown = shown_verdict(report(*rationale))
    assert (shown.answer, shown.reasons) == (SAID, ())
    (card,) = shown.cards
    assert card.text[:3] == ("Franz Kafka was born in ", "Prague", ".")


def test_at_most_three_cards_are_shown_and_none_where_nothing_decides():
    text = "One is so. Two is so. Three is so. Four is so."
    several = tuple(
        Sentence(f"T: “{each}.”", (1,), f"{each}.") for each in ("One is so", "Two is so", "Three is so", "Four is so")
    )
    passage = Passage(text.ljust(AT + 6, "."), "T", "Wiki")
    assert len(shown_verdict(report(SAID, *several, passage=passage)).cards) == 3
    assert shown_verdict(report(SAID, QUOTED, label=Label.NOT_ENOUGH_EVIDENCE)).cards == ()


def test_recited_text_is_never_a_card():
    assert shown_verdict(report(SAID, QUOTED, passage=replace(KAFKA, origin=Origin.RECITED))).cards == ()


def test_a_citation_of_a_step_that_does_not_exist_is_ignored():
    assert shown_verdict(report(Sentence("So it is.", (7,)))).cards == ()


@pytest.mark.parametrize(
    ("url", "sentence", "fragment"),
    [
        ("https://a.example/x", "Prague, a well-known city", "#:~:text=Prague%2C%20a%20well%2Dknown%20city"),
        ("https://a.example/x#top", "So.", ":~:text=So."),
        ("https://a.example/x", " ".join("abcdefghijklmn"), "#:~:text=a%20b%20c%20d%20e,j%20k%20l%20m%20n"),
        ("https://a.example/x", "", ""),
    ],
)
def test_a_link_to_a_sentence_has_a_text_fragment(url, sentence, fragment):
    assert sentence_link(replace(KAFKA, url=url), sentence) == url + fragment


def test_a_branch_compares_no_limit_of_steps_but_a_corpus_whose_title_has_that_word():
    first, other = report(SAID), report(SAID, options=replace(JUDGED, max_hops=9, corpora=("steps",)))
    assert distinct_choices(other, (first, other)) == ("steps", "up to 9 steps")
    first = replace(first, branch=Branch("parent", 1))
    assert distinct_choices(other, (first, other)) == ("steps",)


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("Kurosawa made 30 films, not 12.", "He made 30 films."),
        ("Akira Kurosawa made 30 films.", "He made 30 films."),
        ("The film is by Akira Kurosawa.", "It is by Akira Kurosawa."),
        ("It is not so.", "Seven Samurai is a film."),
        ("He made 300 films.", "Seven Samurai is a film."),
    ],
)
def test_the_first_card_has_the_words_that_decide(said, first):
    film = Passage("Seven Samurai is a film. It is by Akira Kurosawa.", "Seven Samurai", "Wiki")
    man = Passage("He made 30 films.", "Akira Kurosawa", "Wiki")
    hops = tuple(
        Hop(number, Question("?"), Answer(words, Span(each, at, at + len(words)), (each,)), HopStatus.KEPT)
        for number, each, words in ((1, film, "Akira Kurosawa"), (2, man, "30"))
        for at in (each.text.index(words),)
    )
    rationale = (
        Sentence(said, (1, 2)),
        Sentence("Seven Samurai: “Seven Samurai is a film.”", (1,), "Seven Samurai is a film."),
    )
    verdict = Verdict(Label.REFUTED, rationale, confidence=0.9)
    shown = shown_verdict(Report(Claim("He made 12 films."), JUDGED, hops=hops, verdict=verdict, ended="verdict"))
    assert shown.cards[0].sentence == first and len(shown.cards) == 3


def test_an_answer_is_not_marked_inside_another_word():
    passage = Passage("He was born in 1930. He had 3 sons.", "Ed", "Wiki")
    at = passage.text.index("3 sons")
    hop = Hop(1, Question("?"), Answer("3", Span(passage, at, at + 1), (passage,)), HopStatus.KEPT)
    verdict = Verdict(
        Label.REFUTED, (Sentence("Ed: “He was born in 1930.”", (1,), "He was born in 1930."),), confidence=0.9
    )
    shown = shown_verdict(Report(Claim("He had 12 sons."), JUDGED, hops=(hop,), verdict=verdict, ended="verdict"))
    assert shown.cards[0].text.answer == ""


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://en.wikipedia.org/wiki/Hamlet", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https://", False),
        ("//example.org", False),
        ("https://[", False),
        (None, False),
    ],
)
def test_only_web_addresses_are_links(url, safe):
    assert web_link(Passage("text", "title", "source", url)) == (url if safe else None)


def test_a_short_passage_is_shown_whole():
    passage = Passage("Hamlet is a play by Shakespeare.", "Hamlet", "source")
    assert excerpt(Span(passage, 20, 31)) == ("Hamlet is a play by ", "Shakespeare", ".", False, False)


def test_a_long_passage_is_cut_between_words_around_the_answer():
    text = "before " * 50 + "ANSWER" + " after" * 50
    at = text.index("ANSWER")
    part = excerpt(Span(Passage(text, "title", "source"), at, at + 6), around=20)
    assert part == ("before before ", "ANSWER", " after after after", True, True)


@pytest.mark.parametrize(
    "stopped",
    [Code.STOPPED_BY_OWNER(), coded("Its owner stopped this check.")],
    ids=["now", "version 1"],
)
def test_the_owner_reads_that_they_did_it_and_others_that_the_owner_did(stopped):
    assert page_words(stopped, is_owner=True) == "You stopped this check."
    assert page_words(stopped, is_owner=False) == "Its owner stopped this check."


@pytest.mark.parametrize(
    ("name", "number"), [("max_hops", 2), ("temperature", 0.7), ("model_seed", 3), ("max_tokens", 200)]
)
def test_a_number_of_a_check_is_repeated_by_its_form_and_told_apart_in_a_comparison(name, number):
    options = replace(RunOptions(), **{name: number})
    assert ClaimForm.repeating(Claim("Water is wet."), options, ClaimForm()).raw()[name] == number
    assert len(differences(RunOptions(), options)) == 1


@pytest.mark.parametrize("name", RANGES)
def test_a_field_of_a_number_refuses_any_other_text(name):
    assert ClaimForm(**{name: "1e3"}).raw()[name] not in RANGES[name]
    assert (name in ClaimForm(max_hops="5").raw()) is (name == "max_hops")


def test_answers_from_the_memories_of_two_models_are_told_apart(make_app):
    with make_app().app_context():
        recited, flan_t5 = (RunOptions(answerer=name) for name in ("reciter-reader", "flan-t5"))
        assert differences(recited, flan_t5) == ("A model’s memory (FLAN-T5)",)
