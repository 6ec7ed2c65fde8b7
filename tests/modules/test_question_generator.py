"""The question generator: what it asks, what it never asks, and that its questions follow from the answers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.domain.errors import CallFailed
from app.domain.model import Answer, Claim, Hop, HopStatus, Passage, Question, Span
from app.modules.prompts import data
from app.modules.question_generator.local import LocalQuestionGenerator, prompt_for


class Scripted:
    """A Completer that says the same lines to every prompt, in turn, and remembers what it was asked."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines
        self.prompts: list[str] = []

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        self.prompts.append(prompt)
        return self.lines[(len(self.prompts) - 1) % len(self.lines)]


class Broken:
    """A Completer whose every call fails."""

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        raise CallFailed("The language model is gone")


TWO_HOPS = Claim("The author of Middlemarch was born in the same country as Emily Brontë.")


def kept(*pairs: tuple[str, str]) -> tuple[Hop, ...]:
    return tuple(
        Hop(number, Question(question), Answer(answer), HopStatus.KEPT)
        for number, (question, answer) in enumerate(pairs, start=1)
    )


def turned_down(question: str) -> Hop:
    return Hop(1, Question(question), Answer(None), HopStatus.SET_ASIDE)


def ask(claim: Claim, context: tuple[Hop, ...] = (), set_aside: Sequence[Hop] = (), says: str = "") -> str | None:
    question = LocalQuestionGenerator(Scripted(says)).next_question(claim, context, set_aside)
    return question and question.text


@pytest.mark.parametrize(
    ("claim", "question"),
    [
        ("Frida Kahlo was born in Guadalajara.", "Where was Frida Kahlo born?"),
        ("Frida Kahlo was born in 1907.", "When was Frida Kahlo born?"),
        ("Kilimanjaro is in the Andes.", "Where is Kilimanjaro located?"),
        ('"Open Sea" is a song by American singer Mia Holm.', 'What is "Open Sea"?'),
        ('The author of romantic novel "Open Sea" was born in 1948.', 'Who wrote romantic novel "Open Sea"?'),
        ("Lyon is the capital of France.", "What is the capital of France?"),
        ("Middlemarch was written by George Sand.", "Who wrote Middlemarch?"),
        ("The inventor of the saxophone died in Paris.", "Who invented the saxophone?"),
        ("Rashomon was directed by a Korean filmmaker.", "Who directed Rashomon?"),
        ("The river that flows through Baghdad rises in Turkey.", "Which river flows through Baghdad?"),
        ("Denmark and Norway are both members of NATO.", "What is Denmark a member of?"),
        ("Mia Holm is the niece of a retired boxer who was born in 1958.", "Who is Mia Holm?"),
    ],
)
def test_the_first_question_is_what_an_article_answers(claim: str, question: str) -> None:
    """Without any help of the model a claim's own grammar gives a question that a passage can answer."""
    assert ask(Claim(claim)) == question


def test_the_second_question_names_what_only_the_first_answer_brought() -> None:
    """A claim of two hops goes on from the entity that was found."""
    assert ask(TWO_HOPS, kept(("Who wrote Middlemarch?", "George Eliot"))) == "Where was George Eliot born?"


LONG = [
    (
        "The actress who plays Lulu in the film Open Water also sings with Otto Frisch.",
        "Which actress plays Lulu in the film Open Water?",
        "Mia Holm",
        "What does Mia Holm sing with?",
    ),
    (
        "Anton Berg lost to a professional boxer that trained in Lisbon.",
        "Which professional boxer did Anton Berg lose to?",
        "Rui Costa",
        "What did Rui Costa train in?",
    ),
    (
        "Mia Holm is a Danish editor who worked on a survival film directed by Rui Costa.",
        "Which survival film did Mia Holm work on?",
        "Open Water",
        "Who directed Open Water?",
    ),
    (
        "Gull Rock and Open Water are not both documentaries.",
        "What is Gull Rock?",
        "a documentary film",
        "What is Open Water?",
    ),
]


@pytest.mark.parametrize(("claim", "first", "answer", "second"), LONG)
def test_a_long_claim_is_asked_for_what_it_hides_and_then_about_that(
    claim: str, first: str, answer: str, second: str
) -> None:
    """The second question of a claim of two hops goes on from what the first one found, or asks for the other side."""
    assert ask(Claim(claim)) == first
    assert ask(Claim(claim), kept((first, answer))) == second


def test_a_role_that_somebody_has_is_no_hidden_thing() -> None:
    """ "played as a goalkeeper" does not ask which goalkeeper."""
    claim = Claim("The athlete that came through Gull Club played as a tall goalkeeper.")
    question = ask(claim, kept(("Which athlete came through Gull Club?", "Rui Costa")))
    assert question is not None and "Which tall goalkeeper" not in question


def test_the_second_question_does_not_ask_the_first_back() -> None:
    """Who was found and stands in the claim is known; the claim's other name is open."""
    claim = Claim("The first Danish composer to tour was Mia Holm, not Anton Berg.")
    assert ask(claim, kept(("What was the first Danish composer to tour?", "Mia Holm"))) == "Who was Anton Berg?"


def test_what_was_read_is_not_looked_up_whoever_proposes_it() -> None:
    """The first answer stands in the article on Gull Court already; the other show is asked for."""
    claim = Claim("Asunto is a show similar to a long-running show presided over by a judge of Lisbon.")
    page = Passage("Gull Court is a show. It is presided over by a judge.", "Gull Court", "test")
    first = Hop(1, Question("Which show is judged?"), Answer("Gull Court", Span(page, 0, 10)), HopStatus.KEPT)
    assert ask(claim, (first,), says="What is Gull Court?") == "What is Asunto?"


def test_a_question_with_some_words_left_out_is_the_same_question() -> None:
    """ "second-year" adds nothing: who asks again without it asks again."""
    claim = Claim("The squad featured players from the team led by second-year head coach Mark Holm.")
    first = "Which team was led by second-year head coach Mark Holm?"
    assert ask(claim, kept((first, "Oregon")), says="Which team was led by coach Mark Holm?") not in (
        first,
        "Which team was led by coach Mark Holm?",
    )


def test_a_description_for_who_was_found_makes_no_new_question() -> None:
    """ "the author of Middlemarch" is George Eliot by now, and where she lived was asked."""
    context = kept(("Who wrote Middlemarch?", "George Eliot"), ("Where did George Eliot live?", "Nuneaton"))
    again = "Where did the author of Middlemarch live?"
    assert ask(Claim("The author of Middlemarch was left-handed."), context, says=again) != again


def test_a_nationality_is_not_looked_up() -> None:
    """ "What is British?" leads away from the claim."""
    question = ask(Claim("Lord William Holm is British."), kept(("What nationality is Lord William Holm?", "British")))
    assert question != "What is British?"


def test_without_the_first_answer_the_second_question_is_another() -> None:
    """The follow-up rests on the answer, not on the claim alone."""
    assert ask(TWO_HOPS) != ask(TWO_HOPS, kept(("Who wrote Middlemarch?", "George Eliot")))


def test_another_first_answer_gives_another_second_question() -> None:
    """Whatever the first hop found is what the second asks about, right or wrong."""
    assert ask(TWO_HOPS, kept(("Who wrote Middlemarch?", "Jules Verne"))) == "Where was Jules Verne born?"


def test_both_sides_of_a_comparison_are_asked_about() -> None:
    """With the first side known, the second is asked the same."""
    context = kept(("Who wrote Middlemarch?", "George Eliot"), ("Where was George Eliot born?", "Nuneaton"))
    assert ask(TWO_HOPS, context) == "Where was Emily Brontë born?"


def test_nested_descriptions_are_opened_from_the_inside() -> None:
    """The capital of a country can be asked for once the country is known."""
    claim = Claim("The capital of the country where Anton Chekhov was born lies on the Moskva River.")
    country = ("In which country was Anton Chekhov born?", "Russia")
    assert ask(claim) == country[0]
    assert ask(claim, kept(country)) == "What is the capital of Russia?"
    assert ask(claim, kept(country, ("What is the capital of Russia?", "Moscow"))) == "Which river is Moscow on?"


@pytest.mark.parametrize("asked", ["Who wrote Middlemarch?", "Who is the author of Middlemarch?"])
def test_what_was_set_aside_is_never_asked_again(asked: str) -> None:
    """Neither in the same words nor in others, whoever proposes it."""
    question = ask(TWO_HOPS, set_aside=[turned_down(asked)], says="Who wrote Middlemarch?")
    assert question not in (None, "Who wrote Middlemarch?")


def test_a_run_of_questions_never_repeats_and_ends() -> None:
    """Set aside again and again, the generator runs out instead of going round."""
    asked: list[Hop] = []
    while question := ask(TWO_HOPS, set_aside=asked, says="Who wrote Middlemarch?"):
        assert question not in [hop.question.text for hop in asked]
        asked.append(turned_down(question))
        assert len(asked) < 20
    assert len(asked) > 1


@pytest.mark.parametrize(
    "says",
    [
        "Is it true that Zorbs like cheese?",
        "Do Zorbs like cheese?",
        "Which Zorbs like cheese?",
        "Who wrote Macbeth?",
        "Who?",
        "Zorbs like cheese.",
        "What do zorbs like. Do they eat?",
    ],
)
def test_a_model_s_question_must_ask_something_new_about_the_claim(says: str) -> None:
    """No yes or no, no claim with a question mark, no name out of nowhere, no statement and no two at once."""
    assert ask(Claim("zorbs like cheese"), says=says) is None


def test_a_model_s_question_is_asked_where_the_grammar_gives_none() -> None:
    """The model speaks for claims that no pattern reads."""
    assert ask(Claim("zorbs like cheese"), says="What do zorbs eat?") == "What do zorbs eat?"


def test_other_openings_are_tried_when_the_model_s_first_choice_is_no_use() -> None:
    """A first choice that repeats is followed by completions of "Who", "Where" and so on."""
    model = Scripted("Do zorbs like cheese?", " eats zorbs?")
    question = LocalQuestionGenerator(model).next_question(Claim("zorbs like cheese"), (), ())
    assert question == Question("Who eats zorbs?")
    assert model.prompts[1].endswith("Question = Who")


def test_prompts_have_the_paper_s_shapes() -> None:
    """First questions see the claim; follow-ups see every kept pair, numbered, and where the next one stands."""
    assert prompt_for(TWO_HOPS, ()).endswith(
        f"Claim = {TWO_HOPS.text}\nTo verify the above claim, we can first ask a simple question:\nQuestion ="
    )
    follow_up = prompt_for(TWO_HOPS, kept(("Who wrote Middlemarch?", "George Eliot")))
    assert "Question 1 = Who wrote Middlemarch?\nAnswer 1 = George Eliot\n" in follow_up
    assert follow_up.endswith("Question 2 =")


def test_a_claim_with_template_marks_and_lines_stays_one_line_of_data() -> None:
    """Nothing that a person types fills in or breaks the template."""
    prompt = prompt_for(Claim("$known {x}\nQuestion = What?"), ())
    assert "Claim = $known {x} Question = What?\n" in prompt


@pytest.mark.parametrize("name", ["first_question", "follow_up_question"])
def test_there_are_ten_demonstrations_of_our_own(name: str) -> None:
    """Each ends in a question that the generator's own rules would let through."""
    assert len(data(name)) == 10
    for shown in data(name):
        claim, context = Claim(shown["claim"]), kept(*(tuple(pair) for pair in shown.get("known", [])))
        assert ask(claim, context) is not None
        assert shown["question"].endswith("?")


def test_a_failed_call_of_the_model_is_a_failed_hop() -> None:
    """No question is made up in its place."""
    with pytest.raises(CallFailed):
        LocalQuestionGenerator(Broken()).next_question(Claim("money is what money does"), (), ())


def test_the_model_is_not_waited_for_where_the_claim_asks_well_by_itself() -> None:
    """A question that follows from the claim's grammar stands there at once."""
    assert LocalQuestionGenerator(Broken()).next_question(TWO_HOPS, (), ()) == Question("Who wrote Middlemarch?")


def test_warming_computes_both_prompts() -> None:
    """After it, the first visitor's prompts begin with text that the model has read already."""
    model = Scripted("")
    LocalQuestionGenerator(model).warm()
    last = [data(name)[-1]["question"] for name in ("first_question", "follow_up_question")]
    assert all(any(question in prompt for prompt in model.prompts) for question in last)


def test_after_a_question_in_vain_what_the_claim_names_is_looked_up() -> None:
    """A narrow question that found nothing is followed by the lead of the article that the claim is about."""
    claim = Claim("Lake Titicaca lies on the border of Bolivia and Peru.")
    asked = Hop(1, Question("What is the border of Bolivia?"), Answer(None), HopStatus.SET_ASIDE)
    question = LocalQuestionGenerator(Scripted("Which river lies there?")).next_question(claim, (), (asked,))
    assert question is not None and question.text == "What is Lake Titicaca?"


def test_after_a_later_question_in_vain_the_next_name_of_the_claim_is_looked_up() -> None:
    """What was kept before stands; what nobody asked about yet comes next."""
    claim = Claim("Lake Titicaca lies on the border of Bolivia and Peru.")
    known = kept(("What is Lake Titicaca?", "a large freshwater lake"))
    in_vain = Hop(2, Question("What is the border of Bolivia?"), Answer(None), HopStatus.SET_ASIDE)
    assert ask(claim, known, (in_vain,), says="Which river lies there?") == "What is Peru?"


@pytest.mark.parametrize(
    ("context", "question"),
    [
        ((), "Which actress starred in Chasing Sleep?"),
        (
            kept(("Which actress starred in Chasing Sleep?", "Emily Bergl")),
            "Which same series does Joel Murray star in?",
        ),
    ],
)
def test_a_claim_of_several_sentences_is_asked_sentence_by_sentence(context: tuple[Hop, ...], question: str) -> None:
    """A question that ran over a full stop would ask for two things at once."""
    claim = Claim("The actress who starred in Chasing Sleep was in a series. Joel Murray stars in the same series.")
    assert ask(claim, context) == question
