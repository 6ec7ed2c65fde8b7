"""What Hopcheck says of a run, as codes with parameters and their words, and other words with parameters.

Events store codes, and programs compare codes; the words are here alone. Here all are English; a page may show them in
another language, from the same parameters (app/web/language.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from string import Formatter
from typing import Any, Self


class WordsFormatter(Formatter):
    """`str.format` with the format `lower`, which writes the first letter of a text small."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec == "lower":
            return str(value)[:1].lower() + str(value)[1:]
        return str(super().format_field(value, format_spec))


_ENGLISH = WordsFormatter()


class Words(str):
    """A title or a sentence in English that keeps its template and parameters, with which it can be translated.

    With a template for the plural, the first parameter decides between the two.
    """

    template: str
    plural: str
    values: dict[str, Any]

    def __new__(cls, template: str, plural: str = "", /, **values: Any) -> Self:
        is_plural = plural and next(iter(values.values())) != 1
        chosen = plural if is_plural else template
        fill = _ENGLISH.format if ":lower}" in chosen else str.format
        words = super().__new__(cls, fill(chosen, **values) if values else chosen)
        words.template, words.plural, words.values = template, plural, values
        return words

    @classmethod
    def joined(cls, separator: str, parts: Iterable[object]) -> Self:
        """Return the parts in a row, each of which can be translated."""
        values = {f"part{number}": part for number, part in enumerate(parts)}
        return cls(separator.join(f"{{{name}}}" for name in values), **values)


class Code(StrEnum):
    """What is said, with its words; a second text is for the owner of the run. Call it with its parameters."""

    words: str
    to_owner: str

    def __new__(cls, code: str, words: str, to_owner: str = "") -> Self:
        member = str.__new__(cls, code)
        member._value_, member.words, member.to_owner = code, words, to_owner or words
        return member

    def __call__(self, **values: str | int | float) -> Message:
        return Message(self, values)

    # Activities
    WAITING = "waiting", "waiting for its turn"
    STARTING = "starting", "starting"
    TAKING_UP = "taking_up", "taking the check up again"
    THINKING = "thinking", "thinking of a question"
    THINKING_OF_SEVERAL = "thinking_of_several", "thinking of questions"
    THINKING_OF_ANOTHER = "thinking_of_another", "thinking of one more question"
    DECIDING_OR_ASKING = "deciding_or_asking", "deciding, or thinking of one more question"
    REWORDING = "rewording", "putting the question in other words"
    LOOKING = "looking", "looking for evidence"
    SEARCHING = "searching", "searching {where}"
    SEARCHING_PASSAGES = "searching_passages", "searching {count:,} {kind}"
    SEARCHING_WEB = "searching_web", "searching the web"
    SEARCHING_CORPUS = "searching_corpus", "searching the corpus"
    SEARCHING_WITH = "searching_with", "searching with {engine}"
    OPENING_INDEX = "opening_index", "opening the index"
    LOADING = "loading", "loading {what}"
    WAITING_FOR_HOST = "waiting_for_host", "waiting {seconds:.0f} s for {host}"
    CHOOSING_DOCUMENT = "choosing_document", "choosing one of {count} documents"
    RANKING = "ranking", "ranking {count} passages"
    READING_PASSAGES = "reading_passages", "reading {count} passages"
    READING = "reading", "reading {what}"
    READING_PAGE = "reading_page", "reading a page"
    READING_PAGE_OF = "reading_page_of", "reading a page of {host}"
    READING_ARTICLE = "reading_article", "reading {title} at {host}"
    READING_SNIPPET = "reading_snippet", "reading what the search shows of it"
    READING_RECITED = "reading_recited", "reading what was recited"
    RECITING = "reciting", "reciting what {model} remembers"
    ASKING_MODEL = "asking_model", "asking {model}"
    ASKING_FOR_EVIDENCE = "asking_for_evidence", "asking {model} for its evidence"
    ASKING_STEP_BY_STEP = "asking_step_by_step", "letting {model} think step by step"
    WEIGHING_ANSWER = "weighing_answer", "deciding whether the answer helps"
    DECIDING_ENOUGH = "deciding_enough", "deciding whether this is enough"
    WEIGHING_EVIDENCE = "weighing_evidence", "weighing the evidence"
    EXPLAINING_TRUE = "explaining_true", "writing down why it is true"
    EXPLAINING_FALSE = "explaining_false", "writing down why it is false"

    # Why an answer is used
    ANSWERED = "answered", "The question has an answer."
    OTHER_WORDS = "other_words", "The question of step {hop}, in other words."
    REPEATED_PAIR = "repeated_pair", "The pair of step {hop} once more."
    ABOUT_CLAIM = "about_claim", "It answers a question about the claim."
    ABOUT_CLAIM_ITSELF = "about_claim_itself", "It asks about the claim itself."
    ABOUT_ANSWER = "about_answer", "It answers a question about {answer}, from step {hop}."
    ABOUT_REMAINING = "about_remaining", "It is about what remained to be checked: “{claim}”"
    NEAREST_SENTENCE = "nearest_sentence", "The sentence of the source nearest to the question; it may not answer it."
    EVIDENCE_ABOUT_CLAIM = "evidence_about_claim", "Its evidence is about the claim."
    MODEL_FINDS_USEFUL = "model_finds_useful", "{model} finds it useful to verify the claim."

    # Why it is not
    NO_ANSWER = "no_answer", "No passage answers this question."
    QUESTION_REPEATED = "question_repeated", "The answer only repeats the question."
    ALREADY_ASKED = "already_asked", "Step {hop} already asked this."
    ALREADY_ANSWERED = "already_answered", "Step {hop} already gave this answer."
    NOT_MENTIONED = "not_mentioned", "The evidence does not mention {name}."
    OTHER_SUBJECT = "other_subject", "The evidence tells this of {other}, not of {name}."
    UNRELATED = "unrelated", "Neither the question nor its evidence is about the claim or a kept answer."
    MODEL_FINDS_USELESS = "model_finds_useless", "{model} finds that it does not help to verify the claim."
    FAILED = "failed", "The {module} failed: {problem}"
    MUST_CONCLUDE = "must_conclude", "The check had to conclude before this step was done."
    RUN_ENDED = "run_ended", "The run ended before this step did."
    LEFT_OUT = "left_out", "Its owner left it out.", "You left it out."

    # Whether the answers are enough
    DECIDED = "decided", "The kept evidence decides the claim."
    NOT_DECIDED = "not_decided", "The kept evidence does not decide the claim yet."
    REMAINS = "remains", "What remains to be checked: “{claim}”"
    MODEL_DECIDED = "model_decided", "{model} holds that the kept answers decide the claim."
    MODEL_NOT_DECIDED = "model_not_decided", "{model} holds that the kept answers do not decide the claim yet."
    MODEL_KNOWS = "model_knows", "{model} holds that it can decide the claim without an answer."
    CALLED_TRUE = "called_true", "The answers were enough to call it true."
    CALLED_FALSE = "called_false", "The answers were enough to call it false."
    UNFOUNDED = "unfounded", "The questioner decided without any answer, which does not count."
    ONLY_REPEATED = "only_repeated", "The questioner only repeated questions that had been asked."

    # Why no more questions are asked
    SATISFIED = "satisfied", "The answers were enough to decide."
    NOTHING_ASKED = "nothing_asked", "It was decided without any answer."
    NOTHING_TO_ASK = "nothing_to_ask", "There was nothing left to ask."
    COMPLETE = "complete", "The wanted number of answers was found: {count}."
    HOP_LIMIT = "hop_limit", "The limit of {hops} steps was reached."
    STALLED = "stalled", "The last {hops} questions found no answer that helps."
    CLAIM_ALONE = "claim_alone", "This strategy asks no question and looks at no evidence."
    ASKED_BY_OWNER = "asked_by_owner", "Its owner asked for a verdict early.", "You asked for a verdict early."
    RUN_SECONDS = "run_seconds", "The limit of {amount:g} s for one check was reached."
    RUN_CALLS = "run_calls", "The limit on calls for one check was reached: {amount:,}."
    RUN_TOKENS = "run_tokens", "The limit on tokens for one check was reached: {amount:,}."
    RUN_COST = "run_cost", "The limit on the cost of one check was reached: {amount:g}."
    DAY_CALLS = "day_calls", "This site's limit on calls a day was reached: {amount:,}."
    DAY_TOKENS = "day_tokens", "This site's limit on tokens a day was reached: {amount:,}."
    DAY_COST = "day_cost", "This site's limit on the cost of a day was reached: {amount:g}."

    # Why there is no verdict
    ALL_FAILED = "all_failed", "Every question failed before it had an answer; the steps say why."
    INTERNAL_ERROR = "internal_error", "Something went wrong inside Hopcheck; the log has the details."
    CUT_OFF = "cut_off", "The check was cut off."
    CUT_OFF_OFTEN = "cut_off_often", "The check was cut off {times} times and is not taken up again."
    CUT_OFF_FOR_GOOD = "cut_off_for_good", "The check was cut off and cannot go on. {problem}"
    STOPPED_BY_OWNER = "stopped_by_owner", "Its owner stopped this check.", "You stopped this check."
    DELETED = "deleted", "Its owner deleted this check.", "You deleted this check."
    BATCH_CANCELLED = "batch_cancelled", "Its batch was cancelled."
    BATCH_DELETED = "batch_deleted", "Its batch was deleted."
    STOPPED_AT_KEYBOARD = "stopped_at_keyboard", "It was stopped at the keyboard."
    CLIENT_LEFT = "client_left", "The program that asked for it did not wait for its end."

    # Problems that a run survives
    SNIPPET_READ = "snippet_read", "{problem} What the search shows of it was read instead."
    OTHER_ENGINE_ASKED = "other_engine_asked", "{problem} Another search engine was asked instead."
    ARTICLE_LEFT_OUT = "article_left_out", "The article {title} of Wikipedia {problem}, so it was left out."
    PROMPT_CUT = (
        "prompt_cut",
        "The server {host} read only {tokens:,} tokens of a prompt of {characters:,} characters: it cuts long prompts, "
        "and its context must be made longer.",
    )

    # What is missing for a verdict
    MODEL_NOT_ASKED = "model_not_asked", "The model was not asked."
    NO_EVIDENCE = "no_evidence", "No evidence was looked at."
    NO_QUESTION = "no_question", "No question about this claim could be asked."
    OPINION = (
        "opinion",
        "This reads like an opinion, which no source can decide. Write what can be looked up, such as who said it.",
    )
    PREDICTION = (
        "prediction",
        "This says what will happen, which no source can know yet. Write what can be looked up, such as a forecast.",
    )
    NOTHING_HELPS = "nothing_helps", "No question found an answer that helps."
    NAME_NOT_READ = "name_not_read", "No passage that was read names {name}."
    NOTHING_SAYS = "nothing_says", "Nothing that was read says whether the claim is true."
    NOTHING_SAYS_ABOUT = "nothing_says_about", "Nothing that was read about {names} says whether the claim is true."

    # Reasons of a verdict
    FROM_MEMORY = (
        "from_memory",
        "This is from the model's memory, not a source: {model} was asked about the claim alone, and no evidence was "
        "looked at.",
    )
    DESCRIPTION = "description", "{title}, short description: {text}"
    SUPPORTS = "supports", "This supports the claim."
    DISAGREES = "disagrees", "This does not agree with the claim."
    SAYS_NOTHING = "says_nothing", "None of this says whether the claim is true."
    MIXED = "mixed", "Some of this supports the claim, and some of it does not agree with it."
    OPPOSED = "opposed", "One answer supports the claim, another does not agree with it."
    IS_BEFORE = "is_before", "{one} is before {other}."  # this and the next three are in stored runs only
    IS_AFTER = "is_after", "{one} is after {other}."
    IS_LESS = "is_less", "{one} is less than {other}."
    IS_MORE = "is_more", "{one} is more than {other}."
    CALCULATED_TRUE = "calculated_true", "Calculated from the answers: {text}, which is true."
    CALCULATED_FALSE = "calculated_false", "Calculated from the answers: {text}, which is false."


CUT_OFF = (Code.CUT_OFF, Code.CUT_OFF_OFTEN, Code.CUT_OFF_FOR_GOOD)
"""Ends of a run whose process was lost at an unknown time before the event."""

RUN_LIMITS = (Code.RUN_CALLS, Code.RUN_TOKENS, Code.RUN_COST)
DAY_LIMITS = (Code.DAY_CALLS, Code.DAY_TOKENS, Code.DAY_COST)

BEFORE_READING = (
    Code.SEARCHING,
    Code.SEARCHING_PASSAGES,
    Code.SEARCHING_WEB,
    Code.SEARCHING_CORPUS,
    Code.SEARCHING_WITH,
    Code.OPENING_INDEX,
    Code.LOADING,
    Code.WAITING_FOR_HOST,
    Code.CHOOSING_DOCUMENT,
    Code.RANKING,
)
"""The activities of an answerer before it reads."""


OWN_NAMES = ("kind", "module", "what")
"""The parameters that are names of Hopcheck's own, and translated with the message."""


@dataclass(frozen=True, slots=True)
class Message:
    """A code with its parameters. `str()` gives the Words."""

    code: Code
    values: dict[str, str | int | float] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return self._words(self.code.words)

    def to_owner(self) -> Words:
        """Return the words for the owner of the run."""
        return self._words(self.code.to_owner)

    def _words(self, template: str) -> Words:
        named = {name: Words(str(each)) for name, each in self.values.items() if name in OWN_NAMES}
        return Words(template, **{**self.values, **named})


Text = Message | str
"""A message, or words as they are: of an error, a model, an imported report, or a run of an earlier version."""


def code_of(text: Text) -> Code | None:
    """Return the code of a message; None for words without one."""
    return text.code if isinstance(text, Message) else None
