"""What is still to be asked before a claim may be decided: the other side of a comparison, a clause nobody looked into.

A judge that has read one page soon finds the claim likely. Whether the page that matters was among them is for the
claim to say; these are plain comparisons of words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.domain.model import Claim, Context, Hop
from app.modules.claim_questions import asked_of_sides, compared_in
from app.modules.look_ups import was_read
from app.modules.wording import asked_for, names, same_question, stems
from app.text.sentences import sentences

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
