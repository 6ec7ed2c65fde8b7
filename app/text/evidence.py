"""How a claim and its evidence become one line of text for the judge; training and inference share it.

A causal model reads left to right and is pooled on its last token, so the evidence comes first, then the claim, then
the word that asks for the verdict. Evidence past the window is chosen by sentence, never cut at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.text.sentences import sentences

MAX_EVIDENCE_WORDS = 110

_WORD = re.compile(r"\w+")
_STOP = frozenset(
    "a an and are as at be been by did do does for from had has have he her his in is it its not of on or she "
    "that the their they this to was were which who whom with".split()
)


def content_words(text: str) -> set[str]:
    """The case-folded words of `text` that carry meaning, with English function words left out."""
    return {word for word in _WORD.findall(text.casefold()) if word not in _STOP}


def select_sentences(about: str, passages: Sequence[tuple[str, str]], max_words: int = MAX_EVIDENCE_WORDS) -> list[str]:
    """One "Title: text" string a passage, holding the sentences that share most words with `about`.

    `passages` are (title, text) pairs. A passage's first sentence says what it is about, so it counts as a little
    nearer than its words alone would make it. Order is kept; at least one sentence is always kept.
    """
    whole = [(title, text.split()) for title, text in passages]
    if sum(len(words) for _, words in whole) <= max_words:  # nothing to choose, so nothing to take apart
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


def _line(title: str, told: str) -> str:
    return f"{title}: {told}" if title else told


def judge_prompt(claim: str, evidence: Sequence[str], asked: Sequence[tuple[str, str]] = ()) -> str:
    """The judge's input: `evidence` lines as made by `select_sentences`, (question, answer) pairs, then the claim."""
    pairs = "".join(f"\nQuestion: {question} Answer: {answer}" for question, answer in asked)
    return f"Evidence: {' '.join(evidence) or 'none'}{pairs}\nClaim: {claim}\nVerdict:"
