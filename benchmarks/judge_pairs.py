"""A thousand prompts of the kinds that the judge sees, from the development files of data sets, for judge_speed.py.

Two forms take turns, ten of each: "ten" is one claim beside ten passages of 120 words, of which its own are the first;
"joined" is a claim with all of its own evidence in one prompt, shortened as the judge shortens it. No label is read.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.language.evidence_text import content_words, judge_prompt, select_sentences

SETS = ("hover_dev", "feverous_s_dev", "fool_me_twice_dev", "averitec_dev")
ARTICLES = "hover_corpus"
WORDS, PASSAGES, OWN = 120, 10, 3
LONG = 60
"""Words from which a claim's own evidence is a passage of the ten."""
CLAIMS = 50

Row = dict[str, Any]


def pairs(folder: Path) -> list[tuple[str, str]]:
    """(form, prompt) 1,000 times, always the same, from the files in `folder`."""
    shuffled = random.Random(5)
    rows = {name: read(folder / f"{name}.jsonl") for name in SETS}
    for each in rows.values():
        shuffled.shuffle(each)
    left = {name: iter(each) for name, each in rows.items()}
    articles = [first_words(row["contents"].split("\n", 1)[1].strip('"')) for row in read(folder / f"{ARTICLES}.jsonl")]
    words = [content_words(text) for text in articles]
    found: list[tuple[str, str]] = []
    for turn in range(CLAIMS):
        row = next(left[SETS[turn % 4]])
        passages = [first_words(text) for _, text in evidence(row) if len(text.split()) >= LONG][:OWN]
        passages += nearest(row["claim"], articles, words)
        found += [("ten", judge_prompt(row["claim"], [each])) for each in passages[:PASSAGES]]
        found += [("joined", joined(next(left[name]))) for name in names(turn)]
    return found


def names(turn: int) -> Iterator[str]:
    """The sets of ten joined prompts: each twice, and two of them a third time."""
    yield from SETS
    yield from SETS[turn % 2 * 2 :][:2]
    yield from SETS


def joined(row: Row) -> str:
    """The prompt about all the evidence that the row has."""
    return judge_prompt(row["claim"], select_sentences(row["claim"], evidence(row)))


def nearest(claim: str, articles: list[str], words: list[set[str]]) -> list[str]:
    """The articles that share most words with `claim`, full ones before shorter ones."""
    wanted = content_words(claim)

    def nearness(at: int) -> float:
        return len(wanted & words[at]) + (0.5 if len(articles[at].split()) >= WORDS else 0.0)

    return [articles[at] for at in sorted(range(len(articles)), key=nearness, reverse=True)[:PASSAGES]]


def evidence(row: Row) -> list[tuple[str, str]]:
    """(title, text) of what the set gives with the claim; a question and its answer are one text."""
    if "questions" in row:
        return [
            ("", f"{asked['question']} {each['answer']}") for asked in row["questions"] for each in asked["answers"]
        ]
    retrieved = [("", text) for text in row.get("retrieved", [])]
    return [(each["title"], each["text"]) for each in row["evidence"]] + retrieved


def first_words(text: str) -> str:
    """The first 120."""
    return " ".join(text.split()[:WORDS])


def read(file: Path) -> list[Row]:
    """A JSON object a line."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
