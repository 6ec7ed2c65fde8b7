"""Text made to be slow, from a visitor, the web or a language model's server, is read in linear time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from app.text import claims, clean, options, sentences, wording

LENGTH = 200_000
STATEMENTS = ("A. B. C. ", "Rui Abe Moe ", "“a ", "The ", "- a\n", "1. ", "*a ", "[a](", "Ab\n", "【a")
READING: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "names": (wording.names, ("Q{} ", "“", "«a ", "A of ", "A.", "The ")),
    "plain": (options.plain, ("…", "_ ")),
    "titles": (wording.bare_title, ("\n", "((", "(")),
    "language": (claims.language_of, ("Q{} ", "“", "a{} ")),
    "thoughts": (
        options.without_thoughts,
        ("b<think>a</think>", "</think>", "<think>", "<details ", "<|channel|>final", "<think "),
    ),
    "citations": (options.with_plain_citations, ("  ", "\n", "[a](http://", "(http://", "[1] ", "[1, ", "【1†")),
    "cleaning": (
        lambda text: clean.clean_text(f"é{text}"),
        (
            *("A. B. C. ", "found-\ned ", "&amp;", "Å™Ã¡k", "⁶", "5⁶", "ab- ", "🇫", "\u00ad "),
            *(
                "1-\n",
                "A- 1",
                "1- a",
                "a-\nb",
                "Pа",
                "\n ",
                "\u0301",
                "\x1b[",
                "①",
                "aа",
                "½",
                "1\ufe0f",
                "> ",
                "\n>",
                ">\n",
            ),
        ),
    ),
    "sentences": (
        sentences.sentence_spans,
        ("A. B. C. ", "wow! and ", "Mr. ", "“a. ", "« a. ", '"a. ', "(a. ", "e.g. ", "a\n\n", "?!", "A.", "no. A"),
    ),
    "kind": (claims.kind_of, STATEMENTS),
    "candidates": (claims.candidates, STATEMENTS),
    "option": (lambda text: options.option_in(text, ("yes", "no")), ("no ", "\\boxed{", "```\n", "  ")),
}


@pytest.mark.parametrize(
    ("read", "piece"),
    [pytest.param(read, piece, id=f"{name} {piece!r}") for name, (read, all_) in READING.items() for piece in all_],
)
def test_text_made_to_be_slow_is_read_in_linear_time(read, piece):
    """Five seconds are many times what any of them takes, and a tenth of what quadratic time is."""
    read("The first text loads what is needed.")
    text = "".join(piece.replace("{}", str(number)) for number in range(LENGTH // len(piece)))[:LENGTH] + " x"
    began = time.process_time()
    read(text)
    assert time.process_time() - began < 5
