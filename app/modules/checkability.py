"""Whether a claim is one that sources can decide, or an opinion or a prediction.

The base of the local model sorts it after demonstrations (research/notes/2026-11-28-one-model.md has how well).
"""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.messages import Code, Message
from app.domain.model import Claim
from app.domain.ports import TranscriptModel
from app.modules.transcript import one_line

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
