"""Estimate the language model's calls, tokens, price and hours before an evaluation runs.

Calls follow from the strategy (docs/how-it-works.md), tokens from the length of sample prompts. Once enough rows are
predicted, the estimate extrapolates from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import mean

from app.capabilities.options import BASELINES, PURSUIT
from app.config.settings import Settings
from app.container.parts import language_models
from app.domain.model import Answer, Claim, Hop, HopStatus, Passage, Question, RunOptions, SearchHit, Span
from app.modules import paper_prompts
from app.modules.answerers.reciter_reader import reading_prompts, reciting_prompts
from app.modules.answerers.web_documents import choosing_prompt, document_prompt
from app.modules.answerers.web_search import MAX_HITS
from app.modules.prompted import question_prompts, reasoning_prompts, sufficiency_prompts, usefulness_prompts
from app.modules.prompting import fill_template, label_question
from app.modules.pursuit import first_prompts, paraphrase_prompts, step_prompts
from app.presets import GUIDED_PRESETS, PURSUIT_PRESETS, QACHECK, is_faithful
from research.evaluation.datasets import Row
from research.evaluation.labels import Gold
from research.evaluation.predictions import Prediction, total_use

CHARACTERS_PER_TOKEN = 4
SECONDS_PER_CALL = 1.0
"""Assumed for a hosted model until rows are measured."""
DEFAULT_HOPS = 3
"""Assumed number of kept hops where the data set has none."""
MIN_MEASURED_ROWS = 5
"""Minimum number of predicted rows to extrapolate from."""
MODEL_WORKERS = 8
"""Default number of rows predicted at once with a language model."""

SAMPLE_ANSWER = "a few words that stand in a passage"
SAMPLE_SENTENCE = "A sentence of an article of usual length, as a search engine or an encyclopedia has it. "
SAMPLE_SNIPPET, SAMPLE_WINDOW, SAMPLE_RECITATION = SAMPLE_SENTENCE * 2, SAMPLE_SENTENCE * 8, SAMPLE_SENTENCE * 5
"""Texts of about 35, 140 and 90 words."""

COMPLETION_TOKENS = {
    "question": 16,
    "recite": 120,
    "read": 8,
    "search": 0,
    "choose": 8,
    "answer": 60,
    "validate": 2,
    "verify": 2,
    "reason": 110,
    "first": 40,
    "step": 25,
    "paraphrase": 70,
    "direct": 2,
    "chain-of-thought": 110,
}
"""Tokens that a language model writes in one call, by role; a search is a call without tokens."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Estimated or measured cost of rows. `cost` is in the currency of the prices; unknown values are None."""

    rows: int
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    hours: float | None = None
    basis: str = ""

    def __str__(self) -> str:
        """Return the figures in one line."""
        prompt_tokens, completion_tokens = self.prompt_tokens / 1e6, self.completion_tokens / 1e6
        money = "no price is set" if self.cost is None else f"{self.cost:.2f} in money"
        hours = "" if self.hours is None else f", {self.hours:.2f} hours"
        basis = f" ({self.basis})" if self.basis else ""
        tokens = f"{prompt_tokens:.2f} million tokens read and {completion_tokens:.2f} million written"
        return f"{self.rows:,} rows, {self.calls:,} calls, {tokens}, {money}{hours}{basis}"

    def __add__(self, other: Cost) -> Cost:
        """Return the sum; a value that only one of the two knows is taken from it."""

        def total(one: float | None, two: float | None) -> float | None:
            return None if one is None and two is None else (one or 0) + (two or 0)

        return Cost(
            self.rows + other.rows,
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            total(self.cost, other.cost),
            total(self.hours, other.hours),
        )


def measured_cost(predictions: Sequence[Prediction], hours: float | None = None) -> Cost:
    """Return the cost of the predictions, including those of interrupted starts.

    Calls and tokens include those of local models.
    """
    spent = total_use([each.spent for each in predictions])
    return Cost(len(predictions), spent.calls, spent.prompt_tokens, spent.completion_tokens, spent.cost, hours)


def estimate(
    options: RunOptions, rows: Sequence[Row], settings: Settings, workers: int, made: Iterable[Prediction] = ()
) -> Cost | None:
    """Return the estimated cost of all `rows`; None for options without a language model on a server.

    `made` are existing predictions of some of the rows.
    """
    price = prices(options, settings)
    if not options.model or price is None:
        return None
    measured = [each for each in made if each.label is not None]
    if len(measured) >= MIN_MEASURED_ROWS:
        return _scaled(measured_cost(measured), measured, len(rows), workers)
    hops = [min(row.hops or DEFAULT_HOPS, options.max_hops) for row in rows]
    roles: Counter[str] = Counter()
    for count, number in Counter(hops).items():
        for role, calls in calls_by_role(options, count, settings.read_with == "model").items():
            roles[role] += calls * number
    prompt_tokens = {role: _prompt_tokens(role, options, rows[0].claim, round(mean(hops))) for role in roles}
    prompt_total = sum(prompt_tokens[role] * count for role, count in roles.items())
    completion_tokens = sum(COMPLETION_TOKENS[role] * count for role, count in roles.items())
    cost = None if None in price else (prompt_total * (price[0] or 0) + completion_tokens * (price[1] or 0)) / 1e6
    hours = roles.total() * SECONDS_PER_CALL / workers / 3600
    return Cost(
        len(rows),
        roles.total(),
        prompt_total,
        completion_tokens,
        cost,
        hours,
        f"from the prompts, {SECONDS_PER_CALL:g} s a call",
    )


def unlabelled(claims: Iterable[str]) -> list[Row]:
    """Return claims of a user as rows, to estimate a batch."""
    return [Row(str(number), claim, Gold.NOT_ENOUGH_EVIDENCE) for number, claim in enumerate(claims, start=1)]


def prices(options: RunOptions, settings: Settings) -> tuple[float | None, float | None] | None:
    """Return the prices per million prompt and completion tokens, None if unset; None for a model without a server."""
    found = (each for each in language_models(settings) if each.name == options.model and not each.gguf)
    return next(((each.prompt_price, each.completion_price) for each in found), None)


def _scaled(spent: Cost, measured: Sequence[Prediction], rows: int, workers: int) -> Cost:
    times = rows / spent.rows
    return Cost(
        rows,
        round(spent.calls * times),
        round(spent.prompt_tokens * times),
        round(spent.completion_tokens * times),
        None if spent.cost is None else spent.cost * times,
        mean(each.spent.seconds for each in measured) * rows / workers / 3600,
        f"as the {spent.rows} rows that are made",
    )


def calls_by_role(options: RunOptions, hops: int, read_by_model: bool = True) -> dict[str, int]:
    """Return the number of language model calls and searches in one run with `hops` kept hops, by role."""
    if options.strategy in BASELINES:
        return {options.strategy: 1}
    if options.strategy == PURSUIT:
        return {role: count for role, count in _pursuit_calls(options, read_by_model).items() if count}
    modules = {
        "question": "question generator",
        "validate": "QA validator",
        "verify": "claim verifier",
        "reason": "reasoner",
    }
    prompted = [role for role, module in modules.items() if _is_prompted(module, options)]
    each = {role: 1 if role == "reason" else hops for role in prompted}
    if options.preset == QACHECK:
        each["verify"] = min(hops + 1, options.max_hops)  # also before the first question, not after the last
    if options.answerer == "reciter-reader":
        each["recite"] = hops
        each |= {"read": hops} if read_by_model or options.preset == QACHECK else {}
    if options.answerer == "web-search" and prompted:
        each |= {"search": hops, "choose": hops, "answer": hops}
    return each


def _is_prompted(module: str, options: RunOptions) -> bool:
    if preset := GUIDED_PRESETS.get(options.preset):
        return getattr(preset, module.replace(" ", "_").lower()) in ("prompted", QACHECK)
    return dict(options.modules).get(module, "").startswith(f"{options.model}, prompted")  # of a site's own mix


def _pursuit_calls(options: RunOptions, read_by_model: bool) -> dict[str, int]:
    """Return the calls of a typical run: two questions with their paraphrases, up to five pairs, the late verdict."""
    preset, own_questions = PURSUIT_PRESETS[options.preset], 2
    asks_first = dict(options.modules).get("first question", "").endswith("prompted")
    pairs = preset.variant.pairs if preset.variant.padding == "paraphrase" else own_questions
    searches_web, recites = options.answerer == "web-search", options.answerer == "reciter-reader"
    return {
        "first": int(asks_first),
        "step": own_questions if preset.then == "llm" and not preset.variant.all_at_once else 0,
        "paraphrase": own_questions if preset.variant.padding == "paraphrase" and preset.others == "llm" else 0,
        "search": pairs if searches_web else 0,
        "choose": pairs if searches_web and not preset.multi_document else 0,
        "answer": pairs if searches_web else 0,
        "recite": pairs if recites else 0,
        "read": pairs if recites and read_by_model else 0,
        "reason": int(preset.variant.late_verdict and preset.others == "llm"),
    }


def _prompt_tokens(role: str, options: RunOptions, claim_text: str, hops: int) -> int:
    """Return the tokens of the role's prompt in the middle of a run."""
    claim = Claim(claim_text)
    whole = tuple(_hop(number) for number in range(1, hops + 1))
    half = whole[: max(1, hops // 2)]
    prompts = _own_prompts(options, claim, half, whole)
    if is_faithful(options.strategy, options.preset):
        prompts |= _paper_prompts(options, claim, half, whole)
    return len(prompts[role]()) // CHARACTERS_PER_TOKEN


Prompts = dict[str, Callable[[], str]]


def _own_prompts(options: RunOptions, claim: Claim, half: tuple[Hop, ...], whole: tuple[Hop, ...]) -> Prompts:
    asked, labels = _QUESTION, options.labels.labels
    preset = PURSUIT_PRESETS.get(options.preset)
    several = bool(preset and preset.multi_document)
    pages = [_PASSAGE] * MAX_HITS if several else [replace(_PASSAGE, text=SAMPLE_WINDOW)]
    return {
        "direct": lambda: fill_template("direct", claim=claim.text, ask=label_question(labels)),
        "chain-of-thought": lambda: reasoning_prompts(claim, half, labels)[0],
        "question": lambda: question_prompts(claim, half)[0],
        "recite": lambda: reciting_prompts(asked)[0],
        "read": lambda: reading_prompts(asked, SAMPLE_RECITATION)[0],
        "search": lambda: "",
        "choose": lambda: choosing_prompt(asked, [_HIT] * MAX_HITS),
        "answer": lambda: document_prompt(asked, pages),
        "validate": lambda: usefulness_prompts(claim, half, whole[-1])[0],
        "verify": lambda: sufficiency_prompts(claim, half)[0],
        "reason": lambda: reasoning_prompts(claim, whole, labels)[0],
        "first": lambda: first_prompts(claim)[0],
        "step": lambda: step_prompts(claim, half, ())[0],
        "paraphrase": lambda: paraphrase_prompts(asked, 4)[0],
    }


def _paper_prompts(options: RunOptions, claim: Claim, half: tuple[Hop, ...], whole: tuple[Hop, ...]) -> Prompts:
    labels = options.labels.labels
    long = [replace(hop, answer=Answer(SAMPLE_SENTENCE * 3)) for hop in chain(whole, half)][:5]
    found: Prompts = {
        "question": lambda: paper_prompts.question_prompt(claim, half),
        "validate": lambda: paper_prompts.validator_prompts(claim, half, whole[-1])[0],
        "verify": lambda: paper_prompts.verifier_prompts(claim, half)[0],
        "reason": lambda: paper_prompts.reasoner_prompt(claim, whole, labels),
    }
    if options.strategy == PURSUIT:
        found["reason"] = lambda: paper_prompts.verdict_prompt(claim, tuple(long), labels)
    return found


_QUESTION = Question("In which year was the subject of this question born?")
_PASSAGE = Passage(SAMPLE_SNIPPET, "An article of Wikipedia", "site.example", "https://site.example/", "2020-01-01")
_HIT = SearchHit(_PASSAGE.title, _PASSAGE.source, SAMPLE_SNIPPET, "https://site.example/", "2020-01-01")


def _hop(number: int) -> Hop:
    cited = Span(_PASSAGE, 0, len(SAMPLE_SNIPPET))
    return Hop(number, _QUESTION, Answer(SAMPLE_ANSWER, cited, (_PASSAGE,)), HopStatus.KEPT)
