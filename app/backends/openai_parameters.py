"""What a model takes beside its prompt, learned from its server's own refusals and remembered.

Some models take no temperature, stop strings, seed or log-probabilities; models that think take max_completion_tokens
in place of max_tokens, and need room for their thoughts. Servers say so with a status 400 that names the parameter;
what was refused once is never sent to that model again.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Mapping
from typing import Any

from app.backends.http_outcome import Outcome
from app.backends.openai_complaints import error_of, is_overflow

log = logging.getLogger(__name__)

ROOM_FOR_THOUGHTS = 4000
"""Tokens added for a model that turns out to think; OpenAI advises more for hard tasks, and these are short ones."""

_REFUSABLE = {
    "top_logprobs": r"top_?logprobs",
    "logprobs": r"logprobs",
    "temperature": r"temperature",
    "seed": r"seed",
    "stop": r"stop(?:_?sequences?| sequences?)?",
    "max_tokens": r"max_?tokens",
}
"""Parameters that can be done without, as servers name them; their order is that of asking which one is meant."""

_REFUSAL = re.compile(
    r"unsupported|not (?:\w+ )?support|unrecogni[sz]ed|unknown|not enabled|not permitted|not allowed|not available"
    r"|unexpected|cannot find|invalid|too (?:many|long)|at most|maximum|only"
)
_READ_CHARACTERS = 500
"""So much of an error is searched for names: behind it some servers echo the prompt."""


class Accepted:
    """What one model takes. Safe to share between threads."""

    def __init__(self, model: str, thinking_tokens: int | None = None) -> None:
        """`thinking_tokens`: the operator's word on the room for thoughts; None finds out."""
        self._model = model
        self._room = ROOM_FOR_THOUGHTS if thinking_tokens is None else thinking_tokens
        self._thinks = bool(thinking_tokens)
        self._refused: frozenset[str] = frozenset()
        self._learning = threading.Lock()

    def adapted(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The request with what the model takes.

        A model that thinks gets no stop strings: they would end its thoughts. Whoever asks cuts the text itself.
        """
        with self._learning:
            refused, thinks = self._refused, self._thinks
        unwanted = set(refused)
        if unwanted & {"logprobs", "top_logprobs"}:
            unwanted |= {"logprobs", "top_logprobs"}
        if thinks:
            unwanted.add("stop")
        sent = {name: value for name, value in request.items() if name not in unwanted}
        limit = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
        sent[limit] = request["max_tokens"] + (self._room if thinks else 0)
        return sent

    def learn_refusal(self, outcome: Outcome, sent: Mapping[str, Any]) -> bool:
        """Whether `outcome` refuses one of the parameters in `sent`: it is left out from now on, so ask again."""
        name = refused_parameter(outcome, sent)
        if name is None:
            return False
        with self._learning:
            self._refused |= {name}
            # Only models that think turn max_tokens down.
            self._thinks = self._thinks or name == "max_tokens"
        log.info("%s takes no %s; it is left out from now on", self._model, name)
        return True

    def learn_thinking(self, sent: Mapping[str, Any], asked: int) -> bool:
        """A model spent all of its tokens on thoughts. Whether it had no room for them: it has from now on."""
        given = sent.get("max_tokens") or sent.get("max_completion_tokens") or 0
        if given > asked or not self._room:
            return False
        with self._learning:
            self._thinks = True
        log.info("%s thinks before it answers; it gets %d more tokens from now on", self._model, self._room)
        return True


def refused_parameter(outcome: Outcome, sent: Mapping[str, Any]) -> str | None:
    """The parameter in `sent` that a server turns down, None when its reply says nothing of the kind."""
    if outcome.status not in (400, 403, 422) or is_overflow(outcome):
        return None
    error = error_of(outcome)
    if error.get("param") in _REFUSABLE and error["param"] in sent:
        return error["param"]
    words = outcome.content[:_READ_CHARACTERS].decode(errors="replace").casefold()
    if not _REFUSAL.search(words):
        return None
    named = (name for name, written in _REFUSABLE.items() if re.search(rf"(?<![a-z_]){written}(?![a-z_])", words))
    return next((name for name in named if name in sent), None)
