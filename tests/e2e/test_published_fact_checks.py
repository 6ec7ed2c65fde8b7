"""Published fact-checks in a real browser: chosen under Options, and shown beside the verdict or as not available."""

from __future__ import annotations

import pytest

from tests.backends.web_search.search_server import Reply, SearchServer
from tests.e2e.test_accessibility import faults
from tests.e2e.test_browser import CLAIM, expect_verdict, type_claim
from tests.fakes import scripted_container
from tests.web.test_published_fact_checks import PUBLISHED, REVIEW, reply, searching

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed; run make setup").expect


@pytest.mark.parametrize("javascript", [True, False], ids=["script", "no script"])
@pytest.mark.parametrize(("answer", "words"), [(reply(REVIEW), PUBLISHED.rating), (Reply({}, 500), "failed (500)")])
def test_a_lookup_is_ticked_under_options_and_its_result_is_beside_the_verdict(
    live, visitor, answer, words, javascript
):
    page = visitor(java_script_enabled=javascript, reduced_motion="reduce", viewport={"width": 320, "height": 640})
    with SearchServer([answer]) as server:
        type_claim(page, live(scripted_container(look_up=searching(server.url).look_up)), CLAIM)
        page.get_by_text("Options", exact=True).click()
        page.get_by_role("checkbox", name="Published fact-checks").check()
        page.get_by_role("button", name="Check it", exact=True).click()
        page.wait_for_url("**/runs/*")
        expect_verdict(page)
    expect(page.locator("#verdict")).to_contain_text(words)
    if javascript:
        assert (faults(page), page.complaints) == ({}, [])
