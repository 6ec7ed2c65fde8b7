"""A corpus of a million passages: how long it takes to build, what memory and disk it needs, how fast it is searched.

    python benchmarks/corpus_scale.py --work FOLDER [--passages 1000000] [--squad dev-v1.1.json] [--memory 512m]

The documents are made: each takes 30 to 40 sentences at random (seeded) from the articles of `vital` of one topic, so
words are as frequent as they are in Wikipedia and keep company as they do within a topic, and no two passages are the
same. They are written as JSON lines and built by the real command, `flask --app app corpus build`. Searched are our
own questions (questions.jsonl, retrieval_questions.jsonl), with --squad enough of SQuAD's to make them 200.
docs/corpora.md keeps the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.backends.corpus.bm25 import Bm25Retriever, Java  # noqa: E402
from app.backends.corpus.registry import vital_articles  # noqa: E402
from app.text.sentences import sentences  # noqa: E402

SEED = 20
SENTENCES = (30, 40)
WORDS_A_PASSAGE = 97
"""What the builder made of such documents in a trial; only for knowing when to stop."""
QUESTIONS = 200
K = 20
HERE = Path(__file__).parent


def main() -> None:
    """Make the documents, build the corpus, search it, and print the figures."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--work", type=Path, required=True, help="Folder for the documents and the corpus")
    options.add_argument("--passages", type=int, default=1_000_000)
    options.add_argument("--squad", type=Path, help="SQuAD's development set, for more questions")
    options.add_argument("--memory", default="512m", help="JAVA_MEMORY")
    options.add_argument("--search-only", action="store_true", help="Search the corpus that was built there before")
    chosen = options.parse_args()
    if not chosen.search_only:
        make_and_build(chosen.work, chosen.passages, chosen.memory)
    search(chosen.work / "corpora" / "scale", questions(chosen.squad), chosen.memory)
    print(f"load {os.getloadavg()[0]:.1f}")


def make_and_build(work: Path, passages: int, memory: str) -> None:
    """Write the documents, unless they are there, and build the corpus of them."""
    work.mkdir(parents=True, exist_ok=True)
    source = work / f"documents-{passages}.jsonl"
    if not source.exists():
        print(f"made {write_documents(source, passages):,} documents", flush=True)
    print(f"{source.stat().st_size / 1e6:,.0f} MB of documents, load {os.getloadavg()[0]:.1f}", flush=True)
    build(source, work, memory)


def write_documents(target: Path, passages: int) -> int:
    """Write documents of about so many passages in all; how many documents."""
    rng, words, number = random.Random(SEED), 0, 0
    pools = topic_sentences()
    topics = list(pools)
    weights = [len(pools[topic]) for topic in topics]
    partial = target.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        while words < passages * WORDS_A_PASSAGE:
            chosen = rng.choices(pools[rng.choices(topics, weights)[0]], k=rng.randint(*SENTENCES))
            number += 1
            contents = " ".join(sentence for _, sentence in chosen)
            words += contents.count(" ") + 1
            row = {"id": f"d{number}", "title": f"{chosen[0][0]}, {number}", "contents": contents, "url": ""}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    partial.rename(target)
    return number


def topic_sentences() -> dict[str, list[tuple[str, str]]]:
    """For each topic the (title, sentence) pairs of its articles."""
    pools = defaultdict(list)
    for article in vital_articles():
        pools[article.topic] += [(article.title, sentence) for sentence in sentences(article.text)]
    return dict(pools)


def build(source: Path, instance: Path, memory: str) -> None:
    """Build by the command line; print when Java started and what memory there was before it and at most."""
    command = [sys.executable, "-m", "flask", "--app", "app", "corpus", "build", "scale", "--from", str(source)]
    env = os.environ | {"INSTANCE": str(instance), "JAVA_MEMORY": memory, "PYTHONUNBUFFERED": "1"}
    started, before, peak = time.monotonic(), 0, 0
    running = subprocess.Popen([*command, "--replace"], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    for line in running.stdout or ():
        # The last lines come when the work is done and the process still there.
        peak = max(peak, most_memory(running.pid))
        print(f"{time.monotonic() - started:7.1f} s  {peak:5} MB  {line.rstrip()}", flush=True)
        if line.startswith("starting Java"):
            before = peak
    if running.wait():
        raise SystemExit("the build failed")
    print(f"built in {time.monotonic() - started:.0f} s; at most {before} MB until Java, {peak} MB with it")


def most_memory(pid: int) -> int:
    """The most memory, in MB, that a process has had so far; 0 when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(found[0].split()[1]) // 1024 if found else 0


def questions(squad: Path | None) -> list[str]:
    """Our own questions, and with `squad` as many of its, evenly spaced, as make QUESTIONS."""
    found = dict.fromkeys(row["question"] for row in rows(HERE / "retrieval_questions.jsonl"))
    found |= dict.fromkeys(question for row in rows(HERE / "questions.jsonl") for question, _ in row["kept"])
    if squad:
        articles = json.loads(squad.read_text(encoding="utf-8"))["data"]
        theirs = [qa["question"] for each in articles for paragraph in each["paragraphs"] for qa in paragraph["qas"]]
        missing = QUESTIONS - len(found)
        found |= dict.fromkeys(theirs[:: len(theirs) // missing][:missing])
    return list(found)


def rows(path: Path) -> Iterator[dict]:
    """The objects of a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file)


def search(folder: Path, asked: list[str], memory: str) -> None:
    """Ask every question, the first time from disk and then twice more; print the median and the 95th percentile.

    On a machine that has other work, the time spent computing tells more than the time on the clock.
    """
    started = time.monotonic()
    retriever = Bm25Retriever(folder, Java(memory=memory))
    manifest = retriever.open()
    print(
        f"{manifest.count:,} passages, index {manifest.bytes / 1e6:,.0f} MB, "
        f"opened in {time.monotonic() - started:.1f} s"
    )
    for turn in range(1, 4):
        took, worked = (sorted(each) for each in zip(*(timed(retriever, question) for question in asked), strict=True))
        tail, median = took[int(len(took) * 0.95)], statistics.median(took)
        work = statistics.median(worked)
        print(f"turn {turn}: {len(took)} questions, median {median:.1f} ms, 95th {tail:.1f} ms, of CPU {work:.1f} ms")
    print(f"at most {most_memory(os.getpid())} MB while searching")


def timed(retriever: Bm25Retriever, question: str) -> tuple[float, float]:
    """Milliseconds of one search for the first K passages, whole Passages made of them; and those spent computing."""
    started, worked = time.perf_counter(), time.thread_time()
    found = retriever.retrieve(question, K)
    if len(found) < K:
        print(f"only {len(found)} for {question}")
    return (time.perf_counter() - started) * 1000, (time.thread_time() - worked) * 1000


if __name__ == "__main__":
    main()
