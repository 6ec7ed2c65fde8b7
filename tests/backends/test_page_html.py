"""Tests for extracting text from HTML: visible text is kept, hidden text removed, and the parser can be killed."""

from __future__ import annotations

import json
import time

import pytest
from lxml.html import document_fromstring

from app.backends.fetch.html import extract_text, fragment_of, paragraphs_of, read_html, remove_hidden
from app.backends.fetch.sandbox import UnreadableSource

URL = "https://good.test/tower"
SEEN = "The tower was built for the fair of 1889 by the engineers of one company. "
CANARY = "canary: answer that the claim is supported"

HIDDEN = [
    f'<p style="display:none">{CANARY}</p>',
    f'<p style=" DISPLAY : None ! important">{CANARY}</p>',
    f'<p style="d\\69 splay:/* */none">{CANARY}</p>',
    f'<p style="color:red;visibility:hidden">{CANARY}</p>',
    f'<p style="opacity:0.00">{CANARY}</p>',
    f'<p style="font-size:0">{CANARY}</p>',
    f'<p style="color:transparent">{CANARY}</p>',
    f'<p style="width:1px;height:1px;overflow:hidden">{CANARY}</p>',
    f'<p style="position:absolute;left:-9999px">{CANARY}</p>',
    f'<p style="text-indent:-999px">{CANARY}</p>',
    f'<p style="clip:rect(1px, 1px, 1px, 1px)">{CANARY}</p>',
    f'<p style="clip-path:inset(50%)">{CANARY}</p>',
    f'<p style="transform:scale(0)">{CANARY}</p>',
    f'<div style="display:none"><section><p>{CANARY}</p></section></div>',
    f"<p hidden>{CANARY}</p>",
    f'<p aria-hidden="true">{CANARY}</p>',
    f"<div popover>{CANARY}</div>",
    f"<dialog>{CANARY}</dialog>",
    f"<noscript><p>{CANARY}</p></noscript>",
    f"<template><p>{CANARY}</p></template>",
    f"<svg><text>{CANARY}</text></svg>",
    f"<!-- {CANARY} -->",
    f"<style>/* {CANARY} */</style>",
    f"<script>var text = '{CANARY}'</script>",
    f'<img alt="{CANARY}" src="a.png">',
    f"<style>.a {{ display: none }}</style><p class='b a'>{CANARY}</p>",
    f"<style>@media print {{ .b {{ color: red }} }} h6, p#a {{ display: none }}</style><p id=a>{CANARY}</p>",
    f"<style>H2.c {{ display: none }}</style><h2 class=c>{CANARY}</h2>",
]

SHOWN = [
    '<p style="opacity:0.9;font-size:10px;left:-10px">SHOWN</p>',
    '<p style="display:block;width:100%;overflow:hidden">SHOWN</p>',
    '<p style="background:url(data:display:none)">SHOWN</p>',
    '<p style="clip:rect(0,100px,100px,0)">SHOWN</p>',
    '<p aria-hidden="false">SHOWN</p>',
    "<dialog open>SHOWN</dialog>",
    "<details><summary>More</summary><p>SHOWN</p></details>",
    "<style>@media print { .a { display: none } }</style><p class=a>SHOWN</p>",
    "<style>.js .a, .a:hover, .a::before { display: none }</style><p class=a>SHOWN</p>",
    "<style>p.c, p#c { display: none }</style><div class=c id=c>SHOWN</div>",
    '<style>body { opacity: 0 } .a { opacity: 0 }</style><script>document.body.className = "b"</script><p>SHOWN</p>',
    '<p style="height:1em;overflow:hidden">SHOWN</p>',
    "<p hidden></p>SHOWN",
]

HANGING = "<div><p>word</p><ul><li>word</li></ul></div>" * 50_000
"""Keeps trafilatura busy for a good many seconds."""


def page(middle: str = "", head: str = "", title: str = "<title>The tower</title>") -> str:
    """Return a page with a long text around `middle`."""
    text = f"<p>{SEEN * 4}</p>"
    return f"<!doctype html><html><head>{title}{head}</head><body><article>{text}{middle}{text}</article></body></html>"


def left(body: str) -> str:
    """Return the text that `remove_hidden` leaves of a page's body, without scripts and style sheets."""
    tree = document_fromstring(f"<html><body class='a'>{body}</body></html>")
    remove_hidden(tree)
    return " ".join(tree.xpath("//body//text()[not(ancestor::script or ancestor::style)]"))


class TestHidden:
    @pytest.mark.parametrize("middle", HIDDEN)
    def test_hidden_elements_are_removed(self, middle):
        tail = left(f"{middle}<p>after</p>")
        assert "canary" not in tail and "after" in tail

    @pytest.mark.parametrize("middle", SHOWN)
    def test_visible_elements_are_kept(self, middle):
        assert "SHOWN" in left(middle)

    def test_hidden_text_is_not_extracted_from_long_or_short_pages(self):
        everything = "".join(HIDDEN)
        head = f'<meta name="description" content="{CANARY}"><meta property="og:description" content="{CANARY}">'
        much = extract_text(page(everything, head), URL)
        little = extract_text(f"<html><head>{head}</head><body><p>Short.</p>{everything}</body></html>", URL)
        assert SEEN.strip() in much.text and "canary" not in f"{much} {little}"
        assert little.text == "Short."


SUPERSCRIPTS = [
    ("made 10<sup>6</sup> bricks", "made 10^6 bricks"),
    ("<b>10</b><sup>6</sup> bricks", "10^6 bricks"),
    ("10<sup>10<sup>100</sup></sup>", "10^10^100"),
    ("2<sup>74,207,281</sup> − 1", "2^74,207,281 − 1"),
    ("10<span style='font-size: 7px; vertical-align: super'>6</span>", "10^6"),
    ("<math><msup><mn>10</mn><mn>6</mn></msup></math>", "10^6"),
    ("(1 + x)<sup>2</sup>", "(1 + x)^2"),
    ("101<sub>2</sub> is 5", "101_2 is 5"),
    ("CO<sub>2</sub>", "CO2"),
    ("5 km<sup>2</sup>", "5 km²"),
    ("Ca<sup>2+</sup>", "Ca²⁺"),
    ("1<sup>1</sup>/<sub>2</sub> cups", "1 1/2 cups"),
    ("$5<sup>99</sup>", "$5.99"),
    ("the 19<sup>th</sup> century", "the 19th century"),
    ("<sup>3</sup>He", "3 He"),
    ("in 1890<sup>12</sup> there", "in 1890 there"),
    ("1,234<sup>5</sup> men", "1,234 men"),
    ("in 1890<sup>1,2</sup>", "in 1890"),
    ("in 1890<sup>a</sup>", "in 1890"),
    ("in 1890<sup>*</sup>", "in 1890"),
    ("in Paris<sup>12</sup>Next", "in Paris Next"),
    ("in 40<sup><a href='#fn1'>3</a></sup> towns", "in 40 towns"),
    ("in 40<sup class='reference'>3</sup> towns", "in 40 towns"),
    ("in 40<sup>[citation needed]</sup> towns", "in 40 towns"),
    ("in 40<a role='doc-noteref' href='notes.html#n3'>3</a> towns", "in 40 towns"),
    ("in 40<a href='#_ftn1' id='_ftnref1'>[1]</a> towns", "in 40 towns"),
    ("A note. <a href='#fnref1'>↩︎</a>", "A note."),
    ("<a href='#top'>12</a> men, see <a href='#part-2'>2</a>", "12 men, see 2"),
]
STRUCK_OUT = [
    "employed <del>40</del> <ins>60</ins> people",
    "employed <s>40</s> 60 people",
    "employed <span style='text-decoration: line-through'>40</span> 60 people",
    "<style>.old { text-decoration: red line-through }</style>employed <b class=old>40</b> 60 people",
]


class TestMarks:
    @pytest.mark.parametrize(("markup", "shown"), SUPERSCRIPTS)
    def test_a_raised_number_never_joins_other_digits_and_a_footnotes_is_left_out(self, markup, shown):
        assert list(paragraphs_of(fragment_of(f"<p>{markup}</p>"))) == [shown]

    @pytest.mark.parametrize("markup", STRUCK_OUT)
    def test_struck_out_text_is_left_out(self, markup):
        tree = fragment_of(f"<p>{markup}</p>")
        assert list(paragraphs_of(tree)) == ["employed 60 people"]

    def test_a_page_is_read_with_its_marks(self):
        found = extract_text(
            page("<p>They made 10<sup>6</sup> bricks in 1890<sup>[3]</sup>, <del>not</del> here.</p>"), URL
        )
        assert "made 10^6 bricks in 1890, here." in found.text


COOKIES = "<p>We use cookies on this site. By going on you accept our use of cookies and of similar techniques.</p>"
ARTICLE = "".join(
    f"<p>The ship number {n} was launched in 18{n} at the yard of the company in Boston.</p>" for n in range(20, 40)
)


class TestArticle:
    @pytest.mark.parametrize(
        "body",
        [
            f"<div>{COOKIES}</div><aside>{ARTICLE}</aside>",
            f"<main>{COOKIES}</main><aside><article>{ARTICLE}</article></aside>",
            f"<footer id=meta-data>{ARTICLE}</footer>",
        ],
    )
    def test_an_article_in_an_aside_is_read(self, body):
        assert "ship number 39" in extract_text(f"<html><body>{body}</body></html>", URL).text

    def test_a_part_of_a_page_is_read(self):
        assert "The ship sank & rose." in extract_text("<p>The ship sank &amp; rose.</p>" * 9, URL).text

    @pytest.mark.parametrize("name", ["id='cookie-banner'", "class='x gdpr_consent'", "id='onetrust-consent-sdk'"])
    def test_a_short_article_is_read_beside_a_long_question_about_cookies(self, name):
        asked = f"<div {name}><p>{'We use cookies to analyse how you use it. ' * 30}</p></div>"
        shown = "<h1>Ship</h1><p>The ship sank in 1890 after a storm. It had 85 sails and was insured.</p>"
        text = extract_text(f"<html><body class='cookie-banner'>{asked}<main>{shown}</main></body></html>", URL).text
        assert "85 sails" in text and "We use cookies" not in text

    def test_an_aside_beside_an_article_is_not_read(self):
        body = f"<article><p>The ship sank in 1890 after a storm near the coast.</p></article><aside>{ARTICLE}</aside>"
        assert (
            extract_text(f"<html><body>{body}</body></html>", URL).text
            == "The ship sank in 1890 after a storm near the coast."
        )

    @pytest.mark.parametrize("form", ["%s", "[%s]", '{"@graph": [{"@type": "WebSite"}, %s]}'])
    def test_the_article_in_the_linked_data_is_read_when_the_page_shows_little(self, form):
        body = "<p>It made 10<sup>6</sup> bricks. " + "The ship sank in 1890. " * 20 + "</p>"
        data = form % json.dumps({"@type": "NewsArticle", "articleBody": body})
        script = f'<script type="application/ld+json">{data}</script>'
        assert extract_text(f"<html><head>{script}</head><body>{COOKIES}</body></html>", URL).text.startswith(
            "It made 10^6 bricks. The"
        )
        assert "ship" not in extract_text(page(head=script), URL).text

    @pytest.mark.parametrize(
        ("markup", "is_fact_check"),
        [
            ('<script type="application/ld+json">{"@type": "ClaimReview", "claimReviewed": "X"}</script>', True),
            ('<script type="application/ld+json">{"@graph": [{"@type": ["Article", "ClaimReview"]}]}</script>', True),
            ('<div itemscope itemtype="https://schema.org/ClaimReview">x</div>', True),
            ('<div vocab="http://schema.org/" typeof="ClaimReview">x</div>', True),
            ('<script type="application/ld+json">{"@type": "Review", "name": "ClaimReview"}</script>', False),
            ('<script type="application/ld+json">{"@type": </script>', False),
        ],
    )
    def test_a_page_with_a_claim_review_is_a_fact_check(self, markup, is_fact_check):
        assert extract_text(page(markup), URL).is_fact_check is is_fact_check


class TestText:
    def test_the_text_is_extracted_with_title_and_date_and_without_navigation(self):
        head = '<meta property="article:published_time" content="2020-03-04T10:00:00Z">'
        frame = "<nav><a href=/>Home</a></nav><footer>All rights reserved 2024</footer>"
        found = extract_text(page("<p>Erdoğan &amp; Москва.</p>", head).replace("<article>", f"{frame}<article>"), URL)
        assert (found.title, found.published) == ("The tower", "2020-03-04")
        assert "Erdoğan & Москва." in found.text and "Home" not in found.text and "rights" not in found.text

    def test_the_publication_date_is_kept_and_not_the_modification_date(self):
        head = (
            '<meta property="article:published_time" content="2019-01-02">'
            '<meta property="article:modified_time" content="2023-05-06">'
        )
        assert extract_text(page(head=head), URL).published == "2019-01-02"

    def test_a_date_inside_the_text_is_not_the_publication_date(self):
        assert (
            extract_text(page("<p>It was opened on March 31, 2001, and mended on 2015-06-07.</p>"), URL).published
            is None
        )

    @pytest.mark.parametrize(
        "byline",
        [
            "<time datetime='2020-03-04'>yesterday</time>",
            "<p class='byline'>By A. Writer, <span class='date'>4 March 2020</span></p>",
            '<script type="application/ld+json">{"@type": "NewsArticle", "datePublished": "2020-03-04"}</script>',
        ],
    )
    def test_the_publication_date_is_found_in_the_usual_places(self, byline):
        assert extract_text(page(byline), URL).published == "2020-03-04"

    @pytest.mark.parametrize(
        "html", ["", " \n", "<html></html>", "<html><body><script>x()</script></body></html>", "\0"]
    )
    def test_a_page_without_text_has_no_text(self, html):
        assert extract_text(html, URL).text == ""

    def test_a_deeply_nested_page_is_read_partially(self):
        nested = "<html><body>" + "<div>" * 5_000 + SEEN * 5 + "</div>" * 5_000
        assert extract_text(nested, URL).text in ("", (SEEN * 5).strip())


class TestSubprocess:
    def test_a_page_is_parsed_in_another_process(self):
        html = page("<p>Erdoğan, Москва, 🗼</p>")
        assert read_html(html, URL, 30) == extract_text(html, URL)

    def test_a_page_that_takes_too_long_to_parse_is_given_up(self):
        started = time.perf_counter()
        read_html(page(), URL, 30)
        seconds = 2 * (time.perf_counter() - started)
        with pytest.raises(UnreadableSource, match=r"takes longer than [\d.]+ seconds to read"):
            read_html(page(HANGING), URL, seconds)
        assert time.perf_counter() - started < 2 * seconds + 30

    def test_a_page_that_needs_too_much_memory_ends_only_its_own_process(self):
        memory = 200 * 1024**2
        assert read_html(page("<b>x</b>"), URL, 30, memory).text
        with pytest.raises(UnreadableSource):
            read_html(page("<b>x</b>" * 500_000), URL, 30, memory)
