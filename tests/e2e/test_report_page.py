"""The page of a run in a real browser: a steady live view, the answer and its evidence, and actions on a report."""

from __future__ import annotations

import re

import pytest

from app.domain.model import Label, Verdict
from tests.e2e.test_browser import check, expect_verdict
from tests.fakes import ONE_SET_ASIDE, TWO_HOPS, Gate, Script, ScriptedHop, answer, scripted_container
from tests.waiting import until

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect

PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
MAX_SHIFT = 0.02

MEASURED = """
window.shift = 0;
window.moves = [];
const named = ({ node, previousRect, currentRect }) =>
  `${node?.id || node?.className || node?.nodeName} from ${previousRect.y} to ${currentRect.y}`;
new PerformanceObserver((list) => {
  for (const each of list.getEntries().filter((entry) => !entry.hadRecentInput)) {
    window.shift += each.value;
    window.moves.push(`${each.value.toFixed(3)} after ${Math.round(each.startTime)} ms: ${each.sources.map(named)}`);
  }
}).observe({ type: "layout-shift", buffered: true });
"""
"""Adds up in `shift` how far things moved on the page without anybody having touched it; `moves` says what moved."""

FIVE_STEPS = Script(
    tuple(
        ScriptedHop(f"What is question {n}?", answer(f"answer{n}", f"Before. Here is answer{n} in text. After."))
        for n in range(1, 6)
    ),
    TWO_HOPS.verdict,
)

UNDECIDED = Script(
    TWO_HOPS.hops[:1],
    Verdict(Label.NOT_ENOUGH_EVIDENCE, (), missing="No passage that was read names a parrot."),
)


LONG_STEP = ScriptedHop("What is long?", answer("answer", "Here is the answer. " + "More text fills many lines. " * 40))
ONE_STEP, TWO_LONG_STEPS = Script((LONG_STEP,), TWO_HOPS.verdict), Script((LONG_STEP, LONG_STEP), TWO_HOPS.verdict)


@pytest.mark.parametrize(
    ("viewport", "script", "delay"),
    [
        (PHONE, ONE_STEP, 0.15),
        (DESKTOP, TWO_HOPS, 0.15),
        (PHONE, FIVE_STEPS, 0.15),
        (PHONE, TWO_LONG_STEPS, 0.02),  # both messages of its stream in one frame
        (DESKTOP, ONE_SET_ASIDE, 0.02),
    ],
)
def test_nothing_on_the_page_jumps_during_a_whole_run(live, visitor, viewport, script, delay):
    page = visitor(viewport=viewport)
    page.add_init_script(MEASURED)
    gate = Gate("question 1")
    check(page, live(scripted_container(script, gate=gate, delay=delay)))
    live.wait_for_follower()
    gate.open()
    expect_verdict(page)
    expect(page.locator("main.done")).to_have_count(1)
    expect(page.locator("#verdict-heading")).to_be_in_viewport()
    page.wait_for_timeout(300)
    assert page.evaluate("window.shift") < MAX_SHIFT, page.evaluate("window.moves")
    assert page.complaints == []


def test_the_measure_of_the_test_above_sees_a_jump(live, visitor):
    page = visitor(viewport=PHONE)
    page.add_init_script(MEASURED)
    page.goto(live())
    page.wait_for_timeout(600)
    page.evaluate("document.querySelector('main').style.marginTop = '300px'")
    until(lambda: page.evaluate("window.shift") > MAX_SHIFT, "a shift that was measured")


MOVED = """
window.moved = [];
addEventListener("animationstart", (event) => window.moved.push(event.animationName));
"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_pip_passage_and_seal_move_once_each_unless_less_motion_is_preferred(live, visitor, motion):
    """A quarter of a second at most, although the stream replaces each of them several times."""
    page = visitor(reduced_motion=motion)
    page.add_init_script(MOVED)
    gate = Gate("question 1")
    check(page, live(scripted_container(gate=gate, delay=0.4)))
    live.wait_for_follower()
    gate.open()
    expect_verdict(page)
    expected = ["appear"] * 2 + ["fill"] * 2 + ["stamp"] if motion == "no-preference" else []
    until(lambda: len(moved(page)) >= len(expected), "all that moves")
    page.wait_for_timeout(400)
    assert moved(page) == expected
    assert page.evaluate(DURATIONS) <= 0.25


def moved(page) -> list[str]:
    return sorted(each for each in page.evaluate("window.moved") if each != "pulse")


DURATIONS = """Math.max(...[".seal", ".passage", ".pips i"].map((each) =>
  parseFloat(getComputedStyle(document.querySelector(each)).animationDuration)))"""


def test_a_phone_shows_the_first_question_without_scrolling(live, visitor):
    page = visitor(viewport=PHONE)
    page.add_init_script("""
      const look = () => {
        const question = document.querySelector("#hop-1 h3")?.getBoundingClientRect();
        if (question) window.seen = question.top > 0 && question.bottom < innerHeight ? "in view" : "out of view";
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    """)
    check(page, live(scripted_container(gate=Gate("answer 1"))))
    assert until(lambda: page.evaluate("window.seen"), "a question") == "in view"


SCROLLED = """() => new Promise((done) => {
  let last = NaN, same = 0;
  const look = () => {
    same = scrollY === last ? same + 1 : 0;
    last = scrollY;
    same < 20 ? requestAnimationFrame(look) : done(true);
  };
  look();
})"""
"""Waits until the page has stood still for twenty frames."""


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_the_newest_step_stays_in_view_until_the_reader_scrolls(live, visitor, viewport):
    gates = {step: Gate(step) for step in ("answer 3", "answer 5")}
    container = scripted_container(FIVE_STEPS)
    container.before_step = lambda step: gates[step](step) if step in gates else None
    page = visitor(viewport=viewport)
    check(page, live(container))
    expect(page.locator("#hop-3 h3")).to_be_in_viewport()
    page.mouse.wheel(0, -3000)
    until(lambda: page.evaluate("scrollY") == 0, "the top of the page")
    gates["answer 3"].open()
    expect(page.locator("#hop-5 h3")).to_have_count(1)
    assert page.evaluate("scrollY") == 0
    page.locator("#hop-2").scroll_into_view_if_needed()
    page.mouse.wheel(0, 500)
    until(lambda: page.locator("#verdict").bounding_box()["y"] < -100, "a place for the verdict that is out of view")
    page.wait_for_function(SCROLLED)
    before = page.locator("#trail-heading").bounding_box()["y"]
    gates["answer 5"].open()
    expect(page.locator("#verdict.verdict")).to_have_count(1)
    assert abs(page.locator("#trail-heading").bounding_box()["y"] - before) < 2, "what is read stays in its place"


def test_the_strip_keeps_both_buttons_in_place_and_names_the_stage(live, visitor):
    gates = {step: Gate(step) for step in ("question 1", "answer 2", "conclusion 1")}
    container = scripted_container()
    container.before_step = lambda step: gates[step](step) if step in gates else None
    page = visitor(viewport=DESKTOP)
    check(page, live(container))
    decide, stop, lit = page.locator("#conclude"), page.locator("#stop"), page.locator(".stages .lit")
    expect(lit).to_have_text("Ask")
    expect(decide).to_be_disabled()
    places = [decide.bounding_box()["x"], stop.bounding_box()["x"]]
    gates["question 1"].open()
    expect(page.locator("#hop-2 h3")).to_be_visible()
    expect(decide).to_be_enabled()
    expect(lit).to_have_text("Read")
    assert [decide.bounding_box()["x"], stop.bounding_box()["x"]] == places
    page.mouse.wheel(0, 2000)
    expect(stop).to_be_in_viewport()
    gates["answer 2"].open()
    expect(lit).to_have_text("Decide")
    gates["conclusion 1"].open()
    expect_verdict(page)


def test_the_verdict_answers_the_claim_with_cards_that_lead_to_the_sentence(live, visitor):
    page = visitor()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    check(page, live())
    expect(page.locator("#verdict-heading")).to_contain_text("True")
    expect(page.locator("#verdict-heading .formal")).to_have_text("Supported")
    expect(page.locator(".headline")).to_contain_text("Hamlet was written by William Shakespeare.")
    card = page.locator(".evidence-card").first
    expect(card.locator("mark")).to_have_text("William Shakespeare")
    link = "https://en.wikipedia.org/wiki/Hamlet#:~:text=Hamlet%20is%20a%20play%20by%20William%20Shakespeare."
    expect(card.locator(".to-sentence")).to_have_attribute("href", link)
    card.get_by_role("button", name="Copy quote").click()
    expect(card.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("“Hamlet is a play by William Shakespeare.” Hamlet, ") and copied.endswith(link)
    assert page.complaints == []


def test_a_citation_previews_its_source_on_hover_and_focus(live, visitor):
    page = visitor()
    check(page, live())
    expect_verdict(page)
    chip, box = page.locator(".headline .cite-hop"), page.locator("#preview-1")
    expect(box).to_be_hidden()
    chip.hover()
    expect(box).to_be_visible()
    expect(box).to_contain_text("Hamlet is a play by")
    box.hover()
    page.wait_for_timeout(400)
    expect(box).to_be_visible()
    page.locator("#verdict-heading").hover()
    expect(box).to_be_hidden()
    chip.focus()
    expect(box).to_be_visible()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    chip.press("Enter")
    expect(page.locator("#hop-1")).to_be_focused()
    expect(box).to_be_hidden()
    assert page.complaints == []


def test_the_actions_of_a_report_work_by_keyboard_and_deleting_can_be_undone(live, visitor):
    page = visitor(viewport=PHONE)
    check(page, live())
    expect_verdict(page)
    report = page.url
    bar = page.get_by_role("group", name="This report")
    bar.get_by_role("button", name="Export").press("Enter")
    with page.expect_download() as download:
        page.get_by_role("link", name="Markdown", exact=True).press("Enter")
    assert download.value.suggested_filename.endswith(".md")
    page.keyboard.press("Escape")
    expect(page.locator("#export-menu")).to_be_hidden()
    page.get_by_role("link", name="Change step 2").press("Enter")
    expect(page.get_by_label("Question for step 2")).to_have_value("Where was William Shakespeare born?")
    page.goto(report)
    bar.get_by_role("button", name="Delete this check").press("Enter")
    page.get_by_role("button", name=re.compile("^Undo")).press("Enter")
    page.wait_for_url(report)
    expect_verdict(page)
    assert page.complaints == []
