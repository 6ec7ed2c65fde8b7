"""The state of a run between its hops, the module at work, and the evidence in a hop's card."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

import pytest

from app.domain.events import (
    AnswerFound,
    HopFailed,
    HopKept,
    HopSetAside,
    PhaseEntered,
    QuestionAsked,
    QuestioningEnded,
    RunInterrupted,
    RunResumed,
    RunStarted,
    SufficiencyJudged,
)
from app.domain.messages import Code
from app.domain.model import Answer, Claim, Judgement, Passage, Question, RunOptions, Span
from app.domain.report import Report, apply_event, reduce_events
from app.runs.event_store import WAITING
from app.web.report_view import relevance
from app.web.views import at_work, current_activity, is_announced, upcoming_hop
from tests.fakes import (
    FAILING,
    ONE_SET_ASIDE,
    TWO_HOPS,
    Script,
    ScriptedHop,
    answer,
    scripted_container,
    scripted_strategy,
)
from tests.web.conftest import ended_run, finished

STARTING = PhaseEntered("starting")
ASKED = QuestionAsked(1, Question("Who wrote Hamlet?"))
FOUND = AnswerFound(1, answer("Shakespeare"))
KEPT = HopKept(1, "tied")
JUDGED = SufficiencyJudged(Judgement(False, "more"))


def after(*events, max_hops: int = 2) -> Report:
    """The report of a run, each event a second after the last."""
    started_with = RunStarted(Claim("Hamlet is by Shakespeare."), RunOptions(max_hops=max_hops))
    return reduce_events((event, float(at)) for at, event in enumerate((started_with, WAITING, *events)))


@pytest.mark.parametrize(
    ("events", "number"),
    [
        ((), None),
        ((STARTING,), 1),
        ((STARTING, ASKED), None),
        ((STARTING, ASKED, FOUND), None),
        ((STARTING, ASKED, FOUND, KEPT), None),
        ((STARTING, ASKED, FOUND, KEPT, JUDGED), 2),
        ((STARTING, ASKED, FOUND, HopSetAside(1, "")), 2),
        ((STARTING, HopFailed(1, "question generator", "")), 2),
        ((STARTING, ASKED, RunResumed("")), 1),
        ((STARTING, ASKED, HopSetAside(1, ""), QuestionAsked(2, Question("b")), HopSetAside(2, "")), None),
        ((STARTING, ASKED, HopSetAside(1, ""), QuestioningEnded("enough")), None),
        ((STARTING, RunInterrupted("")), None),
    ],
)
def test_there_is_an_upcoming_hop_from_the_decision_to_ask_until_its_question_is_known(events, number):
    assert upcoming_hop(after(*events)) == number


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((), "waiting for its turn"),
        ((STARTING,), "starting"),
        ((STARTING, ASKED), "looking for evidence"),
        ((STARTING, ASKED, PhaseEntered("reading 8 passages")), "reading 8 passages"),
        ((STARTING, ASKED, PhaseEntered("reading 8 passages"), FOUND), str(Code.WEIGHING_ANSWER())),
        ((STARTING, ASKED, FOUND, KEPT), str(Code.DECIDING_ENOUGH())),
        ((STARTING, ASKED, FOUND, KEPT, JUDGED), "thinking of a question"),
        ((STARTING, ASKED, FOUND, HopSetAside(1, "")), "thinking of a question"),
        ((STARTING, ASKED, FOUND, KEPT, QuestioningEnded("enough")), "weighing the evidence"),
        ((STARTING, RunInterrupted("")), ""),
    ],
)
def test_the_current_activity_is_the_phase_of_a_module_or_else_the_next_step(events, words):
    assert current_activity(after(*events)) == words


def test_relevance_is_the_third_of_the_range_that_a_score_lies_in():
    found = tuple(Passage(str(score), "", "", score=score) for score in (9.0, 5.0, -1.0, -5.12))
    given = Answer(None, None, found)
    assert [relevance(each, given) for each in found] == ["high", "high", "low", "low"]
    assert relevance(replace(found[0], score=1.0), given) == "medium"


def card(page: str, number: int = 1) -> str:
    """Return the card of this hop."""
    return unescape(page.split(f'<li id="hop-{number}"')[1].split("\n\n</li>")[0])


def page_of(make_app, answer: Answer, query: str = "") -> str:
    """The finished page of a run with this one answer."""
    app = make_app(scripted_container(Script((ScriptedHop("What is it?", answer),), TWO_HOPS.verdict)))
    client = app.test_client()
    path = ended_run(client)
    return client.get(path + query).text


def passages(number: int, text: str = "It is so.") -> tuple[Passage, ...]:
    return tuple(
        Passage(f"{text} {n}", f"Title {n}", "A site", "https://a.example/", score=9.0 - n) for n in range(number)
    )


def test_the_cited_passage_is_open_and_the_others_are_folded_after_it(make_app):
    found = passages(8)
    words = card(page_of(make_app, Answer("so", Span(found[5], 6, 8), found)))
    chips = [chip.split("</cite>")[0].split(">")[-1] for chip in words.split('class="title"')[1:]]
    assert chips == ["Title 5", "Title 0", "Title 1", "Title 2", "Title 3", "Title 4", "Title 6", "Title 7"]
    shown, fold = words.split('<details id="hop-1-fold" class="fold" aria-live="off">')
    assert "It is <mark>so</mark>. 5" in shown and "7 other passages read" in fold
    assert fold.count('<details id="hop-1-passage-') == 7 and " open" not in fold


def test_the_sentence_of_the_answer_is_shown_with_its_neighbours(make_app):
    text = "Far before. Just before. Here it is so. Just after. Far after."
    span = Span(Passage(text, "Title", "A site"), text.index("so"), text.index("so") + 2)
    words = card(page_of(make_app, Answer("so", span, (span.passage,))))
    shown, whole = words.split('<details class="whole" id="hop-1-passage-1-whole">')
    assert "… Just before. Here it is <mark>so</mark>. Just after. …" in shown and "Far before." in whole


def test_a_long_passage_is_cut_around_its_answer_or_after_its_beginning(make_app):
    long = Passage("before " * 1000 + "so" + " after" * 1000, "Long", "A site")
    other = Passage("filler " * 2000, "Other", "A site")
    words = card(page_of(make_app, Answer("so", Span(long, 7000, 7002), (long, other))))
    shown, whole = words.split('<details class="whole" id="hop-1-passage-1-whole">')[0], words
    assert 40 < shown.count("before ") < 60 and "<mark>so</mark>" in shown
    assert whole.count("before ") > 1000 and "The rest of this passage" in whole
    assert whole.count("filler ") == 2000, "the rest continues where the beginning ends"


def test_other_passages_are_folded_unless_the_address_opens_them(make_app, client):
    path = ended_run(client)
    assert client.get(path).text.count('class="fold" open') == 0
    assert client.get(f"{path}?cards=open").text.count('class="fold" open') == 2
    assert client.get(f"{path}?cards=whatever").text.count('class="fold" open') == 0


def test_every_text_of_users_and_sources_has_its_own_direction(make_app):
    arabic = Passage("هو كذلك", "عنوان", "موقع")
    hop = ScriptedHop("ما هو؟", Answer("كذلك", Span(arabic, 3, 7), (arabic,)), Judgement(True, "سبب"))
    page = finished(make_app(scripted_container(Script((hop,), TWO_HOPS.verdict))).test_client(), "هذا ادعاء.")
    for words in (
        '<h1 dir="auto">هذا',
        '<h3 dir="auto">ما',
        '<span class="unseen" dir="ltr">Answer: </span>كذلك',
        '<cite class="title" dir="auto">عنوان',
        "<bdi>موقع</bdi>",
        '<p dir="auto">هو <mark>كذلك',
        "<bdi>سبب</bdi>",
    ):
        assert words in page


BOXES = {
    "question": "generator",
    "answer": "answerer",
    "validation": "validator",
    "sufficiency": "verifier",
    "conclusion": "reasoner",
}


@pytest.mark.parametrize("script", [TWO_HOPS, ONE_SET_ASIDE, FAILING])
def test_the_highlighted_module_is_the_one_being_called(script):
    """Run the real loop over scripted modules and compare each call with the module that the report highlights."""
    report, called, lit = after(STARTING, max_hops=5), [], []

    def before_step(step: str) -> None:
        called.append(BOXES[step.split()[0]])
        lit.append(at_work(report).box)

    try:
        for event in scripted_strategy(script, before_step).run(report.claim, report.options):
            report = apply_event(report, event, 0.0)
    except RuntimeError:
        assert script is FAILING
    assert lit == called and len(called) > 4


def test_a_resumed_run_announces_only_cards_after_which_nothing_was_answered():
    failed = (QuestionAsked(2, Question("Where?")), HopFailed(2, "answerer", "No reply."))
    report = after(STARTING, ASKED, FOUND, KEPT, *failed)
    assert [is_announced(hop, report) for hop in report.hops] == [True, True]
    later = (QuestionAsked(3, Question("When?")), AnswerFound(3, answer("Then")), HopKept(3, "It helps."))
    report = after(STARTING, ASKED, FOUND, KEPT, *failed, *later, RunResumed("Cut off."))
    assert [is_announced(hop, report) for hop in report.hops] == [False, False, True]
