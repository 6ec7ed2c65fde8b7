"""What of a claim the kept evidence does not touch: a name nobody mentions, or one that was only looked up.

The judge weighs words and is soon sure. That "Brazil" stands nowhere beside what the claim says of the Nile, it does
not notice; over such a gap only a weighing decides that is surer than usual.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.model import Claim, Context
from app.modules.claim_patterns import subjects
from app.modules.comparison import findings
from app.modules.denial import DENIAL
from app.modules.evidence import is_linked
from app.modules.wording import bare_title, names, normalised, stems

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
