"""Language models made from a function of the prompt; they record their prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.domain.errors import UnparseableOutput
from app.domain.ports import OptionChoice
from app.text.options import option_in


class PlayedModel:
    """A TextGenerator that replies with `play(prompt)`; `prompts` records the prompts in order.

    `choose` takes the option at the start of the text, parsed as by every back end, with `probability`.
    """

    destination: str | None = None

    def __init__(self, play: Callable[[str], str], name: str = "gpt", probability: float | None = None) -> None:
        self.name, self.prompts = name, list[str]()
        self._play, self._probability = play, probability

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        self.prompts.append(prompt)
        text = self._play(prompt)
        return min((text.partition(mark)[0] for mark in stop), key=len, default=text)

    def choose(self, prompt: str, options: Sequence[str]) -> OptionChoice:
        self.prompts.append(prompt)
        option = option_in(self._play(prompt), options)
        if option is None:
            raise UnparseableOutput("The model chose none of the options")
        return OptionChoice(option, self._probability)


def playing(*texts: str, **fields) -> PlayedModel:
    """Return a model that replies with these texts in turn, and the last one repeatedly."""
    left = list(texts)
    return PlayedModel(lambda prompt: left.pop(0) if len(left) > 1 else left[0], **fields)
