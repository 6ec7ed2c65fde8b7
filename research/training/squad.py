"""SQuAD (Rajpurkar et al., 2016 and 2018; CC BY-SA 4.0) as examples for the reader, split by whole articles."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.text.sentences import content_words
from research.training.pairs import is_held_out

FILES = ("squad_dev_v1.1.json", "squad_dev_v2.0.json")
NEIGHBOURHOOD = 100


@dataclass(frozen=True, slots=True)
class Example:
    """A question about a passage and its answer's place in the text, characters [start, end); None: no answer.

    `answers` are all the texts that annotators gave, for measuring. Training never sees what is held out.
    """

    source: str
    question: str
    title: str
    text: str
    place: tuple[int, int] | None
    answers: tuple[str, ...]
    held_out: bool


def squad_examples(folder: Path) -> list[Example]:
    """Every question of both versions once: the answerable ones of v1.1 and the unanswerable ones of v2.0."""
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
    """Where the answer that most annotators gave stands: of several places the one whose surroundings ask the question.

    The files give each answer's first occurrence, which need not be the one that was meant.
    """
    given = Counter(answers)
    answer = max(given, key=lambda one: (given[one], -len(one)))
    wanted = content_words(question)
    places = [at for at in range(len(text)) if text.startswith(answer, at)]

    def surroundings(at: int) -> int:
        return len(wanted & content_words(text[max(0, at - NEIGHBOURHOOD) : at + len(answer) + NEIGHBOURHOOD]))

    best = max(places, key=surroundings) if len(places) > 1 else places[0]
    return best, best + len(answer)


def elsewhere(examples: Sequence[Example], count: int, rng: random.Random) -> Iterator[Example]:
    """Answerable questions about another paragraph of the same article that does not hold any of the answers."""
    texts: dict[str, list[str]] = {}
    for one in examples:
        texts.setdefault(one.title, []).append(one.text)
    answerable = [one for one in examples if one.place]
    for one in rng.sample(answerable, min(count, len(answerable))):
        other = rng.choice(texts[one.title])
        if not any(answer.casefold() in other.casefold() for answer in one.answers):
            yield replace(one, source="squad-elsewhere", text=other, place=None, answers=())


def cut(example: Example, words: int, rng: random.Random) -> Example:
    """The example with its text cut to about `words` words around its answer, or around what comes nearest to one.

    Short texts train several times faster, and the corpus's passages are short.
    """
    at, end = example.place or _nearest(example)
    before, after = example.text[:at], example.text[end:]
    spare = max(0, words - len(example.text[at:end].split()))
    left = min(max(rng.randint(0, spare), spare - len(after.split())), len(before.split()))
    # The first cut falls on a word's beginning, the second on a word's end; both keep the text as it stands.
    start = at - len(_last_words(before, left))
    stop = end + len(_first_words(after, spare - left))
    place = (at - start, end - start) if example.place else None
    return replace(example, text=example.text[start:stop], place=place)


def _nearest(example: Example) -> tuple[int, int]:
    """An empty place after the longest word of an unanswerable question that its text holds, else at the beginning."""
    text = example.text.casefold()
    for word in sorted(content_words(example.question), key=lambda word: (-len(word), word)):
        if (at := text.find(word)) >= 0 and len(text) == len(example.text):
            middle = example.text.find(" ", at)
            return (middle, middle) if middle >= 0 else (len(text), len(text))
    return 0, 0


def _first_words(text: str, count: int) -> str:
    """The first `count` words with the spaces before them and whatever is glued to the last one."""
    at = 0
    for word in text.split(maxsplit=count)[:count]:
        at = text.index(word, at) + len(word)
    return text[:at]


def _last_words(text: str, count: int) -> str:
    return _first_words(text[::-1], count)[::-1]


def data_hash(examples: Iterable[Example]) -> str:
    """A short fingerprint of the examples, in order, for the model card."""
    digest = hashlib.sha256()
    for one in examples:
        digest.update(repr((one.source, one.question, one.title, one.text, one.place)).encode())
    return digest.hexdigest()[:16]
