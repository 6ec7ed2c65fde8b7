"""Where a run's calls begin ahead of their turn: where they wait for others, and nothing is computed in vain here.

Local models share this machine's cores (backends/inference.py), so that two calls at once gain little, and one that is
not needed keeps others waiting. OVERLAP says how far an operator goes; docs/critical-path.md what it is about.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.backends.local.seq2seq import Seq2Seq
from app.capabilities import CORPUS_SEARCH, SEARCHES, Mix
from app.domain.model import RunOptions
from app.domain.ports import TextGenerator
from app.modules.answerers import reciter_reader

PAGES = 3
"""So many pages are opened while a document is chosen; four are fetched at once in the whole process."""


@dataclass(frozen=True)
class HeadStarts:
    """What OVERLAP means for a run. A `model` of None is one that nobody asks."""

    overlap: str

    def among_modules(self, mix: Mix, model: TextGenerator | None) -> bool:
        """Whether the next question and answer begin early: one of those who are asked meanwhile must be elsewhere."""
        asked = (mix.claim_verifier, mix.question_generator, mix.qa_validator)
        return "prompted" in asked and self._elsewhere(model)

    def among_answers(self, options: RunOptions, model: TextGenerator | None) -> bool:
        """Whether questions are answered side by side: what answers them must be elsewhere."""
        asks_the_model = options.answerer in (reciter_reader.NAME, SEARCHES)
        return self.pages(options) > 0 or (asks_the_model and self._elsewhere(model))

    def pages(self, options: RunOptions) -> int:
        """How many pages are opened while one is chosen; none of a corpus, which is at hand."""
        of_the_web = options.answerer == SEARCHES and options.search != CORPUS_SEARCH
        return PAGES if of_the_web and self.overlap != "off" else 0

    def _elsewhere(self, model: TextGenerator | None) -> bool:
        """Whether others compute the model's calls: on another machine, or a server of this one."""
        if model is None or isinstance(model, Seq2Seq):
            return False
        return self.overlap == "all" or (self.overlap == "remote" and model.destination is not None)
