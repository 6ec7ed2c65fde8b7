"""Measure the critical path of model calls, its time and its tokens, with and without speculative calls.

    .venv/bin/python -m benchmarks.critical_path [--seconds 0.3]

The prompted modules use their real prompts with a scripted language model whose calls all take the same time, as do a
search and a page; local modules take none. "In a row" is the largest number of calls of which no two overlapped. Four
characters count as a token.
"""

from __future__ import annotations

import argparse
import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.domain.events import QuestionAsked
from app.domain.instrumentation import Call, cached_call
from app.domain.model import Answer, Claim, Context, Page, Passage, Question, RunOptions, SearchHit, Span
from app.domain.ports import OptionChoice, QuestionAnswerer, Strategy
from app.modules.answerers.reciter_reader import ReciterReader
from app.modules.answerers.web_documents import PromptedChooser, PromptedReader
from app.modules.answerers.web_search import WebSearchAnswerer
from app.modules.prompted import PromptedClaimVerifier, PromptedQuestioner, PromptedReasoner, PromptedValidator
from app.modules.pursuit import PromptedParaphraser, PromptedPursuer
from app.strategies.evidence_pursuit import EvidencePursuit
from app.strategies.question_guided import QuestionGuided
from app.text.options import option_in

CLAIM = Claim("The tower, the bridge and the tunnel of the old harbour were all built before the war.")
CHARACTERS_PER_TOKEN = 4
PASSAGE = "It was built by the harbour's own yard. " * 12
MAX_PREFETCHED_PAGES = 3


@dataclass
class Scripted:
    """A scripted remote language model: it keeps every hop except those in `aside`, and stops after `enough` hops."""

    seconds: float
    enough: int
    aside: frozenset[int] = frozenset()
    tokens: int = 0
    calls: list[tuple[float, float]] = field(default_factory=list)
    name: str = "scripted"
    destination: str | None = "api.example.org"
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        return cached_call(self._call(prompt), lambda: self._respond(prompt, _reply))

    def choose(self, prompt: str, options: Sequence[str]) -> OptionChoice:
        reply = cached_call(self._call(prompt), lambda: self._respond(prompt, self._decision))
        return OptionChoice(option_in(reply, options) or options[0])

    def wait(self) -> None:
        """Take the time of one call."""
        started = time.perf_counter()
        time.sleep(self.seconds)
        with self._lock:
            self.calls.append((started, time.perf_counter()))

    def _call(self, prompt: str) -> Call:
        return Call(self.name, {"prompt": prompt}, costly=True)

    def _respond(self, prompt: str, reply: Callable[[str], str]) -> str:
        self.wait()
        text = reply(_case(prompt))
        with self._lock:
            self.tokens += (len(prompt) + len(text)) // CHARACTERS_PER_TOKEN
        return text

    def _decision(self, case: str) -> str:
        if "useful to verify" in case:
            return "No" if _last_question(case) in self.aside else "Yes"
        return "Yes" if _last_question(case) >= self.enough else "No"


def _case(prompt: str) -> str:
    """Return the prompt without its demonstrations."""
    return prompt[max(prompt.rfind("\nClaim ="), prompt.rfind("Contexts:"), 0) :]


def _last_question(case: str) -> int:
    """Return the number of the last question in the prompt."""
    return max((int(number) for number in re.findall(r"part (\d+) of the harbour", case)), default=0)


def _reply(case: str) -> str:
    if "ways to rephrase" in case:
        number = _last_question(case)
        return json.dumps([f"By whom was part {number} of the harbour {word}?" for word in ("made", "laid", "set")])
    if "as a JSON list of strings" in case:
        return '["Who built part 1 of the harbour?"]'
    if "[[True]] or [[False]]" in case:
        return "[[True]]" if _last_question(case) >= 2 else "Who built part 2 of the harbour?"
    if "referring by its number" in case:
        return "Document 1"
    if "Rationale =" in case or "label on the last line" in case:
        return "All of it was built by the yard [1].\nLabel = true"
    if "Write a short passage" in case:
        return PASSAGE
    if "should we ask next?" in case or "we can ask is:" in case:
        return f"Who built part {_last_question(case) + 1} of the harbour?"
    return "the harbour's own yard"


class InstantAnswerer:
    """A local reader and answerer that takes no time."""

    def read(
        self, question: Question, passages: Sequence[Passage], claim: Claim | None = None, context: Context = ()
    ) -> Answer:
        return Answer("yard", Span(passages[0], 28, 32), tuple(passages), "local")

    def answer(self, question: Question, claim: Claim, context: Context = ()) -> Answer:
        return self.read(question, (Passage(PASSAGE, "The harbour", "a corpus", "https://example.org/harbour"),))


@dataclass
class Web:
    """A search and its pages, which take the time of a model call."""

    model: Scripted
    name: str = "web"
    destination: str | None = "search.example.org"

    def search(self, query: str, k: int, before: str | None = None) -> tuple[SearchHit, ...]:
        self.model.wait()
        return tuple(
            SearchHit(f"Harbour {n}", f"{n}.example", PASSAGE[:40], f"https://{n}.example/") for n in range(1, 6)
        )

    def read(self, hit: SearchHit) -> Page:
        self.model.wait()
        return Page(hit.url, hit.title, hit.site, PASSAGE)


ANSWERERS: dict[str, tuple[int, Callable[[Scripted], QuestionAnswerer]]] = {
    "reciter-reader, read by the model": (3, ReciterReader),
    "reciter-reader, local reader": (2, lambda model: ReciterReader(model, InstantAnswerer())),
    "retriever-reader": (1, lambda model: InstantAnswerer()),
}
"""Answerers by name, with the number of calls that a kept hop adds to the critical path."""

RUNS: tuple[tuple[int, tuple[int, ...]], ...] = ((1, ()), (2, ()), (3, ()), (5, ()), (3, (2,)))
"""The number of kept hops, and the numbers of hops set aside."""


def question_guided(model: Scripted, answerer: QuestionAnswerer, speculative: bool) -> Strategy:
    """Return QACheck's loop with prompted modules."""
    return QuestionGuided(
        PromptedClaimVerifier(model),
        PromptedQuestioner(model),
        answerer,
        PromptedValidator(model),
        PromptedReasoner(model),
        speculative,
    )


def evidence_pursuit(model: Scripted, speculative: bool) -> Strategy:
    """Return Papelo's algorithm with prompted modules and web search."""
    web = Web(model)
    answerer = WebSearchAnswerer(
        web,
        web,
        PromptedChooser(model),
        PromptedReader(model),
        prefetched_pages=MAX_PREFETCHED_PAGES if speculative else 0,
    )
    return EvidencePursuit(
        PromptedPursuer(model),
        PromptedParaphraser(model),
        answerer,
        PromptedReasoner(model),
        speculative=speculative,
    )


@dataclass(frozen=True)
class RunCost:
    """The cost of a run."""

    hops: int
    calls_in_a_row: int
    seconds: float
    tokens: int


def measure_run(model: Scripted, strategy: Strategy) -> RunCost:
    """Execute a whole run and return its cost."""
    started = time.perf_counter()
    events = list(strategy.run(CLAIM, RunOptions(max_hops=10)))
    seconds = time.perf_counter() - started
    hops = sum(isinstance(event, QuestionAsked) for event in events)
    return RunCost(hops, calls_in_a_row(model.calls), seconds, model.tokens)


def calls_in_a_row(calls: Sequence[tuple[float, float]]) -> int:
    """Return the largest number of (begin, end) intervals without overlap (greedy, by earliest end)."""
    count, free = 0, float("-inf")
    for begin, end in sorted(calls, key=lambda call: call[1]):
        if begin >= free:
            count, free = count + 1, end
    return count


def table_row(title: str, bound: str, runs: Sequence[RunCost]) -> str:
    """Return a line of the table for a run without and one with speculative calls."""
    off, on = runs
    paths = [f"{run.calls_in_a_row} | {run.seconds:.2f}" for run in runs]
    cells = [title, str(on.hops), bound, *paths, f"{off.tokens:,}", f"{on.tokens / off.tokens:.2f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=float, default=0.3, help="duration of a call")
    seconds = arguments.parse_args().seconds
    warm = Scripted(0.0, 1)
    measure_run(warm, question_guided(warm, ReciterReader(warm), True))
    print("| run | hops | goal | in a row, off | s | in a row, on | s | tokens, off | ratio, on |")
    print("|---|---|---|---|---|---|---|---|---|")
    for title, (calls, make) in ANSWERERS.items():
        for kept, aside in RUNS:
            runs = []
            for speculative in (False, True):
                model = Scripted(seconds, kept + len(aside), frozenset(aside))
                runs.append(measure_run(model, question_guided(model, make(model), speculative)))
            bound = calls * (kept + len(aside)) + 2 + len(aside)
            name = f"{title}: {kept} kept" + (f", {len(aside)} set aside" if aside else "")
            print(table_row(name, str(bound), runs), flush=True)
    runs = []
    for speculative in (False, True):
        model = Scripted(seconds, 2)
        runs.append(measure_run(model, evidence_pursuit(model, speculative)))
    print(table_row("evidence pursuit, web-search: five pairs", "", runs))


if __name__ == "__main__":
    main()
