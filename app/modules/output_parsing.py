"""Parse model text into values, or raise UnparseableOutput. Nothing is guessed; only whole words match."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from app.domain.errors import UnparseableOutput
from app.domain.model import Label, Question, Sentence
from app.text.options import option_in
from app.text.sentences import sentences

MAX_QUESTION_WORDS = 30
"""A longer question repeats the claim instead of asking for one fact."""
MAX_ANSWER_WORDS = 40
MAX_RATIONALE_WORDS = 300

LABEL_WORDS = {
    Label.SUPPORTED: "true",
    Label.REFUTED: "false",
    Label.NOT_ENOUGH_EVIDENCE: "not enough evidence",
    Label.CONFLICTING_EVIDENCE: "conflicting evidence",
}
"""The words for each label in prompts. Replies may also use the synonyms in `_LABELS`."""

_LABELS = {
    "true": Label.SUPPORTED,
    "supported": Label.SUPPORTED,
    "false": Label.REFUTED,
    "refuted": Label.REFUTED,
    "not enough evidence": Label.NOT_ENOUGH_EVIDENCE,
    "not enough information": Label.NOT_ENOUGH_EVIDENCE,
    "conflicting evidence": Label.CONFLICTING_EVIDENCE,
}
_BEFORE_LABEL = re.compile(
    r"^(?:(?:therefore|thus|so|hence|in conclusion|overall|based on [^,.]+),? )?"
    r"(?:(?:(?:the )?(?:label|answer|final answer|verdict|prediction)|(?:the |this )?claim)(?: is| =|:)+ )?",
    re.IGNORECASE,
)
_LABEL_WORD = re.compile(rf"\b(?:{'|'.join(_LABELS)})\b", re.IGNORECASE)
_MARKUP = re.compile(r"[*_`#\"“”]+")
_EMPHASIS = re.compile(r"\*+|`+")
_PREFIX = re.compile(
    r"^(?:#+ *|\d{1,2}[.)] +)?(?:(?:question|answer|passage|rationale|evidence)(?: \d+)?\s*[=:]\s*)?", re.IGNORECASE
)
"""The field name that a model repeats from the prompt, and the number of a list item."""
_MISSING = re.compile(r"^missing\s*[=:]\s*(?P<text>.+)$", re.IGNORECASE)
_REFUSAL = re.compile(
    r"(?:i[’']m|i am) (?:very |so |really )?sorry\b|sorry, (?:but )?i\b|as an ai\b"
    r"|i(?: can ?not| can[’']t| won[’']t|(?: am|[’']m) (?:unable|not able) to) "
    r"(?:help|assist|answer|provide|comply|verify|determine|discuss|recall|share|fulfil)",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"(?:i (?:do not|don[’']t) (?:know|recall|have)\b|i[’']?(?: a)?m not (?:sure|certain)\b).*"
    r"|(?:unknown|unanswerable|none|n/?a|no answer|not (?:known|stated|specified|given|available)"
    r"|you (?:do not|don[’']t) know)\.?",
    re.IGNORECASE | re.DOTALL,
)
_CITATION = re.compile(r"\s*\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_CITATION_AFTER_STOP = re.compile(r"([.!?])((?:\s*\[\d{1,3}(?:\s*,\s*\d{1,3})*\])+)(?=\s+[^\W\d_a-z]|\s*$)")


def declines(text: str) -> bool:
    """Return whether the text is a refusal or states that the model does not know; False for an empty text."""
    plain = _plain(text)
    return bool(_REFUSAL.match(plain) or _UNKNOWN.fullmatch(plain))


def question_from(text: str) -> Question:
    """Return the one question on the first line of `text`, without "Question 2 =" or markup.

    Raises UnparseableOutput if there is none, if there are several, if it is cut off (no question mark), or if it has
    more than MAX_QUESTION_WORDS words.
    """
    line = _PREFIX.sub("", _EMPHASIS.sub("", _first_line(text))).strip("\"“”' ")
    if not line:
        raise UnparseableOutput("The model wrote no question.")
    if line.count("?") != 1 or not line.endswith("?"):
        raise UnparseableOutput("The model did not write exactly one whole question.")
    if len(line.split()) > MAX_QUESTION_WORDS:
        raise UnparseableOutput(f"The model's question has more than {MAX_QUESTION_WORDS} words.")
    if not any(letter.isalnum() for letter in line):
        raise UnparseableOutput("The model wrote a question mark and no question.")
    return Question(line[0].upper() + line[1:])


def answer_from(text: str) -> str | None:
    """Return the short answer on the first line; None if the model declines or writes nothing.

    Raises UnparseableOutput if the line has more than MAX_ANSWER_WORDS words.
    """
    line = _PREFIX.sub("", _EMPHASIS.sub("", _first_line(text))).strip('"“” ').removesuffix(".")
    if not any(letter.isalnum() for letter in line) or declines(line):
        return None
    if len(line.split()) > MAX_ANSWER_WORDS:
        raise UnparseableOutput(f"The model's answer has more than {MAX_ANSWER_WORDS} words.")
    return line


def passage_from(text: str, max_words: int) -> str | None:
    """Return the whole sentences of a recited text, up to `max_words` words; None if it is a refusal or empty.

    A truncated last sentence is left out unless it is the only one.
    """
    plain = " ".join(_PREFIX.sub("", text.strip()).split())
    if not any(letter.isalnum() for letter in plain) or declines(plain):
        return None
    kept: list[str] = []
    for sentence in sentences(plain):
        if kept and (len(" ".join((*kept, sentence)).split()) > max_words or sentence[-1].isalnum()):
            break
        kept.append(sentence)
    return " ".join(" ".join(kept).split()[:max_words])


def label_from(text: str, labels: Collection[Label]) -> tuple[Label, str]:
    """Return the label on the last line, which must be one of `labels`, and the text before it.

    The line may begin with the label ("True, as is well known") or end with "the final answer is: true". Raises
    UnparseableOutput if it does neither, or names two labels.
    """
    before, _, last = text.strip().rpartition("\n")
    named, kept = _opening_label(last), ""
    if named is None and (parts := sentences(last.strip())):
        named, kept = _opening_label(parts[-1]), " ".join(parts[:-1])
    if named is None or named not in labels:
        raise UnparseableOutput("The last line of the model's answer names none of the labels.")
    return named, f"{before}\n{kept}".strip()


def _opening_label(text: str) -> Label | None:
    """Return the label at the start of `text`, after words like "the final answer is:", if it names no other one."""
    reply = _BEFORE_LABEL.sub("", _plain(text))
    option = option_in(reply, tuple(_LABELS))
    return _LABELS[option] if option and len(_LABEL_WORD.findall(reply)) == 1 else None


def rationale_from(text: str, hops: Collection[int]) -> tuple[tuple[Sentence, ...], str | None]:
    """Return the sentences of a rationale with the hops they cite, and the text of a line "Missing = ...".

    Citations like [2] are removed from the text; those of hops that are not in `hops` are dropped. A rationale of more
    than MAX_RATIONALE_WORDS words is cut there, and ends with an ellipsis.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    missing = next((match["text"].strip() for line in lines if (match := _MISSING.match(line))), None)
    reasons = " ".join(_PREFIX.sub("", _EMPHASIS.sub("", line)) for line in lines if not _MISSING.match(line))
    if declines(reasons):
        return (), missing
    words = _CITATION_AFTER_STOP.sub(r"\2\1", reasons).split()
    kept = " ".join(words) if len(words) <= MAX_RATIONALE_WORDS else " ".join((*words[: MAX_RATIONALE_WORDS - 1], "…"))
    parts = (_with_citations(sentence, hops) for sentence in sentences(kept))
    return tuple(sentence for sentence in parts if sentence.text), missing


def _with_citations(sentence: str, hops: Collection[int]) -> Sentence:
    numbers: Sequence[int] = [
        int(number) for group in _CITATION.findall(sentence) for number in group.split(",") if int(number) in hops
    ]
    plain = " ".join(_CITATION.sub("", sentence).split())
    return Sentence(plain if any(letter.isalnum() for letter in plain) else "", tuple(dict.fromkeys(numbers)))


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return re.sub(r"\s+", " ", line)


def _plain(text: str) -> str:
    """Return the text without markup and repeated spaces."""
    return " ".join(_MARKUP.sub(" ", text).split())
