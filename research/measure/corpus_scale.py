"""Measure build time, memory, disk and search time of a corpus of a million passages, or of a small Wikipedia.

    python -m research.measure.corpus_scale --work FOLDER [--passages 1000000] [--squad dev-v1.1.json] [--memory 512m]
    python -m research.measure.corpus_scale --work FOLDER --articles 200000

The documents are synthetic: 30 to 40 random (seeded) sentences from the articles of one topic in `vital`, so word
frequencies and co-occurrences are those of Wikipedia, and no two passages are equal. They are written as JSON lines and
built by the real command, `flask --app app corpus build`. With --articles they are shorter, have sections, and are read
from Parquet as `corpus fetch` reads them. The queries are the questions in questions.jsonl and
retrieval_questions.jsonl; --squad adds SQuAD's up to 200. docs/how-it-works.md quotes the figures.
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

import pyarrow
from pyarrow import parquet

from app.backends.corpus.bm25 import Bm25Retriever, Java
from app.backends.corpus.registry import VITAL
from app.text.sentences import sentences

ROOT = Path(__file__).resolve().parents[2]
SEED = 20
SENTENCES = (30, 40)
SECTIONS, SENTENCES_PER_SECTION = (1, 4), (2, 5)
ARTICLES_AT_ONCE = 1_000
WORDS_PER_PASSAGE = 97
"""Measured mean, used to estimate how many documents are needed."""
MAX_QUESTIONS = 200
K = 20
HERE = Path(__file__).parent


def main() -> None:
    """Write the documents, build the corpus, search it, and print the figures."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--work", type=Path, required=True, help="Folder for the documents and the corpus")
    options.add_argument("--passages", type=int, default=1_000_000)
    options.add_argument("--articles", type=int, help="Articles in a Parquet file instead of passages")
    options.add_argument("--squad", type=Path, help="SQuAD's development set, for further questions")
    options.add_argument("--memory", default="512m", help="JAVA_MEMORY")
    options.add_argument("--search-only", action="store_true", help="Search the corpus of an earlier build")
    chosen = options.parse_args()
    if not chosen.search_only:
        write_and_build(chosen.work, chosen.passages, chosen.articles, chosen.memory)
    search(chosen.work / "corpora" / "scale", questions(chosen.squad), chosen.memory)
    print(f"load {os.getloadavg()[0]:.1f}")


def write_and_build(work: Path, passages: int, articles: int | None, memory: str) -> None:
    """Write the documents unless they exist, and build the corpus."""
    work.mkdir(parents=True, exist_ok=True)
    source = work / (f"articles-{articles}.parquet" if articles else f"documents-{passages}.jsonl")
    if articles and not source.exists():
        write_articles(source, articles)
    elif not source.exists():
        print(f"wrote {write_documents(source, passages):,} documents", flush=True)
    print(f"{source.stat().st_size / 1e6:,.0f} MB of documents, load {os.getloadavg()[0]:.1f}", flush=True)
    build(source, work, memory)


def write_documents(target: Path, passages: int) -> int:
    """Write documents for about `passages` passages; return the number of documents."""
    rng, words, number = random.Random(SEED), 0, 0
    pools = topic_sentences()
    topics = list(pools)
    weights = [len(pools[topic]) for topic in topics]
    partial = target.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        while words < passages * WORDS_PER_PASSAGE:
            chosen = rng.choices(pools[rng.choices(topics, weights)[0]], k=rng.randint(*SENTENCES))
            number += 1
            contents = " ".join(sentence for _, sentence in chosen)
            words += contents.count(" ") + 1
            row = {"id": f"d{number}", "title": f"{chosen[0][0]}, {number}", "contents": contents, "url": ""}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    partial.rename(target)
    return number


def write_articles(target: Path, number: int) -> None:
    """Write articles with sections to a Parquet file of the same columns as Wikipedia's."""
    rng, pools = random.Random(SEED), topic_sentences()
    topics = list(pools)
    weights = [len(pools[topic]) for topic in topics]

    def article(at: int) -> dict[str, str]:
        pool = pools[rng.choices(topics, weights)[0]]
        parts = [rng.choices(pool, k=rng.randint(*SENTENCES_PER_SECTION)) for _ in range(rng.randint(*SECTIONS))]
        texts = [" ".join(sentence for _, sentence in part) for part in parts]
        text = "\n\n".join([texts[0], *(f"Section {name}\n{text}" for name, text in enumerate(texts[1:], 1))])
        title = f"{parts[0][0][0]}, {at}"
        return {"id": str(at), "url": f"https://simple.wikipedia.org/wiki/{at}", "title": title, "text": text}

    partial = target.with_suffix(".partial")
    schema = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "url", "title", "text")])
    with parquet.ParquetWriter(partial, schema) as out:
        for first in range(0, number, ARTICLES_AT_ONCE):
            batch = [article(at) for at in range(first, min(first + ARTICLES_AT_ONCE, number))]
            out.write_table(pyarrow.Table.from_pylist(batch, schema))
    partial.rename(target)


def topic_sentences() -> dict[str, list[tuple[str, str]]]:
    """Return the (title, sentence) pairs of the articles by topic."""
    pools = defaultdict(list)
    for article in VITAL.articles():
        pools[article.topic] += [(article.title, sentence) for sentence in sentences(article.text)]
    return dict(pools)


def build(source: Path, instance: Path, memory: str) -> None:
    """Build the corpus with the command; print the peak memory before and after the start of Java."""
    command = [sys.executable, "-m", "flask", "--app", "app", "corpus", "build", "scale", "--from", str(source)]
    env = os.environ | {"INSTANCE": str(instance), "JAVA_MEMORY": memory, "PYTHONUNBUFFERED": "1"}
    started, before, peak = time.monotonic(), 0, 0
    running = subprocess.Popen([*command, "--replace"], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    for line in running.stdout or ():
        peak = max(peak, peak_memory(running.pid))
        print(f"{time.monotonic() - started:7.1f} s  {peak:5} MB  {line.rstrip()}", flush=True)
        if line.startswith("starting Java"):
            before = peak
    if running.wait():
        raise SystemExit("the build failed")
    print(f"built in {time.monotonic() - started:.0f} s; at most {before} MB before Java started, {peak} MB afterwards")


def peak_memory(pid: int) -> int:
    """Return the peak memory of a process in MB, 0 when it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(found[0].split()[1]) // 1024 if found else 0


def questions(squad: Path | None) -> list[str]:
    """Return our own questions, filled up to MAX_QUESTIONS with evenly spaced ones of `squad`."""
    found = dict.fromkeys(row["question"] for row in rows(HERE / "retrieval_questions.jsonl"))
    if squad:
        articles = json.loads(squad.read_text(encoding="utf-8"))["data"]
        theirs = [qa["question"] for each in articles for paragraph in each["paragraphs"] for qa in paragraph["qas"]]
        missing = MAX_QUESTIONS - len(found)
        found |= dict.fromkeys(theirs[:: len(theirs) // missing][:missing])
    return list(found)


def rows(path: Path) -> Iterator[dict]:
    """Yield the objects of a JSONL file."""
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file)


def search(folder: Path, asked: list[str], memory: str) -> None:
    """Search for every question three times, first with a cold cache; print median and 95th percentile.

    On a busy machine the CPU time is more informative than the wall time.
    """
    started = time.monotonic()
    retriever = Bm25Retriever(folder, Java(memory=memory))
    manifest = retriever.open()
    print(
        f"{manifest.count:,} passages, index {manifest.bytes / 1e6:,.0f} MB, "
        f"opened in {time.monotonic() - started:.1f} s"
    )
    for turn in range(1, 4):
        wall, cpu = (sorted(each) for each in zip(*(timed(retriever, question) for question in asked), strict=True))
        p95, median = wall[int(len(wall) * 0.95)], statistics.median(wall)
        work = statistics.median(cpu)
        print(f"turn {turn}: {len(wall)} questions, median {median:.1f} ms, 95% {p95:.1f} ms, CPU {work:.1f} ms")
    print(f"at most {peak_memory(os.getpid())} MB while searching")


def timed(retriever: Bm25Retriever, question: str) -> tuple[float, float]:
    """Return the milliseconds and CPU milliseconds of a search for K passages."""
    wall, cpu = time.perf_counter(), time.thread_time()
    found = retriever.retrieve(question, K)
    if len(found) < K:
        print(f"only {len(found)} for {question}")
    return (time.perf_counter() - wall) * 1000, (time.thread_time() - cpu) * 1000


if __name__ == "__main__":
    main()
