"""Language models made of a function: they look at the prompt, and what they were asked is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.domain.errors import UnparseableOutput
from app.domain.ports import Choice
from app.text.options import option_in


class PlayedModel:
    """A TextGenerator that writes what `play` makes of a prompt; `prompts` are those it was given, in order.

    `choose` takes the option that the text begins with, read as every back end reads it, with `probability`.
    """

    destination: str | None = None

    def __init__(self, play: Callable[[str], str], name: str = "gpt", probability: float | None = None) -> None:
        self.name, self.prompts = name, list[str]()
        self._play, self._probability = play, probability

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        self.prompts.append(prompt)
        text = self._play(prompt)
        return min((text.partition(mark)[0] for mark in stop), key=len, default=text)

    def choose(self, prompt: str, options: Sequence[str]) -> Choice:
        self.prompts.append(prompt)
        option = option_in(self._play(prompt), options)
        if option is None:
            raise UnparseableOutput("The model chose none of the options")
        return Choice(option, self._probability)


def playing(*texts: str, **fields) -> PlayedModel:
    """A model that writes these texts in turn, and the last one again and again."""
    left = list(texts)
    return PlayedModel(lambda prompt: left.pop(0) if len(left) > 1 else left[0], **fields)
