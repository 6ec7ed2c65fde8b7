"""Validate claims, questions, speakers and dates as people write them, and classify a visitor's input before a run.

The input may be one claim, a question, several sentences, a link, or no English statement at all. py3langid identifies
its language, one of 139, without a network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.messages import Words
from app.domain.model import Claim
from app.text.clean import clean_line, clean_text
from app.text.sentences import is_common_word, sentence_spans
from app.text.wording import names, with_name, without_names, word_lists

MIN_CLAIM_LENGTH = 3
MAX_CLAIM_LENGTH = 500
MAX_SPEAKER_LENGTH = 200
MAX_DATE_LENGTH = 50
"""Characters, without surrounding spaces."""

MAX_CLEANINGS = 8

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")

_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])|[0-9]{8}$")
_DIGITS_OF_DAY = re.compile(r"([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})$")
_TIME = re.compile(
    r"\s\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?(?: ?[ap]\.?m\b\.?)?(?: (?:[A-Z]{1,4}\b|[+-]\d{2}:?\d{2}))?", re.I
)
_DATE_LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pt", "pl", "ru", "uk", "tr", "el", "cs", "sv", "da", "zh", "ja")
_DATE_RULES = {
    "PARSERS": ["absolute-time"],
    "DATE_ORDER": "DMY",
    "PREFER_LOCALE_DATE_ORDER": False,
    "REQUIRE_PARTS": ["day", "month", "year"],
}
_NO_VALUE = frozenset(
    "n/a na n.a. none null nil nan nat unknown undated - -- – — ? n.d. nd tbd unspecified".split()
) | {"no date", "no data", "not available", "not applicable", "not specified", "0000-00-00"}
"""What data sets write in place of a missing speaker or date."""


def clean_claim(raw: str) -> Claim:
    """Return the claim in `raw`, cleaned, on one line, without list marks, footnote marks and Markdown.

    Raises InvalidInput unless it has MIN_CLAIM_LENGTH to MAX_CLAIM_LENGTH code points; a CRLF counts once.
    """
    text = without_marks(_one_line(raw, "claim"))
    if not text:
        raise InvalidInput(Words("Please write a claim."))
    if len(text) < MIN_CLAIM_LENGTH:
        raise InvalidInput(
            Words("The claim is too short: it needs at least {least} characters.", least=MIN_CLAIM_LENGTH)
        )
    return Claim(_within(MAX_CLAIM_LENGTH, text, "claim"))


def clean_question(raw: str) -> str:
    """Return a question, cleaned like a claim. Raises InvalidInput if it is empty or above MAX_CLAIM_LENGTH."""
    text = _one_line(raw, "question")
    if not text:
        raise InvalidInput(Words("Please write a question."), "question")
    return _within(MAX_CLAIM_LENGTH, text, "question")


def clean_speaker(raw: str) -> str | None:
    """Return the speaker, cleaned; None when empty or "N/A". Raises InvalidInput above MAX_SPEAKER_LENGTH."""
    text = _within(MAX_SPEAKER_LENGTH, _one_line(raw, "speaker"), "speaker")
    return None if text.casefold() in {"", *_NO_VALUE} else text


def clean_date(raw: str, today: date) -> str | None:
    """Return the date of the claim as an ISO date; None when empty or "N/A".

    Dates are read as people and feeds write them: 2020-10-31T10:00Z, 31.10.2020, Oct 31, 2020, 31 octobre 2020. The day
    is written before the month: 03/04/2020 is the third of April, but 10/31/2020 the last of October.

    Raises InvalidInput for any other text and for days after `today`.
    """
    text = _one_line(raw, "date")
    if text.casefold() in {"", *_NO_VALUE}:
        return None
    day = _day(text) if len(text) <= MAX_DATE_LENGTH else None
    if day is None and _DIGITS_OF_DAY.match(text):
        raise InvalidInput(Words("There is no day {text}.", text=text), "date")
    if day is None:
        raise InvalidInput(
            Words("Please write the date of the claim like 2020-10-31, 31/10/2020, 31 October 2020 or Oct 31, 2020."),
            "date",
        )
    if day > today:
        raise InvalidInput(Words("The date of the claim, {day}, is in the future.", day=day.isoformat()), "date")
    return day.isoformat()


def _day(text: str) -> date | None:
    import dateparser  # where it is used, because it takes time

    try:
        if iso := _ISO_DAY.match(text):
            return date.fromisoformat(iso[0])
        if (digits := _DIGITS_OF_DAY.match(text)) and len(digits[4]) == 4:  # dateparser takes some years for times
            first, second = int(digits[1]), int(digits[3])
            return date(int(digits[4]), *((second, first) if second <= 12 else (first, second)))
        found = dateparser.parse(_TIME.sub("", text), languages=_DATE_LANGUAGES, settings=_DATE_RULES)  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        return None
    return found.date() if found else None


def today() -> date:
    """Return the date in the time zone furthest ahead (UTC+14), so that no visitor's current date is rejected."""
    return (datetime.now(UTC) + timedelta(hours=14)).date()


def parse_claim(raw: str, speaker: str, made_on: str) -> Claim:
    """Return the claim with speaker and date, both of which may be empty. Raises InvalidInput."""
    return replace(clean_claim(raw), speaker=clean_speaker(speaker), date=clean_date(made_on, today()))


def _one_line(raw: str, field: str) -> str:
    """Return the cleaned text on one line, "" if nothing in it is visible. Raises InvalidInput for invalid text."""
    if _LONE_SURROGATE.search(raw):
        raise InvalidInput(Words("The {field} is not valid UTF-8 text.", field=Words(field)), field)
    if _CONTROL.search(raw):
        raise InvalidInput(
            Words("The {field} holds control characters; please take them out.", field=Words(field)), field
        )
    return _until_stable(clean_line, raw)


def _within(most: int, text: str, field: str) -> str:
    if len(text) > most:
        raise InvalidInput(
            Words(
                "The {field} has {count} characters; at most {most} are allowed.",
                field=Words(field),
                count=len(text),
                most=most,
            ),
            field,
        )
    return text


def _until_stable(clean: Callable[[str], str], text: str) -> str:
    """Clean the text until nothing changes, since what is taken out may bring together what is then mended."""
    for _ in range(MAX_CLEANINGS):
        before, text = text, clean(text)
        if text == before:
            break
    return text


# Marks of lists, footnotes and Markdown.

_BULLETS = r"•‣∙◦❖\u25a0-\u25ff"
_LIST_MARK = re.compile(
    rf"(?:[-*+·⁃–—»>✓-✘➔-➾{_BULLETS}]"
    r""" | \#{1,6} | \[[ xX]?\] | \(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,5})\)
          | \d{1,3}[./] | \(\d{1,3}/\d{1,3}\) | \d{1,3}\ ?[-–—:](?=\ +[^\W\d])
          | (?:\*\*|__)(?:(?:claim|fact|statement|sentence)\ )?\d{1,3}[.):]?(?:\*\*|__)[.):]?
          | (?:claim|fact|statement|sentence)\ \d{1,3}\ ?[:.)-] | [\[(]\d{1,2}:\d{2}(?::\d{2})?[\])] )
        (?:\ +(?=\S)|$) | >(?=\S) | \d{1,3}[.)](?=[^\W\d]) | -(?=(?-i:[A-Z]))"""
    rf" | [·{_BULLETS}](?=\w)",
    re.IGNORECASE | re.VERBOSE,
)
_FOOTNOTE = re.compile(
    r" ?\[(?:\^?\d{1,3}(?: ?[,–-] ?\d{1,3})*|\^[\w-]{1,20}|[a-z]|(?:note|nb) ?\d{1,2}|citation needed)\]|(?<=\w)[†‡]+"
    r"| ?:contentReference\[oaicite:\d{1,3}\]\{index=\d{1,3}\}| ?【[^【】]{0,100}】"
    r"| ?\bcite(?:turn\d{1,3}[a-z]{1,9}\d{1,3})+",
    re.IGNORECASE,
)
_MARKDOWN_SIGNS = re.compile(r"[*_`~\\]|\]\(")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)\*+(?=\d)")
MAX_MARKED_LENGTH = 4 * MAX_CLAIM_LENGTH
"""Characters of a text whose Markdown is read; a longer one is no claim."""


def without_marks(line: str) -> str:
    """Return a claim without the list mark before it, marks of footnotes, and inline Markdown."""
    return _until_stable(_without_marks, line) if len(line) <= MAX_MARKED_LENGTH else line


def _without_marks(line: str) -> str:
    if mark := _LIST_MARK.match(line):
        line = line[mark.end() :]
    return " ".join(_without_markdown(_FOOTNOTE.sub("", line)).split())


def _without_markdown(line: str) -> str:
    if not _MARKDOWN_SIGNS.search(line) or _BETWEEN_DIGITS.search(line):
        return line
    (inline,) = _markdown().parseInline(line)
    shown, struck = [], 0
    for token in inline.children or ():
        struck += {"s_open": 1, "s_close": -1}.get(token.type, 0)
        if not struck:
            shown.append(" " if token.type in ("softbreak", "hardbreak") else token.content)
    return "".join(shown)


@lru_cache(maxsize=1)
def _markdown() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("strikethrough")


# Classification of the input before a run.

MIN_ENGLISH = 0.02
"""Probability of English below which a text counts as something else (research/notes/2026-11-29-short-claims.md)."""
MIN_LANGUAGE = 0.25
"""Probability from which another language is recognised."""
NO_LANGUAGE = "zxx"
"""The model's class for numbers, markup and letters that are no words."""

MAX_IDENTIFIED_CHARACTERS = 2_000
"""Characters of a text from which its language is identified."""

MAX_TEXT_CHARACTERS = 20_000
MAX_SENTENCES = 50
"""Sentences of one text that are offered as claims."""

_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\S(?:.|\n(?![ \t]*\n))*")
_LINE = re.compile(rf"(?:[{_BULLETS}]\s*)?[^\s{_BULLETS}][^\n{_BULLETS}]*")
"""A line, or a part of it from one bullet to the next."""
_SPEAKER = re.compile(r"[A-Z][\w.'’ -]{0,40}(?:\([^()\n]{1,60}\) ?)?:\s")
UNKNOWN_LANGUAGE = Words("another language")
NOT_NAMED = Words("Does not say who or what is meant")
MAX_NAMES = 3
"""Names that are offered in place of a pronoun."""
NOT_CHECKABLE = "Nothing that can be checked"
QUESTION_MARKS = ("?", "？", "؟")


class Kind(StrEnum):
    """The kind of a visitor's input."""

    CLAIM = "claim"
    OPEN = "claim about whom or what it does not name"
    QUESTION = "question"
    TEXT = "text"
    LINK = "link"
    FOREIGN = "foreign"
    NO_CLAIM = "no claim"


@dataclass(frozen=True, slots=True)
class Hint:
    """A message shown instead of starting a run. `suggestion` is a claim that can be checked instead."""

    title: str
    text: str
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The sentence at [start, end) of a text, offered as a claim; ticked unless `note` says why not."""

    start: int
    end: int
    claim: str
    note: str = ""


def kind_of(text: str) -> Kind:
    """Classify the input. More than one sentence with letters makes it a text, whatever their kinds."""
    text = clean_text(text)
    if link_in(text):
        return Kind.LINK
    found = (without_marks(text[start:end]) for start, end in _sentences(text))
    sentences = tuple(islice(filter(_has_letters, found), 2))
    if len(sentences) > 1:
        return Kind.TEXT
    sentence = "".join(sentences)
    kind = _kind_of_sentence(sentence)
    return Kind.OPEN if kind is Kind.CLAIM and leaves_name_out(sentence) else kind


def leaves_name_out(claim: str) -> bool:
    """Return whether the claim begins with a pronoun in place of a name."""
    return with_name(claim, "") != claim


def names_before(claims: Sequence[str]) -> tuple[str, ...]:
    """Return the likeliest names for the pronoun of a claim that follows these: the last that a claim begins with."""
    found = [(claim.find(name) <= len("The "), name) for claim in reversed(claims) for name in names(claim)]
    first = sorted((each for each in found if not each[1][0].isdigit()), key=lambda each: not each[0])
    return tuple(dict.fromkeys(name for _, name in first))[:MAX_NAMES]


def link_in(text: str) -> str | None:
    """Return the address, with a scheme, if the text is a web address and nothing else; None otherwise."""
    text = text.strip()
    if not _LINK.fullmatch(text):
        return None
    return f"https://{text}" if text[:4].lower() == "www." else text


def language_of(text: str) -> str:
    """Return the ISO 639 code of the text, "en" where English is possible, "" where none is recognised."""
    text = text[:MAX_IDENTIFIED_CHARACTERS]
    likely = dict(_language_identifier().rank(text))
    if max(likely["en"], dict(_language_identifier().rank(without_names(text)))["en"]) >= MIN_ENGLISH:
        return "en"
    best = max(likely, key=lambda code: likely[code])
    return best if best != NO_LANGUAGE and likely[best] >= MIN_LANGUAGE else ""


def language_name(code: str, shown_in: str = "en") -> str:
    """Return the name of a language in another, "another language" for a code that Babel does not know."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(code).get_display_name(shown_in) or UNKNOWN_LANGUAGE
    except (UnknownLocaleError, ValueError):
        return UNKNOWN_LANGUAGE


def candidates(text: str, line_by_line: bool = False) -> tuple[Candidate, ...]:
    """Return the first MAX_SENTENCES sentences with letters; those unlikely to be checkable have a note.

    A blank line and a list mark end a sentence. So does every line of a list, and with `line_by_line` every line, as in
    the text of a web page.
    """
    spans = _sentences(text, line_by_line)
    cleaned = ((start, end, without_marks(" ".join(text[start:end].split()))) for start, end in spans)
    found = (Candidate(start, end, claim, _note(claim)) for start, end, claim in cleaned if _has_letters(claim))
    return tuple(islice(found, MAX_SENTENCES))


def _sentences(text: str, line_by_line: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the sentences of a text with paragraphs and lists."""
    for start, end in _items(text, line_by_line):
        for first, last in sentence_spans(text[start:end]):
            yield start + first, start + last


def _items(text: str, line_by_line: bool) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the paragraphs, of which a list is one for each item."""
    for paragraph in _PARAGRAPH.finditer(text):
        lines = list(_LINE.finditer(text, *paragraph.span()))
        is_wrapped = not lines[0][0][0].islower() and any(line[0][0].islower() for line in lines[1:])
        start = _without_mark(lines[0])
        for before, line in pairwise(lines):
            is_marked = line[0].startswith("|") or _LIST_MARK.match(line[0]) or _SPEAKER.match(line[0])
            if line_by_line or is_marked or not (is_wrapped or _goes_on(text[start : before.end()], line[0])):
                yield start, before.end()
                start = _without_mark(line)
        yield start, lines[-1].end()


def _without_mark(line: re.Match[str]) -> int:
    mark = _LIST_MARK.match(line[0])
    return line.start() + (mark.end() if mark else 0)


def _goes_on(before: str, line: str) -> bool:
    """Return whether a sentence seems to go on in the next line: after a comma or "of", or with its last word."""
    before, line = before.strip(), line.strip()
    if before.endswith((".", "!", "?", ":")):
        return False
    is_open = before.endswith((",", ";", "-", "–", "—", "(", "&")) or (
        before.rpartition(" ")[2] in word_lists()["functional"]
    )
    return is_open or (" " in before and " " not in line)


def _note(claim: str) -> str:
    """Return why a sentence is not ticked, "" for a ticked one."""
    if not MIN_CLAIM_LENGTH <= len(claim) <= MAX_CLAIM_LENGTH:
        return (
            Words("Over {most} characters", most=MAX_CLAIM_LENGTH)
            if len(claim) > MAX_CLAIM_LENGTH
            else Words("Too short")
        )
    if claim.startswith("|") or claim.count("|") > 1:
        return Words("A row of a table")
    match _kind_of_sentence(claim):
        case Kind.QUESTION:
            return Words("A question")
        case Kind.FOREIGN:
            return Words("Not in English")
        case Kind.NO_CLAIM:
            return Words("No statement")
    named = (word for name in names(claim) for word in name.split() if len(word) > 1)
    is_named = any(not is_common_word(word) for word in named)
    return "" if is_named else Words("Names nothing that can be looked up")


def _kind_of_sentence(text: str) -> Kind:
    language = language_of(text)
    if language not in ("en", ""):
        return Kind.FOREIGN
    if text.endswith(QUESTION_MARKS):
        return Kind.QUESTION
    return Kind.CLAIM if language and len(text.split()) > 1 else Kind.NO_CLAIM


def _has_letters(text: str) -> bool:
    return any(letter.isalpha() for letter in text)


@lru_cache(maxsize=1)
def _language_identifier() -> Any:
    # Imported on first use: reading the model takes a second.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
