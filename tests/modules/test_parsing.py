"""Model text is parsed as a question, a step, an answer, a label, a rationale, or an error; nothing is guessed.

Many rows are replies of real models that were read wrongly once.
"""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.errors import UnparseableOutput
from app.domain.model import LabelSet, Passage, Question, Sentence
from app.domain.ports import Ask, Decide
from app.modules.answerers.web_documents import PromptedReader
from app.modules.output_parsing import (
    MAX_QUERY_WORDS,
    MAX_QUESTION_WORDS,
    MAX_RATIONALE_WORDS,
    answer_from,
    label_from,
    passage_from,
    question_from,
    questions_from,
    rationale_from,
    step_from,
)
from app.text.options import option_in
from tests.modules.answering.web_fakes import QUESTION
from tests.modules.prompted.cases import ESSAY, REFUSAL
from tests.text_generators import playing

SUPPORTED, REFUTED, UNKNOWN = THREE = LabelSet.THREE.labels
UNREADABLE = "unreadable"


def label(reply: str) -> object:
    return label_from(reply, THREE)[0]


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


WHO = "Who wrote Emma?"
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
    # Labels: at the start of the last line or as its last sentence, whatever the markup and the text after a comma
    (label, "True, as is well known", SUPPORTED),
    (label, "It was true of others.\nLabel: **False**.", REFUTED),
    (label, "She was born in Hampshire [1]. Therefore, the final answer is: false.", REFUTED),
    (label, "Label = not enough information", UNKNOWN),
    (label, "**Label:** `NOT_ENOUGH_EVIDENCE`", UNKNOWN),
    (label, "### Final answer: __True__", SUPPORTED),
    (label, "It was so [1].\nVerdict — False", REFUTED),
    (label, "Rating: False", REFUTED),
    (label, "It was so [1].\nIt's true.", SUPPORTED),
    (label, "The claim is refuted by the evidence.", REFUTED),
    (label, "The claim cannot be verified.", UNKNOWN),
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
    (label, "**Yes**, we can know.", UNREADABLE),
    (label, "The claim is not true.", UNREADABLE),
    (label, "Untrue", UNREADABLE),
    (label, "True or false", UNREADABLE),
    (label, "true, if the date is right", UNREADABLE),
    (label, REFUSAL, UNREADABLE),
    (label, "No, the claim is not false", UNREADABLE),
    (label, "True as long as the date is right", UNREADABLE),
    (label, "Label = true\nLabel = false", UNREADABLE),
    # Decisions
    (yes_or_no, '```json\n{"answer": "Yes"}\n```', "Yes"),
    (yes_or_no, "Not yet", None),
    (yes_or_no, "Based on the information, yes.", None),
    # Steps of a pursuit: a decision in brackets or as the first word; two decisions are none
    (step, "[[True]]", Decide(True)),
    (step, "[[ true ]]", Decide(True)),
    (step, r"\[\[False\]\]", Decide(False)),
    (step, "[[**True**]]", Decide(True)),
    (step, "[ [False] ]", Decide(False)),
    (step, "The answers show it: [[True]].", Decide(True)),
    (step, "[[True]] Would you like to know more?", Decide(True)),
    (step, "**True**, as is well known.", Decide(True)),
    (step, "False. Why? Because he was 65.", Decide(False)),
    (step, f"I can say neither [[True]] nor [[False]] yet. {WHO}", WHO),
    (step, f"Should I write [[True]] or [[False]]? {WHO}", WHO),
    (step, f"{WHO} Then I will write [[True]] or [[False]].", WHO),
    (step, "[[True]], [[False]]?", UNREADABLE),
    (step, "[[Perhaps]]" * 100, UNREADABLE),
    (step, "No, the claim is not false", UNREADABLE),
    (step, "Yes.", UNREADABLE),
    (step, "x" * 500, UNREADABLE),
    # ... or else the first sentence with a question mark
    (step, f"We do not know enough. {WHO} Was it Austen?", WHO),
    (step, f"**Question:** {WHO}\n\nThis would help us.", WHO),
    (step, f"Next question\n{WHO}", WHO),
    (step, f"2. {WHO}", WHO),
    (step, 'Who said "Why?" in 2019?', 'Who said "Why?" in 2019?'),
    (step, "One more question: what happened at 10:30 p.m. on Monday?", "what happened at 10:30 p.m. on Monday?"),
    (step, "Question 2: Who chaired it: Smith or Jones?", "Who chaired it: Smith or Jones?"),
    (step, "Где родился Эрдоган?", "Где родился Эрдоган?"),
    (step, "True? Who says so?", "True?"),
    (step, SPEECH, SPEECH),
    # Questions
    (question, f"{WHO.lower()}\nQuestion 2 = Why?", "Who wrote emma?"),
    (question, f'\n "{WHO}"', WHO),
    (question, f"{WHO} Who is she?", WHO),
    (question, f"**Question 2 =** {WHO}", WHO),
    (question, f"### Question: {WHO}", WHO),
    (question, f"1. **{WHO}**", WHO),
    (question, CHATTY, "When was he born?"),
    (question, "他什么时候出生？", "他什么时候出生？"),
    (question, "When did it begin: at 10:30 p.m.?", "When did it begin: at 10:30 p.m.?"),
    (question, "", UNREADABLE),
    (question, "?", UNREADABLE),
    (question, "Die Behauptung ist falsch.", UNREADABLE),
    (question, "Why " + "so " * MAX_QUESTION_WORDS + "?", UNREADABLE),
    (questions, f"{WHO}\n2. When was it written?", (WHO, "When was it written?")),
    (questions, '[{"question":"Who wrote it?"}, {"question":"When?"}]', ("Who wrote it?", "When?")),
    (questions, "**1.** Who wrote it?\n**2.** When?", ("Who wrote it?", "When?")),
    (questions, f'Here [you are]:\n```json\n["{WHO}", "  {WHO}", 7, "", "At 10:30?"]\n```', (WHO, "At 10:30?")),
    (questions, "[" * 5_000, UNREADABLE),
    *((reader, reply, UNREADABLE) for reply in (REFUSAL, ESSAY, "Unknown", "") for reader in (step, questions)),
    # Answers
    (answer_from, "Answer = **Jane Austen**.", "Jane Austen"),
    (answer_from, "The answer is 1968", "1968"),
    (answer_from, '```json\n{"answer": "1968"}\n```', "1968"),
    (answer_from, '{"answer": null}', None),
    (answer_from, "I am not sure, maybe Paris", None),
    (answer_from, "-89.2 °C", "-89.2 °C"),
    (answer_from, "Martin Luther King Jr.", "Martin Luther King Jr."),
    (answer_from, "Amazon.com.", "Amazon.com"),
    (answer_from, "You Don't Know Jack", "You Don't Know Jack"),
    (read, "The document says that it opened in 1889.", "The document says that it opened in 1889."),
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


def test_reasons_beside_a_label_are_kept():
    assert label_from("true\n\nExplanation: He was born there.", (SUPPORTED,))[1] == "Explanation: He was born there."
    told = '{"rationale": "He was 65 [1].", "label": "false"}'
    assert label_from(told, (REFUTED,)) == (REFUTED, "He was 65 [1].")
    assert label_from("He was 65 [1]. So the claim is false.", (REFUTED,))[1] == "He was 65 [1]."
    assert label_from("Verdict: refuted. He was 65 [1].", (REFUTED,))[1] == "He was 65 [1]."
    assert label_from("False. He was 65 [1].", (REFUTED,))[1] == "He was 65 [1]."


def test_a_rationale_cites_the_hops_in_the_order_of_the_prompt_and_existing_ones_only():
    sentences, missing = rationale_from(
        "Rationale = Emma is by Jane Austen [1]. She was born in Steventon. [2]. It lies in Hampshire [2, 9].\n"
        "Missing = When she died.\n",
        (1, 3),
    )
    assert sentences == (
        Sentence("Emma is by Jane Austen.", (1,)),
        Sentence("She was born in Steventon.", (3,)),
        Sentence("It lies in Hampshire.", (3,)),
    )
    assert missing == "When she died."


def test_the_delimiters_of_the_prompt_are_left_out_of_a_rationale():
    said = "The text says [data 2e224fcb] Emma is by Jane Austen. [end 2e224fcb] So it is hers. [end example]"
    assert [each.text for each in rationale_from(said, (1,))[0]] == [
        "The text says Emma is by Jane Austen.",
        "So it is hers.",
    ]


def test_a_list_in_json_that_was_cut_off_has_the_questions_before_the_cut():
    cut = '```json\n[\n  "Who wrote Emma?",\n  "Where was Jane Austen born?",\n  "When was'
    assert questions(cut) == ("Who wrote Emma?", "Where was Jane Austen born?")


def test_a_very_long_rationale_is_truncated_and_a_refusal_is_dropped():
    sentences, _ = rationale_from("It was so [1]. " * 1_000, (1,))
    assert sum(len(sentence.text.split()) for sentence in sentences) <= MAX_RATIONALE_WORDS
    assert sentences[0] == Sentence("It was so.", (1,)) and sentences[-1].text.endswith(" …")
    assert rationale_from(REFUSAL, (1,)) == rationale_from("", (1,)) == ((), None)


def test_a_recited_passage_is_cut_to_whole_sentences_within_its_limit():
    assert passage_from("Passage = Emma is a novel. It is by Jane", 50) == "Emma is a novel."
    assert passage_from("Emma is a novel. It was published in 1815.", 5) == "Emma is a novel."
    assert len((passage_from("word " * 3_000, 50) or "").split()) == 50
    assert passage_from("I don't know.", 50) is passage_from("", 50) is None


PIECES = ["true", "false", "[1]", f"[{'9' * 5_000}]", "Label =", "\n", ".", "?", "**", "Missing =", "I'm sorry"]
TEXTS = st.one_of(
    st.text(),
    st.text(alphabet=st.sampled_from(list('[]{}"\\?: Truefals\n*-.ab10é')), max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
)


@given(TEXTS)
def test_any_text_is_read_or_raises_an_error(text: str):
    """Never another exception, an empty or very long question, or a citation of a hop that does not exist."""
    sentences, _ = rationale_from(text, (1, 3))
    assert all(set(sentence.hops) <= {1, 3} and sentence.text.strip() for sentence in sentences)
    passage = passage_from(text, 5)
    assert passage is None or 1 <= len(passage.split()) <= 5
    for reading in (question_from, answer_from, label):
        with suppress(UnparseableOutput):
            reading(text)
    for reading in (questions_from, step_from):
        with suppress(UnparseableOutput):
            found = reading(text)
            for each in found if isinstance(found, tuple) else [found.question] if isinstance(found, Ask) else []:
                assert isinstance(each, Question) and any(letter.isalnum() for letter in each.text)
                assert len(each.text.split()) <= MAX_QUERY_WORDS and "\n" not in each.text
