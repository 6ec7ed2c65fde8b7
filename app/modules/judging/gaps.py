"""What of a claim the kept evidence does not touch: a name nobody mentions, or one that was only looked up.

The judge weighs words and is soon sure. That "Brazil" stands nowhere beside what the claim says of the Nile, it does
not notice; over such a gap only a weighing decides that is surer than usual.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.domain.model import Claim, Context, Hop
from app.modules.judging.comparison import findings
from app.modules.judging.evidence import is_linked
from app.modules.question_generator.denial import DENIAL
from app.modules.question_generator.entities import was_read
from app.modules.question_generator.patterns import subjects
from app.modules.question_generator.rules import asked_of_sides, compared_in
from app.modules.wording import asked_for, bare_title, names, normalised, same_question, stems
from app.text.sentences import sentences

SURE_DESPITE_GAPS = 0.9
"""A name or a clause of the claim that no evidence mentions is a gap; only so sure a weighing may decide over one."""

Passages = Sequence[tuple[str, str]]


def gap(claim: Claim, context: Context, passages: Passages) -> str:
    """What no kept question and none of the (title, text) `passages` does, in words for people, or nothing.

    A name that was held against an answer is no gap; evidence that nobody asked for, a data set's, has none.
    """
    if not any(hop.question.text for hop in context):
        return ""
    settled = {part for finding in findings(claim, context) for part in finding.claimed}
    untouched = [name for name in _untouched(claim, context, passages) if name not in settled]
    if untouched:
        return f"mentions {' or '.join(untouched)}"
    untied = [name for name in _untied(claim, context, passages) if name not in settled]
    if untied:
        return f"ties {' or '.join(untied)} to the claim"
    # A judge of words reads over a "not"; only an answer held against what is denied tells.
    return "settles what the claim denies" if DENIAL.search(claim.text) and not settled else ""


def _untouched(claim: Claim, context: Context, passages: Passages) -> list[str]:
    """The names in the claim that nothing mentions."""
    seen = [hop.question.text for hop in context] + [" ".join(each) for each in passages]
    return [name for name in names(claim.text) if not any(is_in(name, text) for text in seen)]


def _untied(claim: Claim, context: Context, passages: Passages) -> list[str]:
    """The names in the claim, but for its subjects, beside which nothing says what the claim says of them.

    That there is a Warsaw does not tell who was born there; who Marie Curie was may be all that is claimed of her.
    """
    about = " ".join(subjects(claim.text)[0])
    said, asked = stems(claim.text), [hop.question.text for hop in context]
    return [
        name
        for name in names(claim.text)
        if not is_in(name, about)
        and not any(is_in(name, question) and (said & stems(question)) - stems(name) for question in asked)
        and not any(_ties(name, said, each, passages) for each in passages)
    ]


def _ties(name: str, said: frozenset[str], passage: tuple[str, str], passages: Passages) -> bool:
    """Whether a passage has the name beside more of what is `said`, or is the page of another name and has it."""
    title, text = passage
    about = stems(bare_title(title))
    if not is_in(name, f"{title} {text}"):
        return False
    if (said & stems(f"{title} {text}")) - stems(name) - about:
        return True
    if stems(name) <= about:
        return False
    return (bool(about) and about <= said) or any(is_linked(passage, other) for other in passages if other != passage)


def is_in(name: str, text: str) -> bool:
    """Whether the text has the name, letters and accents aside."""
    return f" {normalised(name)} " in f" {normalised(text)} "


# What is still to be asked before a claim may be decided: the other side of a comparison, a clause nobody looked into.
#
# A judge that has read one page soon finds the claim likely. Whether the page that matters was among them is for the
# claim to say; these are plain comparisons of words.

_IN_ORDER = re.compile(r"\b(?:before|after|earlier|later|(?!other|rather)(?:more|less|fewer|[a-z]+er)\b[^.]*? than)\b")
_NEW_CLAUSE = re.compile(r"[;,] |\b(?:and|but|while|who|which|that|whose|where|when|whom)\b")
LEAST_WORDS = 2
"""So many telling words make a clause; with fewer nothing can be said of it."""


def unasked_sides(claim: Claim, context: Context) -> tuple[str, ...]:
    """The sides of the claim's comparison that have a name and that no kept question names.

    What both are, or have in common, also stands in a cited article on a side, unless it was cited for another side; a
    value that is put in order is asked.
    """
    sides = [side for side in compared_in(claim, context) if names(side)]
    if len(sides) < 2:
        return ()
    in_order = bool(_IN_ORDER.search(claim.text))
    return tuple(
        side for side in sides if not (_was_asked(side, context) or (not in_order and _was_read(side, sides, context)))
    )


def unanswered_sides(claim: Claim, context: Context) -> tuple[str, ...]:
    """The questions that the claim's comparison asks of its sides and that no kept hop answers, where one does.

    What asks for a time or an amount is answered by words with a number.
    """
    asked = asked_of_sides(claim, context)
    still = tuple(each for each in asked if not any(_answers(hop, each) for hop in context))
    return still if len(still) < len(asked) else ()


def unmentioned_clauses(claim: Claim, context: Context, passages: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The clauses of the claim most of whose telling words no kept question and no (title, text) passage has."""
    seen = [f"{title} {text}" for title, text in passages] + [hop.question.text for hop in context]
    known = stems(" ".join(seen))
    clauses = (part.strip(" .!?") for sentence in sentences(claim.text) for part in _NEW_CLAUSE.split(sentence))
    return tuple(each for each in clauses if _is_unmentioned(stems(each), known))


def _answers(hop: Hop, question: str) -> bool:
    text = hop.answer.text or "" if hop.answer else ""
    in_numbers = asked_for(question) in ("time", "amount")
    return same_question(question, hop.question.text) and (not in_numbers or bool(re.search(r"\d", text)))


def _is_unmentioned(said: frozenset[str], known: frozenset[str]) -> bool:
    return len(said) >= LEAST_WORDS and 2 * len(said & known) < len(said)


def _was_asked(side: str, context: Context) -> bool:
    named = stems(" ".join(names(side)))
    return any(named <= stems(hop.question.text) for hop in context)


def _was_read(side: str, sides: Sequence[str], context: Context) -> bool:
    """Whether an article on this side is cited by a hop that asks about no other side."""
    others = [other for other in sides if other != side]
    of_this = tuple(hop for hop in context if not any(_was_asked(other, (hop,)) for other in others))
    return any(was_read(part, of_this) for part in names(side))
