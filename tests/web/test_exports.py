"""Exports of an ended run as JSON, Markdown, ClaimReview, RIS and BibTeX, for anybody with its link."""

from __future__ import annotations

import html
import json
import re

import bibtexparser
import jsonschema_rs
import pytest
import rispy
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.domain.model import Answer, Judgement, Label, Origin, Passage, Span, Verdict
from app.runs.report_schema import export_schema
from app.web.exporters.markdown import bold, line, link, plain
from tests.fakes import (
    FAILING,
    ONE_SET_ASIDE,
    SUPPORTED,
    TWO_HOPS,
    Script,
    ScriptedHop,
    answer,
    scripted_container,
)
from tests.web.conftest import ended_run, press

FORMS = ("export.json", "export.md", "export.html", "claimreview.json", "export.ris", "export.bib")
HOSTILE = '[click](https://evil.example) <script>alert(1)</script> "</script>"'


@pytest.fixture
def browse(make_app):
    """A browser on an application whose runs follow these scripts."""
    return lambda *scripts, **fields: make_app(scripted_container(*scripts, **fields)).test_client()


@pytest.mark.parametrize("script", [TWO_HOPS, ONE_SET_ASIDE, FAILING], ids=["verdict", "set-aside", "failed"])
def test_the_json_export_matches_its_schema(browse, script):
    client = browse(script)
    path = ended_run(client, speaker="A teacher", date="2020-10-31")
    answered = client.get(f"{path}/export.json")
    assert answered.mimetype == "application/json"
    schema = client.get("/export.schema.json").json
    assert schema == export_schema()
    jsonschema_rs.validate(schema, answered.json)
    assert (answered.json["id"], answered.json["version"]) == (path.rpartition("/")[2], 1)


@pytest.mark.parametrize("form", FORMS)
def test_anyone_with_the_link_gets_a_file_named_after_the_claim(browse, form):
    client = browse()
    path = ended_run(client, claim="“Hamlet” was written in 1601, née Amleth.")
    answered = client.application.test_client().get(f"{path}/{form}")
    ending = form.removeprefix("export.")
    expected = f"attachment; filename=hopcheck-hamlet-was-written-in-1601-n-e-amleth.{ending}"
    assert (answered.status_code, answered.headers["Content-Disposition"]) == (200, expected)
    assert answered.headers["X-Robots-Tag"] == "noindex"
    assert "Set-Cookie" not in answered.headers


def test_the_markdown_contains_the_whole_trail(browse):
    client = browse(ONE_SET_ASIDE)
    path = ended_run(client, speaker="A teacher", date="2020-10-31")
    answered = client.get(f"{path}/export.md")
    assert answered.mimetype == "text/markdown"
    text = answered.text
    for content in (
        "# Hamlet's author was born in England.",
        "Said by A teacher, 2020-10-31",
        f"[with Hopcheck](<http://localhost{path}>)",
        "## Verdict: True (Supported)",
        "Source: Wikipedia extracts (offline). Model: local models.",
        "High confidence",
        "He was born in England. ([step 2](#step-2))",
        "*A machine made this verdict, and machines are often wrong. Read the evidence before you rely on it.*",
        "### Step 1",
        "**Is Hamlet a play?**",
        "No answer was found in what was read.",
        "Not used, ",
        "There was no answer.",
        "Answer: William Shakespeare",
        "> Hamlet is a play by **William Shakespeare**.",
        "\n\n[Hamlet](<https://en.wikipedia.org/wiki/Hamlet>), Vital articles, CC BY-SA 4.0, date unknown",
        "- [Denmark](<https://en.wikipedia.org/wiki/Denmark>), Vital articles, CC BY-SA 4.0, date unknown",
        "- Reasoner: scripted",
    ):
        assert content in text, content


def test_the_html_file_has_the_trail_and_needs_no_other_file(browse):
    client = browse(ONE_SET_ASIDE)
    path = ended_run(client, claim=HOSTILE)
    answered = client.get(f"{path}/export.html")
    assert answered.headers["Content-Disposition"].startswith("attachment")
    page = answered.text
    assert "<script" not in page and "<form" not in page and "<link" not in page and "--ground:" in page
    assert re.findall(r'href="([^#"]*)"', page).count(f"http://localhost{path}") == 1
    assert not re.findall(r'(?:href|src)="/', page), "a link into a site that the reader may not reach"
    assert "Is Hamlet a play?" in page and "<mark>William Shakespeare</mark>" in page and "Denmark" in page


def test_hostile_text_is_escaped_in_the_markdown(browse):
    found = answer("Shakespeare", f"{HOSTILE} Shakespeare {HOSTILE}", HOSTILE)
    verdict = Verdict(Label.REFUTED, (), HOSTILE)
    client = browse(Script((ScriptedHop(HOSTILE, found),), verdict))
    text = client.get(f"{ended_run(client, claim=HOSTILE, speaker=HOSTILE)}/export.md").text
    page = MarkdownIt("commonmark").render(text)
    assert "<script" not in page and 'href="https://evil.example' not in page
    assert page.count("[click](https://evil.example)") >= 6


def test_the_claim_review_has_a_software_author_and_a_rating_with_its_scale(browse):
    client = browse()
    path = ended_run(client, claim="Hamlet is English.", speaker="A teacher", date="2020-10-31")
    answered = client.get(f"{path}/claimreview.json")
    assert answered.mimetype == "application/ld+json"
    review = json.loads(answered.text)
    assert (review["@context"], review["@type"], review["claimReviewed"]) == (
        "https://schema.org",
        "ClaimReview",
        "Hamlet is English.",
    )
    assert review["url"] == f"http://localhost{path}"
    assert (review["author"]["@type"], review["author"]["name"]) == ("Organization", "Hopcheck")
    assert "A machine made this verdict" in review["author"]["description"]
    assert review["itemReviewed"] == {
        "@type": "Claim",
        "author": {"@type": "Thing", "name": "A teacher"},
        "datePublished": "2020-10-31",
    }
    assert review["reviewRating"] == {
        "@type": "Rating",
        "alternateName": "True",
        "ratingValue": 5,
        "bestRating": 5,
        "worstRating": 1,
        "ratingExplanation": "Hamlet was written by William Shakespeare. He was born in England.",
    }


@pytest.mark.parametrize(
    "label, rating",
    [
        (Label.REFUTED, {"alternateName": "False", "ratingValue": 1, "bestRating": 5, "worstRating": 1}),
        (Label.NOT_ENOUGH_EVIDENCE, {"alternateName": "Can’t tell"}),
        (Label.CONFLICTING_EVIDENCE, {"alternateName": "Sources disagree"}),
    ],
)
def test_the_claim_review_has_a_number_only_for_a_decisive_verdict(browse, label, rating):
    client = browse(Script(TWO_HOPS.hops, Verdict(label, ())))
    review = json.loads(client.get(f"{ended_run(client)}/claimreview.json").text)
    assert review["reviewRating"] == {"@type": "Rating", **rating}
    assert review["itemReviewed"] == {"@type": "Claim"}


def test_only_the_page_of_a_published_report_contains_its_claim_review(make_app):
    client = make_app(scripted_container(), publishing=True).test_client()
    path = ended_run(client, claim=HOSTILE)
    assert "ld+json" not in client.get(path).text
    assert press(client, path, "publish").status_code == 303
    (content,) = re.findall(r'<script type="application/ld\+json">([^<]*)</script>', client.get(path).text)
    assert json.loads(content) == client.get(f"{path}/claimreview.json").get_json(force=True)
    press(client, path, "unpublish")
    assert "ld+json" not in client.get(path).text


def references(client, path: str) -> tuple[list[dict], list[dict]]:
    """Return the entries of the RIS and of the BibTeX export, each read by a library for reference managers."""
    ris, bib = client.get(f"{path}/export.ris"), client.get(f"{path}/export.bib")
    assert (ris.mimetype, bib.mimetype) == ("application/x-research-info-systems", "application/x-bibtex")
    library = bibtexparser.parse_string(bib.text)
    assert not library.failed_blocks
    keys = [entry.key for entry in library.entries]
    assert len(set(keys)) == len(keys) and all(re.fullmatch("[a-z0-9]+", key) for key in keys)
    return rispy.loads(ris.text), [{each.key: each.value for each in entry.fields} for entry in library.entries]


def test_a_reference_manager_reads_each_cited_source_once(browse):
    client = browse(ONE_SET_ASIDE)
    path = ended_run(client)
    ris, bib = references(client, path)
    day = client.get(f"{path}/export.json").json["created_at"][:10]
    assert ris == [
        {
            "type_of_reference": "ELEC",
            "title": title,
            "publisher": "Vital articles, CC BY-SA 4.0",
            "urls": [f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}"],
            "access_date": day.replace("-", "/"),
        }
        for title in ("Hamlet", "William Shakespeare")
    ]
    assert [(each["title"], each["howpublished"], each["url"]) for each in bib] == [
        (f"{{{each['title']}}}", each["publisher"], each["urls"][0]) for each in ris
    ]


def cited_page(title: str, site: str, url: str, published: str | None) -> ScriptedHop:
    found = Passage("It is so.", title, site, url, published, Origin.WEB)
    return ScriptedHop(f"What is {title}?", Answer("so", Span(found, 6, 8), (found,)))


def test_references_to_web_pages_have_their_date_and_the_day_they_were_read(browse):
    client = browse(
        Script((cited_page("The tower", "tower.example", "https://tower.example/", "2020-10-30"),), SUPPORTED)
    )
    path = ended_run(client)
    (ris,), (bib,) = references(client, path)
    day = client.get(f"{path}/export.json").json["created_at"][:10]
    assert (ris["year"], ris["date"], ris["access_date"]) == ("2020", "2020/10/30", day.replace("-", "/"))
    assert (bib["year"], bib["date"], bib["urldate"]) == ("2020", "2020-10-30", day)


@pytest.mark.parametrize(
    "text",
    [
        "} unbalanced {{ braces",
        r"100% of \input{secret} & $x^2$ ~ #1_a",
        "a\nER  - \nTY  - JOUR",
        "@misc{forged, title={x}}",
    ],
)
def test_hostile_titles_end_no_record_and_start_none(browse, text):
    client = browse(Script((cited_page(text, text, f"https://tower.example/?a={text}", text),), SUPPORTED))
    (ris,), (bib,) = references(client, ended_run(client))
    assert ris["title"] == " ".join(text.split())
    assert set(ris) == {"type_of_reference", "title", "publisher", "urls", "access_date"}
    assert not re.search(r"(?<!\\)[%&$#_]|\\input", bib["title"])
    assert set(bib) == {"title", "howpublished", "url", "urldate"}


def test_recited_text_and_sources_of_answers_set_aside_are_no_references(browse):
    recited = Passage("It is so.", "Memory", "the model", None, None, Origin.RECITED)
    aside = cited_page("Aside", "aside.example", "https://aside.example/", None)
    hops = (
        ScriptedHop("What is it?", Answer("so", Span(recited, 6, 8), (recited,))),
        ScriptedHop(aside.question, aside.answer, Judgement(False, "It is beside the point.")),
    )
    client = browse(Script(hops, SUPPORTED))
    path = ended_run(client)
    answer = client.get(f"{path}/export.bib")
    assert answer.status_code == 409 and "No kept answer of this report cites a source" in answer.text
    assert "export.bib" not in client.get(path).text


COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE_MARKUP = [
    "[click](https://evil.example)",
    "![](https://evil.example/pixel.png)",
    "<img src=x onerror=alert(1)>",
    "<https://evil.example>",
    "<script>alert(1)</script>",
    "&lt;b&gt; &#106;avascript",
    "**bold** __too__ ~~gone~~ `code` $maths$",
    "[a]: https://evil.example",
    "one\n\n# two\n===\n---\n> three\n\n    four",
    "``` \n```",
    "| a | b |\n|---|---|\n| c | d |",
    "a trailing backslash \\",
    "C #",
]
pieces = st.sampled_from([*"\\`*_[]()<>!#+-=.~|$&@:;/ \n\t1aé", "](", "<!--", "http://", "&lt;", "1.", "  \n", "www."])
texts = st.one_of(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.lists(pieces).map("".join))


def shown(markdown: str) -> tuple[str, set[str]]:
    """Return the text that a reader sees and the names of the rendered elements."""
    page = COMMONMARK.render(markdown)
    return " ".join(html.unescape(re.sub(r"<[^<>]*>", "", page)).split()), set(re.findall(r"<(\w+)", page))


@pytest.mark.parametrize("text", HOSTILE_MARKUP)
def test_markup_in_a_text_is_shown_literally(text):
    assert shown(line(text)) == (" ".join(text.split()), {"p"})


@given(texts)
def test_any_text_is_shown_literally_on_a_line_in_a_quote_in_a_list_and_in_a_heading(text):
    words = " ".join(text.split())
    alone = {"p"} if words else set()
    assert shown(line(text)) == (words, alone)
    assert shown(f"> {line(text)}") == (words, {"blockquote"} | alone)
    assert shown(f"- {line(text)}") == (words, {"ul", "li"})
    assert shown(f"# {plain(text)}") == (words, {"h1"})


@given(texts, texts, texts)
def test_only_the_answer_is_bold_whatever_the_surrounding_text(before, answer, after):
    words, elements = shown(f"> {line(before)}{bold(answer)}{plain(after)}")
    assert elements - {"p", "strong"} == {"blockquote"}
    assert "".join(words.split()) == "".join(f"{before}{answer}{after}".split())


@pytest.mark.parametrize("answer", ["Paris", "the 5th", "“Paris”", "$5", "-3"])
def test_any_answer_is_bold_even_within_a_word(answer):
    page = COMMONMARK.render(f"> in{bold(answer)}s")
    assert f"<strong>{answer}</strong>" in page


@given(texts, texts)
def test_the_text_and_address_of_a_link_cannot_end_it(text, tail):
    page = COMMONMARK.render(f"{link(f'x{text}', f'https://example.org/{tail}')} after")
    assert re.fullmatch(r'<p><a href="https://example\.org/[^"]*">[^<]*</a> after</p>\n', page)


def test_the_address_of_a_link_is_kept():
    page = COMMONMARK.render(link("Q & A", "https://example.org/a_b(c)?d=1&copy;=2"))
    assert page == '<p><a href="https://example.org/a_b(c)?d=1&amp;copy;=2">Q &amp; A</a></p>\n'


def test_without_an_address_there_is_no_link():
    assert shown(link("Hamlet", None)) == ("Hamlet", {"p"})
