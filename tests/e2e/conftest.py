"""A live server over scripted runs, and Chromium to visit it with."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator

import pytest
from werkzeug.serving import make_server

from app import create_app
from app.settings import Settings
from tests.fakes import FakeWiring, scripted_wiring

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/e2e/" in str(item.path):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """One Chromium for all tests; each test opens contexts of its own."""
    if not CHROMIUM:
        pytest.skip("Chromium is not installed; on Debian: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def live(tmp_path, database_url, compiled) -> Iterator[Callable[..., str]]:
    """Serve an application over the given wiring on a free port; returns its address."""
    stops: list[Callable[[], None]] = []

    def serve(wiring: FakeWiring | None = None, **settings) -> str:
        app = create_app(
            Settings(instance=tmp_path, database_url=database_url, **settings), wiring or scripted_wiring(delay=0.1)
        )
        app.jinja_env.bytecode_cache = compiled
        server = make_server("127.0.0.1", 0, app, threaded=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stops.extend((app.extensions["hopcheck"].runs.stop, server.shutdown))
        return f"http://127.0.0.1:{server.port}"

    yield serve
    for stop in stops:
        stop()


@pytest.fixture
def visitor(browser) -> Iterator[Callable]:
    """A new page in a context of its own, which keeps what it logged and which addresses it asked for."""
    contexts = []

    def visit(**options):
        context = browser.new_context(**options)
        context.set_default_timeout(30_000)
        contexts.append(context)
        page = context.new_page()
        page.complaints, page.addresses = [], []
        page.on("console", lambda said: page.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: page.addresses.append(request.url))
        return page

    yield visit
    for context in contexts:
        context.close()
