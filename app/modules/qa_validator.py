"""V, the QA validator (QACheck, section 3.4), by rules: whether an answer helps to check the claim."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.domain.messages import Code, Message
from app.domain.model import Answer, Claim, Context, Hop, Judgement, Passage
from app.modules.judging import quoted_sentence
from app.modules.remaining_claim import Reduce, unreduced
from app.text.sentences import sentences
from app.text.wording import bare_title, differ_in_names, names, normalised, overlap, same_question, stems, with_name

# A reader extracts the likeliest words of its passages, even when the page is about another person. These word
# comparisons check that the cited passage is about the subject of the question.


def _subject_mismatch(question: str, answer: Answer) -> Message | None:
    asked = [name for name in names(question) if _is_distinctive(name)]
    if not asked or answer.cited is None or not answer.cited.passage.text.strip():
        return None
    passage = answer.cited.passage
    evidence_words = stems(passage.title) | stems(passage.text)
    if not any(_is_named(name, evidence_words) for name in asked):
        return Code.NOT_MENTIONED(name=asked[0])
    answer_is_subject = stems(answer.text or "") <= stems(bare_title(passage.title))
    if not answer_is_subject and (other := _other_subject(asked, passage, quoted_sentence(answer.cited))):
        return Code.OTHER_SUBJECT(other=other, name=asked[0])
    return None


def _other_subject(asked: list[str], passage: Passage, sentence: str) -> str:
    """Return the page's title if the cited sentence begins with a pronoun that does not mean a name in `asked`.

    Return "" if it begins with no pronoun, or if a name in `asked` is in the title, in the cited sentence or in the
    first sentence of the passage.
    """
    about = bare_title(passage.title)
    if not about or with_name(sentence, about) == sentence:
        return ""
    introduced = stems(about) | stems(sentence) | stems(sentences(passage.text)[0])
    return "" if any(_is_named(name, introduced) for name in asked) else about


def _is_named(name: str, words: frozenset[str]) -> bool:
    """Return whether `words` has half of the name's words, since texts rarely repeat a name in full."""
    return 2 * len(stems(name) & words) >= len(stems(name))


def _is_distinctive(name: str) -> bool:
    """Return whether texts about the thing must have the name: no number, abbreviation or short word."""
    return bool(stems(name)) and not name[0].isdigit() and (" " in name or (len(name) > 3 and "." not in name))


_ABOUT_THE_CLAIM = re.compile(r"\b(?:the|this) (?:claim|statement|quote|quotation)\b", re.IGNORECASE)


MIN_REPETITION_OVERLAP = 0.5
"""Minimum word overlap (Jaccard) with a kept question that makes a pair with the same answer a repetition."""
MIN_SHARED_WORDS = 3
"""Minimum number of the claim's words in answer and cited passage that makes a pair useful if its question has none."""


@dataclass(frozen=True)
class RuleBasedValidator:
    """Implements `QAValidator` by comparing words; `reduce` only says what the claim's remaining part was."""

    reduce: Reduce = unreduced

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement:
        """Judge whether the answered `hop` may join `context`. Propagates the model's errors."""
        answer = hop.answer
        found = (answer.text or "").strip() if answer else ""
        if answer is None or not found:
            return Judgement(False, Code.NO_ANSWER())
        if fault := _repetition(context, hop, answer) or _subject_mismatch(hop.question.text, answer):
            return Judgement(False, fault)
        if (relation := _relation(claim, context, hop, answer)) is None:
            return Judgement(False, Code.UNRELATED())
        if answer.cited and normalised(quoted_sentence(answer.cited)) == normalised(found):
            return Judgement(True, Code.NEAREST_SENTENCE())
        remaining = self.reduce(claim, context)
        return Judgement(True, Code.ABOUT_REMAINING(claim=remaining.claim.text) if remaining.settled else relation)


def _repetition(context: Context, hop: Hop, answer: Answer) -> Message | None:
    found = normalised(answer.text or "")
    asked = names(hop.question.text)
    if found in {normalised(name) for name in (*asked, *(f"the {name}" for name in asked))}:
        return Code.QUESTION_REPEATED()
    for kept in context:
        if same_question(kept.question.text, hop.question.text):
            return Code.ALREADY_ASKED(hop=kept.number)
        is_similar = overlap(stems(kept.question.text), stems(hop.question.text)) >= MIN_REPETITION_OVERLAP
        if (
            normalised(kept.answer_text) == found
            and is_similar
            and not differ_in_names(kept.question.text, hop.question.text)
        ):
            return Code.ALREADY_ANSWERED(hop=kept.number)
    return None


def _relation(claim: Claim, context: Context, hop: Hop, answer: Answer) -> Message | None:
    about = stems(hop.question.text)
    if answer.cited:
        about |= stems(answer.cited.passage.title)
    for kept in reversed(context):
        known = frozenset().union(*map(stems, names(kept.answer_text))) or stems(kept.answer_text)
        if (known - stems(claim.text)) & about:
            return Code.ABOUT_ANSWER(answer=kept.answer_text, hop=kept.number)
    if _ABOUT_THE_CLAIM.search(hop.question.text):
        return Code.ABOUT_CLAIM_ITSELF()
    if stems(claim.text) & about:
        return Code.ABOUT_CLAIM()
    cited = stems(answer.cited.passage.text) if answer.cited else frozenset()
    shared = stems(claim.text) & (stems(hop.answer_text) | cited)
    return Code.EVIDENCE_ABOUT_CLAIM() if len(shared) >= MIN_SHARED_WORDS else None
