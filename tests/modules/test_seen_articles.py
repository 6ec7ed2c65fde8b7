"""What the articles that were looked at say about the claim's names, and which of them is asked about next."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from app.domain.model import Answer, Claim, Hop, HopStatus, Passage, Question, Span
from app.modules.question_generator.entities import (
    SeenArticles,
    article_look_ups,
    asked_as_it_is,
    is_on_person,
    name_look_ups,
    open_words,
    told_of,
)
from app.modules.question_generator.local import LocalQuestionGenerator


class Silent:
    """A Completer that has nothing to say."""

    def complete(self, prompt: str, *, max_tokens: int, stop: Sequence[str] = ()) -> str:
        return ""


def passage(title: str, text: str) -> Passage:
    return Passage(text, title, "test")


def looked_at(*passages: Passage, asked: str = "Who was Mia Holm?", answer: str = "a Danish editor") -> Hop:
    """A kept hop whose answer stands in the first of the passages."""
    cited = Span(passages[0], 0, 10)
    return Hop(1, Question(asked), Answer(answer, cited, passages), HopStatus.KEPT)


MIA = passage("Mia Holm", "Mia Holm is a Danish editor. She works at the Gull Museum.")
TOPLESS = passage("Red House in Green Bay", "Red House in Green Bay is a 1995 crime film.")
GULL = passage("Gull Museum", "The Gull Museum is a national organisation that was founded in Lisbon in 1917.")


@pytest.mark.parametrize(
    ("lead", "on_person"),
    [
        ("Rui M. Costa Jr. (born May 1, 1973) is a former running back.", True),
        ("Anton Berg (12 July 1730 – 3 January 1795) was known for his pottery.", True),
        ("Rui de la O is a Portuguese actor, best known for one role.", True),
        ("Gull Court is a show that a judge (born 1950) presides over.", False),
        ("Baroque dance is dance of an era (roughly 1600–1750).", None),
        ("Gull Rock is a band.", False),
        ("Mia Holm is a 2000 drama film about a boy who dances.", False),
        ("Rui Costa (Old Norse: Rui) (19 August 1929 – 4 December 2006) wrote much.", True),
        ("Gull Rock stands in the sea.", None),
    ],
)
def test_a_lead_says_whether_its_article_is_on_a_person(lead: str, on_person: bool | None) -> None:
    """When somebody was born, or what they are, stands at the head of an article."""
    assert is_on_person(passage("x", lead)) is on_person


def test_a_title_is_one_name_where_the_claim_writes_it_so() -> None:
    """Small words inside a title do not cut it, and neither does another title inside it."""
    seen = SeenArticles((TOPLESS, passage("Green Bay", "Green Bay is a city."), passage("Red", "Red is a colour.")))
    assert seen.names_in("She was in the film Red House in Green Bay.") == ["Red House in Green Bay"]


def test_a_word_that_is_also_a_title_is_no_name_by_itself() -> None:
    """ "holm" in lower case names nobody, and "Polka" is a piece of "Polka Dot Door"."""
    seen = SeenArticles((passage("Polka", "Polka is a dance."), passage("Holm (island)", "Holm is an island.")))
    assert seen.names_in("The holm was shown in Polka Dot Door.") == []


def test_a_person_is_known_by_another_form_of_the_name() -> None:
    """Sir Derek George Berg has the article "Derek Berg"."""
    seen = SeenArticles((passage("Derek Berg", "Derek Berg (born 1938) is an English actor."),))
    assert seen.is_person("Sir Derek George Berg")
    assert seen.is_person("Anton Berg") is None


def test_what_was_read_is_not_open() -> None:
    """Open are the words that no kept answer and no cited passage has."""
    left = open_words("Mia Holm is an editor from Lisbon.", (looked_at(MIA),))
    assert left == {"lisbon"}
    assert told_of(left, GULL) == 1


def test_a_title_is_looked_up_as_whole_as_its_article_has_it() -> None:
    """The cut name is not asked for, and a thing is not asked for as a person."""
    claim = Claim("Mia Holm was in the cast of the 1995 crime film Red House in Green Bay.")
    assert name_look_ups(claim, SeenArticles((MIA, TOPLESS))) == [
        "Who was Mia Holm?",
        "What is Red House in Green Bay?",
    ]


def test_what_a_page_names_is_asked_for_when_its_article_has_what_is_open() -> None:
    """The claim says "a national organisation"; the page on Mia Holm names it."""
    claim = Claim("Mia Holm is part of the staff at a national organisation founded in 1917.")
    hop = looked_at(MIA, GULL)
    assert article_look_ups(claim, (hop,), SeenArticles.of((hop,))) == ["What is the Gull Museum?"]
    asked = LocalQuestionGenerator(Silent()).next_question(claim, (hop,), ())
    assert asked == Question("What is the Gull Museum?")


def test_what_a_page_names_is_left_alone_when_it_tells_nothing_of_the_claim() -> None:
    """Names that lead away from the claim are not followed."""
    claim = Claim("Mia Holm works with Rui Costa.")
    hop = looked_at(MIA, GULL)
    assert article_look_ups(claim, (hop,), SeenArticles.of((hop,))) == []


def test_a_doubtful_answer_does_not_come_before_what_was_seen_to_tell_more() -> None:
    """The answer's article says nothing of the claim; that on another name of the page does."""
    claim = Claim("This Gull Network analyst was inducted into the Hall of Fame in 2000 after 13 seasons.")
    network = passage("Gull Network", "The Gull Network is a show with Rui Costa and Anton Berg.")
    anton = passage("Anton Berg", "Anton Berg (born 1960) played 13 seasons and was inducted into the Hall in 2000.")
    hop = looked_at(network, anton, asked="Who was this Gull Network analyst?", answer="Rui Costa")
    asked = LocalQuestionGenerator(Silent()).next_question(claim, (hop,), ())
    assert asked == Question("Who was Anton Berg?")


def test_only_a_name_is_asked_for_as_the_person_it_is() -> None:
    """ "What was the profession of Derek Berg?" asks for no person, though Derek Berg is one."""
    seen = SeenArticles((passage("Derek Berg", "Derek Berg (born 1938) is an English actor."),))
    assert asked_as_it_is("What was Derek Berg?", seen) == "Who was Derek Berg?"
    assert asked_as_it_is("What was the profession of Derek Berg?", seen) == "What was the profession of Derek Berg?"


def test_of_two_that_tell_as_much_the_better_found_one_comes_first() -> None:
    """What the search ranked higher is likelier to be what the claim means."""
    claim = Claim("This Gull Network analyst was inducted into the Hall of Fame after 13 seasons.")
    network = passage("Gull Network", "The Gull Network is a show with Rui Costa and Anton Berg.")
    hall = passage("Hall of Fame", "The Hall of Fame is a museum; analysts are inducted after some seasons.")
    anton = passage("Anton Berg", "Anton Berg (born 1960) played 13 seasons and was inducted.")
    for first, second, asked in ((anton, hall, "Who was Anton Berg?"), (hall, anton, "What is the Hall of Fame?")):
        hop = looked_at(network, first, second, asked="What is the Gull Network?", answer="a show")
        assert article_look_ups(claim, (hop,), SeenArticles.of((hop,)))[0] == asked


def test_a_word_of_every_text_is_no_title() -> None:
    """The novel "It" is not meant wherever a sentence begins with it."""
    assert SeenArticles.of((looked_at(passage("It (novel)", "It is a 1986 novel."), GULL),)).passages == (GULL,)


def test_a_title_with_small_words_is_asked_about_whole() -> None:
    """The answer "Fish and Chips" is not cut at "and"."""
    claim = Claim("Anton Berg is the writer of the sitcom for which Rui Costa is best known.")
    show = passage("Fish and Chips", "Fish and Chips is a sitcom with Rui Costa.")
    first = LocalQuestionGenerator(Silent()).next_question(claim, (), ())
    assert first is not None
    hop = looked_at(show, asked=first.text, answer="Fish and Chips")
    asked = LocalQuestionGenerator(Silent()).next_question(claim, (hop,), ())
    assert asked == Question('Who wrote "Fish and Chips"?')
