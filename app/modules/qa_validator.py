"""V, the QA validator (QACheck, section 3.4): is this pair worth keeping?

It is not the judge: who wrote the book decides nothing about a claim of two hops, yet it is the hop that the claim
needs. Useful means: there is an answer, it is new, and it is tied to the claim or to a kept answer.
"""

from __future__ import annotations

import re

from app.domain.model import Answer, Claim, Context, Hop, Judgement
from app.modules.speaking_of import unspoken
from app.modules.wording import differ_in_names, names, normalised, overlap, same_question, stems

_NO_ANSWER = re.compile(
    r"(?:(?:there is |i have |i found )?no (?:answer|information|evidence|mention|data)\b.*"
    r"|(?:it |this |that )?(?:is |was )?not (?:mentioned|stated|specified|given|known|available|found|clear)\b.*"
    r"|(?:i |we )?(?:do not|don't|cannot|can't|could not|couldn't) (?:know|say|tell|find|answer|determine)\b.*"
    r"|unknown|unanswerable|n/?a|none|unclear|not sure)[.!]?",
    re.IGNORECASE,
)
"""What answerers write who have found nothing: as good as no answer at all."""

ABOUT_THE_CLAIM = re.compile(r"\b(?:the|this) (?:claim|statement|quote|quotation)\b", re.IGNORECASE)


HALF = 0.5
"""With the same answer, a question whose words overlap so much (Jaccard) with a kept one brings nothing new."""
SHARED = 3
"""So many of the claim's words in the evidence tie a pair whose question is in other words ("pop music", "song")."""


class TiedAnswerValidator:
    """Implements `QAValidator` by comparing words; its reasons are shown to people."""

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement:
        """Whether `hop`, whose answer is there, may join `context`. Never fails."""
        answer = hop.answer
        told = (answer.text or "").strip() if answer else ""
        if answer is None or not told or _NO_ANSWER.fullmatch(told):
            return Judgement(False, "No passage answers this question.")
        if repetition := _repetition(context, hop, answer):
            return Judgement(False, _sentence(repetition))
        if unspoken_of := unspoken(hop.question.text, answer):
            return Judgement(False, _sentence(unspoken_of))
        if tie := _tie(claim, context, hop, answer):
            return Judgement(True, _sentence(tie))
        return Judgement(False, "Neither the question nor its evidence is about the claim or a kept answer.")


def _repetition(context: Context, hop: Hop, answer: Answer) -> str:
    """What this pair repeats, in words, or nothing."""
    told = normalised(answer.text or "")
    if told in {normalised(name) for name in (*names(hop.question.text), *_with_the(hop.question.text))}:
        return "the answer only repeats the question"
    for kept in context:
        if same_question(kept.question.text, hop.question.text):
            return f"hop {kept.number} asked this already"
        nearly = overlap(stems(kept.question.text), stems(hop.question.text)) >= HALF
        if normalised(_text(kept)) == told and nearly and not differ_in_names(kept.question.text, hop.question.text):
            return f"hop {kept.number} brought this already"
    return ""


def _with_the(question: str) -> list[str]:
    return [f"the {name}" for name in names(question)]


def _tie(claim: Claim, context: Context, hop: Hop, answer: Answer) -> str:
    """What ties this pair to the check, in words, or nothing."""
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
    """The stems that a kept answer leads on by: those of its names, or all where it has none."""
    told = _text(kept)
    return frozenset().union(*map(stems, names(told))) or stems(told)


def _stems_cited(answer: Answer) -> frozenset[str]:
    return stems(answer.cited.passage.text) if answer.cited else frozenset()


def _text(hop: Hop) -> str:
    return (hop.answer.text or "").strip() if hop.answer else ""


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
