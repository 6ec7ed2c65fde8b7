"""Take the pictures of docs/first-ten-minutes.md: ten states of the pages at the width of a phone and of a desktop.

    python -m scripts.screens            writes docs/screens/*.webp, with the models of the default setup

The README shows all of them in one picture, docs/screens.webp.

It needs Chromium and what `make setup` installs. The checks are real, so another model shows other steps.
"""

from __future__ import annotations

import io
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from werkzeug.serving import make_server

from app import create_app
from app.config.settings import ROOT, Settings

FOLDER = ROOT / "docs" / "screens"
WIDTHS = {"phone": (390, 844), "desktop": (1280, 800)}
QUALITY = 55
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
TIMEOUT_MS = 120_000
SHEET = FOLDER.with_suffix(".webp")
ACROSS, HEIGHT, GAP = 2, 300, 24
"""States in a row of the sheet, and the height of a picture and the space between two, in pixels."""
FALSE_CLAIM = "Penicillin was discovered by Louis Pasteur."
OPEN_CLAIM = "The Great Wall of China is visible from the Moon."
TEXT = f"Mount Everest lies in the Andes. {FALSE_CLAIM} Is that so? The Eiffel Tower is in Paris."


def main() -> None:
    """Serve the site, visit each state and write its pictures."""
    FOLDER.mkdir(exist_ok=True)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    chromium = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
    with served() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(reduced_motion="reduce")
        page.set_default_timeout(TIMEOUT_MS)
        for name, show in STATES.items():
            print(name, flush=True)
            show(page, address)
            for width, (across, down) in WIDTHS.items():
                page.set_viewport_size({"width": across, "height": down})
                shot = Image.open(io.BytesIO(page.screenshot()))
                shot.save(FOLDER / f"{name}-{width}.webp", quality=QUALITY, method=6)
        browser.close()
    write_sheet()
    print(f"{sum(each.stat().st_size for each in (*FOLDER.iterdir(), SHEET)):,} bytes in {FOLDER} and {SHEET}")


def write_sheet() -> None:
    """Put all pictures into one: each state as on a desktop, with a phone beside it."""
    states = [[Image.open(FOLDER / f"{name}-{width}.webp") for width in ("desktop", "phone")] for name in STATES]
    small = [[each.resize((each.width * HEIGHT // each.height, HEIGHT)) for each in state] for state in states]
    wide, down = sum(each.width for each in small[0]) + 2 * GAP, -(-len(small) // ACROSS)
    sheet = Image.new("RGB", (ACROSS * wide + GAP, down * (HEIGHT + GAP) + GAP), "#c9c5bb")
    for at, (desktop, phone) in enumerate(small):
        x, y = GAP + at % ACROSS * wide, GAP + at // ACROSS * (HEIGHT + GAP)
        sheet.paste(desktop, (x, y))
        sheet.paste(phone, (x + desktop.width + GAP // 3, y))
    sheet.save(SHEET, quality=QUALITY, method=6)


@contextmanager
def served() -> Iterator[str]:
    """Serve the default setup over an empty database and yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("models", "corpora"):
            Path(folder, name).symlink_to((ROOT / "instance" / name).resolve())
        setup = (Path(sys.executable).with_name("flask"), "--app", "app", "db", "upgrade")
        subprocess.run(setup, env=os.environ | {"INSTANCE": folder}, cwd=ROOT, check=True)
        app = create_app(Settings(instance=Path(folder)))
        site = app.extensions["hopcheck"]
        site.container.warm()
        site.runs.serve()
        server = make_server("127.0.0.1", 0, app, threaded=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.port}"
        site.runs.stop()
        server.shutdown()


def send(page: Page, address: str, claim: str) -> None:
    """Send a claim, a text or an answer to a hint."""
    page.goto(address)
    page.get_by_label("Your claim").fill(claim)
    page.keyboard.press("Enter")


def home(page: Page, address: str) -> None:
    """Show the empty form."""
    page.goto(address)


def running(page: Page, address: str) -> None:
    """Show a check at its first question, and keep the page as it is then."""
    send(page, address, FALSE_CLAIM)
    page.locator("#hop-1 h3").wait_for()
    page.route("**/events*", lambda route: route.abort())
    page.evaluate("document.querySelector('[sse-connect]')?.remove()")


def report(claim: str, verdict: str) -> Callable[[Page, str], None]:
    """Return a state that shows the finished report of a claim, which must have this verdict."""

    def show(page: Page, address: str) -> None:
        page.unroute_all()
        send(page, address, claim)
        page.locator("#verdict h2", has_text=verdict).wait_for()
        page.goto(page.url)

    return show


def steps(page: Page, address: str) -> None:
    """Show the steps of the report that is open."""
    page.locator("#trail-heading").evaluate("each => each.scrollIntoView({ behavior: 'instant' })")


def share_menu(page: Page, address: str) -> None:
    """Open the Share menu of the report that is open."""
    page.reload()
    page.get_by_role("button", name="Share", exact=True).click()


def claims(page: Page, address: str) -> None:
    """Show the claims of a text."""
    send(page, address, TEXT)
    page.locator(".candidates").wait_for()


def batch(page: Page, address: str) -> None:
    """Show the text with its claims underlined."""
    page.get_by_role("button", name="Check 3 claims").click()
    page.get_by_role("heading", name="3 of 3 checked").wait_for()


def comparison(page: Page, address: str) -> None:
    """Show two checks of one claim side by side."""
    page.goto(address)
    page.locator(".recent a", has_text=FALSE_CLAIM).first.click()
    page.get_by_role("button", name="Compare").first.click()
    page.get_by_role("button", name="Compare them").click()
    page.locator("#glance").wait_for()


def history(page: Page, address: str) -> None:
    """Show this browser's checks."""
    page.goto(f"{address}/history")


STATES = {
    "home": home,
    "running": running,
    "false": report(FALSE_CLAIM, "False"),
    "steps": steps,
    "share": share_menu,
    "cannot-tell": report(OPEN_CLAIM, "Can’t tell"),
    "claims": claims,
    "batch": batch,
    "comparison": comparison,
    "history": history,
}
"""By name of its pictures; each begins where the one before ended."""

if __name__ == "__main__":
    main()
