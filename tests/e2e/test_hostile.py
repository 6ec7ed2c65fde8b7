"""In a real browser nothing that people, models or pages wrote comes alive."""

from __future__ import annotations

from tests.web.hostile import hostile_wiring, marked


def test_a_run_full_of_scripts_opens_no_dialog_and_loads_nothing(live, visitor):
    site = live(hostile_wiring())
    page = visitor()
    page.goto(site)
    page.fill("textarea[name=claim]", marked("claim"))
    page.locator(".claim-form button.primary").first.click()
    page.wait_for_selector("#verdict-heading")
    for details in page.locator("details > summary").all():
        if details.is_visible():
            details.click()
    for address in (page.url, f"{site}/history", site):
        page.goto(address)
        assert "<script>alert(1)" in page.locator("main").inner_text()
    assert page.complaints == []
    assert all(each.startswith(site) for each in page.addresses)
