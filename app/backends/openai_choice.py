"""Which option a language model chose: by the probabilities of its first token, else by the words it wrote."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from app.domain.ports import Choice
from app.text.options import option_in, plain

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
