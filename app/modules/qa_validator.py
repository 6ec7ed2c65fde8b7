"""V, the QA validator (QACheck, section 3.4): is this pair worth keeping?

It is not the judge: who wrote the book decides nothing about a claim of two hops, yet it is the hop that the claim
needs. Useful means: there is an answer, it is new, and it is tied to the claim or to a kept answer.
"""

from __future__ import annotations

from app.modules.wording import names, normalised, same_question, stems
from app.reasoning.types import Answer, Claim, Context, Hop, Judgement


class TiedAnswerValidator:
    """Implements `QAValidator` by comparing words; its reasons are shown to people."""

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement:
        """Whether `hop`, whose answer is there, may join `context`. Never fails."""
        answer = hop.answer
        if answer is None or not (answer.text or "").strip():
            return Judgement(False, "No passage answers this question.")
        if repetition := _repetition(context, hop, answer):
            return Judgement(False, _sentence(repetition))
        if unmentioned := _unmentioned(hop, answer):
            return Judgement(False, f"The evidence does not mention {unmentioned}.")
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
        if normalised(_text(kept)) == told and stems(kept.question.text) == stems(hop.question.text):
            return f"hop {kept.number} brought this already"
    return ""


def _with_the(question: str) -> list[str]:
    return [f"the {name}" for name in names(question)]


def _unmentioned(hop: Hop, answer: Answer) -> str:
    """The name that the question is about, when the cited passage knows half of no name in it; or nothing."""
    asked = [name for name in names(hop.question.text) if stems(name)]
    if answer.cited is None or not asked:
        return ""
    told = stems(answer.cited.passage.title) | stems(answer.cited.passage.text)
    known = any(2 * len(stems(name) & told) >= len(stems(name)) for name in asked)
    return "" if known else asked[0]


def _tie(claim: Claim, context: Context, hop: Hop, answer: Answer) -> str:
    """What ties this pair to the check, in words, or nothing."""
    about = stems(hop.question.text)
    if answer.cited:
        about |= stems(answer.cited.passage.title)
    for kept in reversed(context):
        if (stems(_text(kept)) - stems(claim.text)) & about:
            return f"it answers a question about {_text(kept)}, from hop {kept.number}"
    return "it answers a question about the claim" if stems(claim.text) & about else ""


def _text(hop: Hop) -> str:
    return (hop.answer.text or "").strip() if hop.answer else ""


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
