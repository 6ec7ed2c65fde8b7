"""Extract the visible text of an HTML page with trafilatura in a sandboxed process; nothing is fetched.

`read_html` runs this file as a script in the sandbox, where modules of this package cannot be imported.
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
"""XPath of elements that browsers hide or show other content for, and of those marked as decoration (aria-hidden)."""

PLAIN_PARAGRAPHS = (
    "//*[self::p or self::li or self::td or self::dd or self::blockquote or self::pre]"
    "[not(@class or @id or @itemprop or .//time or .//abbr or .//*[@class])]"
)
"""XPath of paragraphs, list items and the like without markup that may give metadata."""

_ZERO = r"[+-]?(?:0+\.?0*|\.0+)(?:[a-z]+|%)?(?=;|!|$)"
_HIDING_DECLARATION = re.compile(
    rf"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|opacity:{_ZERO}|"
    rf"font-size:(?:{_ZERO}|[01]px)|color:transparent|transform:scale\(0+\.?0*\)|"
    r"text-indent:-\d{3,}|(?:left|top|right|bottom):-(?:\d{4,}|\d{3,}r?em)|"
    r"clip:rect\((?:[01](?:px)?,?){4}\)|clip-path:(?:inset\((?:50|100)%|circle\(0))"
)
"""A CSS declaration, without spaces, that hides its element."""
_NO_SIZE = re.compile(r"(?:^|;)(?:max-)?(?:width|height):(?:0(?:[a-z]+|%)?|1(?:px)?)(?=;|!|$)")
_CLIPPED = re.compile(r"(?:^|;)overflow(?:-[xy])?:(?:hidden|clip)")
"""A declaration of no size and one of clipped overflow hide an element only together."""

SHEET_APPLIES = "(not(@media) or @media='all' or @media='screen') and not(ancestor::noscript or ancestor::template)"
"""XPath of style sheets that browsers with scripts apply to a screen."""
_CSS_ESCAPE = re.compile(r"\\([0-9a-f]{1,6})\s?")
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CSS_AT_RULE = re.compile(r"@[^{};]*(?:;|\{(?:[^{}]*\{[^{}]*\})*[^{}]*\})")
_CSS_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_CSS_SELECTOR = re.compile(r"(\w*)([.#][\w-]+)")
"""A selector of one class or id, with or without a tag."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The main text of a page, its title, and the ISO publication date in its markup."""

    text: str
    title: str
    published: str | None


class HtmlFailed(Exception):
    """A page has no usable text. The message continues a sentence that begins with the page's name."""


def read_html(html: str, url: str, seconds: float, memory_bytes: int = MEMORY_BYTES) -> PageText:
    """Return the text of the page at `url`. Raises HtmlFailed when it has none or exceeds the limits."""
    from app.backends.fetch.sandbox import run_sandboxed  # not at the top: the child process cannot import it

    data = html.encode("utf-8", "replace")
    try:
        done = run_sandboxed(__file__, url, seconds=seconds, memory=memory_bytes, data=data)
    except subprocess.TimeoutExpired:
        raise HtmlFailed(f"takes longer than {seconds:g} seconds to read") from None
    if done.returncode:
        raise HtmlFailed("cannot be read: its markup is too large or too complex")
    found = PageText(**json.loads(done.stdout))
    if not found.text:
        raise HtmlFailed("has no readable text")
    return found


def main(url: str) -> None:
    """Read a page as UTF-8 from standard input and print a PageText as JSON. Runs in the child process."""
    found = extract_text(sys.stdin.buffer.read().decode("utf-8"), url)
    print(json.dumps({"text": found.text, "title": found.title, "published": found.published}))


def extract_text(html: str, url: str) -> PageText:
    """Extract as `read_html` does, in this process; the text is "" where there is none."""
    import trafilatura

    tree = trafilatura.load_html(html)
    if tree is None:
        return PageText("", "", None)
    remove_hidden(tree)
    date_config = {"original_date": True, "extensive_search": False}
    metadata: Any = trafilatura.extract_metadata(_without_paragraphs(tree), default_url=url, date_config=date_config)
    for script in tree.xpath("//script"):  # trafilatura extracts some when a page has little text
        script.drop_tree()
    body: Any = trafilatura.bare_extraction(tree, url=url, include_comments=False)
    return PageText((body.text or "").strip() if body else "", metadata.title or "", metadata.date)


def _without_paragraphs(tree: Any) -> Any:
    """Return a copy without plain paragraphs: a date mentioned in the text is not the publication date."""
    copied = deepcopy(tree)
    for each in copied.xpath(PLAIN_PARAGRAPHS):
        each.drop_tree()
    return copied


def remove_hidden(tree: Any) -> None:
    """Remove hidden elements from an lxml tree: by tag, attribute, style, or a class or id that a style hides.

    Elements hidden by an external sheet, an at-rule or a selector of several parts remain. trafilatura's parser drops
    comments.
    """
    hidden = tree.xpath("|".join(f"//{each}" for each in HIDDEN_ELEMENTS))
    hidden += [each for each in tree.xpath("//*[@style]") if _hides(each.get("style"))]
    hidden += _hidden_by_sheets(tree)
    for each in hidden:
        if each.tag not in ("html", "head", "body") and each.getparent() is not None:
            each.drop_tree()


def _hidden_by_sheets(tree: Any) -> list[Any]:
    """Return the elements that the page's own style sheets hide by rules for one class or id, outside at-rules."""
    hiding: set[str] = set()
    for sheet in tree.xpath(f"//style[{SHEET_APPLIES}]/text()"):
        for selectors, declarations in _CSS_RULE.findall(_CSS_AT_RULE.sub("", _CSS_COMMENT.sub("", sheet))):
            if _hides(declarations):
                matches = map(_CSS_SELECTOR.fullmatch, map(str.strip, selectors.split(",")))
                hiding.update(match[1].lower() + match[2] for match in matches if match)
    return [each for each in tree.xpath("//*[@class or @id]") if not hiding.isdisjoint(_selectors_of(each))]


def _selectors_of(element: Any) -> set[str]:
    """Return the selectors of one class or id that match the element, each with and without its tag."""
    names = [f".{name}" for name in element.get("class", "").split()] + [f"#{element.get('id', '')}"]
    return {tag + name for tag in ("", element.tag) for name in names}


def _hides(style: str) -> bool:
    plain = _CSS_ESCAPE.sub(lambda code: chr(min(int(code[1], 16), 0x10FFFF)), _CSS_COMMENT.sub("", style.lower()))
    plain = re.sub(r"\s+", "", plain)
    return bool(_HIDING_DECLARATION.search(plain) or (_NO_SIZE.search(plain) and _CLIPPED.search(plain)))


if __name__ == "__main__":
    main(*sys.argv[1:])
