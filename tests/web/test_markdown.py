"""Markdown made of any text shows that text and produces no markup."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.web.exporters.markdown import bold, line, link, plain

COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = [
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


@pytest.mark.parametrize("text", HOSTILE)
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
