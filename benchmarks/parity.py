"""Compare the time of QACheck's 5N + 1 model calls with Hopcheck's for N hops, with a scripted server over HTTP.

    .venv/bin/python -m benchmarks.parity [--seconds 0.3]

QACheck's code makes its calls in sequence: for each hop a question, a recited passage, its reading, the pair as a
statement, and the sufficiency decision; then the verdict. It has no validator. Hopcheck runs the preset `prompted` with
`reciter-reader`, whose independent calls overlap, once with the local reader, and once with the language model as
reader, which is one more call for each hop.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from app.backends.llm.openai_client import OpenAIChat
from app.backends.llm.registry import ModelSettings
from app.domain.errors import CallFailed
from app.domain.model import Answer, Claim, Context, Hop, HopStatus, LabelSet, Passage, Question, RunOptions
from app.domain.ports import Reader
from app.domain.report import Report
from app.modules.answerers.reciter_reader import ReciterReader, cite_in, reading_prompts, reciting_prompts
from app.modules.prompted import question_prompts, reasoning_prompts, sufficiency_prompts
from benchmarks.critical_path import question_guided
from research.evaluation.runs import run_to_report
from tests.openai_server import Asked, OpenAIServer, Reply, Story, Told, play

MAX_TIME_SHARE = 0.55
"""Maximum of Hopcheck's time with the local reader relative to QACheck's, summed over all N."""
HOPS = (1, 2, 3, 4, 5)
TIMEOUT_SECONDS, TOKENS = 30, 64
STATEMENT = "Turn this question and its answer into one sentence."
CLAIM = Claim("Five buildings of the old harbour were designed by five different people.")
DESIGNERS = {
    "Amber Tower": "Clara Vogel",
    "Heron Bridge": "Tomas Lindqvist",
    "Salt Market": "Irene Dubois",
    "Granite Chapel": "Pavel Novak",
    "Copper Theatre": "Rosa Delgado",
}


class Timing(NamedTuple):
    """The number of model calls of a run, and its duration."""

    calls: int
    seconds: float


def story_with_hops(hops: int) -> Story:
    """Return the script of a claim that takes `hops` hops."""
    script = (
        Told(f"Who designed the {place}?", f"The {place} was designed by {who} in 1911.", who)
        for place, who in list(DESIGNERS.items())[:hops]
    )
    return Story(tuple(script), "All of them were designed by different people [1].", "true")


def delayed_script(story: Story, seconds: float) -> Callable[[Asked], Reply]:
    """Return a server script for the story whose replies each take `seconds`."""
    replies = play(story)

    def script(request: Asked) -> Reply:
        reply = Reply("So it is.") if STATEMENT in request.prompt else replies(request)
        return replace(reply, delay=seconds)

    return script


def run_qacheck(model: OpenAIChat, story: Story) -> None:
    """Make QACheck's calls in its order."""
    kept: tuple[Hop, ...] = ()
    for number, hop in enumerate(story.hops, 1):
        question = Question(model.complete(question_prompts(CLAIM, kept)[0], max_tokens=TOKENS).strip())
        passage = model.complete(reciting_prompts(question)[0], max_tokens=TOKENS)
        answer = model.complete(reading_prompts(question, passage)[0], max_tokens=TOKENS)
        model.complete(f"{STATEMENT}\n{question.text}\n{hop.answer}", max_tokens=TOKENS)
        kept += (Hop(number, question, Answer(answer), HopStatus.KEPT),)
        model.complete(sufficiency_prompts(CLAIM, kept)[0], max_tokens=TOKENS)
    model.complete(reasoning_prompts(CLAIM, kept, LabelSet.TWO.labels)[0], max_tokens=TOKENS)


@dataclass(frozen=True)
class InstantReader:
    """Implements `Reader` without a model: finds the known answers, in no time."""

    answers: Sequence[str]

    def read(
        self, question: Question, passages: Sequence[Passage], claim: Claim | None = None, context: Context = ()
    ) -> Answer:
        (passage,) = passages
        return next(cite_in(passage, text, "instant") for text in self.answers if text in passage.text)


def run_hopcheck(model: OpenAIChat, story: Story, reader: Reader | None) -> Report:
    """Run Hopcheck's loop; without `reader` the model reads. Raises CallFailed if it did not keep the story's hops."""
    strategy = question_guided(model, ReciterReader(model, reader), speculative=True)
    report = run_to_report(strategy, CLAIM, RunOptions(labels=LabelSet.TWO, max_hops=10))
    if len(report.context) != len(story.hops) or not report.verdict:
        raise CallFailed(f"The scripted run kept {len(report.context)} of {len(story.hops)} hops.")
    return report


def time_run(hops: int, seconds: float, run: Callable[[OpenAIChat, Story], object]) -> Timing:
    """Time one run against a new server, after opening the connection."""
    story = story_with_hops(hops)
    with OpenAIServer(delayed_script(story, seconds)) as server:
        model = OpenAIChat(ModelSettings("scripted", "scripted", server.url, "key"), TIMEOUT_SECONDS)
        model.complete(f"{STATEMENT} To open the connection.", max_tokens=TOKENS)
        before, began = len(server.asked), time.perf_counter()
        run(model, story)
        return Timing(len(server.asked) - before, time.perf_counter() - began)


class Comparison(NamedTuple):
    """The timings for one number of hops: QACheck, and Hopcheck with the local reader or the model as reader."""

    hops: int
    qacheck: Timing
    local_reader: Timing
    model_reader: Timing


def measure(seconds: float = 0.3) -> Iterator[Comparison]:
    """Yield the comparison for each number of hops, after a warm-up run of each kind."""

    def with_local_reader(model: OpenAIChat, story: Story) -> Report:
        return run_hopcheck(model, story, InstantReader([hop.answer for hop in story.hops]))

    def with_model_reader(model: OpenAIChat, story: Story) -> Report:
        return run_hopcheck(model, story, None)

    runs = (run_qacheck, with_local_reader, with_model_reader)
    for run in runs:
        time_run(1, 0.0, run)
    for hops in HOPS:
        yield Comparison(hops, *(time_run(hops, seconds, run) for run in runs))


def time_share(comparisons: Sequence[Comparison], timing: Callable[[Comparison], Timing]) -> float:
    """Return Hopcheck's time, as chosen by `timing`, relative to QACheck's, summed over all comparisons."""
    return sum(timing(each).seconds for each in comparisons) / sum(each.qacheck.seconds for each in comparisons)


def main() -> None:
    """Print a line for each number of hops and one with the overall shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.3, help="duration of one call")
    seconds = parser.parse_args().seconds
    print("| N | QACheck: calls, s | Hopcheck, local reader | share | Hopcheck, model as reader | share |")
    print("|---|---|---|---|---|---|")
    comparisons = []
    for each in measure(seconds):
        comparisons.append(each)
        cells = (
            f"{timing.calls}, {timing.seconds:.2f} | {timing.seconds / each.qacheck.seconds:.2f}"
            for timing in (each.local_reader, each.model_reader)
        )
        print(f"| {each.hops} | {each.qacheck.calls}, {each.qacheck.seconds:.2f} | {' | '.join(cells)} |", flush=True)
    local = time_share(comparisons, lambda one: one.local_reader)
    model = time_share(comparisons, lambda one: one.model_reader)
    print(f"| all | | | {local:.2f} | | {model:.2f} |")


if __name__ == "__main__":
    main()
