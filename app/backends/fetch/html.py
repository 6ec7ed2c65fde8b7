"""The text of an HTML page, taken out by trafilatura in a process of its own, which is killed when it takes too long.

This file is both sides: `read_html` starts it as a script, confined, and the script imports nothing of ours.
trafilatura is given a parsed page and fetches nothing. What a reader of the page would not see is cut out before.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

MEMORY_BYTES = 1024**3

HIDDEN_ELEMENTS = (
    "noscript template iframe object embed canvas audio video svg datalist noembed noframes dialog[not(@open)] "
    "*[@hidden] *[@popover] *[@aria-hidden='true']"
).split()
"""Elements that browsers do not show, or show something else in place of (XPath)."""

PROSE = (
    "//*[self::p or self::li or self::td or self::dd or self::blockquote or self::pre]"
    "[not(@class or @id or @itemprop or .//time or .//abbr or .//*[@class])]"
)

_NOTHING = r"[+-]?(?:0+\.?0*|\.0+)(?:[a-z]+|%)?(?=;|!|$)"
_HIDING = re.compile(
    rf"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|opacity:{_NOTHING}|"
    rf"font-size:(?:{_NOTHING}|[01]px)|color:transparent|transform:scale\(0+\.?0*\)|"
    r"text-indent:-\d{3,}|(?:left|top|right|bottom):-(?:\d{4,}|\d{3,}r?em)|"
    r"clip:rect\((?:[01](?:px)?,?){4}\)|clip-path:(?:inset\((?:50|100)%|circle\(0))"
)
"""One declaration, written without spaces, that keeps its element out of sight."""
_TINY = re.compile(r"(?:^|;)(?:max-)?(?:width|height):[01](?:[a-z]+|%)?(?=;|!|$)")
_CUT = re.compile(r"(?:^|;)overflow(?:-[xy])?:(?:hidden|clip)")
"""Together: an element without an inside, whose content does not show outside either."""

_CSS_ESCAPE = re.compile(r"\\([0-9a-f]{1,6})\s?")
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CSS_BLOCK = re.compile(r"@[^{};]*(?:;|\{(?:[^{}]*\{[^{}]*\})*[^{}]*\})")
_CSS_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_CSS_NAME = re.compile(r"[a-z]*([.#])([\w-]+)")


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The main text of a page, its title, and the ISO date on which its markup says that it was published."""

    text: str
    title: str
    published: str | None


class HtmlFailed(Exception):
    """Why a page has no text for us, as the end of a sentence that begins with its name."""


def read_html(html: str, url: str, seconds: float, memory: int = MEMORY_BYTES) -> HtmlText:
    """What the page at `url` says. Raises HtmlFailed when it says nothing, or not within the limits."""
    from app.backends.fetch.sandbox import run_sandboxed  # not above: the other process cannot import it

    data = html.encode("utf-8", "replace")
    try:
        done = run_sandboxed(__file__, url, seconds=seconds, memory=memory, data=data)
    except subprocess.TimeoutExpired:
        raise HtmlFailed(f"takes longer than {seconds:g} seconds to read") from None
    if done.returncode:
        raise HtmlFailed("cannot be read: its markup is beyond what a page may take")
    found = HtmlText(**json.loads(done.stdout))
    if not found.text:
        raise HtmlFailed("holds no text that can be told from its frame")
    return found


def main(url: str) -> None:
    """The other process: a page as UTF-8 on standard input, an HtmlText as JSON on standard output."""
    found = extract_text(sys.stdin.buffer.read().decode("utf-8"), url)
    print(json.dumps({"text": found.text, "title": found.title, "published": found.published}))


def extract_text(html: str, url: str) -> HtmlText:
    """What `read_html` gives, found here and now; its text is "" where there is none."""
    import trafilatura

    tree = trafilatura.load_html(html)
    if tree is None:
        return HtmlText("", "", None)
    remove_hidden(tree)
    dating = {"original_date": True, "extensive_search": False}
    told: Any = trafilatura.extract_metadata(_without_prose(tree), default_url=url, date_config=dating)
    for script in tree.xpath("//script"):  # trafilatura takes text from some when a page shows little
        script.drop_tree()
    body: Any = trafilatura.bare_extraction(tree, url=url, include_comments=False)
    return HtmlText((body.text or "").strip() if body else "", told.title or "", told.date)


def _without_prose(tree: Any) -> Any:
    """A copy without plain paragraphs: a date that merely stands in a text is not when it was published."""
    copied = deepcopy(tree)
    for each in copied.xpath(PROSE):
        each.drop_tree()
    return copied


def remove_hidden(tree: Any) -> None:
    """Take out of an lxml tree what its page hides: by element, attribute, style, or a class or id that a style hides.

    Comments are gone already: trafilatura's parser keeps none. A style sheet in a file of its own is not fetched, so
    what only that hides stays.
    """
    unseen = tree.xpath("|".join(f"//{each}" for each in HIDDEN_ELEMENTS))
    unseen += [each for each in tree.xpath("//*[@style]") if _hides(each.get("style"))]
    unseen += _hidden_by_sheets(tree)
    for each in unseen:
        if each.tag not in ("html", "head", "body") and each.getparent() is not None:
            each.drop_tree()


def _hidden_by_sheets(tree: Any) -> list[Any]:
    """What a rule for one class or one id hides, in the page's own style sheets and for every medium."""
    names: dict[str, set[str]] = {".": set(), "#": set()}
    for sheet in tree.xpath("//style[not(@media) or @media='all' or @media='screen']/text()"):
        for selectors, declarations in _CSS_RULE.findall(_CSS_BLOCK.sub("", _CSS_COMMENT.sub("", sheet))):
            if _hides(declarations):
                for named in map(_CSS_NAME.fullmatch, map(str.strip, selectors.split(","))):
                    if named:
                        names[named[1]].add(named[2])
    hidden = [each for each in tree.xpath("//*[@class]") if names["."].intersection(each.get("class").split())]
    return hidden + [each for each in tree.xpath("//*[@id]") if each.get("id") in names["#"]]


def _hides(style: str) -> bool:
    plain = _CSS_ESCAPE.sub(lambda code: chr(min(int(code[1], 16), 0x10FFFF)), _CSS_COMMENT.sub("", style.lower()))
    plain = re.sub(r"\s+", "", plain)
    return bool(_HIDING.search(plain) or (_TINY.search(plain) and _CUT.search(plain)))


if __name__ == "__main__":
    main(*sys.argv[1:])
