"""Questioners and paraphrasers of evidence pursuit (Papelo): local, prompted and fine-tuned.

A language model replies with a list of questions, or with a decision or one question (app/modules/output_parsing.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.domain.errors import UnparseableOutput
from app.domain.instrumentation import report_phase
from app.domain.messages import Code
from app.domain.model import Claim, Context, Hop, HopStatus, Label, Question
from app.domain.ports import Ask, Chat, ClaimVerifier, Completer, Decide, QuestionGenerator, TextGenerator
from app.modules.local import LocalJudge
from app.modules.output_parsing import first_question, question_from, questions_from, step_from
from app.modules.prompting import (
    TEXT_OR_NULL,
    TEXTS,
    KnownHop,
    Parsed,
    Quote,
    ask,
    attribution,
    attribution_sentence,
    build_chat,
    chat_case,
    demonstrations,
    few_shot,
    fill_template,
    known_lines,
    numbered_hops,
    one_line,
    quoted_texts,
    short_answer,
    template,
)
from app.text.wording import expected_answer_type, names, normalised, stems, word_lists


@dataclass(frozen=True)
class LocalPursuer:
    """Implements `Pursuer` with local models: decides once `verifier` finds the evidence sufficient.

    The decision is the likelier of SUPPORTED and REFUTED by `judge`, which `verifier` uses. Propagates their errors.
    """

    generator: QuestionGenerator
    verifier: ClaimVerifier
    judge: LocalJudge

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """Return up to `n` questions, each generated as if the ones before it had no answer."""
        asked: list[Hop] = []
        while len(asked) < n and (question := self.generator.next_question(claim, (), tuple(asked))):
            asked.append(Hop(len(asked) + 1, question, None, HopStatus.SET_ASIDE))
        return tuple(hop.question for hop in asked)

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide | None:
        """Return a decision or the next question; None if none is left. An empty context never leads to a decision."""
        if context and self.verifier.is_sufficient(claim, context).holds:
            probabilities = self.judge.probabilities(claim, context)
            return Decide(probabilities[Label.SUPPORTED] >= probabilities[Label.REFUTED])
        question = self.generator.next_question(claim, context, set_aside)
        return None if question is None else Ask(question)


# The prompts follow the forms in the paper (Papelo, Appendix B), without demonstrations. Unlike the paper's, they quote
# answers between delimiters and list the questions without an answer.

MAX_TOKENS = 384
MAX_ANSWERS_WORDS = 400
"""Words of all answers together; each is cut at an equal share."""
UNANSWERED = "These have no usable answer, so do not ask them again:"
ONLY_LIST = "Write the JSON list and nothing else."
ONLY_STEP = "Write [[True]], or [[False]], or one question with its question mark, and nothing else."


@dataclass(frozen=True)
class PromptedPursuer:
    """Implements `Pursuer` over any `TextGenerator`. Propagates errors of the model; holds no state."""

    model: TextGenerator

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """Return the first `n` questions that the model lists. Raises UnparseableOutput if it writes no question."""
        report_phase(Code.THINKING() if n == 1 else Code.THINKING_OF_SEVERAL())
        return _complete(self.model, partial(first_prompts, claim), ONLY_LIST, questions_from, _list)[:n]

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask | Decide:
        """Return a decision or one more question, possibly a repeated one. Raises UnparseableOutput for neither."""
        report_phase(Code.DECIDING_OR_ASKING())
        prompts = partial(step_prompts, claim, context, set_aside)
        return _complete(self.model, prompts, ONLY_STEP, step_from, _step if context else _question_or_step)


@dataclass(frozen=True)
class PromptedParaphraser:
    """Implements `Paraphraser` over any `TextGenerator`. Propagates errors of the model; holds no state."""

    model: TextGenerator

    def paraphrase(self, claim: Claim, question: Question, n: int) -> tuple[Question, ...]:
        """Return at most `n` other wordings. As in the paper, the prompt contains the question but not the claim."""
        report_phase(Code.REWORDING())
        found = _complete(self.model, partial(paraphrase_prompts, question, n), ONLY_LIST, questions_from, _list)
        return tuple(each for each in found if each != question)[:n]


def first_prompts(claim: Claim, also: str = "") -> tuple[str, Chat]:
    """Return the prompt for the first questions as text and as a chat; `also` is one more instruction."""
    prompt = fill_template("pursuit_first", claim=one_line(claim.text), attribution=attribution(claim), also=also)
    case = chat_case(claim.text, (), str, attribution_sentence(claim), also)
    return prompt, build_chat("questions", "pursuit_first", (), lambda quote: case, (), questions=TEXTS)


def step_prompts(claim: Claim, context: Context, set_aside: Sequence[Hop], also: str = "") -> tuple[str, Chat]:
    """Return the prompts for the next step: kept questions with answers, then set-aside ones without."""
    known = _answered(context)
    unanswered = [f"- {one_line(hop.question.text)}" for hop in set_aside if hop.question.text]
    unanswered = [UNANSWERED, *unanswered] if unanswered else []

    def case(quote: Quote) -> str:
        about = {"claim": one_line(claim.text), "attribution": attribution(claim)}
        return fill_template(
            "pursuit_next", **about, known="\n".join([known_lines(known, quote), *unanswered]), also=also
        )

    chat = build_chat(
        "step",
        "pursuit_next",
        (),
        lambda quote: chat_case(claim.text, known, quote, *unanswered, attribution_sentence(claim), also),
        quoted_texts(known),
        decision={"type": ["string", "null"], "enum": ["true", "false", None]},
        question=TEXT_OR_NULL,
    )
    return few_shot((), case, quoted_texts(known)), chat


def paraphrase_prompts(question: Question, n: int, also: str = "") -> tuple[str, Chat]:
    lines = "\n".join(filter(None, (f"Question = {one_line(question.text)}", f"Number = {n}", also)))
    prompt = fill_template("pursuit_paraphrase", question=one_line(question.text), number=n, also=also)
    return prompt, build_chat("wordings", "pursuit_paraphrase", (), lambda quote: lines, (), questions=TEXTS)


def _list(reply: Mapping[str, Any]) -> str:
    return json.dumps(reply["questions"], ensure_ascii=False)


def _step(reply: Mapping[str, Any]) -> str:
    return f"[[{reply['decision']}]]" if reply["decision"] else reply["question"] or ""


def _question_or_step(reply: Mapping[str, Any]) -> str:
    """Return the question, if the reply has one beside a decision, which does not count without an answer."""
    return reply["question"] or _step(reply)


def _complete(
    model: TextGenerator,
    prompts: Callable[[str], tuple[str, Chat]],
    only: str,
    read: Callable[[str], Parsed],
    text_of: Callable[[Mapping[str, Any]], str],
) -> Parsed:
    """Return the reply as parsed by `read`. If that fails, ask once more as text, not a chat, adding `only`."""
    prompt, chat = prompts("")
    try:
        return ask(model, prompt, read, max_tokens=MAX_TOKENS, chat=chat, text_of=text_of)
    except UnparseableOutput:
        return ask(model, prompts(only)[0], read, max_tokens=MAX_TOKENS)


def _answered(context: Context) -> list[KnownHop]:
    share = MAX_ANSWERS_WORDS // max(1, len(context))
    return numbered_hops((hop.question.text, " ".join(hop.answer_text.split()[:share])) for hop in context)


# Sequence-to-sequence models fine-tuned to write questions (Papelo, section 3.1 and Appendix A). One model writes the
# first question from the claim, another the next one from the claim and the pairs so far. They never decide. Their
# input lacks the speaker and the questions without an answer, as their training data did.

MAX_SEQ2SEQ_TOKENS = 128


@dataclass(frozen=True)
class Seq2SeqPursuer:
    """Implements `Pursuer` over two models; `next_model` is not called by a run that takes only the first question."""

    first_model: Completer
    next_model: Completer

    def first_questions(self, claim: Claim, n: int) -> tuple[Question, ...]:
        """Return one question for any `n`. Raises UnparseableOutput if the model writes none."""
        report_phase(Code.THINKING())
        asked = self.first_model.complete(first_input(one_line(claim.text)), max_tokens=MAX_SEQ2SEQ_TOKENS)
        return (first_question(asked),)

    def next_step(self, claim: Claim, context: Context, set_aside: Sequence[Hop]) -> Ask:
        """Return one more question, possibly a repeated one."""
        report_phase(Code.THINKING_OF_ANOTHER())
        pairs = [(one_line(hop.question.text), short_answer(hop)) for hop in context]
        asked = self.next_model.complete(next_input(one_line(claim.text), pairs), max_tokens=MAX_SEQ2SEQ_TOKENS)
        return Ask(first_question(asked))


def first_input(claim: str) -> str:
    return f"question: {claim}"


def next_input(claim: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return the input of the second model: the claim, then each (question, answer) pair, oldest first."""
    history = "".join(f" Question: {question} Answer: {answer}" for question, answer in pairs)
    return f"question: Claim: {claim}{history}"


# The local paraphraser: a small model often drops the subject of a question or asks for something else. A paraphrase is
# used only if it has the same names and content words as the question, and either expects the same type of answer ("In
# which city ...?" for "Where ...?") or begins with "What is the". Yes/no questions are not paraphrased, since a swap of
# subject and object ("Was he endorsed by them?") keeps all words and changes the meaning.

MAX_PARAPHRASE_TOKENS = 32
_WHAT_IS_THE = re.compile(r"what (?:is|was|are|were) the\b", re.IGNORECASE)
OPENINGS = ("", "What", "Which", "In")
"""Beginnings of a paraphrase, given to the model one after another; without one it often repeats the question."""


@dataclass(frozen=True)
class LocalParaphraser:
    """Implements `Paraphraser` over any `Completer`. Propagates its errors; holds no state."""

    model: Completer

    def paraphrase(self, claim: Claim, question: Question, n: int) -> tuple[Question, ...]:
        """Return at most `n` different questions, the model's paraphrases first."""
        report_phase(Code.REWORDING())
        found = {normalised(question.text): question}
        for text in self._candidates(claim, question):
            if len(found) > n:
                break
            found.setdefault(normalised(text), Question(text))
        return tuple(found.values())[1:]

    def _candidates(self, claim: Claim, question: Question) -> Iterator[str]:
        for opening in OPENINGS if expected_answer_type(question.text) else ():
            text = self._paraphrase(question, opening)
            if text and keeps_meaning(question.text, text):
                yield text
        yield claim_as_question(claim)

    def _paraphrase(self, question: Question, opening: str) -> str | None:
        prompt = f"{prompt_for(question)} {opening}".rstrip()
        text = self.model.complete(prompt, max_tokens=MAX_PARAPHRASE_TOKENS, stop=("\n",))
        try:
            return question_from(f"{opening} {text.strip()}" if opening else text).text
        except UnparseableOutput:
            return None


def prompt_for(question: Question) -> str:
    """Return the prompt: the demonstrations and this question, up to the start of the paraphrase."""
    shown = (f"{_question_in_prompt(each['question'])} {each['same']}\n\n" for each in demonstrations("same_question"))
    return "".join(shown) + _question_in_prompt(" ".join(question.text.split()))


def keeps_meaning(question: str, wording: str) -> bool:
    """Return whether a wording has the names and content words of the question and asks for the same kind of answer.

    A wording that begins with "What is the" may ask for any kind; nouns of a kind, such as "city", may differ.
    """
    same_words = stems(question) - _kinds() == stems(wording) - _kinds()
    if not expected_answer_type(question) or not same_words or _names(question) != _names(wording):
        return False
    return expected_answer_type(wording) == expected_answer_type(question) or bool(_WHAT_IS_THE.match(wording))


def claim_as_question(claim: Claim) -> str:
    """Return the yes/no question whether the claim is true. Only a function word at its start loses its capital."""
    text = " ".join(claim.text.split()).rstrip(" .!?")
    first, _, rest = text.partition(" ")
    if first.casefold() in word_lists()["functional"]:
        text = f"{first.casefold()} {rest}".strip()
    return f"Is it true that {text}?"


def _names(text: str) -> frozenset[str]:
    return frozenset(normalised(name) for name in names(text))


def _kinds() -> frozenset[str]:
    return stems(" ".join(word_lists()["kind_nouns"]))


def _question_in_prompt(question: str) -> str:
    return template("same_question").substitute(question=question)
