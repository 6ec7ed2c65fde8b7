"""A live server over scripted runs, and Chromium to visit it with."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from flask import Flask
from jinja2 import BytecodeCache
from werkzeug.serving import make_server

from app import create_app
from app.config.settings import Settings
from tests.fakes import FakeContainer, scripted_container
from tests.waiting import until

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""Programs to drive, the preferred one first: the headless shell needs a third of the CPU time for each window."""
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]

BROWSER_TIMEOUT_MS = 90_000
"""Milliseconds to wait for the browser; less than a Gate of tests/fakes.py holds a run."""


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item):
    item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def browser() -> Iterator:
    """One Chromium for all tests of this folder; each test opens contexts of its own.

    It ends with the folder, because Playwright keeps an event loop running, in which `asyncio.run` cannot be called.
    """
    if not CHROMIUM:
        pytest.skip(f"Chromium is not installed; on Debian: apt-get install {BROWSERS[0]}")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup")
    playwright.expect.set_options(timeout=BROWSER_TIMEOUT_MS)
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@contextmanager
def serving(app: Flask, front: Callable | None = None) -> Iterator[str]:
    """Serve an application, or the WSGI application `front` that wraps it, and yield its address."""
    server = make_server("127.0.0.1", 0, front or app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        app.extensions["hopcheck"].runs.stop()
        server.shutdown()


class Live:
    """Serves an application over the given container on a free port; returns its address."""

    def __init__(self, folder: Path, database_url: str, compiled: BytecodeCache, stack: ExitStack) -> None:
        self._folder = folder
        self._database_url = database_url
        self._compiled = compiled
        self._stack = stack

    def __call__(self, container: FakeContainer | None = None, **settings) -> str:
        given = Settings(instance=self._folder, database_url=self._database_url, **settings)
        self.app = create_app(given, container or scripted_container(delay=0.1))
        self.app.jinja_env.bytecode_cache = self._compiled
        return self._stack.enter_context(serving(self.app))

    def wait_for_follower(self) -> None:
        """Wait until a page follows a run: its stream may connect some time after it was loaded."""
        followers = self.app.extensions["hopcheck"].followers
        until(lambda: followers.count, "a follower")


@pytest.fixture
def live(tmp_path, database_url, compiled) -> Iterator[Live]:
    """Start a site for this test."""
    with ExitStack() as stack:
        yield Live(tmp_path, database_url, compiled, stack)


@pytest.fixture
def visitor(browser) -> Iterator[Callable]:
    """Open a page in a context of its own that records its errors and the addresses it requests."""
    contexts = []

    def visit(**options):
        context = browser.new_context(**options)
        context.set_default_timeout(BROWSER_TIMEOUT_MS)
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
