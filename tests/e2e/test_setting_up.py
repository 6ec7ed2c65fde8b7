"""The page "Set up" in a real browser, with and without its script."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.config.settings import Settings
from app.container.container import Container
from app.site_setup import SiteSetup
from tests.backends.web_search.search_server import Reply, SearchServer
from tests.e2e.test_accessibility import faults
from tests.openai_server import OpenAIServer
from tests.web import test_setting_up
from tests.web.test_setting_up import KEY, MODEL, FirstSentence, held, script

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect
hub = test_setting_up.hub
pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def site(live, tmp_path, database_url) -> Iterator[str]:
    """The address of a site over the application's own container; its tasks are stopped when the test ends."""
    container = Container(Settings(instance=tmp_path, database_url=database_url))
    container._reader = FirstSentence()
    yield live(container)
    service: SiteSetup = live.app.extensions["hopcheck"].setup()
    for task in service.tasks():
        service.stop(task.work.name)


def add_model(page, site: str, server: OpenAIServer) -> None:
    page.goto(f"{site}/setup")
    page.get_by_label("Server", exact=True).fill(server.url)
    page.get_by_label("Model, as the server names it").fill("tiny")
    page.get_by_label("Key (most servers").fill(KEY)
    page.locator("#models").get_by_role("button", name="Test and add").click()
    expect(page.locator("#models [role=status]")).to_have_text("It answered")


@pytest.mark.parametrize("script_on", [True, False], ids=["with script", "without script"])
def test_a_key_is_never_shown_again(site, visitor, script_on):
    page = visitor(java_script_enabled=script_on)
    with OpenAIServer(script) as server:
        add_model(page, site, server)
        page.reload()
        assert KEY not in page.content() and page.get_by_label("Key (most servers").input_value() == ""
        page.goto(site)
        expect(page.locator("#model option[value=tiny]")).to_have_count(1)
    page.goto(f"{site}/setup")
    with SearchServer([Reply({"results": []})]) as engine:
        page.get_by_label("Service").select_option("SearXNG")
        page.get_by_label("Key, or the address").fill(engine.url)
        page.locator("#keys").get_by_role("button", name="Test and add").click()
        expect(page.locator("#keys [role=status]")).to_have_text("It answered")
        assert engine.url not in page.content() and page.get_by_label("Key, or the address").input_value() == ""
    page.goto(site)
    expect(page.locator("#from_source option[value=web]")).to_have_count(1)
    page.goto(f"{site}/setup")
    page.get_by_label("Server", exact=True).fill("http://127.0.0.1:9/v1")
    page.get_by_label("Model, as the server names it").fill("other")
    page.get_by_label("Key (most servers").fill(KEY)
    page.locator("#models").get_by_role("button", name="Test and add").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    assert KEY not in page.content() and page.get_by_label("Model, as the server names it").input_value() == "other"
    for section in ("models", "keys"):
        page.locator(f"#{section} li button").click()
        expect(page.locator(f"#{section} li")).to_have_count(0)


def test_a_download_is_offered_with_size_and_licence_shows_its_progress_is_cancelled_and_goes_on(site, hub, visitor):
    page = visitor()
    page.goto(site)
    page.get_by_role("button", name="Download Simple Wikipedia").click()
    expect(page.locator("#wikipedia .notice")).to_contain_text("as of 1 November 2023, 1 file")
    expect(page.locator("#wikipedia .notice")).to_contain_text("licence CC BY-SA 3.0")
    page.get_by_label("File on the hub").fill(f"hub:owner/repository/{MODEL}")
    page.get_by_role("button", name="Show size and licence").click()
    expect(page.locator("#files .notice")).to_contain_text("24 MB, licence mit")
    hub.hold()
    page.get_by_role("button", name="Download it").click()
    tasks = page.locator("#tasks")
    expect(tasks).to_contain_text("44% of 24 MB")
    expect(tasks.locator("progress")).to_have_attribute("value", "0.437")
    page.get_by_role("button", name="Cancel").click()
    expect(tasks).to_contain_text("Stopped at 44%")
    hub.release()
    page.get_by_role("button", name="Go on").click()
    expect(tasks).to_contain_text("Ready")
    page.goto(site)
    expect(page.locator("#model option[value=tiny-chat]")).to_have_count(1)
    assert page.complaints == []


def test_the_page_has_no_fault_in_any_state_width_or_colours(site, visitor, tmp_path):
    page = visitor(reduced_motion="reduce", viewport={"width": 320, "height": 900})
    page.goto(f"{site}/setup")
    found = {"empty": faults(page)}
    with OpenAIServer(script) as server, held(tmp_path, "simple-wikipedia"):
        (stopped := Path(tmp_path, "tasks", "stopped")).mkdir()
        kept = (tmp_path / "tasks/simple-wikipedia/task.json").read_text()
        (stopped / "task.json").write_text(kept.replace("simple-wikipedia", "stopped"))
        add_model(page, site, server)
        found["model and tasks"] = faults(page)
        page.get_by_role("link", name="Check now").click()
        page.get_by_text("in order").first.click()
        expect(page.locator("#doctor")).to_contain_text("To fix:")
        found["doctor"] = faults(page)
        page.get_by_label("Server", exact=True).fill("http://127.0.0.1:9/v1")
        page.get_by_label("Model, as the server names it").fill("other")
        page.locator("#models").get_by_role("button", name="Test and add").click()
        page.get_by_role("alert").wait_for()
        found["refused"] = faults(page)
    assert not any(found.values()), found
