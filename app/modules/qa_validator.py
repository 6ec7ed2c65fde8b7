"""V, the QA validator (QACheck, section 3.4): does an answer help to check the claim?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from app.domain.instrumentation import entered
from app.domain.model import Answer, Claim, Context, Hop, Judgement
from app.domain.ports import TextGenerator
from app.modules.judging import quoted_sentence
from app.modules.prompting import (
    Known,
    Quote,
    answer_text,
    data,
    few_shot,
    filled,
    kept_pairs,
    known_lines,
    one_line,
    quoted_texts,
    shown_pairs,
    yes_or_no,
)
from app.text.wording import bare_title, differ_in_names, names, normalised, overlap, same_question, stems

# A reader extracts the likeliest words of five passages. It does not detect that the page is about another person.
# These word comparisons check that the citation is about the subject of the question.

_POINTS_BACK = re.compile(r"(?:He|She|It|They|His|Her|Its|Their)\b")


def unspoken(question: str, answer: Answer) -> str:
    """Return, as text for the user, why the cited passage is not about the subject of `question`; "" if it is."""
    asked = [name for name in names(question) if _is_telling(name)]
    if answer.cited is None or not answer.cited.passage.text.strip():
        return ""
    passage, sentence = answer.cited.passage, quoted_sentence(answer.cited)
    evidence_words = stems(passage.title) | stems(passage.text)
    if asked and not any(_is_named(name, evidence_words) for name in asked):
        return f"the evidence does not mention {asked[0]}"
    if asked and (other := _somebody_else(asked, answer, sentence)):
        return f"the evidence tells this of {other}, not of {asked[0]}"
    return ""


def _somebody_else(asked: list[str], answer: Answer, sentence: str) -> str:
    """Return the article's subject if the cited sentence begins with a pronoun and none of `asked` is named; or ""."""
    passage = answer.cited.passage if answer.cited else None
    if passage is None or not passage.title or not _POINTS_BACK.match(sentence):
        return ""
    about = bare_title(passage.title)
    if stems(answer.text or "") <= stems(about):
        return ""
    introduced = stems(about) | stems(sentence) | stems(passage.text.partition(". ")[0])
    return "" if any(_is_named(name, introduced) for name in asked) else about


def _is_named(name: str, words: frozenset[str]) -> bool:
    """Return whether `words` has half of the name's words: texts rarely repeat a name in full."""
    return 2 * len(stems(name) & words) >= len(stems(name))


def _is_telling(name: str) -> bool:
    """Return whether a passage on it would spell it out: no number, no "U.S.", no short word that begins a sentence."""
    return bool(stems(name)) and not name[0].isdigit() and (" " in name or (len(name) > 3 and "." not in name))


_NO_ANSWER = re.compile(
    r"(?:(?:there is |i have |i found )?no (?:answer|information|evidence|mention|data)\b.*"
    r"|(?:it |this |that )?(?:is |was )?not (?:mentioned|stated|specified|given|known|available|found|clear)\b.*"
    r"|(?:i |we )?(?:do not|don't|cannot|can't|could not|couldn't) (?:know|say|tell|find|answer|determine)\b.*"
    r"|unknown|unanswerable|n/?a|none|unclear|not sure)[.!]?",
    re.IGNORECASE,
)
"""Replies of answerers that found nothing; treated as no answer."""

ABOUT_THE_CLAIM = re.compile(r"\b(?:the|this) (?:claim|statement|quote|quotation)\b", re.IGNORECASE)


HALF = 0.5
"""Word overlap (Jaccard) with a kept question from which a pair with the same answer is a repetition."""
SHARED = 3
"""Words of the claim in the evidence that relate a pair whose question uses other words ("pop music", "song")."""


class TiedAnswerValidator:
    """Implements `QAValidator` by comparing words; its reasons are shown to users."""

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement:
        """Judge whether the answered `hop` may join `context`. Never raises."""
        answer = hop.answer
        found = (answer.text or "").strip() if answer else ""
        if answer is None or not found or _NO_ANSWER.fullmatch(found):
            return Judgement(False, "No passage answers this question.")
        if repetition := _repetition(context, hop, answer):
            return Judgement(False, _sentence(repetition))
        if unspoken_of := unspoken(hop.question.text, answer):
            return Judgement(False, _sentence(unspoken_of))
        if tie := _tie(claim, context, hop, answer):
            return Judgement(True, _sentence(tie))
        return Judgement(False, "Neither the question nor its evidence is about the claim or a kept answer.")


def _repetition(context: Context, hop: Hop, answer: Answer) -> str:
    """Return a description of the repetition in this pair; "" if it is new."""
    found = normalised(answer.text or "")
    if found in {normalised(name) for name in (*names(hop.question.text), *_with_the(hop.question.text))}:
        return "the answer only repeats the question"
    for kept in context:
        if same_question(kept.question.text, hop.question.text):
            return f"hop {kept.number} asked this already"
        nearly = overlap(stems(kept.question.text), stems(hop.question.text)) >= HALF
        if normalised(_text(kept)) == found and nearly and not differ_in_names(kept.question.text, hop.question.text):
            return f"hop {kept.number} brought this already"
    return ""


def _with_the(question: str) -> list[str]:
    return [f"the {name}" for name in names(question)]


def _tie(claim: Claim, context: Context, hop: Hop, answer: Answer) -> str:
    """Return a description of how this pair is related to the check; "" if it is not."""
    about = stems(hop.question.text)
    if answer.cited:
        about |= stems(answer.cited.passage.title)
    for kept in reversed(context):
        if (_brought(kept) - stems(claim.text)) & about:
            return f"it answers a question about {_text(kept)}, from hop {kept.number}"
    if ABOUT_THE_CLAIM.search(hop.question.text):
        return "it asks about the claim itself"
    if stems(claim.text) & about:
        return "it answers a question about the claim"
    shared = stems(claim.text) & (stems(_text(hop)) | _stems_cited(answer))
    return "its evidence is about the claim" if len(shared) >= SHARED else ""


def _brought(kept: Hop) -> frozenset[str]:
    """Return the stems of the names in a kept answer, or all its stems if it has no names."""
    text = _text(kept)
    return frozenset().union(*map(stems, names(text))) or stems(text)


def _stems_cited(answer: Answer) -> frozenset[str]:
    return stems(answer.cited.passage.text) if answer.cited else frozenset()


def _text(hop: Hop) -> str:
    return (hop.answer.text or "").strip() if hop.answer else ""


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


@dataclass(frozen=True)
class PromptedValidator:
    """Implements `QAValidator` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement:
        """Ask the model whether the pair is useful. A pair without an answer is not, and makes no call."""
        if not answer_text(hop):
            return Judgement(False, "This question has no answer.")
        entered("deciding whether the answer helps")
        return yes_or_no(
            self.model,
            usefulness_prompt(claim, context, hop),
            f"{self.model.name} finds it useful to verify the claim.",
            f"{self.model.name} finds that it does not help to verify the claim.",
        )


def usefulness_prompt(claim: Claim, context: Context, hop: Hop) -> str:
    """Return the demonstrations and this case, up to the start of the prediction."""
    known, answer = kept_pairs(context), answer_text(hop)
    return few_shot(
        _shown(),
        lambda quote: _case(claim.text, known, hop.question.text, quote(answer), quote),
        [*quoted_texts(known), answer],
    )


@lru_cache
def _shown() -> tuple[str, ...]:
    return tuple(
        f"{_case(each['claim'], shown_pairs(each['known']), each['question'], each['answer'])} {each['prediction']}"
        for each in data("usefulness")
    )


def _case(claim: str, known: Iterable[Known], question: str, answer: str, quote: Quote = str) -> str:
    lines = known_lines(known, quote)
    return filled(
        "usefulness",
        claim=one_line(claim),
        known=f"We already know the following:\n{lines}" if lines else "",
        question=one_line(question),
        answer=answer,
    )
