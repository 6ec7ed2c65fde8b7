"""Measure the QA validator: it must keep gold hops and reject distractors.

    .venv/bin/python -m benchmarks.validator DATA [--held-out] [--show KIND]

DATA has hover_dev.jsonl, strategyqa_train.jsonl and averitec_dev.jsonl. Half of the claims, by the hash of their group,
are for the development of the rules; --held-out measures the other half. --show prints the errors of one kind.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from research.training.pairs import is_held_out

from app.domain.model import Answer, Claim, Context, Hop, HopStatus, Passage, Question, Span
from app.modules.pursuit_paraphraser import claim_as_question
from app.modules.qa_validator import RuleBasedValidator
from app.text.wording import normalised, stems

SEED, HELD_OUT_SHARE = 5, 0.5
REWORDED = (("Who wrote", "Who is the author of"), ("Where was", "In what place was"), ("When was", "In what year was"),
            ("What is", "What exactly is"), ("Who was", "Who exactly was"), ("Who is", "Who exactly is"),
            ("Which", "What"), ("How many", "What number of"), ("What", "Which"))  # fmt: skip
NO_ANSWERS = (None, "", "   ", "Unknown", "No answer could be found.", "I don't know", "Not mentioned in the passage.")


@dataclass(frozen=True)
class Case:
    """A hop to validate; `needed` is the right decision, `kind` the row of the table."""

    kind: str
    claim: Claim
    context: Context
    hop: Hop
    needed: bool


def _hop(number: int, question: str, answer: str | None, title: str = "", text: str = "") -> Hop:
    cited = Span(Passage(text, title, "gold"), 0, 0) if text else None
    return Hop(number, Question(question), Answer(answer, cited), HopStatus.KEPT)


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def hover_hops(data: Path) -> Iterator[tuple[str, Claim, list[Hop]]]:
    """Yield (group, claim, hops) of two-hop claims with a bridge entity that the claim does not name.

    The first hop asks the claim as a question and finds the bridge, the title of a paragraph that only the other
    paragraph names; its passage is the one that shares more words with the question. The second asks about the bridge.
    """
    for row in _rows(data / "hover_dev.jsonl"):
        claim = Claim(row["claim"])
        if row["hops"] != 2 or len(row["evidence"]) != 2:
            continue
        for known, hidden in (row["evidence"], row["evidence"][::-1]):
            title = re.sub(r" \(.*\)", "", hidden["title"])
            is_bridge = normalised(title) in normalised(known["text"]) and normalised(title) not in normalised(
                claim.text
            )
            definition = re.search(r" (?:is|was|are|were) ((?:an?|the|one) [^.]{3,120})", hidden["text"])
            if is_bridge and definition:
                first = claim_as_question(claim)
                second = _hop(2, f"What is {title}?", definition[1], hidden["title"], hidden["text"])
                nearest = max((known, hidden), key=lambda each: len(stems(each["text"]) & stems(first)))
                yield row["group"], claim, [_hop(1, first, title, nearest["title"], nearest["text"]), second]
                break


def strategyqa_hops(data: Path) -> Iterator[tuple[str, Claim, list[Hop]]]:
    """Yield annotated steps without a reference to an earlier one; a fact is the answer, all facts are the passage."""
    for row in _rows(data / "strategyqa_train.jsonl"):
        pairs = list(zip(row["decomposition"], row["facts"], strict=False))
        whole = " ".join(row["facts"])
        hops = [_hop(at, step, fact, "", whole) for at, (step, fact) in enumerate(pairs, 1) if "#" not in step]
        if hops:
            yield row["id"], Claim(row["question"]), [replace(hop, number=at) for at, hop in enumerate(hops, 1)]


def averitec_hops(data: Path) -> Iterator[tuple[str, Claim, list[Hop]]]:
    """Yield the answered question-answer pairs of fact-checkers."""
    for row in _rows(data / "averitec_dev.jsonl"):
        pairs = [(each["question"], each["answers"][0]) for each in row["questions"] if each["answers"]]
        answered = [(ask, each["answer"]) for ask, each in pairs if each.get("answer_type") != "Unanswerable"]
        hops = [_hop(at, ask, answer) for at, (ask, answer) in enumerate(answered, 1)]
        if hops:
            yield str(row["id"]), Claim(row["claim"], row.get("speaker"), row.get("date")), hops


def cases(data: Path, held_out: bool) -> Iterator[Case]:
    """Yield every gold hop and a distractor of every kind, the same for every run."""
    for name, source in (("HoVer", hover_hops), ("StrategyQA", strategyqa_hops), ("AVeriTeC", averitec_hops)):
        chosen = [each[1:] for each in source(data) if is_held_out(each[0], HELD_OUT_SHARE) == held_out]
        rng = random.Random(SEED)
        for at, (claim, hops) in enumerate(chosen):
            stray = rng.choice(chosen[(at + 1) % len(chosen)][1]) if len(chosen) > 1 else hops[0]
            for number, hop in enumerate(hops):
                yield Case(f"{name}: gold hop {min(number + 1, 2)}", claim, tuple(hops[:number]), hop, True)
            last = hops[-1]
            yield from _distractors(name, claim, tuple(hops), last, stray, rng)


def _distractors(name: str, claim: Claim, kept: Context, last: Hop, stray: Hop, rng: random.Random) -> Iterator[Case]:
    """Yield a distractor of each kind for the last gold hop of a claim."""
    before, asked = kept[:-1], last.question.text
    unanswered = replace(last, answer=Answer(rng.choice(NO_ANSWERS)))
    yield Case(f"{name}: unanswered", claim, before, unanswered, False)
    yield Case(f"{name}: repeated, same words", claim, kept, replace(last, number=len(kept) + 1), False)
    for start, other in REWORDED:
        if asked.startswith(f"{start} "):
            again = replace(last, number=len(kept) + 1, question=Question(asked.replace(start, other, 1)))
            yield Case(f"{name}: repeated, other words", claim, kept, again, False)
            break
    yield Case(f"{name}: off-topic, another claim's hop", claim, before, replace(stray, number=last.number), False)
    if stray.answer and stray.answer.cited:
        yield Case(
            f"{name}: off-topic, another claim's evidence", claim, before, replace(last, answer=stray.answer), False
        )


def main() -> None:
    """Print the share of right decisions for each kind, and for needed hops and distractors overall."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--show", default="nothing")
    options = parser.parse_args()
    table: dict[str, list[bool]] = {}
    for case in cases(options.data, options.held_out):
        judgement = RuleBasedValidator().is_useful(case.claim, case.context, case.hop)
        right = judgement.holds == case.needed
        table.setdefault(case.kind, []).append(right)
        table.setdefault("needed" if case.needed else "distractor", []).append(right)
        if not right and options.show in case.kind:
            answer = case.hop.answer.text if case.hop.answer else None
            print(f"{case.kind} | {case.claim.text} | {case.hop.question.text} | {answer} | {judgement.reason}")
    for kind, rights in sorted(table.items()):
        print(f"{sum(rights) / len(rights):6.1%} of {len(rights):5}  {kind}")


if __name__ == "__main__":
    main()
