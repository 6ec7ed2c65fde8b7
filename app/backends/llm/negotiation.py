"""Which parameters an endpoint accepts, and how its replies and choices are read."""

from __future__ import annotations

import logging
import math
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, FiniteFloat, NonNegativeInt, TypeAdapter, ValidationError

from app.backends.http import Outcome
from app.backends.llm.errors import error_of, is_overflow
from app.domain.ports import Choice
from app.text.options import option_in, plain

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


# A chat completion read: the text, what else the first token might have been, and what it cost in tokens.
#
# Servers differ in what they add, so only what is needed is looked at; what is missing there is missing in the reply.

_THOUGHTS = re.compile(r"\A\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)
"""Some servers leave a model's thoughts in its text (DeepSeek-R1's and Qwen3's form); cut off, they have no end."""


@dataclass(frozen=True, slots=True)
class Reply:
    """`text` is without thoughts, None when there is none; `first` maps what the first word's token might have been
    to its log-probability, empty where the server does not tell. Tokens are 0 where the server counts none."""

    text: str | None
    finish: str
    refusal: str
    first: dict[str, float]
    prompt_tokens: int
    completion_tokens: int


class _Alternative(BaseModel):
    token: str
    logprob: FiniteFloat


class _Token(_Alternative):
    top_logprobs: list[_Alternative] = []


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: Any = None


class _Completion(BaseModel):
    choices: list[_Choice]
    usage: Any = None


class _Usage(BaseModel):
    prompt_tokens: NonNegativeInt = 0
    completion_tokens: NonNegativeInt = 0


_tokens = TypeAdapter(list[_Token])


def read(outcome: Outcome) -> Reply | None:
    """The reply in a body; None when the body is no chat completion. A list of choices may be empty: no text."""
    try:
        completion = _Completion.model_validate(outcome.body)
    except ValidationError:
        return None
    choice = completion.choices[0] if completion.choices else _Choice(message=_Message(), finish_reason="no choice")
    text = choice.message.content
    if text is not None:
        text = _THOUGHTS.sub("", _storable(text))
    usage = _usage(completion.usage)
    return Reply(
        text,
        choice.finish_reason or "",
        choice.message.refusal or "",
        _first(choice.logprobs, text or ""),
        usage.prompt_tokens,
        usage.completion_tokens,
    )


def _usage(told: Any) -> _Usage:
    try:
        return _Usage.model_validate(told)
    except ValidationError:
        return _Usage()


def _first(told: Any, text: str) -> dict[str, float]:
    """The alternatives at the token that the text's first word begins with; {} when they belong to something else."""
    try:
        tokens = _tokens.validate_python(told["content"])
    except (ValidationError, TypeError, KeyError):
        return {}
    token = next((each for each in tokens if plain(each.token)), None)
    if token is None or not plain(text).startswith(plain(token.token)):
        return {}
    return {_storable(each.token): each.logprob for each in token.top_logprobs}


def _storable(text: str) -> str:
    """Without NUL, which some databases do not take, and with a question mark for half a character."""
    return text.replace("\0", "").encode(errors="replace").decode()


# Which option a language model chose: by the probabilities of its first token, else by the words it wrote.

ENOUGH = 0.5
"""The options' share of the first token's probability from which on it decides: below, the model meant to say
something else, and its words are read."""


def chosen(text: str, first: Mapping[str, float], options: Sequence[str]) -> Choice | None:
    """The chosen option; None when neither probabilities nor words name exactly one.

    `first` maps what the first token might have been to its log-probability. The choice's probability is its share
    among the options, None where the server told none.
    """
    shares = _shares(first, options)
    total = sum(shares.values())
    likeliest = max(shares, key=lambda option: shares[option])
    if total >= ENOUGH and list(shares.values()).count(shares[likeliest]) == 1:
        return Choice(likeliest, shares[likeliest] / total)
    said = option_in(text, options)
    if said is None:
        return None
    return Choice(said, shares[said] / total if total and said == likeliest else None)


def _shares(first: Mapping[str, float], options: Sequence[str]) -> dict[str, float]:
    """The probability that the first token begins each option. A token that begins two of them counts for none."""
    shares = dict.fromkeys(options, 0.0)
    for token, logprob in first.items():
        begun = [option for option in options if _begins(plain(token), plain(option))]
        if len(begun) == 1:
            shares[begun[0]] += math.exp(min(logprob, 0.0))
    return shares


def _begins(token: str, option: str) -> bool:
    """One letter begins too many other words, unless it is the whole option."""
    return token == option or (len(token) > 1 and option.startswith(token))


def spelled_out(prompt: str, options: Sequence[str]) -> str:
    """The prompt again, with the options that the model did not choose from."""
    return f"{prompt}\n\nAnswer with exactly one of these and nothing else: {' | '.join(options)}\nAnswer:"
