"""Text made to be slow, from a visitor or a language model's server, is read in linear time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from app.text import claims, options, wording

LENGTH = 300_000
READING: dict[str, tuple[Callable[[str], object], tuple[str, ...]]] = {
    "names": (wording.names, ("Q{} ", "“", "«a ", "A of ", "A.", "The ")),
    "language": (claims.language_of, ("Q{} ", "“", "a{} ")),
    "thoughts": (
        options.without_thoughts,
        ("b<think>a</think>", "</think>", "<think>", "<details ", "<|channel|>final", "<think "),
    ),
    "citations": (options.with_plain_citations, ("  ", "\n", "[a](http://", "(http://", "[1] ", "[1, ", "【1†")),
    "option": (lambda text: options.option_in(text, ("yes", "no")), ("no ", "\\boxed{", "```\n", "  ")),
}


@pytest.mark.parametrize(
    ("read", "piece"),
    [pytest.param(read, piece, id=f"{name} {piece!r}") for name, (read, all_) in READING.items() for piece in all_],
)
def test_text_made_to_be_slow_is_read_in_linear_time(read, piece):
    """A second a 100,000 characters is many times what any of them takes, and a tenth of what quadratic time is."""
    read("The first text loads what is needed.")
    text = "".join(piece.replace("{}", str(number)) for number in range(LENGTH // len(piece)))[:LENGTH] + " x"
    began = time.process_time()
    read(text)
    assert time.process_time() - began < 3
