"""A chat completion read: the text, what else the first token might have been, and what it cost in tokens.

Servers differ in what they add, so only what is needed is looked at; what is missing there is missing in the reply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, FiniteFloat, NonNegativeInt, TypeAdapter, ValidationError

from app.backends.http_outcome import Outcome
from app.text.options import plain

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
