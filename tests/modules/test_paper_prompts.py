"""The faithful prompts as whole strings, compared with the printed forms (paper_forms.txt), and their replies."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.errors import UnparseableOutput
from app.domain.messages import Code, code_of
from app.domain.model import Answer, Claim, Hop, HopStatus, Label, LabelSet, Passage, Question, SearchHit
from app.domain.ports import Ask, Decide, FreeAnswer
from app.modules import paper_prompts as paper
from tests.text_generators import PlayedModel, playing

CLAIM = Claim("The author of Hamlet was born in England.", "Ada Stone", "2020-10-31")
TWO, THREE, FOUR = LabelSet.TWO.labels, LabelSet.THREE.labels, LabelSet.FOUR.labels


def hop(number: int, question: str, answer: str) -> Hop:
    return Hop(number, Question(question), Answer(answer), HopStatus.KEPT)


WROTE = hop(1, "Who wrote Hamlet?", "William Shakespeare")
BORN = hop(3, "Where was William Shakespeare born?", "Stratford-upon-Avon")
CONTEXT = (WROTE, BORN)

FORMS = dict(
    part.partition("\n")[::2] for part in Path(__file__).with_name("paper_forms.txt").read_text().split("\n== ")[1:]
)


def form(title: str, /, **values: str) -> str:
    """Return the printed form with this title, with its names in braces filled in."""
    (text,) = [text.strip() for name, text in FORMS.items() if name.partition(" (")[0] == title]
    return re.sub(r"\{(\w+)\}", lambda name: values[name[1]], text)


def same_words(printed: str, sent: str) -> bool:
    """Return whether the texts are equal but for line breaks and the shape of the apostrophe."""
    return printed.replace("’", "'").split() == sent.split()


# Papelo, Appendix B. The printed text is one paragraph, so line breaks do not count.

ABOUT = {"speaker": "Ada Stone", "date": "2020-10-31", "claim": CLAIM.text}
PAIR_VALUES = {
    "question0": "Who wrote Hamlet?",
    "answer0": "William Shakespeare",
    "question1": "Where was William Shakespeare born?",
    "answer1": "Stratford-upon-Avon",
}


@pytest.mark.parametrize("count", [1, 5], ids=["GetFirstQuestion", "AllAtOnce"])
def test_the_prompt_for_first_questions_is_the_printed_one(count):
    """For AllAtOnce the paper uses the same prompt and keeps the whole list."""
    model = playing('["Who wrote Hamlet?", "Where was he born?"]')
    found = paper.PapeloPursuer(model).first_questions(CLAIM, count)
    assert [each.text for each in found] == ["Who wrote Hamlet?", "Where was he born?"][:count]
    assert same_words(form("Papelo GetFirstQuestion", **ABOUT), model.prompts[0])


def test_the_prompt_for_the_next_question_is_the_printed_one():
    model = playing("[[False]]")
    paper.PapeloPursuer(model).next_step(CLAIM, CONTEXT, ())
    printed = form("Papelo GetNextQuestion", **ABOUT, **PAIR_VALUES)
    assert same_words(printed.replace(" ... ", " "), model.prompts[0])  # there are only these two


@pytest.mark.parametrize(
    ("claim", "begins"),
    [
        (Claim("It rained.", "Ada Stone"), "the following claim by Ada Stone."),
        (Claim("It rained.", None, "2020-10-31"), "the following claim on 2020-10-31."),
        (Claim("It rained."), "the following claim."),
    ],
)
def test_an_unknown_speaker_or_date_is_left_out(claim, begins):
    model = playing("[[True]]")
    paper.PapeloPursuer(model).next_step(claim, CONTEXT, ())
    assert model.prompts[0].splitlines()[0] == f"We are trying to verify {begins}"


TEN_HITS = tuple(
    SearchHit(f"Title {at}", f"site{at}.example", f"Snippet {at}.", f"https://site{at}.example", f"2019-01-0{at}")
    for at in range(10)
)


def test_the_prompt_for_the_best_document_is_the_printed_one():
    model = playing("Document 1 answers it best.")
    assert paper.PapeloChooser(model).choose(WROTE.question, TEN_HITS) == TEN_HITS[1]
    values = {
        f"{name}{at}": getattr(hit, field)
        for at, hit in enumerate(TEN_HITS)
        for name, field in (("title", "title"), ("site", "site"), ("date", "published"), ("snippet", "snippet"))
    }
    between = " ".join(
        f"Document {at} (Title {at}, from site{at}.example, published 2019-01-0{at}): Snippet {at}."
        for at in range(2, 9)
    )
    printed = form("Papelo LLMBestDoc", question=WROTE.question.text, **values).replace("...", between)
    assert same_words(printed, model.prompts[0])


PASSAGE = Passage("A play.", "Hamlet", "a.example", "https://a.example/1", "2019-01-02")


def test_the_prompt_for_an_answer_from_one_document_is_the_printed_one_and_the_reply_the_answer():
    model = playing("The text does not say.\nIt may be Shakespeare.")
    answer = paper.PapeloReader(model).read(WROTE.question, (PASSAGE,))
    assert answer.text == "The text does not say. It may be Shakespeare." and answer.cited.passage == PASSAGE
    longer = replace(PASSAGE, text="It is a play. Shakespeare wrote it.")
    assert paper.PapeloReader(model).read(WROTE.question, (longer,)).cited.text == "Shakespeare wrote it."
    about = {"title": "Hamlet", "site": "a.example", "date": "2019-01-02", "context": "A play."}
    assert same_words(form("Papelo LLMAnswer", question=WROTE.question.text, **about), model.prompts[0])


def test_several_documents_are_numbered_from_zero_and_unknown_properties_left_out():
    model = playing("Shakespeare, as document 0 says.")
    passages = (PASSAGE, Passage("A prince.", "", ""))
    assert paper.PapeloReader(model).read(WROTE.question, passages).cited is None
    assert model.prompts[0].splitlines()[1:3] == [
        "Document 0 (Hamlet, from a.example, published 2019-01-02): A play.",
        "Document 1: A prince.",
    ]


def test_the_prompt_for_paraphrases_is_the_printed_one():
    model = playing('["Hamlet is by whom?", "Who wrote Hamlet?", "By whom is Hamlet?"]')
    found = paper.PapeloParaphraser(model).paraphrase(CLAIM, WROTE.question, 4)
    assert [each.text for each in found] == ["Hamlet is by whom?", "By whom is Hamlet?"]
    assert same_words(form("Papelo Paraphrase", question=WROTE.question.text), model.prompts[0])


def test_the_prompt_for_the_verdict_of_two_classes_is_the_printed_one():
    values = {"k": "1", "questionk": PAIR_VALUES["question1"], "answerk": PAIR_VALUES["answer1"], **PAIR_VALUES}
    printed = form("Papelo LLMVerify, two classes", claim=CLAIM.text, **values).replace(" ... ", " ")
    assert same_words(printed, paper.verdict_prompt(CLAIM, CONTEXT, TWO))


def test_the_end_of_the_prompt_for_four_classes_is_the_printed_one():
    two, four = (paper.verdict_prompt(CLAIM, CONTEXT, labels) for labels in (TWO, FOUR))
    before, end = four[: four.index("Is the claim (A)")], four[four.index("Is the claim (A)") :]
    assert two.startswith(before)
    assert same_words(form("Papelo LLMVerify, the end of the prompt with four classes"), end)


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("[[False]]", Decide(False)),
        (r"\[\[True\]\]", Decide(True)),
        ("Where is Stratford? And what is Avon?", Ask(Question("Where is Stratford?"))),
        ("The claim is true.", Ask(Question("The claim is true."))),
        ("[[True]] or [[False]]? Where is Stratford?", Ask(Question("Where is Stratford?"))),
    ],
)
def test_a_step_is_the_mark_else_the_first_question_else_the_whole_reply(said, step):
    assert paper.PapeloPursuer(playing(said)).next_step(CLAIM, CONTEXT, ()) == step


@pytest.mark.parametrize("said", ["", " \n", "[[True]] [[False]]", "..."])
def test_a_reply_without_words_is_no_step(said):
    with pytest.raises(UnparseableOutput):
        paper.PapeloPursuer(playing(said)).next_step(CLAIM, CONTEXT, ())


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("Document 2 answers it best.", 2),
        ("As Document 4 says, unlike Document 1, it was.", 4),
        ("Documents 0 and 5 agree.", 5),
        ("Documents 1, 2, and 3 say so, Document 7 best.", 7),
    ],
)
def test_the_document_is_the_one_that_the_papers_expressions_find(reply, number):
    assert paper.PapeloChooser(playing(reply)).choose(WROTE.question, TEN_HITS) == TEN_HITS[number]


@pytest.mark.parametrize(
    "reply",
    [
        "None of the documents answer the question.",
        "Document 12 says so.",
    ],
)
def test_a_reply_that_names_no_document_is_the_answer_whatever_it_says(reply):
    assert paper.PapeloChooser(playing(reply)).choose(WROTE.question, TEN_HITS) == FreeAnswer(reply)


@pytest.mark.parametrize(
    ("said", "labels", "label"),
    [
        ("[ [B] ]", TWO, Label.REFUTED),
        ("[[D]]", FOUR, Label.CONFLICTING_EVIDENCE),
    ],
)
def test_the_verdict_is_the_mark_in_the_reply(said, labels, label):
    assert paper.PapeloReasoner(playing(said)).conclude(CLAIM, CONTEXT, labels).label is label


@pytest.mark.parametrize("said", ["[[A]] or [[B]]", "It is supported.", "[[C]]"])
def test_two_marks_none_or_one_that_was_not_asked_for_is_no_verdict(said):
    with pytest.raises(UnparseableOutput):
        paper.PapeloReasoner(playing(said)).conclude(CLAIM, CONTEXT, TWO)


# QACheck, Appendix A. Its prompts have one field a line, so line breaks count.

NUMBERED = """\
Question 1 = Who wrote Hamlet?
Answer 1 = William Shakespeare
Question 2 = Where was William Shakespeare born?
Answer 2 = Stratford-upon-Avon"""


def demonstrations_and_case(prompt: str) -> tuple[list[str], str]:
    """Return the parts of a prompt, which are separated by blank lines."""
    *shown, case = prompt.split("\n\n")
    return shown, case


def laid_out_as(title: str, shown: str) -> bool:
    """Return whether a demonstration has the printed layout; a name in braces stands for one line, or several."""
    several = {"{pairs}\n": r"(?:(?:Question|Answer|Q|A).*\n)*?", "{sentences}": r".+(?:\n.+)*?"}
    (text,) = [text.strip() for name, text in FORMS.items() if name.partition(" (")[0] == title]
    pattern = "".join(
        several.get(part, ".+") if part.startswith("{") else re.escape(part)
        for part in re.split(r"(\{pairs\}\n|\{\w+\})", text)
    )
    return re.fullmatch(pattern, shown) is not None


PROMPTS = {
    "QACheck A.1": (
        paper.verifier_prompts(CLAIM, CONTEXT)[0],
        {"claim": CLAIM.text, "pairs": NUMBERED},
    ),
    "QACheck A.2, first question": (paper.question_prompt(CLAIM, ()), {"claim": CLAIM.text}),
    "QACheck A.2, next question": (
        paper.question_prompt(CLAIM, CONTEXT),
        {"claim": CLAIM.text, "pairs": NUMBERED, "number": "3"},
    ),
    "QACheck A.3": (
        paper.validator_prompts(CLAIM, (WROTE,), BORN)[0],
        {
            "claim": CLAIM.text,
            "pairs": "Question = Who wrote Hamlet?\nAnswer = William Shakespeare",
            "question": BORN.question.text,
            "answer": "Stratford-upon-Avon",
        },
    ),
    "QACheck A.4": (
        paper.reasoner_prompt(CLAIM, CONTEXT, TWO),
        {
            "claim": CLAIM.text,
            "pairs": "Q1: Who wrote Hamlet?\nA1: William Shakespeare\n"
            "Q2: Where was William Shakespeare born?\nA2: Stratford-upon-Avon",
        },
    ),
}


@pytest.mark.parametrize("title", PROMPTS)
def test_the_case_is_the_printed_one_after_ten_demonstrations_with_the_printed_layout(title):
    prompt, values = PROMPTS[title]
    shown, case = demonstrations_and_case(prompt)
    assert case == form(f"{title}, case", **values)
    assert len(shown) == 10 and all(laid_out_as(f"{title}, demonstration", each) for each in shown)


EMPTY = {
    "QACheck A.1": paper.verifier_prompts(CLAIM, ())[0],
    "QACheck A.3": paper.validator_prompts(CLAIM, (), BORN)[0],
    "QACheck A.4": paper.reasoner_prompt(CLAIM, (), TWO),
}


@pytest.mark.parametrize("title", EMPTY)
def test_an_empty_context_leaves_out_the_pairs_and_nothing_else(title):
    values = {"claim": CLAIM.text, "pairs": "", "question": BORN.question.text, "answer": "Stratford-upon-Avon"}
    printed = form(f"{title}, case", **values).replace("\n\n", "\n")
    assert demonstrations_and_case(EMPTY[title])[1] == printed


def test_predictions_and_labels_are_worded_as_printed():
    endings = {each.rpartition("Prediction = ")[2] for each in demonstrations_and_case(PROMPTS["QACheck A.1"][0])[0]}
    assert endings == {"Yes, we can know.", "No, we cannot know."}
    labels = {each.rpartition("answer is: ")[2] for each in demonstrations_and_case(PROMPTS["QACheck A.4"][0])[0]}
    assert labels == {"True.", "False."}


IN_SENTENCES = [("Hamlet is by Shakespeare.", (1,)), ("He was born in Stratford-upon-Avon.", (3,))]
QUOTED = [
    ("Who wrote Hamlet? William Shakespeare", (1,)),
    ("Where was William Shakespeare born? Stratford-upon-Avon", (3,)),
]


@pytest.mark.parametrize(
    ("said", "label", "rationale"),
    [
        (": True.", Label.SUPPORTED, QUOTED),
        (" False", Label.REFUTED, QUOTED),
        ("Therefore, the final answer is: True.", Label.SUPPORTED, QUOTED),
        (
            "Hamlet is by Shakespeare.\nHe was born in Stratford-upon-Avon.\nTherefore, the final answer is: True.",
            Label.SUPPORTED,
            IN_SENTENCES,
        ),
    ],
)
def test_the_reply_of_the_reasoner_is_the_label_alone_or_after_a_sentence_for_each_pair(said, label, rationale):
    verdict = paper.QACheckReasoner(playing(said)).conclude(CLAIM, CONTEXT, TWO)
    assert verdict.label is label
    assert [(str(each.text).rstrip("."), each.hops) for each in verdict.rationale] == [
        (text.rstrip("."), hops) for text, hops in rationale
    ]


def test_a_verdict_without_pairs_says_that_it_is_from_memory():
    verdict = paper.QACheckReasoner(playing(": False.")).conclude(CLAIM, (), TWO)
    assert verdict.label is Label.REFUTED and code_of(verdict.rationale[0].text) is Code.FROM_MEMORY
    assert not any(each.hops for each in verdict.rationale)


class Seeds:
    """A model for each seed; the n-th one used asks the n-th question, the last one from then on."""

    def __init__(self, *questions: str) -> None:
        self.questions, self.used = questions, list[int]()

    def __call__(self, number: int) -> PlayedModel:
        self.used.append(number)
        return playing(self.questions[min(len(self.used), len(self.questions) - 1)])

    def questioner(self) -> paper.QACheckQuestioner:
        return paper.QACheckQuestioner(playing(self.questions[0]), self)


def test_a_rejected_pair_leads_to_another_seed_and_another_question():
    seeds = Seeds("Who wrote Hamlet?", "Where was Shakespeare born?", "Is Stratford in England?")
    rejected = [hop(1, "Who wrote Hamlet?", "Shakespeare"), hop(2, "Where was Shakespeare born?", "Stratford")]
    asked = [seeds.questioner().next_question(CLAIM, (), rejected[:count]).text for count in range(3)]
    assert asked == list(seeds.questions) and seeds.used == [5, 10]


def test_a_repeated_question_is_asked_for_with_more_seeds_before_there_is_none():
    seeds = Seeds("Who wrote Hamlet?", "Who wrote Hamlet?", "Where was Shakespeare born?")
    assert seeds.questioner().next_question(CLAIM, (WROTE,), ()).text == "Where was Shakespeare born?"
    always = Seeds("Who wrote Hamlet?")
    assert always.questioner().next_question(CLAIM, (WROTE,), ()) is None
    assert always.used == list(range(1, paper.MAX_RETRIES + 1))


def test_chain_of_thought_has_ten_demonstrations():
    model = playing("Hamlet is by Shakespeare.\ntrue")
    assert paper.ChainOfThoughtClassifier(model).verdict_on(CLAIM, TWO).label is Label.SUPPORTED
    shown, case = demonstrations_and_case(model.prompts[0])
    assert len(shown) == 10
    assert case.startswith("Claim = The author of Hamlet") and "Let's think step-by-step" in case
