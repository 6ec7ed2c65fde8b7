"""Inputs for training the judge: what the reasoner sees of a run, made from claims with labels.

A run's input varies: how many sentences are shown, whether the questions and answers are kept, whether the sentence
that decides was found at all. So each claim of `vital_claims` is shown in several forms, drawn anew each epoch.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.text.evidence import judge_prompt, select_sentences
from research.claims.data import Asked, VitalClaim, split_lead
from research.training.pairs import NOT_ENOUGH, NOT_SUPPORTED, REFUTED, SUPPORTED, Pair, is_held_out, pairs_from_data

MAX_WORDS = 80
LACKING_SHARE = 0.14
"""Share of the decided claims that are shown without the sentence that decides, as NOT_ENOUGH_EVIDENCE."""


RELATED_SHARE_OPEN, RELATED_SHARE_DECIDED = 0.9, 0.25
"""Share of the undecided and of the decided claims that get a pair which does not bear on the claim.

Without it a judge learned that pairs mean a decided claim (research/notes/2026-11-23-learned-pipeline.md).
"""

Related = Mapping[str, Sequence[Asked]]
"""Answered questions by title."""


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt of the judge with its label: one of the three classes, or NOT_SUPPORTED (HoVer, SQuAD)."""

    source: str
    prompt: str
    label: str


def vital_example(row: VitalClaim, rng: random.Random, others: Sequence[VitalClaim], related: Related) -> Example:
    """Return one form of a claim, drawn by `rng`.

    `others` are claims whose leads serve as irrelevant evidence. A pair from `related`, about the same lead, stands
    beside decided claims and undecided ones, so that pairs as such do not give the label away.
    """
    lacking = row.label != NOT_ENOUGH and rng.random() < LACKING_SHARE
    asked = [one for one in row.questions if one.answer]
    if lacking:
        lines, asked = _without_deciding(row, asked, rng)
    else:
        lines = _with_deciding(row, rng)
    if rng.random() < 0.15:
        lines.append(_distractor(rng.choice(others), rng))
        rng.shuffle(lines)
    label = NOT_ENOUGH if lacking else row.label
    if rng.random() < (RELATED_SHARE_OPEN if label == NOT_ENOUGH else RELATED_SHARE_DECIDED):
        asked = [*_related(row, related, rng), *asked]
    if rng.random() < 0.2:
        asked = []
    return Example(f"vital-{row.style}", _prompt(row.claim, lines, asked), label)


def _related(row: VitalClaim, related: Related, rng: random.Random) -> list[Asked]:
    own = {one.question for one in row.questions}
    found = [one for title, _ in row.leads for one in related.get(title, ()) if one.question not in own]
    return [rng.choice(found)] if found else []


def questions_by_title(rows: Sequence[VitalClaim]) -> Related:
    """Return the answered questions of `rows` by the title of their first lead."""
    found: dict[str, list[Asked]] = {}
    for row in rows:
        found.setdefault(row.leads[0][0], []).extend(one for one in row.questions if one.answer)
    return found


def gold_example(row: VitalClaim, with_questions: bool = True) -> Example:
    """The deciding sentences with each article's first one, and the recorded questions and answers."""
    deciding = row.deciding_sentences()
    lines = [(title, _texts(text, {0, *deciding[title]})) for title, text in row.leads]
    asked = [one for one in row.questions if one.answer] if with_questions else []
    return Example(f"vital-{row.style}", _prompt(row.claim, lines, asked), row.label)


Line = tuple[str, str]


def _with_deciding(row: VitalClaim, rng: random.Random) -> list[Line]:
    """The deciding sentences, alone, with a few others, or with the whole lead."""
    deciding, lines, form = row.deciding_sentences(), [], rng.random()
    for title, text in row.leads:
        places, every = set(deciding[title]), range(len(split_lead(text)))
        if not places:  # undecided, or the span crosses a sentence bound
            places = set(every) if form < 0.5 else set(rng.sample(every, min(len(every), 3)))
        if form < 0.35:
            places |= {0}
        elif form < 0.6:
            places |= {0, *rng.sample(every, min(len(every), rng.randint(1, 2)))}
        elif form < 0.8:
            places |= set(every)
        lines.append((title, _texts(text, places)))
    return lines


def _without_deciding(row: VitalClaim, asked: list[Asked], rng: random.Random) -> tuple[list[Line], list[Asked]]:
    """A whole lead left out with its question, or, with one lead, its deciding sentences."""
    deciding = row.deciding_sentences()
    titles = [title for title, _ in row.leads if deciding[title]]
    gone = rng.choice(titles) if titles else row.leads[0][0]
    lines = []
    for title, text in row.leads:
        places = set(range(len(split_lead(text)))) - set(deciding[title] if title == gone else ())
        if title == gone and len(row.leads) > 1 and rng.random() < 0.5:
            places = set()
        if places:
            lines.append((title, _texts(text, set(rng.sample(sorted(places), min(len(places), 4))))))
    return lines, [one for one in asked if one.title != gone]


def _distractor(other: VitalClaim, rng: random.Random) -> Line:
    title, text = rng.choice(other.leads)
    return title, rng.choice(split_lead(text) or ("",))


def _texts(text: str, places: set[int]) -> str:
    return " ".join(sentence for place, sentence in enumerate(split_lead(text)) if place in places)


def _prompt(claim: str, lines: Sequence[Line], asked: Sequence[Asked]) -> str:
    pairs = [(one.question, one.answer or "") for one in asked]
    return judge_prompt(claim, select_sentences(claim, lines, MAX_WORDS), pairs)


def squad_examples(path: Path, rng: random.Random) -> list[tuple[Example, bool]]:
    """Claims made of SQuAD's questions, each with whether it is held out (by title)."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = []
    for row in rows:
        lines = [(part["title"], part["text"]) for part in row["evidence"]]
        words = rng.choice((50, MAX_WORDS))
        prompt = judge_prompt(row["claim"], select_sentences(row["claim"], lines, words))
        found.append((Example("squad", prompt, row["label"]), is_held_out(row["evidence"][0]["title"])))
    return found


def older_examples(folder: Path, rng: random.Random) -> list[tuple[Example, bool]]:
    """HoVer, FEVEROUS-S, Fool-Me-Twice, FEVER symmetric and WiCE, each with whether it is held out."""
    return [(_of_pair(pair), pair.held_out) for pair in pairs_from_data(folder, rng)]


def _of_pair(pair: Pair) -> Example:
    return Example(
        pair.source, judge_prompt(pair.claim, select_sentences(pair.claim, pair.passages, MAX_WORDS)), pair.label
    )


def mixture(folder: Path, claims: Sequence[VitalClaim], epochs: int, seed: int) -> Iterator[list[Example]]:
    """One list of examples an epoch: every claim of `vital_claims` in a new form, a quarter
    of SQuAD's, half of the older sets."""
    rng = random.Random(seed)
    train = [row for row in claims if row.split == "train"]
    related = questions_by_title(train)
    squad = [one for one, held in squad_examples(folder / "squad_claims.jsonl", rng) if not held]
    older = [one for one, held in older_examples(folder, rng) if not held]
    for epoch in range(epochs):
        part = squad[epoch % 4 :: 4]
        extra = [row for row in train if row.style == "plain"]  # short claims, as visitors type them, count twice
        made = [vital_example(row, rng, train, related) for row in [*train, *extra]]
        yield [*made, *part, *older[epoch % 2 :: 2]]


def labels() -> tuple[str, str, str, str]:
    """The labels that an example may have."""
    return SUPPORTED, REFUTED, NOT_ENOUGH, NOT_SUPPORTED
