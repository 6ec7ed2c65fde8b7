"""The visible part of a text from the web, without anything hidden in it."""

from __future__ import annotations

import time

import pytest

from app.text.wording import visible_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It opened in <b>1889</b>.", "It opened in 1889."),
        ("made 10<sup>6</sup> bricks, H<sub>2</sub>O", "made 10^6 bricks, H2O"),
        ("employed <del>40</del> <s>50</s> 60", "employed 60"),
        ("the token <s> begins", "the token begins"),
        ("photo<strong>graph</strong>s", "photographs"),
        ("AT&amp;T &quot;grew&quot;", 'AT&T "grew"'),
        ("3 < 4 and 5 > 4, I <3 it", "3 < 4 and 5 > 4, I <3 it"),
        ('<a title="the hidden gem">a gem</a>', "a gem"),
        ('<a href="x>y">a link</a>', "a link"),
    ],
)
def test_visible_text_is_kept(text: str, shown: str) -> None:
    """Words, punctuation and comparison signs; tags and entities are interpreted as in a browser."""
    assert visible_text(text) == shown


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- SECRET -->",
        "<script>SECRET</script>",
        "<p hidden>SECRET</p>",
        '<span style="DISPLAY : none">SECRET</span>',
        '<span style="display&#58;none">SECRET</span>',
        "<i style='font-size:0px'>SECRET</i>",
        '<div style="opacity: 0.0"><div>SECRET</div> SECRET</div>',
        '<img alt="SECRET">',
        "<?php SECRET ?>",
    ],
)
def test_hidden_text_is_removed(hidden: str) -> None:
    """With its content, and nothing around it."""
    assert visible_text(f"before {hidden} after") == "before after"


@pytest.mark.parametrize("opening", ["<!--", "<script>", "<div hidden><b>"])
def test_an_unclosed_hidden_element_hides_the_rest_as_in_a_browser(opening: str) -> None:
    """Truncating a page does not reveal hidden text."""
    assert visible_text(f"before {opening} SECRET") == "before"


@pytest.mark.parametrize(
    "character",
    [
        *("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066", "\U000e0041"),
        *("\ufe0f", "\U000e0101", "\ue000", "\u034f", "\u3164", "\ud800", "\ufffe"),
    ],
)
def test_invisible_characters_are_removed(character: str) -> None:
    """Zero-width, direction, tag and private-use characters, variation selectors, lone surrogates."""
    assert visible_text(f"SUP{character}PORTED") == "SUPPORTED"


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x7f", "\x85", "\u2028", "\xa0"])
def test_control_characters_and_unusual_spaces_become_spaces(character: str) -> None:
    """Words stay separate."""
    assert visible_text(f"one{character}two") == "one two"


def test_entities_cannot_restore_removed_characters() -> None:
    """Entities are decoded before characters are filtered."""
    assert visible_text("SUP&ZeroWidthSpace;PORT&#x200b;ED") == "SUPPORTED"


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<!--",
        '<a href="',
        "<![CDATA[",
        "<p hidden>",
        "x='",
    ],
)
def test_text_designed_to_be_slow_is_processed_quickly(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    visible_text(text)
    assert time.process_time() - began < 5
