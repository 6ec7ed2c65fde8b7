"""Scripted modules and a container made of them: runs that go exactly as a test wrote them, with no model.

    container = scripted_container()                        # every run: two kept hops, then SUPPORTED
    container = scripted_container(FAILING, TWO_HOPS)       # the first run fails, every later one has two hops
    gate = Gate("answer 2")                           # the run waits before its second answer ...
    container = scripted_container(gate=gate)
    gate.reached.wait(5); ...; gate.open()            # ... until the test lets it go on

Steps are named "question N", "answer N", "validation N", "sufficiency N" (N counts the calls of that module in the
run, from 1) and "conclusion 1". An exception in a script is raised by its call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.capabilities.options import BASELINES, FACT_CHECKS, NO_FACT_CHECKS, Capabilities, Choice, Group
from app.components import Component
from app.domain import instrumentation as progress
from app.domain.errors import CallFailed, ModelUnavailable
from app.domain.model import (
    Answer,
    Claim,
    Context,
    FactCheck,
    Hop,
    Judgement,
    Label,
    Page,
    Passage,
    Question,
    RunOptions,
    Sentence,
    Span,
    Usage,
    Verdict,
)
from app.domain.ports import Completer, Strategy, TextGenerator
from app.modules.claim_extraction import LocalClaimExtractor, PromptedClaimExtractor
from app.strategies.claim_only import ClaimOnly
from app.strategies.fact_checks import WithFactChecks
from app.strategies.question_guided import QuestionGuided
from app.text.claims import Candidate
from app.text.wording import with_name
from tests.waiting import LONG

BeforeStep = Callable[[str], None]


def passage(text: str, title: str = "Hamlet") -> Passage:
    """A passage of a made-up corpus."""
    return Passage(
        text,
        title,
        "Vital articles, CC BY-SA 4.0",
        f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}",
        score=7.5,
    )


def answer(text: str | None, evidence: str = "", title: str = "Hamlet") -> Answer:
    """Return an answer found in `evidence`, with one more passage that was only retrieved."""
    found = passage(evidence or f"Some say {text or 'nothing'}.", title)
    other = passage("Nothing of use stands here.", "Denmark")
    at = -1 if text is None else found.text.find(text)
    cited = Span(found, at, at + len(text)) if text is not None and at >= 0 else None
    return Answer(text, cited, (found, other), "retriever-reader", 0.9)


USEFUL = Judgement(True, "It is tied to the claim.")
NOT_ENOUGH = Judgement(False, "More is needed.")


@dataclass(frozen=True)
class ScriptedHop:
    """One hop: question, answer, and whether it is kept; the verifier is called only after a kept one."""

    question: str | Exception | None
    answer: Answer | Exception = field(default_factory=lambda: answer(None))
    useful: Judgement | Exception = USEFUL
    enough: Judgement | Exception = NOT_ENOUGH


@dataclass(frozen=True)
class Script:
    """A whole run. After its hops the generator has no question left."""

    hops: tuple[ScriptedHop, ...]
    verdict: Verdict | Exception


SUPPORTED = Verdict(
    Label.SUPPORTED,
    (Sentence("Hamlet was written by William Shakespeare.", (1,)), Sentence("He was born in England.", (2,))),
    confidence=0.91,
)

TWO_HOPS = Script(
    (
        ScriptedHop("Who wrote Hamlet?", answer("William Shakespeare", "Hamlet is a play by William Shakespeare.")),
        ScriptedHop(
            "Where was William Shakespeare born?",
            answer("England", "Shakespeare was born in Stratford, England.", "William Shakespeare"),
            enough=Judgement(True, "Both halves of the claim are covered.", 0.8),
        ),
    ),
    SUPPORTED,
)

ONE_SET_ASIDE = Script(
    (
        ScriptedHop("Is Hamlet a play?", answer(None), Judgement(False, "There was no answer.")),
        *TWO_HOPS.hops,
    ),
    SUPPORTED,
)

FAILING = Script(TWO_HOPS.hops[:1], RuntimeError("a secret that must stay in the log"))


class Gate:
    """Holds a run before one step. `reached` is set when a run waits there; `open()` lets every run pass."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.reached = threading.Event()
        self._open = threading.Event()

    def open(self) -> None:
        """Let the waiting run, and all later ones, continue."""
        self._open.set()

    def __call__(self, step: str) -> None:
        if step == self.step:
            self.reached.set()
            if not self._open.wait(LONG):
                raise TimeoutError(f"nobody opened the gate before {step}")


class _Part:
    """Returns outcomes in turn, the last one repeatedly, and records its arguments in `calls`."""

    name = ""

    def __init__(self, outcomes: Sequence, before_step: BeforeStep = lambda step: None) -> None:
        self.outcomes = tuple(outcomes)
        self.calls: list[tuple] = []
        self._before_step = before_step

    def _play(self, *asked):
        self.calls.append(asked)
        progress.report_phase(f"{self.name} {len(self.calls)}")
        self._before_step(f"{self.name} {len(self.calls)}")
        outcome = self.outcomes[min(len(self.calls), len(self.outcomes)) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        progress.report_usage(Usage(1, 10, 2))
        return outcome


class ScriptedGenerator(_Part):
    """The question generator; returns texts (None: no question left)."""

    name = "question"

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        text = self._play(claim, context, set_aside)
        return None if text is None else Question(text)


class ScriptedAnswerer(_Part):
    """The answerer; returns Answers."""

    name = "answer"

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        return self._play(question, claim)


class ScriptedValidator(_Part):
    """The QA validator; returns Judgements."""

    name = "validation"

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement:
        return self._play(claim, context, hop)


class ScriptedVerifier(_Part):
    """The claim verifier; returns Judgements."""

    name = "sufficiency"

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        return self._play(claim, context)


class ScriptedReasoner(_Part):
    """The reasoner; returns Verdicts."""

    name = "conclusion"

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        return self._play(claim, context, labels)


class ScriptedAsker(_Part):
    """The baseline asked about the claim alone; returns Verdicts."""

    name = "verdict"

    def verdict_on(self, claim: Claim, labels: Sequence[Label]) -> Verdict:
        return self._play(claim, labels)


def scripted_strategy(script: Script = TWO_HOPS, before_step: BeforeStep = lambda step: None) -> QuestionGuided:
    """Return the real loop over five scripted modules; made for each run, because they count their calls."""
    asked = [hop for hop in script.hops if isinstance(hop.question, str)]
    answered = [hop for hop in asked if isinstance(hop.answer, Answer)]
    kept = [hop for hop in answered if isinstance(hop.useful, Judgement) and hop.useful.holds]
    return QuestionGuided(
        ScriptedVerifier([hop.enough for hop in kept] or [Judgement(False, "")], before_step),
        ScriptedGenerator([*(hop.question for hop in script.hops), None], before_step),
        ScriptedAnswerer([hop.answer for hop in asked] or [answer(None)], before_step),
        ScriptedValidator([hop.useful for hop in answered] or [Judgement(False, "")], before_step),
        ScriptedReasoner([script.verdict], before_step),
    )


CHOICES = (
    Choice("retriever-reader", "Retriever and reader", True),
    Choice("flan-t5", "FLAN-T5", False, "FLAN-T5 is not installed."),
)
"""The answerers, when a test names no others."""

AWAY = Choice("big", "A big model", destination="api.example.org")
"""A language model that gets its prompts over the network."""


@dataclass
class FakeContainer:
    """What Container offers, over scripts. `refusal` is raised by strategy_for; `warmed` counts warm().

    `choices` are the answerers, `ways` the strategies, `mixes` the presets, `shelves` the corpora, `pursuits` the
    presets of an evidence pursuit and `engines` what is searched; `usual` is the mix of modules by default.
    """

    scripts: tuple[Script, ...] = (TWO_HOPS,)
    before_step: BeforeStep = lambda step: None
    refusal: Exception | None = None
    choices: tuple[Choice, ...] = CHOICES
    loaded: tuple[Component, ...] = (Component("corpus index", "ready"), Component("judge", "ready"))
    ways: tuple[Choice, ...] = (
        Choice("question-guided", "One question at a time"),
        Choice("evidence-pursuit", "Evidence pursued"),
        Choice("direct", "Asked directly", needs_model=True),
    )
    mixes: tuple[Choice, ...] = (Choice("local", "Local models"), Choice("prompted", "Prompted", needs_model=True))
    language_models: tuple[Choice, ...] = ()
    shelves: tuple[Choice, ...] = (Choice("vital", "Vital articles"),)
    pursuits: tuple[Choice, ...] = (Choice("local", "Local pursuit"), Choice("paper", "As published", needs_model=True))
    engines: tuple[Choice, ...] = (
        Choice("corpus", "The corpora"),
        Choice("brave", "Brave", destination="search.example.org"),
    )
    usual: RunOptions = field(default_factory=RunOptions)
    pages: dict[str, Page] = field(default_factory=dict)
    """What page_at finds, by address."""
    rewriter: TextGenerator | None = None
    """The language model of claims_of and statement_of."""
    local_model: Completer | None = None
    """The language model of `rewritten`."""
    look_up: Callable[[str], tuple[FactCheck, ...]] | None = None
    """The lookup of published fact-checks, where it is set up."""
    warmed: int = 0
    asked_for: list[RunOptions] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def strategy_for(self, options: RunOptions) -> Strategy:
        """Return the strategy of the n-th script for the n-th call, and the last script's for every later call."""
        with self._lock:
            self.asked_for.append(options)
            turn = min(len(self.asked_for), len(self.scripts)) - 1
        if self.refusal:
            raise self.refusal
        if options.strategy in BASELINES:
            return ClaimOnly(ScriptedAsker([self.scripts[turn].verdict], self.before_step))
        strategy = scripted_strategy(self.scripts[turn], self.before_step)
        is_wanted = self.look_up and options.look_up_fact_checks
        return WithFactChecks(strategy, self.look_up) if is_wanted else strategy

    def loading_strategy_for(self, options: RunOptions) -> Strategy:
        """Return `strategy_for`: scripted modules have nothing to load."""
        return self.strategy_for(options)

    def page_at(self, url: str) -> Page:
        if url not in self.pages:
            raise CallFailed(f"{url} cannot be reached.")
        return self.pages[url]

    def claims_of(self, found: Sequence[Candidate], options: RunOptions) -> tuple[Candidate, ...] | None:
        finder = self._claim_finder(options)
        return finder.decontextualise(found) if finder else None

    def rewritten(self, sentence: Candidate, before: str) -> tuple[Candidate, ...]:
        if self.local_model is None:
            raise ModelUnavailable("The file of the local model is missing", "make models")
        return LocalClaimExtractor(self.local_model).decontextualise(sentence, before)

    def statement_of(self, question: str, options: RunOptions) -> str | None:
        finder = self._claim_finder(options)
        return finder.statement(question) if finder else None

    def names_for(self, claim: Claim, options: RunOptions) -> str | None:
        return with_name(claim.text, "Leonardo")

    def _claim_finder(self, options: RunOptions) -> PromptedClaimExtractor | None:
        return PromptedClaimExtractor(self.rewriter) if self.capabilities().needs_model(options) else None

    def modules(self, options: RunOptions) -> tuple[tuple[str, str], ...]:
        if options.strategy in BASELINES:
            return (("asker", "scripted"),)
        return (("answerer", options.answerer), ("reasoner", "scripted"))

    def capabilities(self) -> Capabilities:
        return Capabilities(
            self.ways,
            self.mixes,
            self.choices,
            self.language_models,
            self.shelves,
            self.pursuits,
            self.engines,
            fact_checks=FACT_CHECKS if self.look_up else NO_FACT_CHECKS,
            default_strategy=self.usual.strategy,
            default_options=self.usual,
            default_pursuit=self.usual,
            modules=self.modules,
        )

    def catalogue(self) -> tuple[Group, ...]:
        return (Group("Answerers", "ANSWERER", self.choices), Group("Language models", "", self.language_models))

    def warm(self) -> None:
        self.warmed += 1

    def components(self) -> tuple[Component, ...]:
        return self.loaded

    @property
    def ready(self) -> bool:
        return all(part.state == "ready" for part in self.loaded)


def scripted_container(*scripts: Script, gate: Gate | None = None, delay: float = 0.0, **fields) -> FakeContainer:
    """A FakeContainer playing `scripts` (TWO_HOPS when none), held at `gate`, each step taking `delay` seconds."""

    def before_step(step: str) -> None:
        time.sleep(delay)
        if gate:
            gate(step)

    return FakeContainer(scripts or (TWO_HOPS,), before_step, **fields)
