"""Extract the visible text of an HTML page with trafilatura in a sandboxed process; nothing is fetched.

`read_html` runs this file as a script in the sandbox, where modules of this package cannot be imported.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any

MEMORY_BYTES = 1024**3

HIDDEN_ELEMENTS = (
    "noscript template iframe object embed canvas audio video svg datalist noembed noframes dialog[not(@open)] "
    "*[@hidden] *[@popover] *[@aria-hidden='true'] del s strike"
).split()
"""XPath of elements that browsers hide, strike out or show other content for, and of decoration (aria-hidden)."""

PLAIN_PARAGRAPHS = (
    "//*[self::p or self::li or self::td or self::dd or self::blockquote or self::pre]"
    "[not(@class or @id or @itemprop or .//time or .//abbr or .//*[@class])]"
)
"""XPath of paragraphs, list items and the like without markup that may give metadata."""

_ZERO = r"[+-]?(?:0+\.?0*|\.0+)(?:[a-z]+|%)?(?=;|!|$)"
_HIDING_DECLARATION = re.compile(
    rf"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|opacity:{_ZERO}|"
    rf"font-size:(?:{_ZERO}|[01]px)|color:transparent|transform:scale\(0+\.?0*\)|"
    r"text-decoration(?:-line)?:[a-z-]*line-through|text-indent:-\d{3,}|(?:left|top|right|bottom):-(?:\d{4,}|\d{3,}r?em)|"
    r"clip:rect\((?:[01](?:px)?,?){4}\)|clip-path:(?:inset\((?:50|100)%|circle\(0))"
)
"""A CSS declaration, without spaces, that hides its element or strikes it out."""
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
    """The main text of a page, its title, and what its markup says of it."""

    text: str
    title: str
    published: str | None
    """The ISO date of publication."""
    is_fact_check: bool = False
    """Whether the page holds a ClaimReview (schema.org)."""
    claim_reviews: list[dict[str, Any]] = field(default_factory=list)
    """Claim, publisher, rating, URL and date of publication of each ClaimReview in its markup, as they stand."""


def read_html(html: str, url: str, seconds: float, memory_bytes: int = MEMORY_BYTES) -> PageText:
    """Return the text of the page at `url`. Raises UnreadableSource when it has none or exceeds the limits."""
    from app.backends.fetch.sandbox import UnreadableSource, run_sandboxed  # here: the child process cannot import it

    data, problems = html.encode("utf-8", "replace"), {1: "cannot be read: its markup is too large or too complex"}
    found = PageText(
        **json.loads(run_sandboxed(__file__, url, seconds=seconds, memory=memory_bytes, problems=problems, data=data))
    )
    if not found.text:
        raise UnreadableSource("has no readable text")
    return found


def main(url: str) -> None:
    """Read a page as UTF-8 from standard input and print a PageText as JSON. Runs in the child process."""
    found = extract_text(sys.stdin.buffer.read().decode("utf-8"), url)
    print(json.dumps(asdict(found)))


MIN_CHARACTERS, MIN_CHARACTERS_BESIDE_ASIDES = 250, 1000
"""Instead of a shorter text, the article in the page's linked data or in its asides is taken if it is twice as long."""


_CONSENT = re.compile(
    r"(?:cookie|consent|gdpr)s?[-_]?(?:banner|bar|consent|dialog|law|message|modal|notice|popup)|onetrust|cookiebot",
    re.IGNORECASE,
)
"""Names of the elements that ask for consent to cookies, which may be longer than an article."""


def extract_text(html: str, url: str) -> PageText:
    """Extract as `read_html` does, in this process; the text is "" where there is none."""
    import trafilatura

    tree = trafilatura.load_html(html)
    if tree is None and re.search(r"<p[\s>]", html):  # a part of a page
        tree = trafilatura.load_html(f"<html><body>{html}</body></html>")
    if tree is None:
        return PageText("", "", None)
    linked = [*_linked_data(tree), *map(_microdata, tree.xpath("//*[@itemscope][contains(@itemtype, 'ClaimReview')]"))]
    clean_markup(tree)
    for each in tree.xpath("//body//*[@id or @class]"):
        is_named = _CONSENT.search(f"{each.get('id', '')} {each.get('class', '')}")
        if is_named and each.getparent() is not None and not each.xpath(".//article|.//main|.//h1"):
            each.drop_tree()
    date_config = {"original_date": True, "extensive_search": False}
    frame = deepcopy(tree)
    for paragraph in frame.xpath(PLAIN_PARAGRAPHS):  # a date in the text is not the publication date
        paragraph.drop_tree()
    metadata: Any = trafilatura.extract_metadata(frame, default_url=url, date_config=date_config)
    for script in tree.xpath("//script"):  # trafilatura extracts some when a page has little text
        script.drop_tree()
    text = _main_text(tree, url)
    if len(text) < MIN_CHARACTERS:
        bodies = (fragment_of(body) for each in linked if isinstance(body := each.get("articleBody"), str))
        articles = (body for tree in bodies if len(body := "\n".join(paragraphs_of(tree))) > 2 * len(text))
        text = max(articles, key=len, default=text)
    beside = "//aside" if text else "//aside|//header|//footer"
    if len(text) < MIN_CHARACTERS_BESIDE_ASIDES and len(longer := _text_with(tree, url, beside)) > 2 * len(text):
        text = longer
    reviews = _claim_reviews(linked, url)
    is_fact_check = bool(reviews) or any(each.endswith("ClaimReview") for each in tree.xpath("//@typeof"))
    return PageText(text, metadata.title or "", metadata.date, is_fact_check, reviews)


def _main_text(tree: Any, url: str, **options: Any) -> str:
    import trafilatura

    body: Any = trafilatura.bare_extraction(tree, url=url, include_comments=False, **options)
    return (body.text or "").strip() if body else ""


def _text_with(tree: Any, url: str, beside: str) -> str:
    """Return the text with that of such elements; "" where there are none, or the page marks an article outside."""
    found = tree.xpath(beside)
    if not found or tree.xpath("//article[not(ancestor::aside or ancestor::header or ancestor::footer)]"):
        return ""
    for each in found:
        each.tag = "section"
    return _main_text(tree, url, favor_recall=True)


_CDATA = re.compile(r"(?://|/\*)?\s*(?:<!\[CDATA\[|\]\]>|<!--|-->)(?:\*/)?")


def _linked_data(tree: Any) -> Iterator[dict[str, Any]]:
    for script in tree.xpath("//script[starts-with(@type, 'application/ld+json')]"):
        try:
            remaining = [json.loads(_CDATA.sub("", script.text or "").strip("; \n"), strict=False)]
        except (ValueError, RecursionError):
            continue
        while remaining:
            item = remaining.pop()
            if isinstance(item, dict):
                yield item
            if isinstance(item, dict | list):
                remaining.extend(reversed(list(item.values() if isinstance(item, dict) else item)))


def _microdata(scope: Any) -> dict[str, Any]:
    """Return an item of HTML microdata as an object of JSON-LD, whose properties are lists."""
    item: dict[str, Any] = {"@type": scope.get("itemtype", "").split()}
    for each in scope.xpath(".//*[@itemprop]"):
        if each.xpath("ancestor::*[@itemscope][1]")[0] is scope:
            stated = (each.get(name) for name in ("content", "datetime", "href"))
            text = next(filter(None, stated), None) or " ".join("".join(each.itertext()).split())
            for name in each.get("itemprop").split():
                item.setdefault(name, []).append(_microdata(each) if each.get("itemscope") is not None else text)
    return item


def _is_claim_review(item: dict[str, Any]) -> bool:
    kinds = item.get("@type")
    return any(isinstance(each, str) and each.endswith("ClaimReview") for each in _as_list(kinds))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _claim_reviews(linked: list[dict[str, Any]], url: str) -> list[dict[str, Any]]:
    def first(item: dict[str, Any], *names: str) -> Any:
        """Follow the names, at each one into the first of several values; None where one is missing."""
        value: Any = item
        for name in names:
            value = _as_list(value.get(name))[0] if isinstance(value, dict) and _as_list(value.get(name)) else None
        return value

    return [
        {
            "claim": first(each, "claimReviewed"),
            "publisher": first(each, "author", "name") or first(each, "publisher", "name"),
            "rating": first(each, "reviewRating", "alternateName") or first(each, "reviewRating", "name"),
            "url": first(each, "url") or url,
            "published": first(each, "datePublished"),
        }
        for each in linked
        if _is_claim_review(each)
    ]


def clean_markup(tree: Any) -> None:
    """Remove what is no part of the shown text, and write superscripts so that they do not join other digits."""
    remove_hidden(tree)
    _remove_note_marks(tree)
    _write_superscripts(tree)


_NOTE_NAME = re.compile(
    r"(?:foot|end|side|cite|js)?-?_?(?:note|ref|cite|reference|fn|ftn|edn)s?(?![a-z])", re.IGNORECASE
)
_NOTE_MARK = re.compile(
    r"\W*(?:\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*|[a-z]|[ivx]{1,5}|[*†‡§¶‖#↑↩^\ufe0e ]+)\W*", re.IGNORECASE
)
_IN_BRACKETS = re.compile(r"\[.*\]|\(\d+\)", re.DOTALL)
_MARKS_ONLY = re.compile(r"[*†‡§¶‖#]+")
_SIGNED_NUMBER = re.compile(r"[-+−–]?\d+(?:[.,/]\d+)*|\d*[-+−–]")
_SEVERAL_NOTES = re.compile(r"(?!\d{1,3}(?:,\d{3})+$)\d{1,3}(?:\s*[,;–-]\s*\d{1,3})+")
_YEAR_OR_LONG_NUMBER = re.compile(r"(?:(?<![\d.,])\d{4,}|\d[.,]\d+)%?$|%$")
_PRICE = re.compile(r"[$€£¥]\s?\d+$")
_SHORT_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,3}$")
_ORDINAL = re.compile(r"[oaeºª]|[^\W\d_]{2,4}")
_TRADE_MARK = re.compile(r"[™®©]|TM|SM", re.IGNORECASE)
_RAISED = (
    "//sup|//*[contains(@style, 'vertical-align') and contains(translate(@style, ' ', ''), 'vertical-align:super')]"
)
_INLINE = frozenset(
    "a abbr b bdi bdo cite code em font i ins kbd mark q small span strong sub sup tt u var wbr".split()
)
_SUPERSCRIPTS = str.maketrans("0123456789+-−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")


def _remove_note_marks(tree: Any) -> None:
    marks = tree.xpath("//*[@role='doc-noteref' or @role='doc-backlink' or contains(@class, 'noprint')]")
    for link in tree.xpath("//a[contains(@href, '#')]"):
        names = (link.get("href").rpartition("#")[2], link.get("class", ""), link.get("id", ""))
        is_short = len(shown := link.text_content().strip()) <= 12
        if is_short and shown and _NOTE_MARK.fullmatch(shown) and any(map(_NOTE_NAME.search, names)):
            marks.append(link)
    for raised in tree.xpath(_RAISED):
        shown = raised.text_content().strip()
        is_linked = any("#" in (link.get("href") or "") for link in raised.iter("a"))
        is_named = bool(_NOTE_NAME.match(raised.get("class", "") or raised.get("id", "")))
        if is_linked or is_named or _IN_BRACKETS.fullmatch(shown) or _MARKS_ONLY.fullmatch(shown):
            marks.append(raised)
    for each in marks:
        if each.getparent() is not None:
            _replace(each, "")


def _write_superscripts(tree: Any) -> None:
    """Replace raised and lowered numbers by text: "10^6", "km²" and "2_8"; numbers of footnotes are left out."""
    for power in tree.xpath("//msup"):
        if len(power) > 1:
            power[1].text = f"^{power[1].text or ''}"
    for raised in reversed(tree.xpath(_RAISED)):  # inner ones first
        if raised.getparent() is not None:
            before = _text_before(raised)
            _replace(raised, superscript(before.rstrip(), raised.text_content().strip(), (raised.tail or "").lstrip()))
    for lowered in tree.xpath("//sub"):
        shown = lowered.text_content().strip()
        if lowered.getparent() is not None and shown[:1].isdigit() and _text_before(lowered)[-1:].isdigit():
            _replace(lowered, f"_{shown}")


def superscript(before: str, shown: str, after: str) -> str:
    """Return what is written for the superscript `shown` between these texts; "" for the number of a footnote."""
    if not before:
        return f"{shown} "
    is_after_digit, is_number = before[-1].isdigit(), bool(_SIGNED_NUMBER.fullmatch(shown))
    is_note_number = shown.isdigit() and len(shown) <= 3
    if _TRADE_MARK.fullmatch(shown) or _SEVERAL_NOTES.fullmatch(shown):
        return ""
    if is_after_digit and after[:1] in ("/", "⁄") and shown.isdigit():
        return f" {shown}"  # one and a half
    if _PRICE.search(before) and shown.isdigit() and len(shown) == 2:
        return f".{shown}"
    if is_number and (is_after_digit or before[-1] in ")]"):
        return "" if is_note_number and _YEAR_OR_LONG_NUMBER.search(before) else f"^{shown}"
    if is_number and _SHORT_WORD.search(before):
        return shown.translate(_SUPERSCRIPTS)
    if is_number:
        return "" if is_note_number else f"^{shown}"
    if is_after_digit:
        is_note = len(shown) == 1 and bool(_YEAR_OR_LONG_NUMBER.search(before))
        return "" if is_note else shown if _ORDINAL.fullmatch(shown) else f"^{shown}"
    is_note = len(shown) == 1 and shown.islower() and not _SHORT_WORD.search(before)
    return "" if is_note else shown


def _text_before(element: Any) -> str:
    """Return the text directly before the element in its paragraph; "" at the start of one."""
    while element is not None:
        previous, parent = element.getprevious(), element.getparent()
        if previous is not None:
            if text := previous.tail or (previous.text_content() if previous.tag in _INLINE else ""):
                return str(text)
            element = previous if previous.tag in _INLINE else None
        elif parent is None or parent.text:
            return str(parent.text) if parent is not None else ""
        else:
            element = parent if parent.tag in _INLINE else None
    return ""


def _replace(element: Any, text: str) -> None:
    """Put the text in the place of the element, with a space where words would join."""
    tail = element.tail or ""
    is_joined = (text or _text_before(element))[-1:].isalnum() and tail[:1].isalnum()
    keeps_joined = bool(text) and text.isalpha()  # as in "M<sup>c</sup>Donald"
    element.tail = f"{text}{' ' if is_joined and not keeps_joined else ''}{tail}"
    for child in list(element):
        element.remove(child)
    element.text = None
    element.drop_tag()


HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BREAKING = frozenset(HEADINGS) | frozenset(
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form "
    "header hr html legend li main nav ol p pre section summary table tbody td tfoot th thead tr ul".split()
)


def paragraphs_of(tree: Any) -> Iterator[str]:
    """Yield the texts of an lxml tree between the tags that begin or end a block."""
    from lxml import etree

    pieces: list[str] = []
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if element.tag in _BREAKING:
            if text := " ".join("".join(pieces).split()):
                yield text
            pieces = []
        shown = (
            element.text if event == "start" else " " + (element.tail or "") if element.tag == "br" else element.tail
        )
        pieces.append(shown or "")
    if text := " ".join("".join(pieces).split()):
        yield text


def fragment_of(html: str) -> Any:
    """Return the cleaned lxml tree of HTML that is nothing but a text: an extract, a search result, or Markdown's."""
    from lxml.html import HTMLParser, fromstring

    parser = HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
    tree = fromstring(f"<div>{html}</div>".encode("utf-8", "ignore"), parser=parser)
    clean_markup(tree)
    for each in tree.xpath("//script|//style|//select|//textarea"):
        each.drop_tree()
    return tree


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
