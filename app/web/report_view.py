"""Views of a report: the answer to the claim, the cards under it, excerpts of passages, and the check's choices.

`reliability` reads measured figures, `corpora_words` the titles of this installation; all else is in the report alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from flask import has_app_context

from app.capabilities.options import (
    LIVE_WIKIPEDIA,
    SOURCE_TITLES,
    VITAL,
    WEB,
    Choice,
    reads_documents,
    searches_corpora,
    source_of,
)
from app.domain.messages import Words
from app.domain.model import (
    RANGES,
    TICKS,
    Answer,
    Branch,
    Hop,
    Label,
    LabelSet,
    Origin,
    Passage,
    RunOptions,
    Sentence,
    Span,
)
from app.domain.report import Report
from app.strategies import BASELINES, STRATEGIES
from app.text.sentences import sentence_spans
from app.web import capabilities

MAX_CARDS = 3
EXCERPT_CHARACTERS = 360
"""Visible characters of a passage on each side of its answer."""
MAX_FRAGMENT_WORDS = 12
"""Words of a sentence above which a link to it contains only both ends; browsers find the text between them."""
FIGURES = Path(__file__).with_name("verdict_figures.json")
"""The share of right verdicts by confidence, as in docs/results.md, and the options of the runs that were measured."""


class Excerpt(NamedTuple):
    """A text around its answer; `cut_before` and `cut_after` mark omitted text."""

    before: str
    answer: str
    after: str
    cut_before: bool = False
    cut_after: bool = False


def excerpt(span: Span, around: int = EXCERPT_CHARACTERS) -> Excerpt:
    """Return the sentence of a span and its neighbours, at most about `around` characters on each side."""
    before, after = span.passage.text[: span.start], span.passage.text[span.end :]
    cut_before, cut_after = len(before) > around, len(after) > around
    if cut_before:
        before = before[-around:].partition(" ")[2]
    if cut_after:
        after = after[:around].rpartition(" ")[0]
    start, end = _neighbours(before + span.text + after, len(before), len(before) + len(span.text))
    kept = end - len(before) - len(span.text)  # characters of `after`
    return Excerpt(
        before[start:], span.text, after[:kept], cut_before or start > 0, cut_after or bool(after[kept:].strip())
    )


def _neighbours(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of the sentences that hold [start, end), with the one before and the one after."""
    spans = sentence_spans(text)
    holding = [at for at, (first, last) in enumerate(spans) if first < end and last > start]
    if not holding:
        return 0, len(text)
    first, last = spans[max(holding[0] - 1, 0)], spans[min(holding[-1] + 1, len(spans) - 1)]
    return min(first[0] if holding[0] > 1 else 0, start), max(last[1], end)


class Opening(NamedTuple):
    """The visible start of a text, and the rest, "" for none."""

    shown: str
    rest: str


def opening(text: str, about: int = 2 * EXCERPT_CHARACTERS) -> Opening:
    """Split off the first `about` characters of a text, without cutting a word unless it is longer than that."""
    if len(text) <= about + EXCERPT_CHARACTERS // 2:
        return Opening(text, "")
    shown = text[:about].rpartition(" ")[0] or text[:about]
    return Opening(shown, text[len(shown) :].lstrip())


def passages_of(answer: Answer) -> tuple[Passage, ...]:
    """Return every passage behind an answer: the cited one first, the others as they were ranked."""
    cited = answer.cited.passage if answer.cited else None
    others = tuple(passage for passage in answer.retrieved if passage != cited)
    return (cited, *others) if cited else others


def relevance(passage: Passage, answer: Answer) -> str:
    """Return "high", "medium" or "low" among the passages of this answer; "" where all have the same score.

    Scores of retrievers have no common scale, so a score is rated by the third of the range that it lies in.
    """
    scores = [each.score for each in (*answer.retrieved, *([answer.cited.passage] if answer.cited else []))]
    low, high = min(scores), max(scores)
    if low == high:
        return ""
    return ("low", "medium", "high")[min(2, int(3 * (passage.score - low) / (high - low)))]


def web_link(passage: Passage) -> str | None:
    """Return the passage's address if it is safe to follow (http or https), None otherwise and for recited passages."""
    return None if passage.origin is Origin.RECITED else safe_address(passage.url)


def safe_address(url: str | None) -> str | None:
    """Return the address if it is one of http or https, None otherwise."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def sentence_link(passage: Passage, sentence: str) -> str | None:
    """Return the passage's address with a text fragment, which lets browsers scroll to the sentence and mark it."""
    link, words = web_link(passage), sentence.split()
    if link is None or not words:
        return link
    ends = (words[:5], words[-5:]) if len(words) > MAX_FRAGMENT_WORDS else (words,)
    fragment = ",".join(quote(" ".join(end), safe="").replace("-", "%2D") for end in ends)
    return f"{link}{'' if '#' in link else '#'}:~:text={fragment}"


def site(passage: Passage) -> str:
    """Return the name of the web site that the passage is from, or its source where it has no address."""
    link = web_link(passage)
    return urlsplit(link).netloc.removeprefix("www.") if link else passage.source


def sites(passages: Iterable[Passage]) -> str:
    """Return the distinct sources of the passages; recited passages have none."""
    return ", ".join(
        dict.fromkeys(each.source for each in passages if each.source and each.origin is not Origin.RECITED)
    )


class Card(NamedTuple):
    """A deciding sentence, for a card under the verdict."""

    hops: tuple[int, ...]
    passage: Passage
    text: Excerpt

    @property
    def sentence(self) -> str:
        return self.text.before + self.text.answer + self.text.after

    @property
    def copied(self) -> str:
        """Return the text of the copy button: the sentence with its source."""
        link = sentence_link(self.passage, self.sentence)
        source = (self.passage.title, self.passage.source, self.passage.published, link)
        return f"“{self.sentence}” {', '.join(filter(None, source))}"


class ShownVerdict(NamedTuple):
    """The sentence that answers the claim, the other reasons, and the cards, the one with the deciding words first."""

    answer: Sentence | None
    reasons: tuple[Sentence, ...]
    cards: tuple[Card, ...]


def shown_verdict(report: Report) -> ShownVerdict:
    """Divide the rationale of a verdict: quotations become cards, the first other sentence answers the claim.

    Without a decision there are no cards, because nothing decides.
    """
    verdict = report.verdict
    if verdict is None:
        return ShownVerdict(None, (), ())
    quoted = [(sentence, _quotation(sentence, report)) for sentence in verdict.rationale]
    statements = [sentence for sentence, card in quoted if not card]
    if verdict.label is Label.NOT_ENOUGH_EVIDENCE:
        return ShownVerdict(None, tuple(statements), ())
    cards: dict[tuple[str, str], Card] = {}
    for card in (*filter(None, (card for _, card in quoted)), *_cited(report, statements)):
        cards.setdefault((card.passage.text, card.sentence), card)
    answer, reasons = (statements[0], statements[1:]) if statements else (None, [])
    deciding = _deciding(cards.values(), answer)
    shown = sorted(cards.values(), key=lambda card: card is not deciding)
    return ShownVerdict(answer, tuple(reasons), tuple(shown)[:MAX_CARDS])


def _deciding(cards: Iterable[Card], answer: Sentence | None) -> Card | None:
    """Return the card whose marked words the verdict's sentence has, of several the one of the latest hop."""
    having = [each for each in cards if answer and _find_words(each.text.answer, str(answer.text))]
    return max(having, key=lambda card: max(card.hops, default=0), default=None)


def _find_words(words: str | None, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) if words else None


def _quotation(sentence: Sentence, report: Report) -> Card | None:
    for hop in _hops(report, sentence.hops) if sentence.quote else ():
        for passage in passages_of(hop.answer) if hop.answer else ():
            at = passage.text.find(sentence.quote)
            if at >= 0 and passage.origin is not Origin.RECITED:
                return _card(sentence.hops, hop, passage, at, at + len(sentence.quote))
    return None


def _cited(report: Report, statements: Iterable[Sentence]) -> Iterator[Card]:
    """Yield the cards of the sentences in which the answers of the cited hops begin."""
    for hop in _hops(report, tuple(dict.fromkeys(number for sentence in statements for number in sentence.hops))):
        cited = hop.answer.cited if hop.answer else None
        if cited and cited.passage.origin is not Origin.RECITED:
            place = excerpt(cited)
            near = place.before + place.answer + place.after
            first = len(place.before)
            start, end = next(
                ((a, b) for a, b in sentence_spans(near) if a <= first < b), (first, first + len(cited.text))
            )
            offset = cited.start - first
            yield _card((hop.number,), hop, cited.passage, start + offset, end + offset)


def _hops(report: Report, numbers: tuple[int, ...]) -> tuple[Hop, ...]:
    return tuple(report.hops[number - 1] for number in numbers if 0 < number <= len(report.hops))


def _card(hops: tuple[int, ...], hop: Hop, passage: Passage, start: int, end: int) -> Card:
    """Return the card of a sentence, with the hop's answer marked where it is in the sentence."""
    answer = hop.answer
    sentence = passage.text[start:end]
    at = size = 0
    if answer and answer.cited and answer.cited.passage == passage and start <= answer.cited.start < end:
        at, size = answer.cited.start - start, len(answer.cited.text)
    elif answer and (marked := _find_words(answer.text, sentence)):
        at, size = marked.start(), len(marked[0])
    return Card(hops, passage, Excerpt(sentence[:at], sentence[at : at + size], sentence[at + size :]))


@lru_cache(maxsize=1)
def _figures() -> dict[str, Any]:
    return dict(json.loads(FIGURES.read_text("utf-8")))


def _is_measured(options: RunOptions) -> bool:
    """Return whether the figures were measured with this run's strategy, answerer, corpora, labels and reasoner."""
    figures = _figures()
    chosen = (options.strategy, options.answerer, list(options.corpora), options.labels.value)
    measured = tuple(figures[name] for name in ("strategy", "answerer", "corpora", "labels"))
    return chosen == measured and ("reasoner", figures["reasoner"]) in options.modules


def reliability(report: Report) -> str:
    """Return how often verdicts of this confidence were right in tests; "" where that was not measured."""
    confidence = report.verdict.confidence if report.verdict else None
    if confidence is None or report.imported or not _is_measured(report.options):
        return ""
    level = [each for each in _figures()["levels"] if each["from"] <= confidence][-1]
    return Words(
        "At this level ({words}), {right} of {verdicts} test claims were right.",
        words=Words(level["words"]),
        right=level["right"],
        verdicts=level["verdicts"],
    )


def formal_label(label: Label) -> str:
    """Return fact-checking's own term, which a report has once, beside its verdict: "Not enough evidence"."""
    return Words(label.replace("_", " ").capitalize())


def strategy_words(options: RunOptions) -> str:
    """Return the words for a check's strategy; its name for one that only an imported report has."""
    kind = STRATEGIES.get(options.strategy)
    return kind.words if kind else options.strategy


def corpora_words(options: RunOptions) -> str:
    """Return the titles of a check's corpora: from SOURCE_TITLES, else from this installation, else the name."""
    titles = SOURCE_TITLES
    if has_app_context() and not titles.keys() >= set(options.corpora):
        titles = {each.name: each.title for each in capabilities().corpora} | titles
    return Words.joined(", ", (titles.get(name, name) for name in options.corpora))


def source_words(options: RunOptions) -> str:
    if options.strategy in BASELINES:
        return Words("The claim alone")
    if source_of(options) == WEB:
        return Words("The web ({engine})", engine=options.search)
    if not searches_corpora(options):
        names = (
            Words(each.title.partition(":")[0]) for each in capabilities().answerers if each.name == options.answerer
        )
        return Words("A model’s memory ({model})", model=next(names, options.answerer))
    titles = corpora_words(options)
    return Words("{titles}, one article at a time", titles=titles) if reads_documents(options) else titles


ASKED_WORDS = {
    VITAL: Words("the offline extracts"),
    LIVE_WIKIPEDIA: Words("live Wikipedia"),
    WEB: Words("the web"),
}
"""Sources as buttons name them: "Ask live Wikipedia"."""


def asked_words(source: Choice) -> str:
    return ASKED_WORDS.get(source.name, source.title)


def hop_to_ask_again(report: Report) -> Hop | None:
    """Return the hop from which another source is asked: the first that found nothing of use, else the last."""
    return next(iter(report.set_aside or report.hops[-1:]), None)


def models_words(options: RunOptions) -> str:
    """Return the model of a check, in a few words: the language model, or the mix of modules."""
    return options.model or (Words("local models") if options.preset == "local" else options.preset)


LABELS = {
    LabelSet.TWO: Words("two labels"),
    LabelSet.THREE: Words("three labels"),
    LabelSet.FOUR: Words("four labels"),
}


def choices(options: RunOptions) -> dict[str, str]:
    """Return the comparable choices of a check by name, in a few words each."""
    return {
        "source": source_words(options),
        "method": strategy_words(options),
        "models": models_words(options),
        "labels": LABELS[options.labels],
        "steps": Words("up to {steps} step", "up to {steps} steps", steps=options.max_hops),
        "cache": Words("every answer anew") if options.fresh else Words("earlier answers reused"),
        **{name: each.if_on if getattr(options, name) else each.if_off for name, each in TICKS.items()},
        **{name: _number_words(name, getattr(options, name)) for name in RANGES if name != "max_hops"},
    }


def _number_words(name: str, number: float | None) -> str:
    if number is None:
        return Words("the usual {name}", name=RANGES[name].name)
    return Words("{name} {number:g}", name=RANGES[name].name, number=number)


def differences(options: RunOptions, other: RunOptions) -> tuple[str, ...]:
    """Return the choices of `other` that differ from those of `options`, in a few words each."""
    mine, theirs = choices(options), choices(other)
    return tuple(theirs[name] for name in mine if mine[name] != theirs[name])


def distinct_choices(report: Report, reports: Sequence[Report]) -> tuple[str, ...]:
    """Return what sets one of several checks apart: its changed step, and the choices that not all of them share."""
    branch, others, own = report.branch, [choices(each.options) for each in reports], choices(report.options)
    if any(each.branch for each in reports):  # leaving a step out raises the limit of steps by one
        del own["steps"]
    differing = (words for name, words in own.items() if any(each[name] != words for each in others))
    return tuple(filter(None, (branch_words(branch), *differing)))


def branch_words(branch: Branch | None) -> str:
    """Return what a branch changed, in a few words; "" for a run that is no branch."""
    if branch is None:
        return ""
    if branch.question is None:
        return Words("step {hop} left out", hop=branch.hop)
    return Words("step {hop} asked “{question}”", hop=branch.hop, question=branch.question.text)
