"""Turn claims with questions, answers and evidence into the transcripts that the local model learns to continue.

Prompts and continuations come from app/modules/transcript.py, as in a run. The data: `vital_claims.jsonl` with
research/claims/written.jsonl, HoVer, FEVEROUS-S, Fool-Me-Twice, FEVER symmetric, WiCE, and SQuAD's development sets.
AVeriTeC is not read, because its licence forbids commercial use.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.model import Label
from app.modules import transcript as inference
from app.modules.transcript import Source, Step
from research.claims.data import CLAIMS_FILE, Asked, VitalClaim, read_claims
from research.evaluation.labels import Gold
from research.training.files import list_in, require_vital_claim, rows_of, text_in
from research.training.held_out import is_held_out, row_is_held_out

PUBLISHED = ("hover_dev", "feverous_s_dev", "fool_me_twice_dev", "fever_symmetric", "wice_dev", "squad_claims")
"""Sets of claims with evidence and without questions."""
SQUAD = ("squad_dev_v1.1", "squad_dev_v2.0")
WORDS = {Gold(label): (word,) for label, word in inference.VERDICT_WORDS.items()} | {
    Gold.NOT_SUPPORTED: (inference.VERDICT_WORDS[Label.REFUTED], inference.OPEN)
}
"""The right words for each label; rows with others are left out, such as WiCE's partly supported ones."""

VERDICT_WEIGHT, EXPLANATION_WEIGHT = 4.0, 0.6
"""Weights of a token in the loss; those of questions and answers have 1, what the model only reads 0."""
FAILED_SEARCH_SHARE = 0.03
"""Questions that are first searched in vain. With 0.1, a model says "not found" over sources that answer."""
WRONG_ANSWER_SHARE = 0.06
"""Answers replaced by another claim's, so that the verdict is learned from the sources and not from the answer."""
SECOND_READING_SHARE = 0.35
REPEATED_KINDS = ("comparison", "order")
"""Claims over two articles of these kinds are read twice an epoch: values are found and then not compared."""
DISTRACTOR_SHARE, DROPPED_SHARE = 0.3, 0.15
"""Published claims with a passage of another article, and supported ones that lack one of their passages."""
MAX_PASSAGES = 4
MAX_ANSWERABLE, MAX_UNANSWERABLE, MAX_SQUAD_CLAIMS = 5_000, 700, 4_000
MAX_MEASURED = 300

Search = Callable[[str, int], Sequence[Source]]
"""The best passages for a query, as a run retrieves them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a transcript, in the order of the text."""

    text: str
    weight: float = 0.0
    verdicts: tuple[str, ...] = ()
    """Where the piece is a verdict: the words that are right, the one in `text` first."""


@dataclass(frozen=True, slots=True)
class Example:
    """A transcript with what is learned of it."""

    source: str
    parts: tuple[Part, ...]
    held_out: bool = False

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Continuation:
    """What a module writes after its prompt in a run."""

    prompt: str
    text: str
    weight: float
    verdicts: tuple[str, ...] = ()


def joined(continuations: Sequence[Continuation]) -> Iterator[tuple[Part, ...]]:
    """Yield transcripts of which something is learned.

    Continuations share a transcript where a prompt begins with the text before it.
    """
    transcripts: list[list[Part]] = []
    text = ""
    for each in continuations:
        if not transcripts or not each.prompt.startswith(text):
            transcripts.append([])
            text = ""
        if read := each.prompt.removeprefix(text):
            transcripts[-1].append(Part(read))
        transcripts[-1].append(Part(each.text, each.weight, each.verdicts))
        text = each.prompt + each.text
    yield from (tuple(parts) for parts in transcripts if any(part.weight for part in parts))


@dataclass(frozen=True, slots=True)
class Hop:
    """A step of a transcript; the weights are those of its question and answer."""

    step: Step
    question_weight: float = 1.0
    answer_weight: float = 1.0


def run_of(claim: str, hops: Sequence[Hop], words: tuple[str, ...], explanation: str = "") -> list[Continuation]:
    """Return what the modules write in a run: verdicts between the hops are open, the last is `words[0]`."""
    written, steps = [], [hop.step for hop in hops]
    for at, hop in enumerate(hops):
        before, step = steps[:at], hop.step
        question = inference.question_line(step.question).removeprefix(inference.QUESTION)
        written.append(Continuation(inference.before_question(claim, before), question, hop.question_weight))
        prompt = inference.before_answer(claim, before, step.question, step.sources)
        answer = inference.answer_line(step.answer).removeprefix(inference.ANSWER)
        written.append(Continuation(prompt, answer, hop.answer_weight))
        right = words if hop is hops[-1] else (inference.OPEN,)
        written.append(_verdict(inference.before_verdict(claim, steps[: at + 1]), right))
    return written + _explained(written[-1].prompt, words[0], explanation)


def second_reading_of(
    claim: str, sources: Sequence[tuple[Source, str]], words: tuple[str, ...], explanation: str = ""
) -> list[Continuation]:
    """Return what the model writes after claim and sources without questions."""
    prompt = inference.before_second_reading(claim, sources)
    return [_verdict(prompt, words), *_explained(prompt, words[0], explanation)]


def _verdict(prompt: str, words: tuple[str, ...]) -> Continuation:
    text = inference.verdict_line(words[0]).removeprefix(inference.VERDICT)
    return Continuation(prompt, text, VERDICT_WEIGHT, words)


def _explained(prompt: str, word: str, explanation: str) -> list[Continuation]:
    if not explanation:
        return []
    text = f" {' '.join(explanation.split())}{inference.END}"
    return [Continuation(inference.before_explanation(prompt, word), text, EXPLANATION_WEIGHT)]


def examples(folder: Path, search: Search, epochs: int, seed: int) -> Iterator[Example]:
    """Yield the examples of each epoch in turn, shuffled, then the held-out ones.

    Later epochs have the claims about the corpus only, each with other sources. Raises InvalidInput for the first
    file that is missing or has an invalid row.
    """
    data = Data.read(folder)
    rng = random.Random(seed)
    for epoch in range(epochs):
        made = list(claim_examples(data.claims, search, rng))
        if not epoch:
            made += published_examples(data.published, search, rng)
            made += squad_examples(data.squad, rng)
        made = [each for each in made if not each.held_out]
        rng.shuffle(made)
        yield from made
    yield from _measured(data, search)


def _measured(data: Data, search: Search) -> Iterator[Example]:
    """Yield the held-out examples, the same for every seed: at most MAX_MEASURED of each source."""
    rng = random.Random(0)
    made = list(claim_examples(data.claims, search, rng, measured=True))
    made += (each for each in published_examples(data.published, search, rng) if each.held_out)
    made += (each for each in squad_examples(data.squad, rng) if each.held_out)
    rng.shuffle(made)
    count: Counter[str] = Counter()
    for each in made:
        count[each.source] += 1
        if count[each.source] <= MAX_MEASURED:
            yield each


@dataclass(frozen=True, slots=True)
class Data:
    """The rows of every file, checked."""

    claims: Sequence[VitalClaim]
    published: Sequence[tuple[str, dict[str, Any]]]
    squad: Sequence[Paragraph]

    @classmethod
    def read(cls, folder: Path) -> Data:
        """Raise InvalidInput for the first file that is missing or has an invalid row."""
        if not folder.is_dir():
            raise InvalidInput(f"There is no folder {folder} with data to train on.", "data")
        rows_of(folder / CLAIMS_FILE, require_vital_claim)
        published = [(name, row) for name in PUBLISHED for row in rows_of(folder / f"{name}.jsonl", _published_row)]
        squad = [each for name in SQUAD for each in _paragraphs(folder / f"{name}.json")]
        return cls(read_claims(folder / CLAIMS_FILE), published, squad)


# Claims about the corpus.


def claim_examples(
    claims: Sequence[VitalClaim], search: Search, rng: random.Random, measured: bool = False
) -> Iterator[Example]:
    """Yield the examples of the training split, or those of the development split in their plainest form."""
    rows = [row for row in claims if row.split == ("dev" if measured else "train")]
    asked: dict[str, list[Asked]] = {}
    for row in rows:
        asked.setdefault(row.leads[0][0], []).append(row.questions[0])
    for row in rows:
        source, words = f"vital-{row.style}", WORDS[Gold(row.label)]
        others = [each for each in asked[row.leads[0][0]] if each.question != row.questions[0].question]
        is_repeated = row.hops > 1 and row.kind in REPEATED_KINDS and not measured
        for _ in range(2 if is_repeated else 1):
            hops = list(_plain_hops(row, search) if measured else _varied_hops(row, search, rng, others))
            for parts in joined(run_of(row.claim, hops, words, _explanation(row))):
                yield Example(source, parts, measured)
        if measured or rng.random() < SECOND_READING_SHARE:
            sources = _second_sources(row, search, rng)
            for parts in joined(second_reading_of(row.claim, sources, words, _explanation(row))):
                yield Example(f"{source}-sources", parts, measured)


def _plain_hops(row: VitalClaim, search: Search) -> Iterator[Hop]:
    """Yield the recorded questions, each over its article and the nearest other one."""
    for asked in row.questions:
        yield Hop(Step(asked.question, (_article(row, asked), *_neighbours(row, asked, search)[:1]), asked.answer))


def _varied_hops(row: VitalClaim, search: Search, rng: random.Random, others: Sequence[Asked]) -> Iterator[Hop]:
    """Yield the recorded questions with changing sources, some failed searches and some wrong last answers.

    `others` are the first questions of other claims about the same article.
    """
    wrong = [each.answer for each in others if each.answer]
    for asked in row.questions:
        found = _neighbours(row, asked, search)
        if asked.answer and rng.random() < FAILED_SEARCH_SHARE:
            vain = rng.choice(others or [asked]).question
            yield Hop(Step(vain, tuple(found[:2]), None), question_weight=0)
            found = found[2:]
        sources = [_article(row, asked), *found[: rng.choice((0, 1, 1, 1, 2))]]
        rng.shuffle(sources)
        if asked is row.questions[-1] and asked.answer and wrong and rng.random() < WRONG_ANSWER_SHARE:
            yield Hop(Step(asked.question, tuple(sources), rng.choice(wrong)), answer_weight=0)
        else:
            yield Hop(Step(asked.question, tuple(sources), asked.answer))


def _article(row: VitalClaim, asked: Asked) -> Source:
    """Return the article with the answer, or the claim's first one, which does not say it."""
    return next((Source(title, text) for title, text in row.leads if title == asked.title), Source(*row.leads[0]))


def _second_sources(row: VitalClaim, search: Search, rng: random.Random) -> list[tuple[Source, str]]:
    """Return the leads and neighbours, each with the text that it is cut around: its question and the claim."""
    asked = {each.title: each.question for each in row.questions if each.title}
    sources = [(Source(title, text), f"{asked.get(title, '')} {row.claim}") for title, text in row.leads]
    sources += [(each, row.claim) for each in _other_articles(row, row.claim, search)[: rng.choice((0, 1, 2))]]
    sources = sources[:MAX_PASSAGES]
    rng.shuffle(sources)
    return sources


def _neighbours(row: VitalClaim, asked: Asked, search: Search) -> list[Source]:
    return _other_articles(row, f"{asked.question} {asked.title or ''}", search)


def _other_articles(row: VitalClaim, query: str, search: Search) -> list[Source]:
    own = {title for title, _ in row.leads}
    return [each for each in search(query, 4 + len(own)) if each.title not in own]


def _explanation(row: VitalClaim) -> str:
    """Return the explanation in a reader's words; none for `balanced` rows, which explain the claim's twin."""
    return "" if row.style == "balanced" else re.sub(r"\b([Tt]he) lead(s?)\b", r"\1 source\2", row.explanation)


# Published claims with evidence.


def _published_row(row: dict[str, Any]) -> dict[str, Any]:
    text_in(row, "claim")
    if not isinstance(row.get("id"), str | int):
        raise ValueError("no id")
    if row.get("label") not in tuple(Gold):
        raise ValueError(f"the label {row.get('label')!r} is unknown; known are {', '.join(Gold)}")
    for part in list_in(row, "evidence") if row.get("evidence") else []:
        text_in(part, "text")
        if not isinstance(part.get("title"), str):
            raise ValueError("evidence without a title")
    return row


def published_examples(
    rows: Sequence[tuple[str, dict[str, Any]]], search: Search, rng: random.Random
) -> Iterator[Example]:
    """Yield each claim with its evidence, without questions; their evidence is about the whole claim."""
    usable = [(name, row) for name, row in rows if row.get("evidence") and Gold(row["label"]) in WORDS]
    generated = [pair for pair in usable if pair[0] == "squad_claims"]
    chosen = [pair for pair in usable if pair[0] != "squad_claims"]
    chosen += rng.sample(generated, min(len(generated), MAX_SQUAD_CLAIMS))
    for name, row in chosen:
        held_out = row_is_held_out(str(row["id"]), row.get("group"), row.get("hops"))
        sources = [Source(part["title"], part["text"]) for part in row["evidence"]][:MAX_PASSAGES]
        words = WORDS[Gold(row["label"])]
        if not held_out and len(sources) > 1 and row["label"] == Gold.SUPPORTED and rng.random() < DROPPED_SHARE:
            sources.remove(rng.choice(sources))
            words = (inference.OPEN,)
        if len(sources) < MAX_PASSAGES and rng.random() < DISTRACTOR_SHARE:
            titles = {part["title"] for part in row["evidence"]}
            sources += [each for each in search(row["claim"], 4) if each.title not in titles][:1]
        rng.shuffle(sources)
        source = f"{name}-{row['hops']}hop" if row.get("hops") else name
        for parts in joined(second_reading_of(row["claim"], [(each, row["claim"]) for each in sources], words)):
            yield Example(source, parts, held_out)


# SQuAD: people's questions about a paragraph.


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of SQuAD with its questions; an answer is None where the paragraph has none."""

    source: Source
    asked: tuple[tuple[str, str | None], ...]
    held_out: bool


def _paragraphs(path: Path) -> list[Paragraph]:
    """Return the paragraphs. Raises InvalidInput when the file is missing or not in SQuAD's format."""
    try:
        articles = list_in(json.loads(path.read_text(encoding="utf-8")), "data")
        return [_paragraph(article, each) for article in articles for each in list_in(article, "paragraphs")]
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "data") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{path.name} is not in SQuAD's format: {error}.", "data") from error


def _paragraph(article: dict[str, Any], found: dict[str, Any]) -> Paragraph:
    title = text_in(article, "title").replace("_", " ")
    asked = [
        (text_in(each, "question"), each["answers"][0]["text"] if each["answers"] else None)
        for each in list_in(found, "qas")
    ]
    return Paragraph(Source(title, text_in(found, "context")), tuple(asked), is_held_out(article["title"]))


def squad_examples(paragraphs: Sequence[Paragraph], rng: random.Random) -> Iterator[Example]:
    """Yield claims "question value" over the paragraph: the answer is read from it, right or wrong in the claim."""
    every = [(paragraph, *asked) for paragraph in paragraphs for asked in paragraph.asked]
    rng.shuffle(every)
    answerable = [each for each in every if each[2] is not None][:MAX_ANSWERABLE]
    unanswerable = [each for each in every if each[2] is None][:MAX_UNANSWERABLE]
    for paragraph, question, answer in answerable + unanswerable:
        values = [value for _, value in paragraph.asked if value]
        wrong = [value for value in values if answer and value not in answer and answer not in value]
        value = rng.choice(wrong) if wrong and rng.random() < 0.5 else answer or (rng.choice(values) if values else "")
        claim = f"{question} {value}".strip()
        cut = inference.cut(paragraph.source.text, f"{question} {claim}")
        if answer and answer not in cut:
            continue  # a run would not see it either
        label = Label.NOT_ENOUGH_EVIDENCE if answer is None else Label.SUPPORTED if value == answer else Label.REFUTED
        hop = Hop(Step(question, (paragraph.source,), answer), question_weight=0)
        for parts in joined(run_of(claim, [hop], (inference.VERDICT_WORDS[label],))):
            yield Example("squad", parts, paragraph.held_out)
