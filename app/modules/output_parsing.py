"""Parse model text into values, or raise UnparseableOutput. Nothing is guessed; only whole words match.

Every role reads replies here, so preambles, markup, lists, JSON and statements of not knowing mean the same to all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from app.domain.errors import UnparseableOutput
from app.domain.model import Label, Question, Sentence
from app.domain.ports import Ask, Decide
from app.text.options import declines, is_no_answer, json_in, option_in, unwrapped, with_plain_citations, without_markup
from app.text.sentences import ends_in_abbreviation, sentences

MAX_QUESTION_WORDS = 30
"""A longer question repeats the claim instead of asking for one fact."""
MAX_QUERY_WORDS, MAX_QUERY_LENGTH = 60, 400
"""A longer question of a pursuit is not usable as a search query."""
MAX_ANSWER_WORDS = 40
MAX_RATIONALE_WORDS = 300

_LABELS = {label.prompted: label for label in Label} | {
    "supported": Label.SUPPORTED,
    "refuted": Label.REFUTED,
    **dict.fromkeys(("not enough information", "not enough info", "cannot be verified"), Label.NOT_ENOUGH_EVIDENCE),
    **dict.fromkeys(("insufficient evidence", "insufficient information"), Label.NOT_ENOUGH_EVIDENCE),
}
"""Labels by their words in replies: the words in prompts, and synonyms."""
_LABEL_NAMES = (
    r"(?:the )?(?:final )?"
    r"(?:label|answer|verdict|prediction|conclusion|rating|judge?ment|classification|result|decision)"
)
_BEFORE_LABEL = re.compile(
    r"^(?:(?:(?:therefore|thus|so|hence|in conclusion|in summary|overall|(?:based on|given|according to) [^,.]+),? "
    rf"|{_LABEL_NAMES}(?: is| =|:| [-–—])+ |there is |it(?: is|['’]s) "
    r"|(?:the |this )(?:claim|statement)(?: is|:)* (?:therefore |thus |hence |clearly )?)+)",
    re.IGNORECASE,
)
_LABEL_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_LABELS, key=len, reverse=True))})\b", re.IGNORECASE)
_LABEL_LINE = re.compile(rf"^{_LABEL_NAMES}(?: is| =|:| [-–—])", re.IGNORECASE)
_LABEL_REASON = re.compile(
    r"(?<=\w) (?:as(?! (?:long|far|of)\b)|because|based on|according to|by the)\b.*", re.IGNORECASE
)
_EVIDENCE_LABEL = re.compile(r"^(?:the |this )?evidence (support|refute)s (?:the|this) claim(?=[.,]|$)", re.IGNORECASE)
_VERDICT_VERBS = {
    **dict.fromkeys(("support", "supports"), Label.SUPPORTED),
    **dict.fromkeys(("refute", "refutes", "contradicts", "contradicted"), Label.REFUTED),
    **dict.fromkeys(("nei", "unproven", "unverified", "unverifiable"), Label.NOT_ENOUGH_EVIDENCE),
}
"""Labels of data sets, which count only as a whole reply or line."""
_EMPHASIS = re.compile(r"\*+|`+")
_COURTESY = r"(?:(?:sure|certainly|of course|okay|here (?:it|you) (?:is|are|go))[!.,:]\s+)?"
_PREFIX = re.compile(
    rf"^(?:[-•#>]+\s+|\(?\d{{1,2}}[.)]\s+)*{_COURTESY}"
    r"(?:to verify [^:?]{0,100}:\s*)?"
    r"(?:(?:(?:one|more|another|the|my|a|next|first|follow-up|further|additional)\s+)*question(?:\s*\d+)?\s*(?:[:=]|is:)\s*"
    r"|(?:the )?(?:short |final )?(?:answer|passage|rationale|evidence)(?: \d+)?\s*(?:[=:]|is:)\s*|the answer is\s+)?",
    re.IGNORECASE,
)
"""List marks, a courtesy, and the field name that a model repeats from the prompt."""
_LISTED = re.compile(r"^\s*(?:[-•*]\s+|\(?\d{1,2}[.)]\s+|[\"“])")
"""An item of a list, also of one in JSON that was cut off."""
_MISSING = re.compile(r"^(?:[-•]+\s+)?missing\s*[=:]\s*(?P<text>.+)$", re.IGNORECASE)
_CITATION = re.compile(r"\s*\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_CITATION_AFTER_STOP = re.compile(r"([.!?])((?:\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\])+)\.?(?=\s+[^\W\d_a-z]|\s*$)")

# Questions.

DECISION = re.compile(r"\\?\[\s*\\?\[\s*(true|false)\s*\\?\]\s*\\?\]", re.IGNORECASE)
"""[[True]] or [[False]], also with the backslashes that some models write."""
_ABOUT_THE_CLAIM = re.compile(r"\b(?:claim|true|false|supported|refuted)\b", re.IGNORECASE)
_PUNCTUATION = " \t\"“”'‘’[](),"
_MARK = re.compile(r"[?？؟]")
"""The question marks of Latin, Chinese and Arabic script."""


def question_from(text: str) -> Question:
    """Return the first question of `text`, without "Question 2 =", markup or a preamble.

    Raises UnparseableOutput if there is none, if it is cut off (no question mark), or if it has more than
    MAX_QUESTION_WORDS words.
    """
    if not text.strip():
        raise UnparseableOutput("The model wrote no question.")
    line = next((found for found in _questions(text) if _MARK.search(found)), "")
    if not line:
        raise UnparseableOutput("The model did not write a whole question.")
    if len(line.split()) > MAX_QUESTION_WORDS:
        raise UnparseableOutput(f"The model's question has more than {MAX_QUESTION_WORDS} words.")
    return Question(line[0].upper() + line[1:])


def questions_from(text: str) -> tuple[Question, ...]:
    """Return the listed questions, each once, else the one in the text. Raises UnparseableOutput for none."""
    lines = [line for line in text.replace("**", "").splitlines() if _MARK.search(line)]
    found = [_cleaned(item) for item in _strings(json_in(text))]
    if not found and any(_LISTED.match(line) for line in lines):
        found = list(_questions(text))
    listed = dict.fromkeys(item for item in found if _is_askable(item))
    return tuple(Question(item) for item in listed) or (first_question(text),)


def step_from(text: str) -> Ask | Decide:
    """Return a decision for a text with either [[True]] or [[False]]; else the question in its other sentences.

    A text without brackets that begins with one of the two words (but not with "True?"), or says only that the claim is
    true or false, is a decision too. Raises UnparseableOutput for a text that has neither a decision nor a question.
    """
    plain = _EMPHASIS.sub("", unwrapped(text))
    decisions = {word.casefold() for word in DECISION.findall(plain)}
    begins_with_question = re.match(r"\W*\w+\s*\?", plain)  # "True?", which `option_in` would take as "true"
    if not decisions and not begins_with_question and (word := option_in(plain, ("true", "false"))):
        decisions = {word}
    label = None if decisions or _MARK.search(plain) else _opening_label(plain)
    if label in (Label.SUPPORTED, Label.REFUTED):
        decisions = {label.prompted}
    if len(decisions) == 1:
        return Decide(decisions == {"true"})
    return Ask(first_question(plain))


def first_question(text: str) -> Question:
    """Return the first sentence with a question mark, otherwise the whole text (Papelo, section 3.1).

    Raises UnparseableOutput for a refusal and for a question that is too long. A whole text is also rejected if it is a
    single word, contains "[[", or speaks of the claim.
    """
    found = next((found for found in _questions(text) if not DECISION.search(found)), "")
    whole = " ".join(_EMPHASIS.sub("", text).split())
    question = found or _cleaned(whole)
    is_statement = "[[" in whole or " " not in question or bool(_ABOUT_THE_CLAIM.search(whole))
    if not _is_askable(question) or (not found and is_statement):
        raise UnparseableOutput("The model wrote no question.")
    return Question(question)


def _questions(text: str) -> Iterator[str]:
    """Yield the strings of a JSON value in the text, else the first sentence with a question mark of each line."""
    text = unwrapped(text)
    if found := list(_strings(json_in(text))):
        yield from filter(_is_worded, map(_cleaned, found))
        return
    for line in _EMPHASIS.sub("", text).splitlines():
        asked = (sentence for sentence in _sentences(_PREFIX.sub("", line.strip())) if _MARK.search(sentence))
        if (sentence := next((each for each in asked if not DECISION.search(each)), "")) and _is_worded(sentence):
            yield _cleaned(sentence)


def _sentences(line: str) -> Iterator[str]:
    """Yield the sentences of a line; one in lower case, or inside brackets, is joined to the one before it."""
    begun = ""
    for sentence in sentences(line):
        if begun and not sentence[0].islower() and begun.count("(") <= begun.count(")"):
            yield begun
            begun = ""
        begun = f"{begun} {sentence}".strip()
    if begun:
        yield begun


def _cleaned(text: str) -> str:
    """Return the question on one line, up to its question mark, without heading, quotes or brackets around it."""
    line = _PREFIX.sub("", " ".join(_EMPHASIS.sub("", text).split()).lstrip(_PUNCTUATION)).strip(_PUNCTUATION)
    marks = [mark.end() for mark in _MARK.finditer(line)]
    return line[: marks[-1]] if marks else line


def _is_worded(text: str) -> bool:
    return any(letter.isalnum() for letter in text)


def _is_askable(text: str) -> bool:
    is_short = len(text.split()) <= MAX_QUERY_WORDS and len(text) <= MAX_QUERY_LENGTH
    return is_short and _is_worded(text) and not declines(text)


def _strings(value: Any) -> Iterator[str]:
    remaining = [value]  # not recursive: a reply may be nested deeper than Python's limit
    while remaining:
        item = remaining.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict | list):
            remaining.extend(reversed(list(item.values() if isinstance(item, dict) else item)))


# Answers and passages.


def answer_from(text: str) -> str | None:
    """Return the short answer on the first line, None for no answer. Raises UnparseableOutput for a long one."""
    text = unwrapped(text)
    if isinstance(value := json_in(text), dict):
        found = value.get("answer")
        text = "" if found is None else str(found)
    line = _PREFIX.sub("", _EMPHASIS.sub("", _first_line(text))).strip('"“” ')
    line = line if ends_in_abbreviation(line) else line.removesuffix(".").rstrip('"” ')
    if is_no_answer(line):
        return None
    if len(line.split()) > MAX_ANSWER_WORDS:
        raise UnparseableOutput(f"The model's answer has more than {MAX_ANSWER_WORDS} words.")
    return line


def passage_from(text: str, max_words: int) -> str | None:
    """Return the whole sentences of a text, up to `max_words` words; None if it is no answer."""
    plain = " ".join(_PREFIX.sub("", unwrapped(text).strip()).split())
    if is_no_answer(plain):
        return None
    kept: list[str] = []
    for sentence in sentences(plain):
        if kept and (len(" ".join((*kept, sentence)).split()) > max_words or sentence[-1].isalnum()):
            break
        kept.append(sentence)
    return " ".join(" ".join(kept).split()[:max_words])


# Labels and rationales.


def label_from(text: str, labels: Collection[Label]) -> tuple[Label, str]:
    """Return the label of a reply, which must be one of `labels`, and the text without its sentence.

    In a JSON object it is the value of `label` (or `verdict`, or another of `_LABEL_NAMES`). In other text it is that
    of a line "Label = true"; else it begins the last line or its last sentence ("the final answer is: true"), or is the
    whole first line. Raises UnparseableOutput if there is none, or two that differ.
    """
    text = unwrapped(text)
    if isinstance(value := json_in(text), dict):
        found, reasons = _label_of_object(value)
    else:
        found, reasons = _label_of_lines([line.strip() for line in text.splitlines() if line.strip()])
    if len(found) != 1 or not found <= set(labels):
        raise UnparseableOutput("The model's reply names none of the labels, or several.")
    return found.pop(), reasons


def _label_of_object(value: Mapping[str, Any]) -> tuple[set[Label], str]:
    texts = {name.casefold(): str(item) for name, item in value.items()}
    named = {label for name, item in texts.items() if _LABEL_LINE.match(f"{name}:") and (label := _opening_label(item))}
    return named, "\n".join(item for name, item in texts.items() if not _LABEL_LINE.match(f"{name}:"))


def _label_of_lines(lines: list[str]) -> tuple[set[Label], str]:
    """Return the labels that the lines name, and the text around them."""
    given = {
        at: label
        for at, line in enumerate(lines)
        if _LABEL_LINE.match(without_markup(line)) and (label := _opening_label(line))
    }
    if given:
        rest = (" ".join(sentences(line)[1:]) if at in given else line for at, line in enumerate(lines))
        return set(given.values()), "\n".join(filter(None, rest))
    if not lines:
        return set(), ""
    parts = sentences(lines[-1]) or [lines[-1]]
    named, kept = _opening_label(lines[-1]), " ".join(parts[1:])
    if named is None:
        named, kept = _opening_label(parts[-1]), " ".join(parts[:-1])
    first = _opening_label(lines[0]) if _LABEL_WORD.fullmatch(without_markup(lines[0]).rstrip(".")) else None
    between = lines[1:-1] if first else lines[:-1]
    rest_of_last = lines[-1] if named is None else kept
    return {each for each in (named, first) if each}, "\n".join(filter(None, [*between, rest_of_last]))


def _opening_label(text: str) -> Label | None:
    """Return the label at the start of `text`, after words like "the final answer is:", if it names no other one."""
    plain = without_markup(unwrapped(text))
    if evidence := _EVIDENCE_LABEL.match(plain):
        return Label.SUPPORTED if evidence[1].casefold() == "support" else Label.REFUTED
    reply = _LABEL_REASON.sub("", _BEFORE_LABEL.sub("", plain))
    if label := _VERDICT_VERBS.get(re.sub(r"\W", "", reply.casefold())):
        return label
    in_label_words = _LABEL_WORD.sub(lambda word: _LABELS[word.group().casefold()].prompted, reply)
    option = option_in(in_label_words, tuple(label.prompted for label in Label))
    named = {_LABELS[word.casefold()] for word in _LABEL_WORD.findall(in_label_words)}
    return _LABELS[option] if option and len(named) == 1 else None


def rationale_from(text: str, hops: Sequence[int]) -> tuple[tuple[Sentence, ...], str | None]:
    """Return the sentences of a rationale with the hops they cite, and the text of a line "Missing = ...".

    Citations of any style, and addresses, are removed from the text; [1] cites the first of `hops`, and a number too
    high nothing. A rationale of more than MAX_RATIONALE_WORDS words is cut there, and ends with an ellipsis.
    """
    lines = [line for each in unwrapped(text).splitlines() if (line := _EMPHASIS.sub("", each).strip())]
    missing = next((match["text"].strip() for line in lines if (match := _MISSING.match(line))), None)
    reasons = " ".join(_PREFIX.sub("", line) for line in lines if not _MISSING.match(line))
    if declines(reasons):
        return (), missing
    words = _CITATION_AFTER_STOP.sub(r"\2\1", with_plain_citations(reasons)).split()
    kept = " ".join(words) if len(words) <= MAX_RATIONALE_WORDS else " ".join((*words[: MAX_RATIONALE_WORDS - 1], "…"))
    parts = (_with_citations(sentence, hops) for sentence in sentences(kept))
    return tuple(sentence for sentence in parts if sentence.text), missing


def _with_citations(sentence: str, hops: Sequence[int]) -> Sentence:
    places = [int(number) for group in _CITATION.findall(sentence) for number in group.split(",")]
    numbers = [hops[place - 1] for place in places if 1 <= place <= len(hops)]
    plain = " ".join(_CITATION.sub("", sentence).split())
    return Sentence(plain if any(letter.isalnum() for letter in plain) else "", tuple(dict.fromkeys(numbers)))


def _first_line(text: str) -> str:
    """Return the first line with words, without one that only announces the answer ("Here it is:")."""
    lines = [" ".join(line.split()) for line in text.splitlines() if _is_worded(line)]
    return next(
        (line for line in lines if not _EMPHASIS.sub("", line).rstrip().endswith(":")), lines[0] if lines else ""
    )
