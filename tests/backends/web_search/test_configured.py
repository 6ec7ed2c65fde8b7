"""What an operator sets up is what can be searched with."""

from __future__ import annotations

from app.backends.web_search.configured import PROVIDERS, configured


def test_nothing_set_is_nothing_to_search_with():
    assert configured(None, None, None, "", 60) == ()


def test_each_setting_sets_up_one_search_engine_and_says_who_gets_the_queries():
    searches = configured("http://127.0.0.1:8080", "b", "t", "s", 60)
    assert {each.name: each.destination for each in searches} == {
        "searxng": None,
        "brave": "api.search.brave.com",
        "tavily": "api.tavily.com",
        "serper": "google.serper.dev",
    }
    assert [each.name for each in searches] == [each.name for each in PROVIDERS]
    assert [each.name for each in configured("https://searx.example/", None, "t", None, 60)] == ["searxng", "tavily"]


def test_every_provider_names_its_setting():
    assert [each.setting for each in PROVIDERS] == ["SEARXNG_URL", "BRAVE_API_KEY", "TAVILY_API_KEY", "SERPER_API_KEY"]
