"""Search engines follow from the operator's settings."""

from __future__ import annotations

import pytest

from app.backends.web_search.registry import PROVIDERS, configured_searches
from app.domain.errors import SettingsError


def test_each_setting_configures_one_search_engine_with_its_destination():
    keys = {"BRAVE_API_KEY": "b", "TAVILY_API_KEY": "t", "SERPER_API_KEY": "s"}
    searches = configured_searches({"SEARXNG_URL": "http://127.0.0.1:8080", **keys}, 60)
    assert {each.name: each.destination for each in searches} == {
        "searxng": None,
        "brave": "api.search.brave.com",
        "tavily": "api.tavily.com",
        "serper": "google.serper.dev",
    }
    assert [each.name for each in searches] == [each.name for each in PROVIDERS]
    two = configured_searches({"TAVILY_API_KEY": "t", "SEARXNG_URL": "https://searx.example/"}, 60)
    assert [each.name for each in two] == ["searxng", "tavily"]


@pytest.mark.parametrize(
    "url",
    ["searx.example", "ftp://searx.example", "http://", "http://[::1", "http://a:99999", "http://who:secret@a.example"],
)
def test_an_invalid_searxng_url_is_reported_without_showing_it(url):
    with pytest.raises(SettingsError, match=r"^SEARXNG_URL must be a URL like") as status_message:
        configured_searches({"SEARXNG_URL": url}, 60)
    assert "secret" not in str(status_message.value)
