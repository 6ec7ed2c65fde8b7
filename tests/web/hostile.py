"""A run with markup, code and control characters in every field, and a parser that finds any that took effect."""

from __future__ import annotations

from html.parser import HTMLParser

from app.domain.errors import CallFailed
from app.domain.model import Answer, Judgement, Label, Passage, Sentence, Span, Verdict
from tests.fakes import FakeContainer, Script, ScriptedHop, scripted_container

SCRIPT = "\"'><script>alert(1)</script><img src=x onerror=alert(2)></textarea><svg onload=alert(3)>"
CODE = "{{7*7}}{% raw %}${7*7}'; DROP TABLE runs; --"
EVIL = f"{SCRIPT} {CODE} \u202e../../etc/passwd"
BROKEN_LINK = "https://a.example/\"'><b>"
LINK = "javascript:alert(4)//https://example.org"

FIELDS = ("claim", "question", "answer", "passage", "title", "source")
FIELDS += ("reason", "failure", "rationale", "missing", "note")
"""The marked fields, so that a test can check that a page showed each of them."""


def marked(field: str) -> str:
    """The hostile text with the field's name in it."""
    return f"[{field}] {EVIL}"


def hostile_answer(link: str = LINK) -> Answer:
    """Return an answer that cites a hostile passage."""
    text = f"{marked('answer')} stands in {marked('passage')}"
    found = Passage(text, marked("title"), marked("source"), link, score=1.0)
    return Answer(marked("answer"), Span(found, 0, len(marked("answer"))), (found, found), "retriever-reader", 0.5)


def hostile_container() -> FakeContainer:
    """Return a container whose every run has a kept, a set-aside and a failed hop and a verdict, all hostile."""
    kept, aside = (Judgement(holds, marked("reason")) for holds in (True, False))
    hops = (
        ScriptedHop(marked("question"), hostile_answer(), kept, aside),
        ScriptedHop(f"2 {marked('question')}", hostile_answer(BROKEN_LINK), aside),
        ScriptedHop(f"3 {marked('question')}", CallFailed(marked("failure"))),
    )
    sentence = Sentence(marked("rationale"), (1,))
    verdict = Verdict(Label.NOT_ENOUGH_EVIDENCE, (sentence,), missing=marked("missing"), confidence=0.5)
    return scripted_container(Script(hops, verdict))


class Page(HTMLParser):
    """A page as a browser parses it: its elements with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attributes}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def active_elements(self) -> list[tuple[str, dict[str, str]]]:
        """Return the elements that would run a foreign script or load a foreign resource."""
        return [(tag, attributes) for tag, attributes in self.elements if _is_active(tag, attributes)]


def _is_active(tag: str, attributes: dict[str, str]) -> bool:
    if any(name.startswith("on") for name in attributes) or tag in ("style", "iframe", "object", "embed", "base"):
        return True
    if tag == "script" and attributes == {"type": "application/ld+json"}:  # data that no browser runs
        return False
    if tag in ("script", "img") and not attributes.get("src", "").startswith("/static/"):
        return True
    targets = [attributes.get(name, "").strip().lower() for name in ("href", "src", "action", "formaction")]
    return any(each.startswith(("javascript:", "data:", "vbscript:", "//")) for each in targets)
