"""QACheck's 5N + 1 calls and Hopcheck's, side by side, from the same scripted server at 300 ms a call, for N hops.

    .venv/bin/python -m benchmarks.parity [--seconds 0.3]

QACheck's code makes its calls one after the other: for each hop a question, a recited passage, its reading, the pair as
a statement, and whether that is enough; then the verdict. It has no validator. Hopcheck's are those of the preset
`prompted` with `reciter-reader`, where calls that do not depend on each other overlap, over real HTTP with the real
prompts. The local reader is Hopcheck's own; where the model reads, it makes one call more for each hop.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from app.backends.llm.openai_client import OpenAIChat
from app.backends.llm.registry import ModelSettings
from app.backends.local.reader import SpanReader
from app.container.container import SHIPPED
from app.domain.errors import CallFailed
from app.domain.model import Answer, Claim, Hop, HopStatus, LabelSet, Question, RunOptions
from app.domain.report import Report
from app.modules.answerers.reciter_reader import ReciterReader, reading_prompt, reciting_prompt
from app.modules.claim_verifier import sufficiency_prompt
from app.modules.question_generator import question_prompt
from app.modules.reasoner import reasoning_prompt
from benchmarks.critical_path import question_guided
from research.evaluation.runs import report_of
from tests.openai_server import Asked, OpenAIServer, Reply, Story, Told, play

MOST_SHARE = 0.55
"""Of the original's time that Hopcheck may take, over all N together, with its own reader."""
HOPS = (1, 2, 3, 4, 5)
CALL_SECONDS, TOKENS = 30, 64
STATEMENT = "Turn this question and its answer into one sentence."
CLAIM = Claim("Five buildings of the old harbour were designed by five different people.")
BUILT = {
    "Amber Tower": "Clara Vogel",
    "Heron Bridge": "Tomas Lindqvist",
    "Salt Market": "Irene Dubois",
    "Granite Chapel": "Pavel Novak",
    "Copper Theatre": "Rosa Delgado",
}


class Ran(NamedTuple):
    """The calls that the server got in one run, and its seconds."""

    calls: int
    seconds: float


def story_of(hops: int) -> Story:
    """What the scripted model knows of a claim that takes so many hops."""
    told = (
        Told(f"Who designed the {place}?", f"The {place} was designed by {who} in 1911.", who)
        for place, who in list(BUILT.items())[:hops]
    )
    return Story(tuple(told), "All of them were designed by different people [1].", "true")


def scripted(story: Story, seconds: float) -> Callable[[Asked], Reply]:
    """A server's script for the story; every reply takes `seconds`."""
    played = play(story)

    def script(asked: Asked) -> Reply:
        reply = Reply("So it is.") if STATEMENT in asked.prompt else played(asked)
        return replace(reply, delay=seconds)

    return script


def original(model: OpenAIChat, story: Story) -> None:
    """Make QACheck's calls in its order."""
    kept: tuple[Hop, ...] = ()
    for number, told in enumerate(story.hops, 1):
        asked = Question(model.complete(question_prompt(CLAIM, kept), max_tokens=TOKENS).strip())
        passage = model.complete(reciting_prompt(asked), max_tokens=TOKENS)
        answer = model.complete(reading_prompt(asked, passage), max_tokens=TOKENS)
        model.complete(f"{STATEMENT}\n{asked.text}\n{told.answer}", max_tokens=TOKENS)
        kept += (Hop(number, asked, Answer(answer), HopStatus.KEPT),)
        model.complete(sufficiency_prompt(CLAIM, kept), max_tokens=TOKENS)
    model.complete(reasoning_prompt(CLAIM, kept, LabelSet.TWO.labels), max_tokens=TOKENS)


def ours(model: OpenAIChat, story: Story, reader: SpanReader | None) -> Report:
    """Run Hopcheck's loop. Raises CallFailed if it did not keep the story's hops, so nothing else is timed."""
    strategy = question_guided(model, ReciterReader(model, reader), speculative=True)
    report = report_of(strategy, CLAIM, RunOptions(labels=LabelSet.TWO, max_hops=10))
    if len(report.context) != len(story.hops) or not report.verdict:
        raise CallFailed(f"The scripted run kept {len(report.context)} of {len(story.hops)} hops.")
    return report


def timed(hops: int, seconds: float, run: Callable[[OpenAIChat, Story], object]) -> Ran:
    """Run once against a server of its own, whose connection is open already."""
    story = story_of(hops)
    with OpenAIServer(scripted(story, seconds)) as server:
        model = OpenAIChat(ModelSettings("scripted", "scripted", server.url, "key"), CALL_SECONDS)
        model.complete(f"{STATEMENT} To open the connection.", max_tokens=TOKENS)
        before, began = len(server.asked), time.perf_counter()
        run(model, story)
        return Ran(len(server.asked) - before, time.perf_counter() - began)


class Sides(NamedTuple):
    """One N: QACheck's calls, Hopcheck's with its own reader, and Hopcheck's where the model reads."""

    hops: int
    theirs: Ran
    own_reader: Ran
    model_reads: Ran


def measured(seconds: float = 0.3) -> Iterator[Sides]:
    """Yield both sides for each N, after a run of each that loads what the first one would wait for."""
    reader = SpanReader(SHIPPED / "reader", threads=2)

    def with_reader(model: OpenAIChat, story: Story) -> Report:
        return ours(model, story, reader)

    def with_model(model: OpenAIChat, story: Story) -> Report:
        return ours(model, story, None)

    for run in (original, with_reader, with_model):
        timed(1, 0.0, run)
    for hops in HOPS:
        yield Sides(hops, *(timed(hops, seconds, run) for run in (original, with_reader, with_model)))


def share(sides: Sequence[Sides], ran: Callable[[Sides], Ran]) -> float:
    """Return the seconds of one of Hopcheck's sides over the original's, all N together."""
    return sum(ran(each).seconds for each in sides) / sum(each.theirs.seconds for each in sides)


def main() -> None:
    """Print a line for each N, and the shares of all together."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=float, default=0.3, help="what one call takes")
    print("| N | QACheck: calls, s | ours, own reader: calls, s | share | ours, the model reads: calls, s | share |")
    print("|---|---|---|---|---|---|")
    sides = []
    for each in measured(arguments.parse_args().seconds):
        sides.append(each)
        cells = (
            f"{ran.calls}, {ran.seconds:.2f} | {ran.seconds / each.theirs.seconds:.2f}"
            for ran in (each.own_reader, each.model_reads)
        )
        print(f"| {each.hops} | {each.theirs.calls}, {each.theirs.seconds:.2f} | {' | '.join(cells)} |", flush=True)
    own, read = (share(sides, ran) for ran in (lambda one: one.own_reader, lambda one: one.model_reads))
    print(f"| all | | | {own:.2f} | | {read:.2f} |")


if __name__ == "__main__":
    main()
