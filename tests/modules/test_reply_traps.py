"""The table of traps: replies of real models that were read wrongly once, and how each role reads them."""

from __future__ import annotations

import json

import pytest

from app.backends.http import HttpResult
from app.backends.llm.negotiation import parse_reply
from app.domain.errors import UnparseableOutput
from app.domain.model import Label, LabelSet, Passage, Question
from app.domain.ports import Ask, Decide
from app.modules.answerers.web_documents import PromptedReader
from app.modules.output_parsing import answer_from, label_from, question_from, questions_from, step_from
from app.text.options import option_in
from tests.modules.answering.web_fakes import QUESTION
from tests.modules.prompted.cases import REFUSAL
from tests.text_generators import playing

SUPPORTED, REFUTED, UNKNOWN = LabelSet.THREE.labels
UNREADABLE = "unreadable"


def label(reply: str) -> object:
    return label_from(reply, LabelSet.THREE.labels)[0]


def yes_or_no(reply: str) -> object:
    return option_in(reply, ("Yes", "No"))


def question(reply: str) -> object:
    return question_from(reply).text


def questions(reply: str) -> object:
    return tuple(each.text for each in questions_from(reply))


def step(reply: str) -> object:
    taken = step_from(reply)
    return taken.question.text if isinstance(taken, Ask) else taken


def read(reply: str) -> object:
    return PromptedReader(playing(reply)).read(QUESTION, (Passage("The tower opened in 1889.", "", ""),)).text


CHATTY = "Sure! To verify this claim, the first thing we need to know is:\n\n**Question:** When was he born?"
SPEECH = "On which day (e.g. Jan. 5) of Dr. Smith's tour was the speech held?"
NOT_SAID = [
    "None of the documents answer the question.",
    "The passage does not mention this.",
    "It is not clear. The page only names the year.",
    "I don't know.",
    REFUSAL,
    "",
]
SAID = [
    "None of them",
    "There is no evidence that vaccines cause autism.",
    "I Can't Help Myself",
    "The document says that it opened in 1889",
]

TRAPS = [
    # Labels
    (label, "**Answer:** False", REFUTED),
    (label, "In conclusion, the claim is false as he was born in 1903.", REFUTED),
    (label, r"\boxed{False}", REFUTED),
    (label, "true\n\nExplanation: He was born there.", SUPPORTED),
    (label, "**Label:** True\n\n(Note that the year is not certain.)", SUPPORTED),
    (label, '```json\n{"rationale": "He was 65, true [1].", "label": "false"}\n```', REFUTED),
    (label, "Insufficient evidence", UNKNOWN),
    (label, "Label = true (supported by [1] and [2])", SUPPORTED),
    (label, "➡️ Verdict: True ✔️", SUPPORTED),
    (label, "Label = NEI", UNKNOWN),
    (label, "", UNREADABLE),
    (label, "No, the claim is not false", UNREADABLE),
    (label, "True as long as the date is right", UNREADABLE),
    (label, "Label = true\nLabel = false", UNREADABLE),
    # Decisions
    (yes_or_no, '```json\n{"answer": "Yes"}\n```', "Yes"),
    (yes_or_no, "Not yet", None),
    (yes_or_no, "Based on the information, yes.", None),
    # Steps of a pursuit
    (step, "False. Why? Because he was 65.", Decide(False)),
    (step, "No, the claim is not false", UNREADABLE),
    (step, "True? Who says so?", "True?"),
    (step, SPEECH, SPEECH),
    # Questions
    (question, CHATTY, "When was he born?"),
    (question, "他什么时候出生？", "他什么时候出生？"),
    (question, "Die Behauptung ist falsch.", UNREADABLE),
    (question, "When did it begin: at 10:30 p.m.?", "When did it begin: at 10:30 p.m.?"),
    (questions, "Who wrote it?\n2. When was it written?", ("Who wrote it?", "When was it written?")),
    (questions, '[{"question":"Who wrote it?"}, {"question":"When?"}]', ("Who wrote it?", "When?")),
    (questions, "**1.** Who wrote it?\n**2.** When?", ("Who wrote it?", "When?")),
    # Answers
    (answer_from, "The answer is 1968", "1968"),
    (answer_from, '```json\n{"answer": "1968"}\n```', "1968"),
    (answer_from, '{"answer": null}', None),
    (answer_from, "-89.2 °C", "-89.2 °C"),
    (answer_from, "Martin Luther King Jr.", "Martin Luther King Jr."),
    (answer_from, "Amazon.com.", "Amazon.com"),
    *((reader, reply, None) for reply in NOT_SAID for reader in (answer_from, read)),
    *((answer_from, reply, reply.removesuffix(".")) for reply in SAID),
]


@pytest.mark.parametrize(("reading", "reply", "result"), TRAPS)
def test_a_reply_is_read_as_the_table_says(reading, reply, result):
    if result == UNREADABLE:
        with pytest.raises(UnparseableOutput):
            reading(reply)
    else:
        assert reading(reply) == result


@pytest.mark.parametrize(
    "content", ["<think>It may be false.</think>\nTrue", "Okay, it may be false.</think>\nTrue", "<think>False"]
)
def test_thoughts_are_no_part_of_a_reply(content):
    body = {"choices": [{"message": {"content": content}}]}
    reply = parse_reply(HttpResult(200, content=json.dumps(body).encode()))
    assert reply is not None and reply.text in ("True", "")


def test_reasons_beside_a_label_are_kept():
    assert label_from("true\n\nExplanation: He was born there.", (SUPPORTED,))[1] == "Explanation: He was born there."
    told = '{"rationale": "He was 65 [1].", "label": "false"}'
    assert label_from(told, (REFUTED,)) == (REFUTED, "He was 65 [1].")
    assert label_from("He was 65 [1]. So the claim is false.", (REFUTED,))[1] == "He was 65 [1]."
    assert label_from("Verdict: refuted. He was 65 [1].", (REFUTED,))[1] == "He was 65 [1]."
    assert Question("When?") in questions_from("1. Who wrote it?\n2. When?") and Label.SUPPORTED is SUPPORTED
