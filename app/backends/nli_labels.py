"""Which output of an entailment model means what, read from the model's own configuration.

Models agree neither on the order of the three classes nor on their names: MNLI's call them entailment, neutral and
contradiction, FEVER's supports, not enough info and refutes. A wrong order would turn every verdict around, so a model
that does not say is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.domain.errors import ModelUnavailable
from app.domain.model import Label

_SPELLINGS = {
    Label.SUPPORTED: "entailment entails entailed entail supports supported support",
    Label.REFUTED: "contradiction contradicts contradicted contradictory contradict refutes refuted refute",
    Label.NOT_ENOUGH_EVIDENCE: "neutral notenough notenoughinfo notenoughinformation notenoughevidence nei",
}
_MEANS = {spelled: label for label, spellings in _SPELLINGS.items() for spelled in spellings.split()}
_GENERIC = re.compile(r"label\d+")


def label_order(id2label: Mapping[int, str], name: str, mend: str) -> tuple[int, int, int]:
    """The places of (supports, refutes, not enough) among the outputs of the model `name`.

    Raises ModelUnavailable for a model that tells other than these three classes apart, or does not name them.
    """
    plain = {at: re.sub(r"[^a-z0-9]", "", str(label).casefold()) for at, label in id2label.items()}
    told = ", ".join(str(label) for label in id2label.values())
    if len(plain) != 3:
        raise ModelUnavailable(
            f"{name} tells {len(plain)} classes apart ({told}); a judge needs three: supports, refutes and not enough",
            mend,
        )
    if any(_GENERIC.fullmatch(label) for label in plain.values()):
        raise ModelUnavailable(
            f"{name} does not say what its classes mean ({told}); its config.json must name them in id2label", mend
        )
    place_of = {_MEANS.get(label): at for at, label in plain.items()}
    if set(place_of) != set(_SPELLINGS):
        raise ModelUnavailable(f"{name} has the classes {told}, not entailment, neutral and contradiction", mend)
    return place_of[Label.SUPPORTED], place_of[Label.REFUTED], place_of[Label.NOT_ENOUGH_EVIDENCE]
