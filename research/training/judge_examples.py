"""Generate the judge's training inputs from labelled claims, in the forms in which the reasoner sees them in a run.

A family is several claims over the same evidence, read in one sequence (judge.py), so that the evidence is read once
and a true claim is learned in the same step as its false twin. Runs differ in the sentences found, whether a deciding
one is among them, the distractors, the questions asked and whether their answers are right. Each epoch therefore draws
another form for every claim of `vital_claims.jsonl`.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.text.sentences import judge_prompt, select_sentences
from research.claims.data import Asked, VitalClaim, is_written, split_lead
from research.training.pairs import NOT_ENOUGH, is_held_out, pairs_from_data

SQUAD = "squad_claims.jsonl"
"""File with claims made from SQuAD's questions."""
MAX_LEAD_WORDS, MAX_WORDS = 90, 125
"""Limits on the words of the claims' own leads, and of all evidence."""
MAX_CLAIMS = 6
MAX_HELD_OUT = 80
"""Maximum number of held-out examples of each source."""
ALONE_SHARE = 0.7
"""Share of the leads whose claims each get the distractors of their own search, as in a run.

The search for a false claim finds sentences with its false words, which the judge must learn to disregard.
"""

Neighbours = Mapping[str, Sequence[Sequence[str]]]
"""Claim id -> (title, sentence) pairs of other articles that a search finds, best first (neighbours.py)."""
Line = tuple[str, str]
"""(title, sentences of that article)."""


@dataclass(frozen=True, slots=True)
class Member:
    """A claim of a family, the questions and answers shown with it, and its label over the family's evidence."""

    source: str
    claim: str
    asked: tuple[tuple[str, str], ...]
    label: str


@dataclass(frozen=True, slots=True)
class Family:
    """Evidence lines and the claims judged over them."""

    evidence: tuple[str, ...]
    members: tuple[Member, ...]

    @property
    def opening(self) -> str:
        """Return the part of the prompts that the members share."""
        return judge_prompt("", self.evidence).partition("\nClaim:")[0]

    @property
    def prompts(self) -> list[str]:
        """Return the judge's input for each member."""
        return [judge_prompt(one.claim, self.evidence, one.asked) for one in self.members]


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt of the judge with its label: one of the three classes, or NOT_SUPPORTED (HoVer, SQuAD)."""

    source: str
    prompt: str
    label: str


def epochs_of(
    folder: Path, claims: Sequence[VitalClaim], epochs: int, seed: int, neighbours: Neighbours | None = None
) -> Iterator[list[Family]]:
    """Yield each epoch's families: the train split, its two-lead and written claims again, a part of other data."""
    rng = random.Random(seed)
    train = [row for row in claims if row.split == "train"]
    two_leads = [row for row in train if len(row.leads) > 1]  # the hardest
    written = [row for row in train if is_written(row)]
    for _ in range(epochs):
        squad, published = squad_families(folder / SQUAD, rng), pair_families(folder, rng)
        rng.shuffle(squad)
        rng.shuffle(published)
        made = [one for rows in (train, two_leads, written) for one in vital_families(rows, neighbours or {}, rng)]
        yield [*made, *squad[: -(-len(squad) // 8)], *published[: -(-len(published) // 5)]]


def vital_families(rows: Sequence[VitalClaim], neighbours: Neighbours, rng: random.Random) -> list[Family]:
    """Return families of claims over the same leads, or of single claims, in forms drawn by `rng`."""
    related: dict[str, list[Asked]] = defaultdict(list)
    groups: dict[tuple[str, ...], list[VitalClaim]] = defaultdict(list)
    for row in rows:
        groups[tuple(sorted(title for title, _ in row.leads))].append(row)
        related[row.leads[0][0]] += [one for one in row.questions if one.answer]
    made = []
    for members in groups.values():
        rng.shuffle(members)
        size = 1 if rng.random() < ALONE_SHARE else MAX_CLAIMS
        for at in range(0, len(members), size):
            made.append(_vital_family(members[at : at + size], related, neighbours, rng))
    return [one for one in made if one.members]


def _vital_family(
    rows: Sequence[VitalClaim], related: Mapping[str, Sequence[Asked]], neighbours: Neighbours, rng: random.Random
) -> Family:
    texts = dict(rows[0].leads)
    places = _shown(rows, texts, rng)
    lines = [(title, " ".join(split_lead(texts[title])[at] for at in sorted(kept))) for title, kept in places.items()]
    lines = [line for line in lines if line[1]]
    lines += _distractors(neighbours.get(rng.choice(rows).id, ()), lines, rng)
    rng.shuffle(lines)
    found = []
    for row in rows:
        label = _label(row, places)
        if label is not None and (label == row.label or rng.random() < 0.75):
            found.append(Member(f"vital-{row.style}", row.claim, _asked(row, label, related, rng), label))
    return Family(tuple(f"{title}: {text}" for title, text in lines), tuple(found))


def _shown(rows: Sequence[VitalClaim], texts: Mapping[str, str], rng: random.Random) -> dict[str, set[int]]:
    """Draw the indices of the sentences shown of each lead.

    In 60% of the cases the deciding sentences of all claims are shown, else those of half of the claims (at least one).
    A lead's first sentence is shown half of the time. In 20% of the cases the leads are shown whole; in a further 50%
    each lead shows one more sentence. At the end a lead may lose all its sentences, or all but the first.
    """
    drawn = rng.random()
    decidable = rows if drawn < 0.6 else rng.sample(list(rows), max(1, len(rows) // 2))
    places: dict[str, set[int]] = {title: {0} if rng.random() < 0.5 else set() for title in texts}
    for row in decidable:
        for title, found in row.deciding_sentences().items():
            places[title] |= set(found)
    for title, text in texts.items():
        rest = [at for at in range(len(split_lead(text))) if at not in places[title]]
        if drawn < 0.2:
            places[title] |= set(rest)
        elif rest and (drawn < 0.7 or not places[title]):
            places[title].add(rng.choice(rest))
    if rng.random() < (0.3 if len(texts) > 1 else 0.18 if len(rows) == 1 else 0.06):
        places[rng.choice(sorted(texts))] = set() if rng.random() < 0.7 else {0}
    _shorten(places, texts, rng)
    return places


def _shorten(places: dict[str, set[int]], texts: Mapping[str, str], rng: random.Random) -> None:
    def words() -> int:
        return sum(len(split_lead(texts[title])[at].split()) for title, kept in places.items() for at in kept)

    while words() > MAX_LEAD_WORDS:
        droppable = [(title, at) for title, kept in places.items() for at in sorted(kept) if len(kept) > 1]
        if not droppable:
            return
        title, at = rng.choice(droppable)
        places[title].discard(at)


def _distractors(found: Sequence[Sequence[str]], lines: Sequence[Line], rng: random.Random) -> list[Line]:
    """Return the first distractors, joined by title; none in a fifth of the cases."""
    if rng.random() < 0.2:
        return []
    left = MAX_WORDS - sum(len(text.split()) for _, text in lines)
    chosen: dict[str, list[str]] = {}
    for title, sentence in found[: rng.choice((1, 1, 2, 2, 3, 4))]:
        left -= len(sentence.split())
        if left < 0:
            break
        chosen.setdefault(title, []).append(sentence)
    return [(title, " ".join(parts)) for title, parts in chosen.items()]


def _label(row: VitalClaim, places: Mapping[str, set[int]]) -> str | None:
    """Return the claim's label given the shown sentences; None where it is not known."""
    if row.label == NOT_ENOUGH:
        return row.label
    deciding = row.deciding_sentences()
    if all(deciding[title] for title, _ in row.leads):
        seen = all(set(found) <= places[title] for title, found in deciding.items())
        return row.label if seen else NOT_ENOUGH
    whole = all(len(places[title]) == len(split_lead(text)) for title, text in row.leads)
    return row.label if whole else None


def _asked(
    row: VitalClaim, label: str, related: Mapping[str, Sequence[Asked]], rng: random.Random
) -> tuple[tuple[str, str], ...]:
    """Draw the questions and answers shown. For a claim labelled not enough, a question or an answer is irrelevant."""
    own = [(one.question, one.answer) for one in row.questions if one.answer]
    questions = [one.question for one in row.questions]
    others = [one for title, _ in row.leads for one in related.get(title, ()) if one.question not in questions]
    other = [(one.question, one.answer or "") for one in rng.sample(others, min(len(others), 1))]
    drawn = rng.random()
    if drawn < 0.2:
        return ()
    if label == row.label != NOT_ENOUGH:
        if drawn < 0.32 and other:
            return tuple(other)
        if drawn < 0.37 and other and own:  # the reader was wrong; the evidence decides
            return (*own[:-1], (own[-1][0], other[0][1]))
        return (*other, *own) if drawn < 0.5 else tuple(own)
    kept = own[:-1] if label != row.label else []
    if drawn < 0.6 or not (other and questions):
        return (*kept, *other)
    return (*kept, (questions[-1], other[0][1]))


def squad_families(path: Path, rng: random.Random) -> list[Family]:
    """Return the claims made from SQuAD's questions by passage, without those held out by title."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    seen = [row for row in rows if not is_held_out(row["evidence"][0]["title"])]
    members = (Member("squad", row["claim"], (), row["label"]) for row in seen)
    passages = ([(part["title"], part["text"]) for part in row["evidence"]] for row in seen)
    return _by_passages(zip(members, passages, strict=True), rng)


def pair_families(folder: Path, rng: random.Random) -> list[Family]:
    """Return the pairs of pairs.py by passages, without those held out."""
    pairs = [pair for pair in pairs_from_data(folder, rng) if not pair.held_out]
    return _by_passages(((Member(pair.source, pair.claim, (), pair.label), pair.passages) for pair in pairs), rng)


def _by_passages(found: Iterable[tuple[Member, Sequence[Line]]], rng: random.Random) -> list[Family]:
    groups: dict[tuple[Line, ...], list[Member]] = defaultdict(list)
    for member, passages in found:
        groups[tuple(passages)].append(member)
    made = []
    for passages, members in groups.items():
        rng.shuffle(members)
        for at in range(0, len(members), MAX_CLAIMS):
            part = members[at : at + MAX_CLAIMS]
            words = rng.choice((MAX_LEAD_WORDS // 2, MAX_LEAD_WORDS))
            lines = select_sentences(" ".join(one.claim for one in part), passages, words)
            made.append(Family(tuple(lines), tuple(part)))
    return made


def gold_example(row: VitalClaim) -> Example:
    """Return the prompt with the deciding and first sentences and the recorded questions and answers."""
    deciding = row.deciding_sentences()
    texts = {title: " ".join(split_lead(text)[at] for at in sorted({0, *deciding[title]})) for title, text in row.leads}
    asked = [(one.question, one.answer) for one in row.questions if one.answer]
    lines = select_sentences(row.claim, list(texts.items()), MAX_LEAD_WORDS)
    return Example(f"vital-{row.style}", judge_prompt(row.claim, lines, asked), row.label)


def held_out(folder: Path, claims: Sequence[VitalClaim]) -> list[Example]:
    """Return at most MAX_HELD_OUT held-out examples of each source, always the same.

    Those of `vital_claims.jsonl` are its dev split with gold evidence; derived pairs of pairs.py are left out.
    """
    found: dict[str, list[Example]] = {}
    for row in claims:
        if row.split == "dev":
            found.setdefault(f"vital-{row.style}", []).append(gold_example(row))
    for pair in pairs_from_data(folder, random.Random(7)):
        if pair.held_out and not pair.source.endswith(("-lacking", "-swapped")):
            prompt = judge_prompt(pair.claim, select_sentences(pair.claim, pair.passages, MAX_LEAD_WORDS))
            found.setdefault(pair.source, []).append(Example(pair.source, prompt, pair.label))
    rng = random.Random(0)
    return [one for own in found.values() for one in rng.sample(own, min(MAX_HELD_OUT, len(own)))]
