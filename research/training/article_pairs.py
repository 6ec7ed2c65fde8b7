"""Claim and evidence pairs made from the corpus that ships: true and false twins, bridges, comparisons of two lives."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from app.backends.corpus.registry import Article
from app.text.sentences import sentences
from research.training.pairs import HELD_OUT_SHARE, NAME, NOT_ENOUGH, NUMBER, REFUTED, SUPPORTED, Pair, is_held_out

_LIFE = re.compile(r"\((\d{4})\s*[–-]\s*(\d{4})\)")
_BORN = re.compile(r"\((?:born (\d{4})|(\d{4})\s*[–-]\s*\d{4})\)")
_PRONOUN = re.compile(r"^(?:It|He|She) (?=(?:is|was|has|had|became|wrote|served|won|lies|covers) )")
_OPPOSITES = [
    ("largest", "smallest"), ("first", "last"), ("oldest", "youngest"), ("northern", "southern"), ("highest", "lowest"),
    ("eastern", "western"), ("longest", "shortest"), ("north", "south"), ("east", "west"), ("male", "female"),
]  # fmt: skip


def pairs_from_articles(articles: Sequence[Article], count: int, rng: random.Random) -> list[Pair]:
    """True and false twins, bridges between two articles and comparisons of two lives: about `count` pairs.

    Held-out pairs come from held-out articles only, so that a twin test over them sees no trained passage.
    """
    made: list[Pair] = []
    for held_out in (False, True):
        side = [article for article in articles if is_held_out(article.title) == held_out]
        wanted = round(count * (HELD_OUT_SHARE if held_out else 1 - HELD_OUT_SHARE))
        makers = [_twins(side, held_out, rng), _bridges(side, held_out, rng), _lives(side, held_out, rng)]
        for maker, share in zip(makers, (0.45, 0.4, 0.15), strict=True):
            made += [pair for _, pair in zip(range(round(wanted * share)), maker, strict=False)]
    return made


def _twins(side: Sequence[Article], held_out: bool, rng: random.Random) -> Iterator[Pair]:
    """A sentence or a description as a claim, true as it stands or false by one changed name, number or word."""
    by_topic: dict[str, list[Article]] = {}
    for article in side:
        by_topic.setdefault(article.topic, []).append(article)
    while True:
        article = rng.choice(side)
        other = rng.choice(by_topic[article.topic])
        claim = _as_claim(article, rng)
        if claim is None or other.title == article.title:
            continue
        passages = ((article.title, article.text),)
        kind = rng.random()
        if kind < 0.4:
            yield Pair("vital-twin", claim, passages, SUPPORTED, held_out)
        elif kind < 0.85:
            changed = _changed(claim, article, other, rng)
            if changed:
                yield Pair("vital-twin", changed, passages, REFUTED, held_out)
        else:
            yield Pair("vital-twin", claim, ((other.title, other.text),), NOT_ENOUGH, held_out)


def _as_claim(article: Article, rng: random.Random) -> str | None:
    life = _LIFE.search(article.description)
    plain = _plain(article.description)
    drawn = rng.random()
    if life and drawn < 0.25:
        return f"{article.title} {rng.choice(['was born in ' + life[1], 'died in ' + life[2]])}."
    if plain and drawn < 0.5:
        return f"{article.title} {'was' if life else 'is'} {plain}."
    told = [_PRONOUN.sub(f"{article.title} ", text) for text in sentences(article.text)]
    told = [text for text in told if 6 <= len(text.split()) <= 28 and article.title.split()[-1] in text]
    return rng.choice(told) if told else None


def _plain(description: str) -> str:
    """The description as a noun phrase with an article, without its years; empty when it is not one."""
    text = re.sub(r"\s*\(.*?\)", "", description).strip()
    if not text or len(text.split()) < 2 or text.casefold().startswith(("overview", "wikimedia", "list")):
        return ""
    first = text.split()[0]
    text = text if first[:2].isupper() or first in _COUNTRIES or _looks_national(first) else text[0].lower() + text[1:]
    return text if first.casefold() in ("the", "a", "an") else f"{'an' if text[0].lower() in 'aeiou' else 'a'} {text}"


_COUNTRIES = frozenset("France Germany England Italy Spain China India Japan Russia Canada Mexico Brazil".split())


def _looks_national(word: str) -> bool:
    return word.endswith(("ish", "ian", "ese", "ean", "can", "ench", "utch", "erman", "reek", "oman"))


def _changed(claim: str, article: Article, other: Article, rng: random.Random) -> str | None:
    """`claim` made false by one change that the article contradicts, or None when nothing in it can be changed."""
    changes = []
    for true, false in _OPPOSITES:
        for old, new in ((true, false), (false, true)):
            if re.search(rf"\b{old}\b", claim):
                changes.append(re.sub(rf"\b{old}\b", new, claim, count=1))
    for number in NUMBER.finditer(claim):
        moved = int(number[0]) + rng.choice([-1, 1]) * rng.choice([1, 2, 3, 7, 10, 20, 40, 100])
        if moved > 0 and str(moved) not in article.text:
            changes.append(claim[: number.start()] + str(moved) + claim[number.end() :])
    head = claim.find(article.title) + len(article.title)
    names = [n for n in NAME.finditer(claim) if n.start() > max(head, 1)]
    spare = [n[0] for n in NAME.finditer(other.text) if n.start() and n[0] not in article.text and len(n[0]) > 3]
    if names and spare:
        name = rng.choice(names)
        changes.append(claim[: name.start()] + rng.choice(spare) + claim[name.end() :])
    plain = _plain(other.description)
    if plain and claim.startswith(article.title) and other.topic == article.topic:
        changes.append(f"{article.title} is {plain}.")
    return rng.choice(changes) if changes else None


def _bridges(side: Sequence[Article], held_out: bool, rng: random.Random) -> Iterator[Pair]:
    """Two-hop claims: a sentence that names another article, with that name replaced by the article's description."""
    by_title = {article.title: article for article in side if len(article.title) > 4 and _plain(article.description)}
    while True:
        article = rng.choice(side)
        told = _PRONOUN.sub(f"{article.title} ", rng.choice(sentences(article.text) or [""]))
        named = [n for n in NAME.finditer(told) if n.start() and n[0] in by_title and n[0] != article.title]
        if not named or not 6 <= len(told.split()) <= 28 or article.title not in told:
            continue
        name = rng.choice(named)
        bridge = by_title[name[0]]
        other = rng.choice([a for a in by_title.values() if a.topic == bridge.topic])
        before, after = re.sub(r"\b[Tt]he $", "", told[: name.start()]), told[name.end() :]
        true, false = (f"{before}{_plain(a.description)}{after}" for a in (bridge, other))
        both = ((article.title, article.text), (bridge.title, bridge.text))
        kind = rng.random()
        if kind < 0.4:
            yield Pair("vital-bridge", true, both, SUPPORTED, held_out)
        elif kind < 0.75 and other.description != bridge.description:
            yield Pair("vital-bridge", false, both, REFUTED, held_out)
        else:
            yield Pair("vital-bridge", true, (both[rng.random() < 0.3],), NOT_ENOUGH, held_out)


def _lives(side: Sequence[Article], held_out: bool, rng: random.Random) -> Iterator[Pair]:
    """Comparisons of two birth years, with one of the two articles missing in a quarter of them."""
    born = [(a, int(found[1] or found[2])) for a in side if (found := _BORN.search(a.description))]
    while True:
        (first, year), (second, later) = rng.sample(born, 2)
        if year == later:
            continue
        both = ((first.title, first.text), (second.title, second.text))
        word, holds = rng.choice([("before", year < later), ("after", year > later)])
        claim = f"{first.title} was born {word} {second.title}."
        if rng.random() < 0.25:
            yield Pair("vital-lives", claim, (rng.choice(both),), NOT_ENOUGH, held_out)
        else:
            yield Pair("vital-lives", claim, both, SUPPORTED if holds else REFUTED, held_out)
