"""Builds the judge's input from a claim and its evidence; training and inference share it.

The judge is a causal model pooled on its last token, so evidence comes before the claim. Evidence that is too long is
reduced by selecting sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.text.sentences import sentences

MAX_EVIDENCE_WORDS = 125

_WORD = re.compile(r"\w+")
_STOP = frozenset(
    "a an and are as at be been by did do does for from had has have he her his in is it its not of on or she "
    "that the their they this to was were which who whom with".split()
)


def content_words(text: str) -> set[str]:
    """Return the case-folded words of `text` without English function words."""
    return {word for word in _WORD.findall(text.casefold()) if word not in _STOP}


def select_sentences(about: str, passages: Sequence[tuple[str, str]], max_words: int = MAX_EVIDENCE_WORDS) -> list[str]:
    """Return one "Title: text" string per passage, with the sentences that share most words with `about`.

    `passages` are (title, text) pairs. A passage's first sentence gets a small bonus, since it names the subject.
    Order is kept; at least one sentence is always kept.
    """
    whole = [(title, text.split()) for title, text in passages]
    if sum(len(words) for _, words in whole) <= max_words:  # everything fits
        return [_line(title, " ".join(words)) for title, words in whole if words]
    wanted = content_words(about)
    found = []
    for place, (_, text) in enumerate(passages):
        for rank, sentence in enumerate(sentences(text)):
            words = content_words(sentence)
            shared = len(words & wanted) + (0.5 if rank == 0 else 0.0)
            found.append((shared / (len(words) + 8) ** 0.5, place, rank, sentence))
    kept: list[tuple[int, int, str]] = []
    left = max_words
    for _, place, rank, sentence in sorted(found, key=lambda row: (-row[0], row[1], row[2])):
        length = len(sentence.split())
        if length > left and kept:
            continue
        kept.append((place, rank, " ".join(sentence.split()[:max_words])))
        left -= length
    lines = []
    for place, (title, _) in enumerate(passages):
        chosen = [sentence for at, _, sentence in sorted(kept) if at == place]
        if chosen:
            lines.append(_line(title, " ".join(chosen)))
    return lines


def _line(title: str, text: str) -> str:
    return f"{title}: {text}" if title else text


def judge_prompt(claim: str, evidence: Sequence[str], asked: Sequence[tuple[str, str]] = ()) -> str:
    """Return the judge's input: lines of `select_sentences`, (question, answer) pairs, then the claim."""
    pairs = "".join(f"\nQuestion: {question} Answer: {answer}" for question, answer in asked)
    return f"Evidence: {' '.join(evidence) or 'none'}{pairs}\nClaim: {claim}\nVerdict:"
