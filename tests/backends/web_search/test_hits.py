"""Search results of any shape become hits that can be shown and read."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.backends.web_search.base import Fields
from app.backends.web_search.registry import (
    parse_hits,
    plain_text,
    site_of,
)
from tests.backends.web_search.searching_at import TODAY

FIELDS = Fields("title", "url", "snippet", ("date", "age"))
PAGE = "https://example.org/page"


def made(*listed: object):
    return list(parse_hits(listed, FIELDS, TODAY))


@pytest.mark.parametrize(
    "result",
    [
        "text",
        {"title": "No address"},
        {"url": 42},
        {"url": "//example.org"},
        {"url": "https://[::1"},
        {"url": "https://example.org/" + "x" * 2000},
        {"url": "https://bbc.com@example.org/"},
        {"url": "javascript:alert(1)"},
    ],
)
def test_results_without_a_web_url_are_skipped(result):
    assert made(result) == []


def test_each_page_is_listed_once_at_its_best_rank():
    listed = [
        {"url": PAGE, "title": "First"},
        {"url": PAGE + "#part"},
        {"url": PAGE + "/"},
        {"url": PAGE + "?other"},
        {"url": PAGE},
    ]
    assert [hit.url for hit in made(*listed)] == [PAGE, PAGE + "?other"]
    same = {"title": "The mill", "snippet": "It was built in 1890."}
    assert len(made({"url": PAGE, **same}, {"url": PAGE + "?r=2mgxo2", **same})) == 1


@pytest.mark.parametrize(
    "other",
    [
        "http://example.org/a?b=1&c=2",
        "https://EXAMPLE.org./a/?c=2&b=1",
        "https://example.org/a?b=1&c=2#part",
        "https://example.org/a?b=1&utm_source=x&utm_medium=y&c=2&fbclid=z&gclid=1",
        "https://example.org/%61?b=1&c=2",
        "https://example.org/a/index.html?b=1&c=2",
        "https://amp.example.org/a?b=1&c=2",
        "https://example.org/a/amp/?b=1&c=2",
        "https://www.google.com/amp/s/example.org/a?b=1&c=2",
        "https://example-org.cdn.ampproject.org/c/s/example.org/a?b=1&c=2",
    ],
)
def test_a_page_under_another_address_is_the_same_page(other):
    assert len(made({"url": "https://example.org/a?b=1&c=2"}, {"url": other})) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/b"),
        ("https://example.org/a?id=1", "https://example.org/a?id=2"),
        ("https://example.org/A", "https://example.org/a"),
        ("https://example.org/", "https://news.example.org/"),
        ("https://example.org/#!/a", "https://example.org/#!/b"),
        ("https://en.wikipedia.org/wiki/A", "https://de.wikipedia.org/wiki/A"),
    ],
)
def test_another_page_is_not_the_same_page(one, other):
    assert len(made({"url": one}, {"url": other})) == 2


@pytest.mark.parametrize(
    ("said", "is_used"),
    [
        ({}, True),
        ({"date": ""}, True),
        ({"date": "Aug. 25, 2020"}, True),
        ({"date": "recently", "age": "Aug. 25, 2020"}, True),
        ({"date": "recently"}, False),
        ({"date": "5 hrs ago"}, False),
    ],
)
def test_a_date_that_cannot_be_parsed_counts_as_later_than_the_claim(said, is_used):
    found = list(parse_hits([{"url": PAGE, **said}], FIELDS, TODAY, "2020-08-31"))
    assert bool(found) is is_used


def test_the_first_readable_date_is_used():
    assert made({"url": PAGE, "date": "soon", "age": "September 1, 2026"})[0].published == "2026-09-01"
    assert made({"url": PAGE, "date": "2026-09-02T00:00:00", "age": "1 day ago"})[0].published == "2026-09-02"


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("http://EXAMPLE.org:8080/", "example.org"),
        ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com"),
        ("https://www.www.org/", "www.org"),
    ],
)
def test_the_site_is_the_real_host_of_the_url(url, site):
    assert site_of(url) == site


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<strong>Hamlet</strong> &amp; <b>Lear</b>", "Hamlet & Lear"),
        ("one<br>two<p>three", "one two three"),
        ("made 10<sup>6</sup> bricks, H<sub>2</sub>O", "made 10^6 bricks, H2O"),
        ("employed <del>40</del> <s>50</s> 60", "employed 60"),
        ("the token <s> begins", "the token begins"),
        ("photo<strong>graph</strong>s", "photographs"),
        ("3 < 4 and 5 > 4", "3 < 4 and 5 > 4"),
        ('<a title="the hidden gem" href="x>y">a gem</a>', "a gem"),
        ("before <p hidden>SECRET</p><script>SECRET</script><!-- SECRET --> after", "before after"),
        ('before <span style="display&#58;none">SECRET</span> after', "before after"),
        ("before <div hidden><b> never closed", "before"),
        ("&lt;script&gt;", "<script>"),
        ("bell\x07 null\x00", "bell null"),
        ("hid\u200bden\u202e\ufeff", "hidden"),
        ("<b>lone</b> \udcff surrogate", "lone surrogate"),
        ("one\u2028two&ZeroWidthSpace;\U000e0041\ufe0f\ue000\u3164", "one two"),
        ("<img src=x onerror=alert(1)>", ""),
        ("<!DOCTYPE html><?php echo 1 ?>text", "text"),
        ("&#7;&#x202e;bell", "bell"),
        ("<SCRIPT type='a'>never closed", ""),
    ],
)
def test_markup_and_invisible_characters_are_removed(text, shown):
    assert plain_text(text, 300) == shown


@pytest.mark.parametrize(
    "piece", ["<a", "<a ", "<!", "<!--", "<script", "<script>", "<a href='", "<p hidden>", "<s>", "<![ ", "&", "<"]
)
def test_text_designed_to_slow_a_parser_is_read_quickly(piece):
    begun = time.thread_time()
    plain_text(piece * 10**6, 300)
    assert time.thread_time() - begun < 1


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
RESULT = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("title", "url", "snippet", "date", "age"), JSON | st.just(PAGE))
)


@settings(max_examples=60, deadline=None)
@given(st.lists(RESULT | JSON, max_size=4))
def test_any_json_gives_hits_or_nothing(listed):
    for hit in made(*listed):
        assert hit.site and hit.url.startswith("http")
        assert "\n" not in hit.title + hit.snippet
        assert (hit.title + hit.snippet).encode("utf-8", "strict") is not None
