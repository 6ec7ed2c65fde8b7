"""The modules over a language model with Hopcheck's own prompts (QACheck, section 3), and FLAN-T5 as the reasoner."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import Claim, Context, Hop, Judgement, Label, Question, Sentence, Verdict
from app.domain.ports import Chat, TextGenerator
from app.modules.judging import closing, missing_from, quotations
from app.modules.output_parsing import label_from, question_from, rationale_from
from app.modules.prompting import (
    TEXT,
    TEXT_OR_NULL,
    YES_OR_NO,
    Case,
    KnownHop,
    PromptedRole,
    Quote,
    ask,
    attribution_sentence,
    chat_case,
    choose_label,
    demonstrations,
    few_shot,
    fill_template,
    first_of_each,
    known_hops,
    known_hops_with_evidence,
    known_lines,
    label_question,
    one_line,
    one_of,
    quoted_texts,
    short_answer,
    yes_or_no,
)
from app.text.wording import is_new_question

# D, the claim verifier (section 3.1): whether the kept answers are sufficient for a verdict.

ENOUGH = PromptedRole(
    "enough",
    "sufficiency",
    lambda case, quote: fill_template(
        "sufficiency", claim=one_line(case["claim"]), known=known_lines(case["known"], quote)
    ),
    lambda example: example["prediction"],
)


def sufficiency_prompts(claim: Claim, context: Context) -> tuple[str, Chat]:
    """Return the prompt as text, and as a chat with two demonstrations of each answer."""
    known, examples = known_hops(context), demonstrations("sufficiency")
    case, few = {"claim": claim.text, "known": known}, first_of_each(examples, "prediction", 2)
    return ENOUGH.prompts(examples, few, case, quoted_texts(known), enough=YES_OR_NO)


@dataclass(frozen=True)
class PromptedClaimVerifier:
    """Implements `ClaimVerifier` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator
    prompts: Callable[[Claim, Context], tuple[str, Chat | None]] = sufficiency_prompts

    def is_sufficient(self, claim: Claim, context: Context) -> Judgement:
        report_phase(Code.DECIDING_ENOUGH())
        decided = Code.MODEL_DECIDED if context else Code.MODEL_KNOWS
        return yes_or_no(self.model, *self.prompts(claim, context), decided, Code.MODEL_NOT_DECIDED)


# Q, the question generator (section 3.2, Appendix A.2).

QUESTION_TOKENS = 64
FRUITLESS_HEADING = "We have already asked these in vain:"
ASKED_HEADING = "All of these were asked already, so ask none of them again:"
# Each attempt has another instruction: a request whose reply could not be read is not sent again in the same run.
FIRST_INSTRUCTIONS = ("", "Write this one question, with its question mark, and nothing else.")
INSTRUCTIONS_AFTER_FAILURE = (
    "Do not judge the claim. Write one line: a question that begins with a word like Who, What, When, Where or Which.",
    "Reply with one short question, which ends with a question mark, and with no other word.",
)
"""The instructions after a hop that failed before it had a question."""
NEXT_CLAIM = "\nClaim ="
"""Stop sequence: without it the model continues with a case of its own."""


@dataclass(frozen=True)
class PromptedQuestioner:
    """Implements `QuestionGenerator` over any `TextGenerator`. Propagates errors of the model; holds no state."""

    model: TextGenerator

    def next_question(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Question | None:
        """Return a new question; None if the model repeats one although the prompt lists those asked before.

        Raises UnparseableOutput if the text has no whole question, or one with more than MAX_QUESTION_WORDS words.
        """
        report_phase(Code.THINKING())
        in_vain = [hop.question.text for hop in set_aside if hop.question.text]
        asked = [*(hop.question.text for hop in context), *in_vain]
        has_failed_hop = not all(hop.question.text for hop in set_aside)
        question = self._ask(claim, context, _previous(FRUITLESS_HEADING, in_vain), has_failed_hop)
        if is_new_question(question.text, asked):
            return question
        question = self._ask(claim, context, _previous(ASKED_HEADING, asked), has_failed_hop)
        return question if is_new_question(question.text, asked) else None

    def _ask(self, claim: Claim, context: Context, previous: str, has_failed_hop: bool) -> Question:
        """Return the model's question. If it writes other text, ask once more for the question alone."""
        first, second = INSTRUCTIONS_AFTER_FAILURE if has_failed_hop else FIRST_INSTRUCTIONS
        try:
            return self._written(claim, context, previous, first)
        except UnparseableOutput:
            return self._written(claim, context, previous, second)

    def _written(self, claim: Claim, context: Context, previous: str, instruction: str) -> Question:
        prompt, chat = question_prompts(claim, context, previous, instruction)
        return ask(self.model, prompt, question_from, max_tokens=QUESTION_TOKENS, stop=(NEXT_CLAIM,), chat=chat)


def _write_question(case: Case, quote: Quote) -> str:
    lines, previous, also = known_lines(case["known"], quote), case.get("previous", ""), case.get("instruction", "")
    if not lines and not previous:
        return fill_template("lm_first_question", claim=one_line(case["claim"]), also=also)
    head = f"We already know the following:\n{lines}\n" if lines else ""
    return fill_template("lm_next_question", claim=one_line(case["claim"]), known=head + previous, also=also)


QUESTION = PromptedRole(
    "question",
    "lm_next_question",
    _write_question,
    lambda example: example["question"],
    lambda case, quote: chat_case(
        case["claim"], case["known"], quote, case.get("previous", ""), case.get("instruction", "")
    ),
)


def question_prompts(claim: Claim, context: Context, previous: str = "", instruction: str = "") -> tuple[str, Chat]:
    """Return the prompt as text, and as a chat with two demonstrations of a first question and two of a later one.

    `previous` lists the questions asked before.
    """
    known = known_hops(context)
    case = {"claim": claim.text, "known": known, "previous": previous, "instruction": instruction}
    first, later = demonstrations("first_question"), demonstrations("follow_up_question")
    examples = later if context or previous else first
    return QUESTION.prompts(examples, (*first[:2], *later[:2]), case, quoted_texts(known), question=TEXT)


def _previous(heading: str, questions: Sequence[str]) -> str:
    return "\n".join([heading, *(f"- {one_line(question)}" for question in questions)]) if questions else ""


# V, the QA validator (section 3.4): whether an answer helps to check the claim.


def _write_pair(case: Case, quote: Quote) -> str:
    lines = known_lines(case["known"], quote)
    return fill_template(
        "usefulness",
        claim=one_line(case["claim"]),
        known=f"We already know the following:\n{lines}" if lines else "",
        question=one_line(case["question"]),
        answer=quote(case["answer"]),
    )


def _pair_in_chat(case: Case, quote: Quote) -> str:
    pair = KnownHop(len(case["known"]) + 1, case["question"], case["answer"])
    return chat_case(case["claim"], [*case["known"], pair], quote)


USEFUL = PromptedRole("useful", "usefulness", _write_pair, lambda example: example["prediction"], _pair_in_chat)


def usefulness_prompts(claim: Claim, context: Context, hop: Hop) -> tuple[str, Chat]:
    """Return the prompt as text, and as a chat with two demonstrations of each answer."""
    known, answer, examples = known_hops(context), short_answer(hop), demonstrations("usefulness")
    case = {"claim": claim.text, "known": known, "question": hop.question.text, "answer": answer}
    few = first_of_each(examples, "prediction", 2)
    return USEFUL.prompts(examples, few, case, [*quoted_texts(known), answer], useful=YES_OR_NO)


@dataclass(frozen=True)
class PromptedValidator:
    """Implements `QAValidator` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator
    prompts: Callable[[Claim, Context, Hop], tuple[str, Chat | None]] = usefulness_prompts

    def is_useful(self, claim: Claim, context: Context, hop: Hop) -> Judgement:
        """Ask the model whether the pair is useful. A pair without an answer is not, and makes no call."""
        if not short_answer(hop):
            return Judgement(False, Code.NO_ANSWER())
        report_phase(Code.WEIGHING_ANSWER())
        prompts = self.prompts(claim, context, hop)
        return yes_or_no(self.model, *prompts, Code.MODEL_FINDS_USEFUL, Code.MODEL_FINDS_USELESS)


# R, the reasoner (section 3.5): label and rationale from the kept hops.

VERDICT_TOKENS = 512
NEXT_CONTEXTS = "\nContexts:"
DEMONSTRATION_COUNT = 10


@dataclass(frozen=True)
class PromptedReasoner:
    """Implements `Reasoner` over any `TextGenerator`. Propagates errors of the model."""

    model: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with the model's rationale, or with quotations of the kept evidence if it has none."""
        report_phase(Code.WEIGHING_EVIDENCE())
        prompt, chat = reasoning_prompts(claim, context, labels)
        text = ask(
            self.model, prompt, str, max_tokens=VERDICT_TOKENS, stop=(NEXT_CONTEXTS,), chat=chat, text_of=_conclusion
        )
        hops = [hop.number for hop in context]
        label, rationale, lacking, confidence = verdict_from(self.model, text, labels, hops, f"{prompt} ")
        missing = (lacking or missing_from(claim, context)) if label is Label.NOT_ENOUGH_EVIDENCE else None
        return Verdict(label, rationale or quotations(context), missing, confidence)


def verdict_from(
    model: TextGenerator, text: str, labels: Sequence[Label], hops: Sequence[int], begun: str
) -> tuple[Label, tuple[Sentence, ...], str | None, float | None]:
    """Return label, rationale, missing evidence and confidence of a reply that follows the prompt `begun`.

    If it has no single label of `labels` (see `label_from`), the model is asked to choose one. Raises UnparseableOutput
    if it chooses none.
    """
    try:
        label, reasons = label_from(text, labels)
        return label, *rationale_from(reasons, hops), None
    except UnparseableOutput:
        rationale, missing = rationale_from(text, hops)
        reasons = " ".join(str(sentence.text) for sentence in rationale)
        label, confidence = choose_label(model, f"{begun}{reasons}\nLabel =", labels)
        return label, rationale, missing, confidence


def _verdict_role(labels: Sequence[Label]) -> PromptedRole:
    question = label_question(labels)
    return PromptedRole(
        "verdict",
        "reasoning",
        lambda case, quote: fill_template(
            "reasoning",
            known=known_lines(case["known"], quote),
            claim=one_line(case["claim"]),
            attribution_sentence=case.get("attribution", ""),
            ask=question,
        ),
        lambda example: _conclusion(_reply(example)),
        lambda case, quote: chat_case(case["claim"], case["known"], quote, case.get("attribution", ""), question),
        _reply,
    )


def reasoning_prompts(claim: Claim, context: Context, labels: Sequence[Label]) -> tuple[str, Chat]:
    """Return the prompt with the demonstrations for these labels, and as a chat with one of each label."""
    known, candidates = known_hops_with_evidence(claim, context), demonstrations("reasoning")
    case = {"claim": claim.text, "known": known, "attribution": attribution_sentence(claim)}
    named = one_of(label.prompted for label in labels)
    schema = {"rationale": TEXT, "missing": TEXT_OR_NULL, "label": named}
    examples, few = balanced(candidates, labels), balanced(candidates, labels, len(labels))
    return _verdict_role(labels).prompts(examples, few, case, quoted_texts(known), **schema)


def _reply(demonstration: Mapping[str, Any]) -> Mapping[str, Any]:
    label = Label(demonstration["label"]).prompted
    return {"rationale": demonstration["rationale"], "missing": demonstration.get("missing"), "label": label}


def balanced(
    candidates: Iterable[Mapping[str, Any]], labels: Sequence[Label], count: int = DEMONSTRATION_COUNT
) -> list[Mapping[str, Any]]:
    """Return `count` of `candidates`, in order, spread evenly over `labels`; the last label gets the remainder."""
    left = dict.fromkeys(labels, count // len(labels))
    left[labels[-1]] += count % len(labels)
    chosen = []
    for each in candidates:
        label = Label(each["label"])
        if left.get(label, 0):
            left[label] -= 1
            chosen.append(each)
    return chosen


def _conclusion(reply: Mapping[str, Any]) -> str:
    missing = f"\nMissing = {one_line(reply['missing'])}" if reply["missing"] else ""
    return f"{reply['rationale']}{missing}\nLabel = {reply['label']}"


@dataclass(frozen=True)
class FlanT5Reasoner:
    """Implements `Reasoner`: the model chooses the label, and the rationale quotes the evidence it read."""

    seq2seq: TextGenerator

    def conclude(self, claim: Claim, context: Context, labels: Sequence[Label]) -> Verdict:
        """Return one of `labels` with its probability among them. Propagates errors of the model."""
        report_phase(Code.WEIGHING_EVIDENCE())
        known, ask_for = known_hops_with_evidence(claim, context), label_question(labels)

        def case(quote: Quote) -> str:  # the question comes last, because a prompt that is too long loses its beginning
            about = {"known": known_lines(known, quote), "claim": one_line(claim.text), "ask": ask_for}
            return fill_template("flan_t5_reasoning", **about)

        label, confidence = choose_label(self.seq2seq, few_shot((), case, quoted_texts(known)), labels)
        missing = missing_from(claim, context) if label is Label.NOT_ENOUGH_EVIDENCE else None
        return Verdict(label, (*quotations(context), closing(label, context)), missing, confidence)
