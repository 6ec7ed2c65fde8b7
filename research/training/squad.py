"""Read SQuAD (Rajpurkar et al., 2016 and 2018; CC BY-SA 4.0) as examples for the reader, split by article."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.backends.local.reader_windows import Window

from app.text.sentences import content_words
from research.training.pairs import is_held_out

FILES = ("squad_dev_v1.1.json", "squad_dev_v2.0.json")
CONTEXT_CHARACTERS = 100
"""Characters on each side of an answer that are compared with the question."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question about a passage, with its answer."""

    source: str
    question: str
    title: str
    text: str
    place: tuple[int, int] | None
    """Characters [start, end) of the answer in `text`; None: no answer."""
    answers: tuple[str, ...]
    """The answers of all annotators, for measuring."""
    held_out: bool
    """Never trained on."""


def squad_examples(folder: Path) -> list[Example]:
    """Return the answerable questions of v1.1 and the unanswerable ones of v2.0."""
    answerable, both = (list(_questions(folder / name)) for name in FILES)
    return [one for one in answerable if one.place] + [one for one in both if not one.place]


def _questions(path: Path) -> Iterator[Example]:
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        held_out = is_held_out(article["title"])
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                answers = tuple(answer["text"] for answer in asked["answers"])
                place = _place(asked["question"], paragraph["context"], answers) if answers else None
                title = article["title"].replace("_", " ")
                yield Example("squad", asked["question"], title, paragraph["context"], place, answers, held_out)


def _place(question: str, text: str, answers: Sequence[str]) -> tuple[int, int]:
    """Return the occurrence of the most frequent answer whose surroundings share the most words with the question.

    The files give each answer's first occurrence, which may be the wrong one.
    """
    counts = Counter(answers)
    answer = max(counts, key=lambda one: (counts[one], -len(one)))
    wanted = content_words(question)
    places = [at for at in range(len(text)) if text.startswith(answer, at)]

    def shared_words(at: int) -> int:
        start, end = max(0, at - CONTEXT_CHARACTERS), at + len(answer) + CONTEXT_CHARACTERS
        return len(wanted & content_words(text[start:end]))

    best = max(places, key=shared_words) if len(places) > 1 else places[0]
    return best, best + len(answer)


def elsewhere(examples: Sequence[Example], count: int, rng: random.Random) -> Iterator[Example]:
    """Yield answerable questions with another paragraph of the same article, which contains none of the answers."""
    texts: dict[str, list[str]] = {}
    for one in examples:
        texts.setdefault(one.title, []).append(one.text)
    answerable = [one for one in examples if one.place]
    for one in rng.sample(answerable, min(count, len(answerable))):
        other = rng.choice(texts[one.title])
        if not any(answer.casefold() in other.casefold() for answer in one.answers):
            yield replace(one, source="squad-elsewhere", text=other, place=None, answers=())


def cut(example: Example, words: int, rng: random.Random) -> Example:
    """Return the example with its text cut to about `words` words around its answer or a word of its question.

    Short texts train several times faster, and the corpus's passages are short.
    """
    at, end = example.place or _nearest(example)
    before, after = example.text[:at], example.text[end:]
    spare = max(0, words - len(example.text[at:end].split()))
    left = min(max(rng.randint(0, spare), spare - len(after.split())), len(before.split()))
    # Cut at the beginning of a word and at the end of one.
    start = at - len(_last_words(before, left))
    stop = end + len(_first_words(after, spare - left))
    place = (at - start, end - start) if example.place else None
    return replace(example, text=example.text[start:stop], place=place)


def _nearest(example: Example) -> tuple[int, int]:
    """Return an empty place after the longest word of the question that is in the text, else at the beginning."""
    text = example.text.casefold()
    for word in sorted(content_words(example.question), key=lambda word: (-len(word), word)):
        if (at := text.find(word)) >= 0 and len(text) == len(example.text):
            middle = example.text.find(" ", at)
            return (middle, middle) if middle >= 0 else (len(text), len(text))
    return 0, 0


def _first_words(text: str, count: int) -> str:
    """Return the beginning of `text` up to the end of its word number `count`."""
    at = 0
    for word in text.split(maxsplit=count)[:count]:
        at = text.index(word, at) + len(word)
    return text[:at]


def _last_words(text: str, count: int) -> str:
    return _first_words(text[::-1], count)[::-1]


def answer_tokens(window: Window, place: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return the positions of the answer's first and last token; None if the window lacks a part of the answer."""
    if place is None:
        return None
    start, end = place
    tokens = [(at, *word) for at, word in enumerate(window.word_ranges) if word is not None]
    if start < tokens[0][1] or end > tokens[-1][2]:
        return None
    first = next(at for at, _, word_end in tokens if word_end > start)
    last = next(at for at, word_start, _ in reversed(tokens) if word_start < end)
    return first, max(first, last)


def data_hash(examples: Iterable[Example]) -> str:
    """Return a short hash of the examples, in order, for the model card."""
    digest = hashlib.sha256()
    for one in examples:
        digest.update(repr((one.source, one.question, one.title, one.text, one.place)).encode())
    return digest.hexdigest()[:16]
