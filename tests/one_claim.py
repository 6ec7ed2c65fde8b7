"""One claim that is checked with every kind of model, each built by the application's own container.

Embedded (test_embedded.py), a tiny FLAN-T5 and a scripted server over HTTP (test_wiring.py), SmolLM2 behind llama.cpp's
server (backends/test_openai_real_server.py).
"""

from __future__ import annotations

from app.container.container import Container
from app.domain.events import Event, RunStarted
from app.domain.instrumentation import MemoryStore, listening, use_stores
from app.domain.model import Claim, RunOptions
from app.domain.ports import QuestionAnswerer, Strategy, TextGenerator
from app.domain.report import Report, reduce_events
from app.modules.answerers.reciter_reader import ReciterReader
from app.modules.prompted import PromptedClaimVerifier, PromptedQuestioner, PromptedReasoner, PromptedValidator
from app.strategies.question_guided import QuestionGuided

CLAIM = Claim("The author of Hamlet was born in England.")


def prompted(model: TextGenerator, answerer: QuestionAnswerer | None = None) -> QuestionGuided:
    """Return a strategy in which the model plays every role, the answerer's only if none is given."""
    return QuestionGuided(
        PromptedClaimVerifier(model),
        PromptedQuestioner(model),
        answerer or ReciterReader(model),
        PromptedValidator(model),
        PromptedReasoner(model),
    )


def checked(container: Container, options: RunOptions, claim: Claim = CLAIM) -> Report:
    """Return the report of a run with these options."""
    return followed(container.strategy_for(options), options, claim)[0]


def followed(strategy: Strategy, options: RunOptions, claim: Claim = CLAIM) -> tuple[Report, list[Event]]:
    """Return a run's report and all its events; no call is made twice, as in a run of the application."""
    events: list[Event] = [RunStarted(claim, options)]
    with listening(events.append), use_stores(MemoryStore()):
        for event in strategy.run(claim, options):
            events.append(event)
    return reduce_events((event, float(at)) for at, event in enumerate(events)), events
