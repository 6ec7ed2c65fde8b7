"""The composition root: names in settings and options become objects, lazily, once, and shared by every run.

Knows which parts there are, what each waits for, and why one is not available. Nothing heavy is imported here: a part
loads itself at its first use, or in `warm`, which runs in a background thread after the server has started.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from app.backends.bm25 import Bm25Retriever, Java
from app.backends.entailment import Calibration, EntailmentJudge
from app.backends.inference import Inference
from app.backends.local_lm import LocalLM
from app.backends.reader import SpanReader
from app.backends.reranker import CrossEncoderReranker
from app.modules.answering.retriever_reader import NAME as RETRIEVER_READER
from app.modules.answering.retriever_reader import RetrieverReader
from app.modules.claim_verifier import JudgeClaimVerifier
from app.modules.qa_validator import TiedAnswerValidator
from app.modules.question_generator import PromptedQuestionGenerator
from app.modules.reasoner import JudgeReasoner
from app.reasoning.errors import HopcheckError, InvalidInput, ModelUnavailable
from app.reasoning.question_guided import QuestionGuided
from app.reasoning.roles import Strategy
from app.reasoning.types import RunOptions
from app.settings import Settings

log = logging.getLogger(__name__)

STRATEGIES = ("question-guided",)
SHIPPED = Path(__file__).parent / "models"


@dataclass(frozen=True, slots=True)
class Choice:
    """An answerer as the page offers it; `reason` says why it cannot be chosen when it cannot."""

    name: str
    title: str
    available: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One heavy part and how it stands; `mend` is the command that makes a failed one right."""

    name: str
    state: Literal["waiting", "loading", "ready", "failed"]
    message: str = ""
    mend: str = ""


@dataclass
class _Loading:
    """A part's name, how to load it, and how that went."""

    name: str
    load: Callable[[], object]
    part: Part = field(init=False)

    def __post_init__(self) -> None:
        self.part = Part(self.name, "waiting")

    def run(self) -> None:
        started = time.monotonic()
        self.part = Part(self.name, "loading")
        try:
            self.load()
        except ModelUnavailable as error:
            self.part = Part(self.name, "failed", str(error), error.mend)
            log.error("%s: %s", self.name, error)
        except Exception as error:  # a part that cannot load must not take the others or the page with it
            self.part = Part(self.name, "failed", f"It could not be loaded ({type(error).__name__}).", "make setup")
            log.exception("%s could not be loaded", self.name)
        else:
            self.part = Part(self.name, "ready")
            log.info("%s ready in %.1f s", self.name, time.monotonic() - started)


class Wiring:
    """Every object of the embedded default, made from `settings`."""

    def __init__(self, settings: Settings) -> None:
        base = settings.instance / "models" / "smollm2-135m"
        java = Java(settings.java_home, settings.java_memory)
        self._settings = settings
        self._retriever = Bm25Retriever(settings.instance / "corpora" / settings.corpora[0], java)
        inference = Inference(settings.call_seconds)
        self._reranker = CrossEncoderReranker(threads=settings.torch_threads, inference=inference)
        self._reader = SpanReader(SHIPPED / "reader", settings.torch_threads, inference)
        self.judge = EntailmentJudge(base, SHIPPED / "judge", settings.torch_threads, inference)
        model = LocalLM(settings.question_model, settings.torch_threads, inference)
        self.generator = PromptedQuestionGenerator(model)
        self._loading = (
            _Loading("question generator", self.generator.warm),
            _Loading("corpus and retriever", self._retriever.open),
            _Loading("reranker", self._reranker.load),
            _Loading("reader", self._reader.load),
            _Loading("judge", self.judge.load),
        )
        self._warming = threading.Lock()

    def warm(self) -> None:
        """Load every part, one after the other. Blocks; call it off the request path. A second call loads nothing."""
        with self._warming:
            for loading in self._loading:
                if loading.part.state != "ready":
                    loading.run()

    def parts(self) -> tuple[Part, ...]:
        """How each heavy part stands now."""
        return tuple(loading.part for loading in self._loading)

    @property
    def ready(self) -> bool:
        """Whether every part is loaded."""
        return all(part.state == "ready" for part in self.parts())

    @property
    def sufficient(self) -> float:
        """The judge's fitted bound for "enough". Raises ModelUnavailable when its file is missing or damaged."""
        return Calibration.read(SHIPPED / "judge").sufficient

    def answerers(self) -> tuple[Choice, ...]:
        """The answerers, the available ones and the others with the reason."""
        broken = next((part for part in self.parts() if part.state == "failed"), None)
        reason = f"{broken.name}: {broken.message}" if broken else ""
        return (
            Choice(RETRIEVER_READER, "Retriever and reader over Wikipedia's vital articles", broken is None, reason),
            *(Choice(name, title, False, _NOT_YET) for name, title in _PLANNED.items()),
        )

    def modules(self, options: RunOptions) -> tuple[tuple[str, str], ...]:
        """The (role, implementation) pairs that a run with these options has at work, for its report."""
        question_model = self._settings.question_model
        return (
            ("claim verifier", "local judge, SmolLM2-135M with adapter"),
            ("question generator", question_model.name if question_model else "SmolLM2-135M-Instruct"),
            ("answerer", f"{options.answerer} over {', '.join(options.corpora)}"),
            ("QA validator", "local rules"),
            ("reasoner", "local judge, SmolLM2-135M with adapter"),
        )

    def strategy_for(self, options: RunOptions) -> Strategy:
        """The strategy that these options name. Raises InvalidInput for a name that is not offered."""
        if options.strategy not in STRATEGIES:
            raise InvalidInput(
                f"There is no strategy {options.strategy!r}; choose {', '.join(STRATEGIES)}.", "strategy"
            )
        chosen = next((choice for choice in self.answerers() if choice.name == options.answerer), None)
        if chosen is None:
            names = ", ".join(choice.name for choice in self.answerers())
            raise InvalidInput(f"There is no answerer {options.answerer!r}; choose one of {names}.", "answerer")
        if not chosen.available:
            raise HopcheckError(f"The answerer {chosen.name} is not available. {chosen.reason}")
        return QuestionGuided(
            verifier=JudgeClaimVerifier(self.judge, self.sufficient),
            generator=self.generator,
            answerer=RetrieverReader(self._retriever, self._reranker, self._reader),
            validator=TiedAnswerValidator(),
            reasoner=JudgeReasoner(self.judge, self.sufficient),
        )


_NOT_YET = "This version does not have it yet."
_PLANNED = {
    "flan-t5": "FLAN-T5, from its own knowledge",
    "reciter-reader": "A language model recites, a reader reads",
    "web-search": "Web search",
}
