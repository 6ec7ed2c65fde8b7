"""Prepare a claim before its first question: letter case, a missing name, and opinions that no source can decide."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.domain.messages import Code, Message
from app.domain.model import Claim
from app.domain.ports import Retriever, TranscriptModel
from app.modules.transcript import one_line
from app.text.clean import has_lost_case, restore_case
from app.text.wording import bare_title, names, stems, with_name

SEARCHED_FOR_CASE, SEARCHED_FOR_NAME = 20, 10
"""Passages whose spelling is looked at, and among which the name is looked for that a claim leaves out."""


def with_usual_case(retriever: Retriever, claim: Claim) -> Claim:
    """Return a claim in lower case, capitals or title case with the spelling of the passages that it finds.

    Other claims are returned as they are. Propagates errors of the search.
    """
    if not has_lost_case(claim.text):
        return claim
    found = retriever.retrieve(claim.text, SEARCHED_FOR_CASE, claim.date)
    return replace(claim, text=restore_case(claim.text, [(each.title, each.text) for each in found]))


def with_likeliest_name(retriever: Retriever, claim: Claim) -> str | None:
    """Return the claim with the likeliest name in place of the pronoun at its start; None where none is found.

    It is the first whole name in the articles that the claim names, else the title of a passage with its names.
    Propagates errors of the search.
    """
    found = retriever.retrieve(claim.text, SEARCHED_FOR_NAME, claim.date)
    told, known = stems(claim.text), frozenset().union(*map(stems, names(claim.text)))
    named = [each for each in found if stems(bare_title(each.title)) <= told]
    whole = (name for each in named for name in names(each.text) if " " in name and name[0].isalpha())
    titles = (bare_title(each.title) for each in found if known <= stems(each.text))
    name = next((each for each in (*whole, *titles) if not stems(each) & told), None)
    return with_name(claim.text, name) if name else None


# Opinions and predictions. The base of the local model sorts claims after demonstrations; how well is in
# research/notes/2026-11-28-one-model.md.

FACT, OPINION, PREDICTION = "fact", "opinion", "future"
MIN_PROBABILITY = 0.8
"""None of 80 development claims about facts is called something else at it, and half of the others are."""

DEMONSTRATIONS = (
    ("The Danube flows through ten countries.", FACT),
    ("Venice is lovelier than Rome.", OPINION),
    ("Tokyo will be the world's largest city in 2050.", PREDICTION),
    ("Sharks live in rivers.", FACT),
    ("Goethe was the best poet of his time.", OPINION),
    ("Let It Be is a song by Queen.", FACT),
    ("The author of Emma never married.", FACT),
    ("Oxygen has no smell.", FACT),
    ("Schools should start later in the day.", OPINION),
    ("Wood is harder than steel.", FACT),
    ("Spain is going to leave the euro.", PREDICTION),
    ("Mozart died before Beethoven was born.", FACT),
)
INSTRUCTION = (
    "Fact: it can be looked up whether the sentence is true or false. Opinion: it depends on taste or values. "
    "Future: it says what will happen.\n"
)
PROMPT = INSTRUCTION + "".join(f"Sentence: {text}\nKind: {kind}\n" for text, kind in DEMONSTRATIONS)


@dataclass(frozen=True)
class ClaimSorter:
    """Tells opinions and predictions from what can be looked up. Holds no state."""

    model: TranscriptModel

    def why_uncheckable(self, claim: Claim) -> Message | None:
        """Return why no source can decide the claim, None for a claim about facts. Propagates the model's errors."""
        prompt = f"{PROMPT}Sentence: {one_line(claim.text)}\nKind:"
        _, opinion, prediction = self.model.probabilities(prompt, (FACT, OPINION, PREDICTION))
        if opinion >= MIN_PROBABILITY:
            return Code.OPINION()
        return Code.PREDICTION() if prediction >= MIN_PROBABILITY else None
