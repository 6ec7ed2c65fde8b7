"""Accessibility of every page in every state, from a phone of 320 pixels to a wide screen, in light and dark colours.

One table of states. In each of them axe-core finds nothing, nothing scrolls sideways, each target has 24 by 24 pixels,
nothing moves for visitors who prefer reduced motion, and no heading level is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import abort

from app.domain.model import Judgement, Label, Page, Verdict
from app.runs.admission import Rejected
from tests.e2e.test_browser import CLAIM, check, type_claim
from tests.fakes import (
    FAILING,
    ONE_SET_ASIDE,
    SUPPORTED,
    TWO_HOPS,
    Gate,
    Script,
    ScriptedHop,
    answer,
    scripted_container,
)

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect
axe = pytest.importorskip("axe_playwright_python", reason="run make setup")
AXE = Path(axe.__file__).with_name("axe.min.js").read_text("utf-8")

LOOKS = ((320, "light"), (768, ""), (1920, "dark"))
"""Window widths, with the colours in which axe looks at the page there."""

LONG_CLAIM = ("Supercalifragilisticexpialidocious" * 4 + " is longer than שלום and 地球, ") * 3
TEXT = "Hamlet is a play. Is it long? King Lear is one. Othello is one. Macbeth is one."
LINK = "https://news.example/hamlet"

REFUTED = Script(TWO_HOPS.hops, Verdict(Label.REFUTED, SUPPORTED.rationale, confidence=0.7))
UNDECIDED = Script(
    (ScriptedHop("Did he keep a parrot?", answer(None), Judgement(False, "No passage answers this question.")),),
    Verdict(Label.NOT_ENOUGH_EVIDENCE, (), missing="Nothing that was found speaks of a parrot."),
)
CONFLICTING = Script(TWO_HOPS.hops, Verdict(Label.CONFLICTING_EVIDENCE, SUPPORTED.rationale, confidence=0.4))


class Visit:
    """A visitor's page on a site whose runs follow the script that was set last, one run at a time."""

    def __init__(self, page, live) -> None:
        self.page = page
        self.container = scripted_container(pages={LINK: Page(LINK, "News of Hamlet", "news.example", TEXT)})
        self.address = live(self.container, workers=1, publishing=True, embed_on=("*",))
        live.app.add_url_rule("/abort/<int:code>", "abort", abort)
        self.runs = live.app.extensions["hopcheck"].runs
        self.gate = Gate("")

    def go(self, path: str = "") -> None:
        """Open a page of the site."""
        self.page.goto(f"{self.address}/{path}")

    def press(self, name: str, role: str = "button") -> None:
        """Press the first button, or another element, of this name."""
        self.page.get_by_role(role, name=name, exact=True).first.click()

    def play(self, *scripts: Script, hold: str = "") -> None:
        """Let the next runs follow these scripts, and wait before the step `hold`."""
        self.release()
        self.gate = Gate(hold)
        self.container.asked_for.clear()
        self.container.scripts, self.container.before_step = scripts, self.gate

    def release(self) -> None:
        """Let a run that waits continue."""
        self.gate.open()

    def report(self, script: Script = TWO_HOPS, claim: str = CLAIM) -> str:
        """Check a claim to its end, open its report anew and return its address."""
        self.play(script)
        check(self.page, self.address, claim)
        self.page.locator("#verdict h2").wait_for()
        self.page.goto(self.page.url)
        return self.page.url

    def send(self, text: str) -> None:
        """Send what is in the box of the home page with the keyboard."""
        type_claim(self.page, self.address, text)
        self.page.keyboard.press("Enter")

    def running(self, hold: str) -> None:
        """Open the page of a run that waits before a step."""
        self.play(TWO_HOPS, hold=hold)
        check(self.page, self.address)


def options(visit: Visit) -> None:
    visit.go()
    for summary in visit.page.locator("summary").all():
        summary.click()


def refused_form(visit: Visit) -> None:
    visit.go()
    visit.page.get_by_label("Your claim").fill("x" * 501)
    visit.press("Check it")
    visit.page.get_by_role("alert").wait_for()
    for summary in visit.page.locator("summary").all():
        summary.click()


def hint(text: str) -> Callable[[Visit], None]:
    def show(visit: Visit) -> None:
        visit.send(text)
        visit.page.get_by_role("alert").wait_for()

    return show


def claims_of_a_page(visit: Visit) -> None:
    visit.send(LINK)
    visit.page.locator(".candidates").wait_for()


def full_queue(visit: Visit) -> None:
    """The form again, with the claim in it."""
    start = visit.runs.start
    visit.runs.start = lambda *asked, **more: (_ for _ in ()).throw(Rejected("Too many checks wait already.", 30))
    try:
        visit.send(CLAIM)
        visit.page.get_by_text("Too many checks wait already.").wait_for()
    finally:
        visit.runs.start = start


def waiting(visit: Visit) -> None:
    visit.running("answer 1")
    check(visit.page, visit.address, "Another claim.")
    visit.page.get_by_text("Next in line").wait_for()


def reading(visit: Visit) -> None:
    visit.running("answer 2")
    visit.page.locator(".stages .lit", has_text="Read").wait_for()
    visit.page.locator("#hop-2").get_by_text("Where was William Shakespeare born?").wait_for()


def machinery(visit: Visit) -> None:
    visit.press("How this works")
    visit.page.locator(".modules .answerer.lit").wait_for()


def deciding(visit: Visit) -> None:
    visit.page.keyboard.press("Escape")
    visit.press("Decide now")
    visit.page.get_by_role("button", name="Deciding…").wait_for()


def early_verdict(visit: Visit) -> None:
    visit.release()
    visit.page.get_by_text("Early verdict").wait_for()
    visit.page.reload()


def stopped(visit: Visit) -> None:
    visit.running("answer 2")
    visit.page.locator("#hop-2 h3").wait_for()
    visit.press("Stop")
    visit.page.locator("#verdict h2").wait_for()
    visit.page.reload()


def finished(script: Script) -> Callable[[Visit], None]:
    def show(visit: Visit) -> None:
        visit.report(script)

    return show


def expanded(visit: Visit) -> None:
    visit.page.goto(visit.report(ONE_SET_ASIDE, LONG_CLAIM) + "?cards=open")


def menu(name: str) -> Callable[[Visit], None]:
    """Open a menu of the report that is open; the menu before it closes by itself."""

    def show(visit: Visit) -> None:
        visit.press(name)
        visit.page.locator(".menu:popover-open").wait_for()

    return show


def citation(visit: Visit) -> None:
    visit.page.keyboard.press("Escape")
    visit.page.locator(".rationale .cite-hop").first.focus()
    visit.page.locator(".preview:popover-open").wait_for()


def notes(visit: Visit) -> None:
    """A note that was saved and one that was refused."""
    visit.report()
    for hop, text in ((1, "Marlowe wrote it. " * 40), (2, "x" * 2001)):
        place = visit.page.locator(f"#note-{hop}")
        place.locator("summary").click()
        place.get_by_label("I disagree").check()
        place.get_by_role("textbox").fill(text)
        place.get_by_role("button", name="Save").click()
        place.locator("[id$=said], [role=alert]").wait_for()


def change_a_step(visit: Visit) -> None:
    visit.page.goto(visit.report() + "/branch?hop=2")


def branch(visit: Visit) -> None:
    visit.play(UNDECIDED)
    visit.page.get_by_label("Question for step 2").fill("Where was he born?")
    visit.press("Run from here")
    visit.page.locator(".lineage").wait_for()
    visit.page.locator("#verdict h2").wait_for()
    visit.page.reload()


def published(visit: Visit) -> None:
    visit.report()
    visit.press("Publish")
    visit.press("Publish this report")
    visit.press("Published")


def embedded(visit: Visit) -> None:
    visit.page.goto(visit.report() + "/embed")


def printed(visit: Visit) -> None:
    visit.report()
    visit.page.emulate_media(media="print")


def deleted(visit: Visit) -> None:
    """With a button to undo it."""
    visit.report()
    visit.press("Delete this check")
    visit.page.get_by_role("button", name=re.compile("^Undo")).wait_for()


def confirmation(visit: Visit) -> None:
    visit.page.goto(visit.report() + "/delete")


def comparison(visit: Visit) -> None:
    """Of two checks that have ended and one that runs."""
    ids = [visit.report(script).rsplit("/", 1)[1] for script in (TWO_HOPS, UNDECIDED)]
    visit.play(ONE_SET_ASIDE, hold="answer 3")
    check(visit.page, visit.address)
    visit.page.locator("#hop-3").wait_for()
    ids.append(visit.page.url.rsplit("/", 1)[1])
    visit.go("compare?" + "&".join(f"run={each}" for each in ids))


def choice_of_checks(visit: Visit) -> None:
    visit.go("compare?run=" + visit.report().rsplit("/", 1)[1])


def place(path: str) -> Callable[[Visit], None]:
    return lambda visit: visit.go(path)


def running_batch(visit: Visit) -> None:
    visit.play(TWO_HOPS, FAILING, hold="question 1")
    visit.go("batches")
    visit.page.get_by_label("Or paste claims, one per line").fill(f"{LONG_CLAIM}\nWater is wet.\n?\nIce is cold.")
    visit.press("Check them")
    visit.page.locator("#batch-now").wait_for()
    visit.batch = visit.page.url


def batch_place(path: str) -> Callable[[Visit], None]:
    return lambda visit: visit.page.goto(visit.batch + path)


def paused_batch(visit: Visit) -> None:
    visit.page.goto(visit.batch)
    visit.press("Pause")
    visit.page.get_by_role("heading", name="Paused").wait_for()


def finished_batch(visit: Visit) -> None:
    visit.press("Continue")
    visit.release()
    visit.page.get_by_role("heading", name="3 of 3 checked, 1 cannot be checked").wait_for()


def marked_text(visit: Visit) -> None:
    visit.play(TWO_HOPS, UNDECIDED, CONFLICTING, FAILING)
    visit.send(TEXT)
    visit.press("Check 4 claims")
    visit.page.get_by_role("heading", name="4 of 4 checked").wait_for()


def import_of(text: str, awaited: str) -> Callable[[Visit], None]:
    def show(visit: Visit) -> None:
        exported = text or visit.page.request.get(visit.report() + "/export.json").text()
        visit.go("import")
        visit.page.get_by_label("Or paste the JSON").fill(exported)
        visit.press("Import")
        visit.page.locator(awaited).wait_for()

    return show


BEFORE = {
    "home": place(""),
    "options": options,
    "refused form": refused_form,
    "question": hint("Is Paris the capital of France?"),
    "another language": hint("La tour Eiffel se trouve à Paris."),
    "link that cannot be read": hint("https://news.example/gone"),
    "claims of a page": claims_of_a_page,
    "how it works": place("how-it-works"),
    "all options": place("choices"),
    "API": place("api"),
}
EMPTY = {
    "empty history": place("history"),
    "no batch": place("batches"),
    "empty gallery": place("gallery"),
    "nothing to compare": place("compare"),
    "import": place("import"),
    "error 404": place("nowhere"),
    "error 429": place("abort/429"),
    "error 500": place("abort/500"),
    "error 503": place("abort/503"),
    "full queue": full_queue,
}
RUNNING = {
    "reading": reading,
    "machinery": machinery,
    "deciding": deciding,
    "early verdict": early_verdict,
    "stopped": stopped,
    "refuted": finished(REFUTED),
    "can't tell": finished(UNDECIDED),
    "sources disagree": finished(CONFLICTING),
    "failed": finished(FAILING),
    "waiting": waiting,
}
REPORT = {
    "expanded report": expanded,
    "share menu": menu("Share"),
    "export menu": menu("Export"),
    "menu to run it again": menu("Run again"),
    "preview of a citation": citation,
    "notes": notes,
    "published": published,
    "gallery": place("gallery"),
    "embedded": embedded,
    "printed": printed,
}
KEPT = {
    "change a step": change_a_step,
    "branch": branch,
    "compare menu": menu("Compare (1)"),
    "choice of checks": choice_of_checks,
    "comparison": comparison,
    "history": place("history"),
    "home with checks": place(""),
    "confirmation": confirmation,
    "deleted": deleted,
}
MANY = {
    "running batch": running_batch,
    "cancel a batch": batch_place("/cancel"),
    "delete a batch": batch_place("/delete"),
    "paused batch": paused_batch,
    "finished batch": finished_batch,
    "marked text": marked_text,
    "batches": place("batches"),
    "refused import": import_of("{}", "[role=alert]"),
    "imported report": import_of("", "text=Imported, unverified:"),
}
GROUPS = {"before": BEFORE, "empty": EMPTY, "running": RUNNING, "report": REPORT, "kept": KEPT, "many": MANY}
"""The states by what they have in common. Each begins where the one before it in its group ended."""


@pytest.fixture
def page(visitor):
    """A page of a visitor who prefers reduced motion."""
    return visitor(reduced_motion="reduce", viewport={"width": 320, "height": 900})


QUICK = ("before", "report")


@pytest.mark.parametrize(
    "group", [pytest.param(each, marks=[pytest.mark.slow] * (each not in QUICK)) for each in GROUPS]
)
def test_no_page_has_a_fault_in_any_state_width_or_colours(live, page, group):
    visit, found = Visit(page, live), []
    for name, show in GROUPS[group].items():
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 320, "height": 900})
        show(visit)
        found += [f"{name}: {where}: {what}" for where, what in faults(page).items()]
    visit.release()
    assert not found, "\n".join(found)


def test_the_site_asks_for_its_password_without_a_fault(live, page):
    page.goto(live(site_password="a word of the house"))
    page.get_by_label("Password").fill("another")
    page.get_by_role("main").get_by_role("button").click()
    page.get_by_role("alert").wait_for()
    assert faults(page) == {}


def faults(page) -> dict[str, str]:
    """Return the faults of a page as it is, by width, colours and rule."""
    found: dict[str, str] = {}
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE)
    for width, colours in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found[f"{width} px"] = "scrolls sideways"
        if small := page.evaluate(SMALL_TARGETS):
            found[f"{width} px, small"] = str(small)
        if colours:
            page.emulate_media(color_scheme=colours)
            for rule, places in page.evaluate(VIOLATIONS).items():
                found[f"{width} px, {colours}, {rule}"] = str(places)
    if page.evaluate("document.getAnimations().length"):
        found["motion"] = "something moves"
    if skipped := page.evaluate(LEVELS_SKIPPED):
        found["outline"] = skipped
    return found


VIOLATIONS = """async () => {
  const found = await axe.run({ resultTypes: ["violations"], preload: false });
  return Object.fromEntries(found.violations.map((each) => [each.id, each.nodes.map((node) => node.target)]));
}"""

SMALL_TARGETS = """matchMedia("print").matches ? [] : [...document.querySelectorAll(
    "a[href], button, input:not([type=hidden]), select, textarea, summary")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.classList.contains("skip"))
  .filter((each) => getComputedStyle(each).display !== "inline"
    || each.parentElement.textContent.trim() === each.textContent.trim())
  .map((each) => [each, (each.closest("label") ?? each).getBoundingClientRect()])
  .filter(([, box]) => box.height < 24 || box.width < 24)
  .map(([each, box]) => `${each.outerHTML.slice(0, 90)} ${box.width}x${box.height}`)"""
"""What can be pressed and is smaller than 24 by 24 pixels. Links within a sentence are excepted, as in WCAG 2.5.8."""

LEVELS_SKIPPED = """[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter((heading) => heading.checkVisibility())
  .map((heading) => Number(heading.tagName[1]))
  .reduce(([text, last], level) => [level > last + 1 ? `${text} h${level} after h${last}` : text, level], ["", 0])[0]"""


def test_the_check_finds_every_kind_of_fault(page):
    """A page with every kind of fault shows that the check of the other tests works."""
    page.set_content(
        '<title>x</title><h1>One</h1><h3>Three</h3><img src="data:,">'
        '<p style="color:light-dark(#ddd,#fff);background:#fff">pale</p>'
        '<button style="width:20px;height:30px;padding:0">x</button><p>A <a href="/">link</a> in a sentence</p>'
        '<p style="width:3000px">wide</p><style>:root{color-scheme:light dark}'
        "@keyframes a{to{top:1px}}p{animation:a 9s infinite}</style>"
    )
    found = faults(page)
    for fault in ("320 px", "768 px", "1920 px", "320 px, light, image-alt", "1920 px, dark, image-alt"):
        assert fault in found
    for look in ("320 px, light", "1920 px, dark"):
        assert f"{look}, color-contrast" in found
    assert "20x30" in found["320 px, small"] and "<a" not in found["320 px, small"]
    assert {"motion", "outline"} <= found.keys()
