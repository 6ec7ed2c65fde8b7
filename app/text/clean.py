"""Clean text that people and documents bring in, and restore the letter case of a claim.

`clean_text` removes what a reader does not see but a model does: entities, format characters, emoji, ligatures, broken
encodings and the hyphens of line ends. Everything here takes time linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import regex
from ftfy import fix_encoding
from ftfy.badness import is_bad
from ftfy.fixes import fix_c1_controls, remove_terminal_escapes, unescape_html

from app.text.sentences import is_common_word, sentence_spans

_PIECE = re.compile(r"[\s\S]{1,1000}(?!\S)|[\s\S]{1,1000}")
"""Encodings are repaired in pieces, because ftfy's search takes quadratic time on long lines."""
_LINE_BREAK = re.compile("\r\n|[\r\n\x0b\x0c\x85\u2028\u2029]")
_SOFT_HYPHEN = re.compile(r"(?<=[\w-])(?:\u00ad\s*|¬[ \t]*\n\s*)(?=\w)")
_KEYCAP = re.compile("(^[ \t]*)?([0-9#*])\ufe0f?\u20e3[ \t]*", re.MULTILINE)
_CIRCLED = re.compile("(^[ \t]*)?([\u2460-\u2473\u2488-\u249b\u24f5-\u24fe\u2776-\u2793])[ \t]*", re.MULTILINE)
_EMOJI = regex.compile(
    r"( ?)[[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\u20e3]--[©®‼⁉]]"
    r"[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{Default_Ignorable_Code_Point}]*+"
    r"( ?)",
    flags=regex.V1,
)
_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}\p{Co}\p{Cn}]+")
_CONTROL = regex.compile(r"[\p{Cc}\u2800\ufffd--\n]", flags=regex.V1)
_WORD_CHARACTER = re.compile(r"\w")

_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUPERSCRIPT = re.compile(rf"[⁺⁻⁽]?[{_RAISED}][{_RAISED}⁺⁻⁽⁾]*(?:[,˒][{_RAISED}⁺⁻⁽⁾]+)*|(?<=\d)[ⁿⁱ]\b")
_SUBSCRIPT_AFTER_DIGIT = re.compile(r"(?<=\d)(?=[₀-₉])")
_FRACTION_AFTER_DIGIT = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅟↉])")
_REPLACED = str.maketrans({"™": "", "℠": "", "№": "No. ", "´": "'", "\u2010": "-", "\u2011": "-", "\u2044": "/"})
_KEPT_FORMS = regex.compile(
    r"([ªº¨¯¸\u02d8-\u02dd\u037a\u0384\u0385\u1fbd-\u1fc1\u1fcd-\u1ffe‗‾\ufe49-\ufe4f\ufdf0-\ufdff])"
)
"""Signs that NFKC would turn into a letter beside a digit, or into a space and a combining mark."""
_LATIN = regex.compile(r"\p{Latin}")
_GREEK_OR_CYRILLIC = regex.compile(r"[\p{Cyrillic}\p{Greek}]")
_LETTERS = re.compile(r"[^\W\d_]+")
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһԛԝАВЕКМНОРСТУХІЈЅҮΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "aeopcyxijsdhqwABEKMHOPCTYXIJSYABEZHIKMNOPTYXo"
)
_HYPHENATED = re.compile(r"(?<![\w-])([^\W\d_]{2,40})([-‐])[ \t]*(\n?)(?<=\s)\s*([^\W\d_]{1,40})")
_HYPHENATED_NUMBER = re.compile(
    r"(?<=[^\W_]-)\n(?=\d)(?!\d{1,2}[.)]\s)"
    r"|(?:(?<=\d-)|(?<=\b[^\W\d_]-))\n(?=[^\W\d_])(?!\w+ \w\w?-)"
    r"|(?<![\w-])((?:[A-Z]+|[a-z]{1,5})-(?= \d)|\d{4}-(?= \d{4}\b)|\d+-(?= [a-z]+-)) "
)
"""Gaps after hyphens beside digits and single letters, which keep the hyphen: COVID- 19, but not 5- and 6-year-old."""
_PARTED_LIGATURE = re.compile(r"(?<![^\W_])([^\W\d_]{0,20}[ﬀ-ﬆ]) (?=([^\W\d_]{1,20}))")
_QUOTED_LINE = re.compile(r"^>[> \t]*+(?!\d)", re.MULTILINE)
_LONE_HYPHEN = re.compile(r"(?<=\w)\n-\n(?=[^\W\d_A-Z])")
_SPACES = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r" ?\n ?")
_EMPTY_LINES = re.compile(r"\n{3,}")


def clean_text(text: str) -> str:
    """Return the text as readers see it, in NFKC, with single spaces and `\\n` as line break.

    Superscripts never fuse with digits: 10⁶ becomes 10^6. Emoji are left out. Blank lines separate paragraphs.
    """
    text = _LINE_BREAK.sub("\n", text)
    if "&" in text:
        text = _LINE_BREAK.sub("\n", unescape_html(unescape_html(text)))  # twice, for &amp;nbsp;
    if "\x1b" in text:
        text = remove_terminal_escapes(text)
    if not text.isascii():
        text = _plain_characters(text)
    text = _LINE_ENDS.sub("\n", _SPACES.sub(" ", _CONTROL.sub(" ", text)))
    if "\n>" in text:
        text = _QUOTED_LINE.sub("", text)  # as mail programs mark quoted lines
    return _EMPTY_LINES.sub("\n\n", _join_hyphenated(text)).strip()


def clean_line(text: str) -> str:
    return " ".join(clean_text(text).split())


def _plain_characters(text: str) -> str:
    text = fix_c1_controls(text)
    if is_bad(text):
        text = "".join(map(fix_encoding, _PIECE.findall(text)))
    text = _SOFT_HYPHEN.sub("", text)
    text = _KEYCAP.sub(_list_number, text)
    text = _CIRCLED.sub(_list_number, text)
    text = _EMOJI.sub(_gap, text)
    text = _INVISIBLE.sub("", text)
    text = _SUPERSCRIPT.sub(_superscript, text)
    text = _SUBSCRIPT_AFTER_DIGIT.sub("_", _FRACTION_AFTER_DIGIT.sub(" ", text))
    text = _PARTED_LIGATURE.sub(_whole_word, text.translate(_REPLACED))
    parts = _KEPT_FORMS.split(text)
    parts[::2] = [unicodedata.normalize("NFKC", part) for part in parts[::2]]
    text = "".join(parts).replace("\u2044", "/")
    return _LETTERS.sub(_latin_word, text) if _GREEK_OR_CYRILLIC.search(text) else text


def _list_number(found: re.Match[str]) -> str:
    """Return the number of a keycap or a circled digit: "1. " at the start of a line, "" for a footnote."""
    sign = found[2]
    number = sign if sign in "#*" else f"{unicodedata.numeric(sign):.0f}"
    if found[1] is not None:
        return f"{number}. "
    before = found.string[found.start() - 1 : found.start()]
    return " " if _WORD_CHARACTER.match(before) or before in tuple(".,;:!?") else f"{number} "


def _gap(found: Any) -> str:
    """Return a space where an emoji separates two words, "" before punctuation."""
    before, after = found.string[found.start() - 1 : found.start()], found.string[found.end() : found.end() + 1]
    if found[1] or found[2]:
        return "" if after in tuple(".,;:!?)") else " "
    return " " if _WORD_CHARACTER.match(before) and _WORD_CHARACTER.match(after) else ""


def _superscript(found: re.Match[str]) -> str:
    """Return ^6 for a power, the plain digit of a unit (km²), and "" for the mark of a footnote."""
    sign = unicodedata.normalize("NFKC", found[0]).replace("\u2212", "-")
    before = found.string[max(0, found.start() - 4) : found.start()]
    if before.rstrip(" ")[-1:].isdecimal() or (before.endswith(")") and sign in ("2", "3")):
        return f"^{sign}"
    letters = re.search(r"(?<![^\W_])[^\W\d_]{1,2}\Z", before)
    if before[-1:].isalpha() and sign[0] in "-+":
        return f"^{sign}"
    if letters and (len(letters[0]) == 1 or sign in ("2", "3") or sign[-1] in "-+"):
        return sign
    return ""


def _whole_word(found: re.Match[str]) -> str:
    """Return the part of a word with a ligature, without the space that some PDFs have after it: ﬁ eld."""
    first, rest = unicodedata.normalize("NFKC", found[1]), found[2]
    is_parted = is_common_word(first + rest) or not is_common_word(rest)
    return first if rest.islower() and is_parted and not is_common_word(first) else f"{first} "


def _latin_word(found: re.Match[str]) -> str:
    """Return a word of Latin letters without the Cyrillic and Greek ones that look like them."""
    word = found[0]
    return word.translate(_LOOKALIKES) if not word.isascii() and _LATIN.search(word) else word


def _join_hyphenated(text: str) -> str:
    """Join words that a hyphen divides at a line end, where the joined word is known or its rest is no word."""
    if "-\n" not in text and "- " not in text:
        return text
    text = _HYPHENATED_NUMBER.sub(r"\1", _LONE_HYPHEN.sub("-", text))
    own_words = frozenset(_LETTERS.findall(text.casefold()))

    def joined(found: re.Match[str]) -> str:
        first, hyphen, line_end, rest = found.groups()
        word = first + rest
        is_known = is_common_word(word) or word.casefold() in own_words
        if rest[0].isupper() and not first.isupper():  # Anglo-Saxon
            return f"{first}{hyphen}{rest}" if line_end else found[0]
        if is_known:
            return word
        if not line_end:
            return found[0]
        return f"{first}{hyphen}{rest}" if is_common_word(rest) else word

    return _HYPHENATED.sub(joined, text)


# Letter case.

_WORD = re.compile(r"[^\W_]+(?:[’'.&-][^\W_]+)*")


def has_lost_case(text: str) -> bool:
    """Return whether the words are all in lower case, all in upper case, or each begins with a capital."""
    words = [word for word in _WORD.findall(text) if any(map(str.isalpha, word))]
    if len(words) < 2:
        return False
    letters = "".join(words)
    return letters.islower() or letters.isupper() or (len(words) > 3 and all(word[0].isupper() for word in words))


def restore_case(claim: str, passages: Iterable[tuple[str, str]]) -> str:
    """Return a claim that has lost its letter case with the spelling that its words have in `passages`.

    `passages` are (title, text) pairs, such as the results of a search with the claim. A word counts
    where it does not begin a sentence, in a title also at its beginning if it is nowhere else.
    """
    wanted = {word.casefold() for word in _WORD.findall(claim)}
    inside: dict[str, Counter[str]] = defaultdict(Counter)
    opening: dict[str, Counter[str]] = defaultdict(Counter)
    for title, text in passages:
        for passage, spans in ((title, ((0, len(title)),)), (text, sentence_spans(text))):
            for start, end in spans:
                for place, word in enumerate(_WORD.findall(passage[start:end])):
                    if (key := word.casefold()) in wanted:
                        (inside if place else opening)[key][word] += 1

    def spelled(found: re.Match[str]) -> str:
        word, key = found[0], found[0].casefold()
        if seen := inside.get(key):
            return seen.most_common(1)[0][0]
        if is_common_word(key) or any(map(str.isdigit, word)):
            return key
        if seen := opening.get(key):
            return seen.most_common(1)[0][0]
        return key.capitalize() if not claim.islower() else word

    restored = _WORD.sub(spelled, claim)
    first = _WORD.match(restored)
    is_mixed = first is not None and first[0][0].islower() and not first[0].islower()  # like "eBay"
    return restored if is_mixed else restored[:1].upper() + restored[1:]
