"""What is shown of a text from the web, and that nothing hidden in it is."""

from __future__ import annotations

import time

import pytest

from app.text.wording import visible_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It opened in <b>1889</b>.", "It opened in 1889."),
        ("<p>One.</p><p>Two.</p>", "One. Two."),
        ("photo<strong>graph</strong>s", "photographs"),
        ("AT&amp;T &quot;grew&quot;", 'AT&T "grew"'),
        ("3 < 4 and 5 > 4, I <3 it", "3 < 4 and 5 > 4, I <3 it"),
        ("one\n\n two\tthree", "one two three"),
        ("Эрдоган ve Erdoğan 東京", "Эрдоган ve Erdoğan 東京"),
        ('<a title="the hidden gem">a gem</a>', "a gem"),
        ('<a href="x>y">a link</a>', "a link"),
    ],
)
def test_what_a_reader_sees_stays(text: str, shown: str) -> None:
    """Words, marks and comparisons; tags and entities are read as a browser reads them."""
    assert visible_text(text) == shown


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- SECRET -->",
        "<script>SECRET</script>",
        "<STYLE>SECRET</STYLE>",
        "<template><p>SECRET</p></template>",
        "<p hidden>SECRET</p>",
        '<div aria-hidden="true">SECRET</div>',
        '<span style="DISPLAY : none">SECRET</span>',
        '<span style="display&#58;none">SECRET</span>',
        "<i style='font-size:0px'>SECRET</i>",
        '<div style="opacity: 0.0"><div>SECRET</div> SECRET</div>',
        '<img alt="SECRET">',
        "<?php SECRET ?>",
    ],
)
def test_what_a_page_hides_is_left_out(hidden: str) -> None:
    """With everything inside it, and nothing of what stands around it."""
    assert visible_text(f"before {hidden} after") == "before after"


@pytest.mark.parametrize("opening", ["<!--", "<script>", "<div hidden><b>"])
def test_what_is_never_closed_hides_the_rest_as_in_a_browser(opening: str) -> None:
    """Cutting a page short is no way to have hidden text read."""
    assert visible_text(f"before {opening} SECRET") == "before"


@pytest.mark.parametrize(
    "character",
    [
        *("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066", "\U000e0041"),
        *("\ufe0f", "\U000e0101", "\ue000", "\u034f", "\u3164", "\ud800", "\ufffe"),
    ],
)
def test_characters_that_do_not_show_are_left_out(character: str) -> None:
    """Zero-width, direction, tag and private ones, variation selectors, half characters."""
    assert visible_text(f"SUP{character}PORTED") == "SUPPORTED"


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\x7f", "\x85", "\u2028", "\xa0"])
def test_control_characters_and_odd_spaces_are_spaces(character: str) -> None:
    """So that words stay apart."""
    assert visible_text(f"one{character}two") == "one two"


def test_entities_cannot_bring_back_what_was_taken_out() -> None:
    """They are read before characters are looked at."""
    assert visible_text("SUP&ZeroWidthSpace;PORT&#x200b;ED") == "SUPPORTED"


@pytest.mark.parametrize(
    "piece", ["<", "<!--", "<a ", '<a href="', "</", "&#", "<![CDATA[", "<p hidden>", "<script>", "x='", '<a "']
)
def test_no_text_takes_long(piece: str) -> None:
    """A page that is made to be slow takes no longer than any other one of its length."""
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    visible_text(text)
    assert time.process_time() - began < 5
