"""Following a run in a real browser: cards, folding, links to hops, waiting times and interrupted streams."""

from __future__ import annotations

import re
from collections.abc import Iterable
from threading import Semaphore

import pytest

from app import create_app
from app.config.settings import Settings
from app.domain.model import Answer, Judgement, Label, Origin, Passage, RunOptions, Sentence, Span, Verdict
from tests.e2e.conftest import serving
from tests.e2e.test_browser import check, expect_verdict
from tests.fakes import ONE_SET_ASIDE, TWO_HOPS, FakeContainer, Gate, Script, ScriptedHop, scripted_container
from tests.waiting import until

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect

ARABIC = "كُتبت مسرحية هاملت بقلم ويليام شكسبير في إنجلترا"
CHINESE = "哈姆雷特是莎士比亞最長的劇本" * 6
LONG_WORD = "Donaudampfschifffahrtsgesellschaftskapitän" * 6


def hop_about(text: str, cited: str, others: int = 1) -> ScriptedHop:
    """A hop whose question, answer, passage and title are this text."""
    found = Passage(text, text, text, "https://a.example/", "2020-10-30", Origin.WEB, 2.5)
    at = text.index(cited)
    rest = tuple(Passage(f"{text} {n}", text, text, None, None, Origin.WEB, 1.5) for n in range(others))
    return ScriptedHop(
        f"{text}?", Answer(cited, Span(found, at, at + len(cited)), (found, *rest)), Judgement(True, text)
    )


def test_the_evidence_of_a_step_is_beside_its_answer_and_stays_open(live, visitor):
    gate, page = Gate("question 2"), visitor(viewport={"width": 1440, "height": 900})
    check(page, live(scripted_container(gate=gate)))
    expect(page.locator("#hop-2 #at-work")).to_have_text("Question 2")
    expect(page.locator("#hop-2 h3")).to_have_count(0)
    found = page.locator("#hop-1-passage-1")
    expect(found.locator("mark")).to_be_visible()
    expect(page.locator("#hop-1 .took")).to_contain_text("36 tokens")
    said, evidence = page.locator("#hop-1 .said").bounding_box(), found.bounding_box()
    assert evidence["x"] >= said["x"] + said["width"] and evidence["y"] < said["y"] + said["height"], "beside it"
    page.set_viewport_size({"width": 390, "height": 800})
    said, evidence = page.locator("#hop-1 .said").bounding_box(), found.bounding_box()
    assert evidence["y"] >= said["y"] + said["height"], "under it"
    gate.open()
    expect_verdict(page)
    expect(found.locator("mark")).to_be_visible()
    expect(page.locator("#hop-2-passage-1 mark")).to_be_visible()
    expect(page.locator(".fold")).to_have_count(2)
    expect(page.locator(".fold[open]")).to_have_count(0)
    expect(page.locator("#at-work")).to_have_count(0)
    assert page.complaints == []


def test_what_the_reader_unfolded_stays_open_when_its_card_is_replaced(live, visitor):
    gate, page = Gate("answer 2"), visitor()
    script = Script((TWO_HOPS.hops[0], *TWO_HOPS.hops), TWO_HOPS.verdict)
    check(page, live(scripted_container(script, gate=gate)))
    expect(page.locator("#hop-2 h3")).to_be_visible()
    page.locator("#hop-1-unfold").click()
    other = page.locator("#hop-1-passage-2")
    other.locator("summary").first.click()
    page.locator("#hop-1-unfold").focus()
    page.evaluate("document.querySelector('#hop-1').marked = true")
    gate.open()
    expect_verdict(page)
    until(lambda: page.evaluate("!document.querySelector('#hop-1').marked"), "a card that was replaced")
    expect(page.locator("#hop-1-fold")).to_have_attribute("open", "")
    expect(other).to_have_attribute("open", "")
    expect(page.locator("#hop-1-unfold")).to_be_focused()
    expect(page.locator("#hop-2-fold")).not_to_have_attribute("open", "")
    assert page.complaints == []


def test_without_script_cards_unfold_one_by_one_and_all_together(live, visitor):
    first, page = visitor(), visitor(java_script_enabled=False)
    check(first, live())
    expect_verdict(first)
    page.goto(first.url)
    other = page.locator("#hop-2-passage-2")
    page.locator("#hop-1-unfold").click()
    expect(page.locator("#hop-1-passage-2")).to_be_visible()
    expect(other).to_be_hidden()
    page.get_by_role("button", name="Expand all").click()
    expect(other).to_be_visible()
    page.get_by_role("button", name="Collapse all").click()
    expect(other).to_be_hidden()


def test_an_activity_over_three_seconds_shows_its_time_outside_the_live_region(live, visitor):
    gate, page = Gate("answer 1"), visitor()
    check(page, live(scripted_container(gate=gate)))
    expect(page.get_by_role("status")).to_contain_text("Step 1 of up to 5")
    until(lambda: shows_waiting_time(page), "a waiting time that is shown")
    expect(page.locator(".waited")).to_have_text(re.compile("^still answer 1, .+ s$"))
    assert "still" not in page.get_by_role("status").text_content()
    page.reload()
    expect(page.locator(".waited")).to_be_visible()
    gate.open()
    expect_verdict(page)
    expect(page.locator("#clock")).to_be_hidden()


def shows_waiting_time(page) -> bool:
    """Return whether the waiting time is shown, which must be the case from three seconds on."""
    hidden, waited = page.locator(".waited").evaluate("(each) => [each.hidden, each.textContent.split(', ').at(-1)]")
    seconds = 60 if "min" in waited else float(waited.split()[0])
    assert seconds <= 3 if hidden else seconds >= 3
    return not hidden


SCRIPTS = (hop_about(ARABIC, "شكسبير"), hop_about(CHINESE, "莎士比亞"), hop_about(LONG_WORD, LONG_WORD[:-9]))


@pytest.mark.parametrize("hops", [(), SCRIPTS, TWO_HOPS.hops[:1] * 10], ids=["no hop", "three scripts", "ten hops"])
def test_no_content_is_wider_than_a_narrow_window_and_each_text_has_its_own_direction(live, visitor, hops):
    verdict = Verdict(Label.REFUTED, (Sentence(ARABIC, (1,)), Sentence(LONG_WORD, (1,))), confidence=0.7)
    page = visitor(viewport={"width": 360, "height": 800})
    address = live(scripted_container(Script(hops, verdict), usual=RunOptions(max_hops=10)))
    claim = (ARABIC + CHINESE + LONG_WORD)[:500].ljust(500, "字")
    check(page, address, claim)
    expect_verdict(page, "Refuted" if hops else "Not enough evidence")
    expect(page.locator("li.hop")).to_have_count(len(hops))
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    sides = page.evaluate("[...document.querySelectorAll('h1, .hop h3')].map(each => getComputedStyle(each).direction)")
    assert sides[0] == "rtl" and (len(hops) != 3 or sides[1:] == ["rtl", "ltr", "ltr"])


HEARING = """() => {
    window.heard = [];
    const silent = (node) => node.matches('[aria-live=off], [aria-hidden=true]');
    const nearest = (node) => node.closest('[aria-live], [role=log], [role=status]');
    const live = (node) => nearest(node) && !silent(nearest(node));
    const words = (node) => node.nodeType === Node.TEXT_NODE ? node.data
        : node.hidden || silent(node) ? '' : [...node.childNodes].map(words).join(' ');
    const listen = (changes) => {
        const added = changes.flatMap((each) => [...each.addedNodes].filter((node) => node.nodeType === 1));
        const texts = added.filter(live).map((each) => words(each).replace(/\\s+/g, ' ').trim());
        window.heard.push(...texts.filter(Boolean));
    };
    new MutationObserver(listen).observe(document.body, { childList: true, subtree: true });
}"""
"""Records in `heard` the text that comes into live regions, without silent parts, as a screen reader announces it."""


def test_a_screen_reader_announces_the_activity_each_hop_once_and_the_verdict(live, visitor):
    page, container = visitor(), scripted_container()
    gates = {step: Gate(step) for step in ("question 1", "answer 2", "conclusion 1")}
    container.before_step = lambda step: gates[step](step) if step in gates else None
    check(page, live(container))
    page.evaluate(HEARING)
    gates["question 1"].open()
    expect(page.locator("#hop-2 h3")).to_be_visible()
    gates["answer 2"].open()
    expect(page.locator("#hop-2 .chip")).to_have_text("Used")
    gates["conclusion 1"].open()
    until(lambda: page.evaluate("/^True/.test(window.heard.at(-1))"), "a verdict that is heard")
    heard = page.evaluate("window.heard")
    hops = [each for each in heard if "Answer:" in each]
    assert [re.sub(r" [0-9.]+ s, 36 tokens$", "", each) for each in hops] == [
        "Step 1 Who wrote Hamlet? Answer: William Shakespeare Used",
        "Step 2 Where was William Shakespeare born? Answer: England Used",
    ]
    assert any(each.startswith("Step 2 of up to 5 : ") for each in heard)
    assert re.match(r"True\. Finished in ", heard[-1])


DRAWN = """() => {
    const content = (node) => node.nodeType === Node.TEXT_NODE ? node.data.trim() : [
        node.tagName,
        [...node.attributes ?? []].map((each) => `${each.name}=${each.value}`).sort(),
        [...node.childNodes].filter((each) => each.name !== 'csrf_token').map(content),
    ];
    return [...document.querySelectorAll('li.hop, #verdict, #status, #usage')].map(content);
}"""
"""The content of the page of a run, except its form tokens, which differ on every page."""


def assert_as_loaded(page) -> None:
    """Check that the page as updated by its stream equals the page as loaded now."""
    loaded = page.context.new_page()
    loaded.goto(page.url)
    until(lambda: page.evaluate(DRAWN) == loaded.evaluate(DRAWN), "a page like the one just loaded")
    loaded.close()


class Cut:
    """A server whose streams break off after every event; `seen` has the position of each request."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._came = Semaphore(0)

    def before_step(self, step: str) -> None:
        """Let the run take a step once its reader has reconnected."""
        self._came.acquire(timeout=5)

    def __call__(self, environ, start_response) -> Iterable[bytes]:
        sent = self.app(environ, start_response)
        if not environ["PATH_INFO"].endswith("/events"):
            return sent
        self.seen.append(environ.get("HTTP_LAST_EVENT_ID", ""))
        self._came.release()
        return self._cut(sent)

    @staticmethod
    def _cut(sent) -> Iterable[bytes]:
        try:
            for chunk in sent:
                yield re.sub(rb"^retry: \d+", b"retry: 20", chunk)
                if chunk.startswith(b"id:") and b"verdict-heading" not in chunk:
                    return
        finally:
            sent.close()


def test_a_stream_that_is_cut_at_every_event_still_makes_the_same_page_as_a_reload(tmp_path, database_url, visitor):
    cut = Cut()
    container = FakeContainer((ONE_SET_ASIDE,), cut.before_step)
    cut.app = create_app(Settings(instance=tmp_path, database_url=database_url), container)
    with serving(cut.app, cut) as address:
        page = visitor()
        check(page, address)
        expect_verdict(page)
        expect(page.locator("li.hop")).to_have_count(3)
        assert_as_loaded(page)
        places = [int(place) for place in cut.seen if place]
        assert len(places) >= 5 and places == sorted(set(places)), "each request continues from the last event"
        assert set(page.complaints) == {"[object Event]"}, "htmx logs this for a stream that broke off"
