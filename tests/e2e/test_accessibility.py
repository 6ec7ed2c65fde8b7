"""Accessibility of every page in every state, in light and dark colours and on small to wide screens.

axe-core finds no violation, nothing scrolls sideways, nothing moves for visitors who prefer reduced motion, and no
heading level is skipped. Each test covers some states of the site; faults are listed by page, colours and rule.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.domain.model import Judgement, Label, Verdict
from tests.e2e.test_browser import check, expect_verdict, type_claim
from tests.fakes import FAILING, ONE_SET_ASIDE, TWO_HOPS, Gate, Script, ScriptedHop, answer, scripted_container

Axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="run make setup").Axe

COLOURS_BY_WIDTH = {360: "light", 768: "", 1920: "dark"}
"""Window widths, from a small phone to a wide screen, with the colours in which axe checks a page at that width."""

LONG_CLAIM = ("Supercalifragilisticexpialidocious" * 4 + " is longer than שלום and 地球, ") * 3

UNDECIDED = Script(
    (ScriptedHop("Did he keep a parrot?", answer(None), Judgement(False, "No passage answers this question.")),),
    Verdict(Label.NOT_ENOUGH_EVIDENCE, (), missing="Nothing that was found speaks of a parrot."),
)
CONFLICTING = Script(TWO_HOPS.hops, Verdict(Label.CONFLICTING_EVIDENCE, TWO_HOPS.verdict.rationale, confidence=0.4))


@pytest.fixture
def faults(visitor) -> Callable:
    """Check the page in a browser in all colours and widths, and return its faults."""
    axe = Axe()

    def look(page) -> dict[str, str]:
        found: dict[str, str] = {}
        for width, colours in COLOURS_BY_WIDTH.items():
            page.set_viewport_size({"width": width, "height": 900})
            if page.evaluate("document.documentElement.scrollWidth") > width:
                found[f"{width} px"] = "scrolls sideways"
            if colours:
                page.emulate_media(color_scheme=colours)
                for fault in axe.run(page).response["violations"]:
                    found[f"{width} px, {colours}, {fault['id']}"] = str([node["target"] for node in fault["nodes"]])
        if page.evaluate("document.getAnimations().length"):
            found["motion"] = "something moves"
        if skipped := page.evaluate(LEVELS_SKIPPED):
            found["outline"] = skipped
        return found

    return look


LEVELS_SKIPPED = """[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
  .filter((heading) => heading.checkVisibility())
  .map((heading) => Number(heading.tagName[1]))
  .reduce(([text, last], level) => [level > last + 1 ? `${text} h${level} after h${last}` : text, level], ["", 0])[0]"""


@pytest.fixture
def page(visitor):
    """A page of a visitor who prefers reduced motion."""
    return visitor(reduced_motion="reduce", viewport={"width": 360, "height": 900})


def faults_of(page, faults, *addresses: str) -> dict[str, dict[str, str]]:
    """Return the faults of those of these pages that have any."""
    found = {}
    for address in addresses:
        page.goto(address)
        if wrong := faults(page):
            found[address] = wrong
    return found


def finished(page, address: str, claim: str = "Hamlet's author was born in England.") -> str:
    """Start a run, wait for its end and return its address."""
    check(page, address, claim)
    page.locator("#verdict h2").wait_for()
    return page.url


def test_static_pages_have_no_faults(live, page, faults):
    address = live()
    places = ("", "how-it-works", "choices", "api", "nowhere", "history", "import", "batches")
    assert faults_of(page, faults, *(f"{address}/{place}" for place in places)) == {}


def test_the_pages_of_a_batch_have_no_faults(live, page, faults):
    gate = Gate("question 1")
    address = live(scripted_container(TWO_HOPS, FAILING, gate=gate), workers=1)
    page.goto(f"{address}/batches")
    page.get_by_label("Or paste claims, one per line").fill(
        f"{LONG_CLAIM}\nWater is wet.\n?\n" + "Ice is cold.\n" * 120
    )
    page.get_by_role("button", name="Check them").click()
    batch = page.url
    page.locator("#batch-now").wait_for()
    assert faults_of(page, faults, f"{batch}/cancel", f"{batch}/delete") == {}
    page.goto(batch)
    page.get_by_role("button", name="Pause").click()
    gate.open()
    page.get_by_text("Failed", exact=True).first.wait_for()
    assert page.get_by_role("heading", name="Paused").is_visible(), "the page was not reloaded"
    assert faults(page) == {}


def test_hints_the_claims_of_a_text_and_the_marked_text_have_no_faults(live, page, faults):
    address = live(scripted_container(TWO_HOPS, UNDECIDED, CONFLICTING, FAILING))
    type_claim(page, address, "La tour Eiffel se trouve à Paris.")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    assert faults(page) == {}
    type_claim(page, address, "Hamlet is a play. Is it long? King Lear is one. Othello is one. Macbeth is one.")
    page.keyboard.press("Enter")
    page.locator(".candidates").wait_for()
    assert faults(page) == {}
    page.get_by_role("button", name="Check 4 claims").click()
    page.get_by_role("heading", name="4 of 4 checked").wait_for()
    assert faults(page) == {}


def test_a_refused_form_has_no_faults(live, page, faults):
    """With everything unfolded and the reason by the field."""
    page.goto(live())
    page.get_by_label("Your claim").fill("x" * 501)
    page.get_by_role("button", name="Check it").click()
    page.get_by_role("alert").wait_for()
    for summary in page.locator("summary").all():
        summary.click()
    assert faults(page) == {}


def test_the_page_of_a_running_run_has_no_faults(live, page, faults):
    gate = Gate("answer 2")
    check(page, live(scripted_container(gate=gate)))
    page.locator(".stages .lit", has_text="Read").wait_for()
    page.locator("#hop-2").get_by_text("Where was William Shakespeare born?").wait_for()
    assert faults(page) == {}
    page.get_by_role("button", name="How this works").click()
    page.locator(".modules .answerer.lit").wait_for()
    assert faults(page) == {}
    gate.open()
    expect_verdict(page)


def test_a_finished_run_and_the_pages_it_links_to_have_no_faults(live, page, faults):
    address = live(scripted_container(ONE_SET_ASIDE))
    run = finished(page, address, LONG_CLAIM)
    places = [f"{run}?cards=folded", f"{run}?cards=open", f"{run}/branch?hop=2", address, f"{address}/history"]
    assert faults_of(page, faults, *places) == {}
    page.goto(run)
    for opened in (page.get_by_role("button", name="Export"), page.get_by_role("button", name="Run again")):
        opened.click()
        assert faults(page) == {}
    page.keyboard.press("Escape")
    page.locator(".rationale .cite-hop").focus()
    page.locator("#preview-2:popover-open").wait_for()
    assert faults(page) == {}


@pytest.mark.parametrize("script", [FAILING, UNDECIDED, CONFLICTING], ids=["failed", "undecided", "conflicting"])
def test_runs_with_other_outcomes_have_no_faults(live, page, faults, script):
    assert faults_of(page, faults, finished(page, live(scripted_container(script)))) == {}


def test_refused_and_imported_reports_have_no_faults(live, page, faults):
    run = finished(page, address := live(scripted_container(ONE_SET_ASIDE)))
    exported = page.request.get(f"{run}/export.json").text()
    page.goto(f"{address}/import")
    for text, awaited in (("{}", "role=alert"), (exported, "text=Imported, unverified:")):
        page.get_by_label("Or paste the JSON").fill(text)
        page.get_by_role("button", name="Import").click()
        page.locator(awaited).wait_for()
        assert faults(page) == {}
    assert faults_of(page, faults, f"{address}/history") == {}


def test_a_comparison_and_the_pages_that_link_to_it_have_no_faults(live, page, faults):
    """Two ended checks and a running one; the page of a run and the history link to the comparison."""
    gate = Gate("answer 3")
    address = live(scripted_container(TWO_HOPS, UNDECIDED, ONE_SET_ASIDE, gate=gate))
    runs = [finished(page, address) for _ in range(2)]
    check(page, address, "Hamlet's author was born in England.")
    page.locator("#hop-3").wait_for()
    ids = [each.rsplit("/", 1)[1] for each in (*runs, page.url)]
    side = f"{address}/compare?" + "&".join(f"run={each}" for each in ids)
    assert faults_of(page, faults, side, f"{address}/compare?run={ids[0]}", runs[0], f"{address}/history") == {}
    gate.open()


def test_saved_and_refused_notes_have_no_faults(live, page, faults):
    address = live()
    finished(page, address)
    for hop, text in ((1, "Marlowe wrote it. " * 40), (2, "x" * 2001)):
        place = page.locator(f"#note-{hop}")
        place.locator("summary").click()
        place.get_by_label("I disagree").check()
        place.get_by_role("textbox").fill(text)
        place.get_by_role("button", name="Save").click()
        place.locator("[id$=said], [role=alert]").wait_for()
    assert faults(page) == {}


def test_publishing_deleting_and_importing_have_no_faults(live, page, faults):
    """Publishing, the gallery, deleting and restoring, importing, and an imported report."""
    address = live(publishing=True)
    first, second = finished(page, address), finished(page, address)
    exported = page.request.get(f"{second}/export.json").body()
    page.get_by_role("button", name="Publish", exact=True).click()
    assert faults(page) == {}
    page.get_by_role("button", name="Publish this report").click()
    page.get_by_role("button", name="Published").wait_for()
    assert faults_of(page, faults, second, f"{address}/gallery", f"{first}/delete") == {}
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").wait_for()
    assert faults(page) == {}
    assert faults_of(page, faults, f"{address}/import") == {}
    page.locator("input[type=file]").set_input_files({"name": "x.json", "mimeType": "text/plain", "buffer": b"{"})
    page.get_by_role("button", name="Import").click()
    page.get_by_role("alert").wait_for()
    assert faults(page) == {}
    page.locator("input[type=file]").set_input_files({"name": "x.json", "mimeType": "text/plain", "buffer": exported})
    page.get_by_role("button", name="Import").click()
    page.wait_for_url("**/runs/*")
    assert faults(page) == {}


def test_the_check_finds_every_kind_of_fault(page, faults):
    """A page with every kind of fault shows that the check of the other tests works."""
    page.set_content(
        '<title>x</title><h1>One</h1><h3>Three</h3><img src="data:,"><p style="color:#ddd;background:#fff">pale</p>'
        '<p style="width:3000px">wide</p><style>@keyframes a{to{top:1px}}p{animation:a 9s infinite}</style>'
    )
    found = " ".join(faults(page))
    for fault in ("360 px ", "light, image-alt", "dark, color-contrast", "motion", "outline"):
        assert fault in found
