"""Yes/no questions: taken apart by rules over words, answered by a judge that is made up here."""

from dataclasses import dataclass, field

import pytest

from app.domain.errors import CallFailed
from app.domain.model import Answer, Claim, Passage, Question
from app.modules.answerers.retriever_reader import RetrieverReader
from app.modules.answerers.yes_no import YesOrNo, YesOrNoReader
from app.modules.judging.yes_no import statement
from app.modules.reasoner.rationale import nearest_sentence

ADA = Passage("Ada Lovelace was a mathematician. She was born in London in 1815.", "Ada Lovelace", "made up")
PARIS = Passage("Paris is the capital of France.", "Paris", "made up")
SUPPORTS, REFUTES, UNSURE = (0.9, 0.05, 0.05), (0.1, 0.8, 0.1), (0.5, 0.2, 0.3)


@dataclass
class Judge:
    """An EntailmentModel that always says the same and keeps what it was asked."""

    says: tuple[float, float, float]
    asked: list = field(default_factory=list)

    def classify(self, pairs):
        self.asked += pairs
        return [self.says for _ in pairs]


class Shelf:
    """Retriever and reranker at once: always the same two passages in the same order."""

    def retrieve(self, query, k):
        return (ADA, PARIS)

    def rerank(self, query, passages):
        return passages


class SpanFinder:
    """A reader that always points at the first word."""

    def read(self, question, passages):
        return Answer("Ada", retrieved=tuple(passages), score=0.7)


def answered(asked: str, says=SUPPORTS, sure=0.6) -> tuple[Answer, Judge]:
    judge = Judge(says)
    answerer = RetrieverReader(Shelf(), Shelf(), YesOrNoReader(SpanFinder(), YesOrNo(judge, sure)))
    return answerer.answer(Question(asked), Claim("Ada Lovelace was born in London.")), judge


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Was Ada Lovelace born in London?", "Ada Lovelace was born in London."),
        ("Is the Nile longer than the Amazon?", "The Nile is longer than the Amazon."),
        ("Was the author of Hamlet born in England?", "The author of Hamlet was born in England."),
        ("Is the capital of France Paris?", "The capital of France is Paris."),
        ("Were Goethe and Schiller friends?", "Goethe and Schiller were friends."),
        ("Are Christmas trees typically green?", "Christmas trees are typically green."),
        ("Is Erdoğan the president of Turkey?", "Erdoğan is the president of Turkey."),
        ('Was "The Starry Night" painted by Van Gogh?', '"The Starry Night" was painted by Van Gogh.'),
        ("Is there life on Mars?", "There is life on Mars."),
        ("Has Brazil ever won the World Cup?", "Brazil has won the World Cup."),
        ("Can penguins fly?", "Penguins can fly."),
        ("Is the sky blue?", "The sky is blue."),
        ("Is it true that the author of Hamlet lived in Ely or Bath?", "The author of Hamlet lived in Ely or Bath."),
    ],
)
def test_the_auxiliary_goes_behind_the_subject(asked, said):
    assert statement(asked) == said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Did Marie Curie win two Nobel Prizes?", "Marie Curie won two Nobel Prizes."),
        ("Did Marie Curie's husband win a Nobel Prize?", "Marie Curie's husband won a Nobel Prize."),
        ("Did he study physics?", "He studied physics."),
        ("Did Rosa Parks also refuse to move?", "Rosa Parks also refused to move."),
        ("Did the train stop in Berlin?", "The train stopped in Berlin."),
        ("Does the Moon orbit Earth?", "The Moon orbits Earth."),
        ("Does Iceland have an army?", "Iceland has an army."),
        ("Does the heron catch fish?", "The heron catches fish."),
        ("Do whales lay eggs?", "Whales lay eggs."),
        ("Didn't Napoleon die on Saint Helena?", "Napoleon died on Saint Helena."),
        ("Did Goethe not visit Paris?", "Goethe did not visit Paris."),
        ("In 1969, did Neil Armstrong walk on the Moon?", "In 1969, Neil Armstrong walked on the Moon."),
    ],
)
def test_do_goes_into_its_verb(asked, said):
    assert statement(asked) == said


@pytest.mark.parametrize(
    "asked",
    [
        "Who wrote Hamlet?",
        "In which year was it built?",
        "Is it a fish or a mammal?",
        "Is Paris in France",
        "Is Paris?",
        "Is?",
        "?",
        "",
        "😀?",
        "这是真的吗？",
    ],
)
def test_other_questions_and_choices_are_left_as_they_are(asked):
    assert statement(asked) is None


@pytest.mark.parametrize(("says", "text"), [(SUPPORTS, "yes"), (REFUTES, "no")])
def test_the_judge_says_yes_or_no_over_the_statement_and_the_sentence_nearest_to_it_is_cited(says, text):
    answer, judge = answered("Was Ada Lovelace born in London?", says)
    assert (answer.text, answer.score, answer.answerer) == (text, max(says), "retriever-reader")
    assert answer.cited.text == "She was born in London in 1815."
    assert answer.retrieved == (ADA, PARIS)
    assert judge.asked == [("Ada Lovelace was born in London.", [(p.title, p.text) for p in (ADA, PARIS)])]


def test_an_unsure_judge_answers_nothing_and_its_doubt_is_told():
    answer, _ = answered("Was Ada Lovelace born in London?", UNSURE)
    assert (answer.text, answer.cited, answer.score) == (None, None, 0.5)
    assert answer.retrieved == (ADA, PARIS)


def test_any_other_question_goes_to_the_reader():
    answer, judge = answered("Who was born in London?")
    assert answer.text == "Ada"
    assert not judge.asked


def test_without_a_judge_the_reader_reads_yes_no_questions_too():
    answer = RetrieverReader(Shelf(), Shelf(), SpanFinder()).answer(Question("Was Ada born?"), Claim("Ada was born."))
    assert answer.text == "Ada"


def test_a_failing_judge_fails_the_call_and_nothing_is_guessed():
    class Failing:
        def classify(self, pairs):
            raise CallFailed("The judge returned values that are not numbers.")

    answerer = RetrieverReader(Shelf(), Shelf(), YesOrNoReader(SpanFinder(), YesOrNo(Failing(), 0.6)))
    with pytest.raises(CallFailed):
        answerer.answer(Question("Was Ada Lovelace born in London?"), Claim("Ada was born."))


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_empty_passages_are_not_put_to_the_judge(text):
    judge = Judge(SUPPORTS)
    answer = YesOrNo(judge, 0.6).answer("Ada was born.", [Passage(text, "Ada", "made up")])
    assert answer.text is None
    assert not judge.asked


def test_of_sentences_that_share_as_much_the_best_passages_is_cited():
    twice = [Passage("It rains. Paris is old.", "One", "made up"), Passage("Paris is old.", "Two", "made up")]
    assert nearest_sentence("Paris is old.", twice).passage.title == "One"
    assert nearest_sentence("Paris is old.", twice).text == "Paris is old."


def test_a_reader_with_a_judge_reads_for_a_span_what_does_not_ask_for_yes_or_no():
    judge = Judge(REFUTES)
    reader = YesOrNoReader(SpanFinder(), YesOrNo(judge, 0.6))
    assert reader.read(Question("Who died young?"), (ADA,)).text == "Ada"
    assert judge.asked == []
    said = reader.read(Question("Is it true that Ada Lovelace was born in Paris?"), (ADA, PARIS))
    assert (said.text, said.cited.passage, said.retrieved) == ("no", ADA, (ADA, PARIS))
    assert [text for text, _ in judge.asked] == ["Ada Lovelace was born in Paris."]
